"""Which passages say nearly the same."""

from __future__ import annotations

import re

from index import StoredPassage

# The share of the words of two passages that near-duplicates have in common, numbers left out.
_NEARLY = 0.9
_WORD = re.compile(r"[^\W\d_]+")


def words_of(passage: StoredPassage) -> frozenset[str]:
    """Return the words of a passage's text proper."""
    return frozenset(_WORD.findall(passage.text[passage.body :].lower()))


def nearly_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether passages with these words are near-duplicates."""
    return len(one & other) >= _NEARLY * len(one | other)
