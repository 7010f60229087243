"""Rank what messages quote from earlier ones below the original."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from index import StoredPassage
from qa.retrieval.distinct import RankedPassage
from qa.retrieval.rerank import SECOND_DEPTH

# The original may lack this share of a quotation's words, but none of its numbers.
_MAX_MISSING = 0.1
_WORD = re.compile(r"\w+")


def originals_first(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the original in the place of each quotation of it, and such quotations after the other top passages.

    A quotation whose original is not among the top passages keeps its place.
    """
    head = ranked[:SECOND_DEPTH]
    originals = [(one, _words(one.passage)) for one in head if not one.passage.is_quoted]
    if len(originals) == len(head):
        return list(ranked)
    placed: dict[int, RankedPassage] = {}
    quotations = []
    for one in head:
        chosen = one
        if one.passage.is_quoted:
            words = _words(one.passage)
            chosen = next((original for original, others in originals if _are_in(words, others)), one)
            quotations += [one] if chosen is not one else []
        placed.setdefault(chosen.passage.id, replace(chosen, score=one.score, level=one.level))
    last = list(placed.values())[-1]
    below = [replace(one, score=min(one.score, last.score), level=last.level) for one in quotations]
    return [*placed.values(), *below, *ranked[SECOND_DEPTH:]]


def _words(passage: StoredPassage) -> frozenset[str]:
    return frozenset(_WORD.findall(passage.text[passage.body :].lower()))


def _are_in(words: frozenset[str], others: frozenset[str]) -> bool:
    missing = words - others
    return len(missing) <= _MAX_MISSING * len(words) and not any(map(str.isdecimal, missing))
