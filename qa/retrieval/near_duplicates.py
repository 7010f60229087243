"""Passages that say nearly the same: by their words, numbers left out."""

from __future__ import annotations

import re

from index import StoredPassage

# The share of the words of two passages that both have.
_NEARLY = 0.9
_WORD = re.compile(r"[^\W\d_]+")


def words_of(passage: StoredPassage) -> frozenset[str]:
    """The words of a passage's text proper, each once."""
    return frozenset(_WORD.findall(passage.text[passage.body :].lower()))


def is_nearly(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two passages have nearly the same words."""
    return len(one & other) >= _NEARLY * len(one | other)
