"""Detect near-duplicate passages."""

from __future__ import annotations

import re

from index import StoredPassage

# Near-duplicates share at least this fraction of their distinct words, numbers left out.
_MIN_OVERLAP = 0.9
_WORD = re.compile(r"[^\W\d_]+")


def words_of(passage: StoredPassage) -> frozenset[str]:
    """Return the distinct words of a passage's body, without numbers."""
    return frozenset(_WORD.findall(passage.text[passage.body :].lower()))


def nearly_same(words: frozenset[str], other_words: frozenset[str]) -> bool:
    """Return whether passages with these words are near-duplicates."""
    return len(words & other_words) >= _MIN_OVERLAP * len(words | other_words)
