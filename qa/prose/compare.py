"""Find where a sentence deviates from its passages: a number or name they lack, or the opposite.

These are rules over words, made from examples; their accuracy is measured (tests/qa/prose).
Negations and opposites are English; numbers and names are compared in any language.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from qa.prose.words import Token, is_vague
from qa.tables.measures import kind_of_unit

_NEGATION_WORDS = "not no never none neither nor nobody nothing without cannot hardly closed shut unable unless"
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
# Pairs of stems.
_ANTONYMS = (
    "rose/fell rose/declin rise/fall rise/declin grew/shrank grow/shrink rais/lower increas/decreas enabl/disabl "
    "accept/reject accept/declin approv/reject pass/fail open/close well/badli "
    "befor/after up/down includ/exclud older/newer more/less rare/common allow/forbid allow/prohibit above/below "
    "am/pm dollar/euro dollar/pound euro/pound"
)
_OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in _ANTONYMS.split())
# Stop words are in no clause; these are opposites only before the same word: "before lunch", "after lunch".
_COMPARED = {"before": {"after"}, "after": {"before"}, "more": {"less", "fewer"}, "less": {"more"}, "fewer": {"more"}}
_COMPARED |= {"all": {"some"}, "some": set(), "least": {"most"}, "most": {"least"}}
_COMPARED |= {"first": {"last"}, "last": {"first"}}


@dataclass(slots=True)
class _Clause:
    """The content words of a clause, and its number of negations."""

    values: set[str] = field(default_factory=set)
    negations: int = 0


def missing_fact(sentence: Sequence[Token], passages: Sequence[Token]) -> str | None:
    """Return the first number or name of a sentence that no passage has, or only with another unit, or None."""
    passage_units = defaultdict[str, set[tuple[str, float] | None]](set)
    for token, following in pairwise((*passages, *passages[-1:])):
        passage_units[token.value].add(_unit(token, following))
    for token, following in pairwise((*sentence, *sentence[-1:])):
        if token.kind not in ("number", "name") or is_vague(token):
            continue
        units = passage_units.get(token.value)
        if units is None:
            return token.text
        unit = _unit(token, following)
        # Where it has no unit, as in a range, that may be the same.
        if unit and unit not in units and unit[0] in {other and other[0] for other in units} and None not in units:
            return f"{token.text} {following.text}"
    return None


def _unit(token: Token, following: Token) -> tuple[str, float] | None:
    """Return the kind of the unit after a number and its value in the base unit, or None."""
    return kind_of_unit(following.text) if token.kind == "number" and following.at - token.at == 1 else None


def is_contrary(sentence: Sequence[Token], passages: Sequence[Token]) -> bool:
    """Return whether a sentence denies what the passages say, or says what they deny.

    Each clause is compared with the passage clause that shares most with it; two negations cancel out.
    """
    said, stated = _comparisons(sentence), _comparisons(passages)
    if any((opposite, to) in stated for word, to in said - stated for opposite in _COMPARED[word]):
        return True
    clauses = list(_clauses(passages))
    counts = Counter(value for clause in clauses for value in clause.values)
    differs, negations, passage_negations = False, 0, dict[int, int]()
    for clause in _clauses(sentence):
        if clause.negations % 2 == 0 and _has_opposite(clause, clauses, counts):
            return True
        nearest = max(clauses, key=lambda candidate: _similarity(candidate, clause, counts), default=_Clause())
        negations += clause.negations
        passage_negations[id(nearest)] = nearest.negations
        is_negated = (clause.negations + nearest.negations) % 2 == 1
        differs |= is_negated and len(clause.values & nearest.values) >= min(2, len(clause.values))
    # The next clause may cancel a difference: "not without notice".
    return differs and (negations + sum(passage_negations.values())) % 2 == 1


def _comparisons(tokens: Sequence[Token]) -> set[tuple[str, str]]:
    """Return the words such as "before" and "more", each with the content word after it."""
    pairs = set()
    for index, token in enumerate(tokens):
        if (word := token.text.lower()) in _COMPARED:
            to = next((after for after in tokens[index + 1 :] if after.kind != "stop"), None)
            if to is not None and to.at - token.at <= 1:
                pairs.add((word, to.value))
    return pairs


def _similarity(candidate: _Clause, clause: _Clause, counts: Counter[str]) -> tuple[float, bool]:
    """Return a sort key: how much two clauses share, rare words counting more, then whether their negations agree."""
    # Sorted, as the sum depends on the order.
    shared = sum(1 / counts[value] for value in sorted(clause.values & candidate.values))
    return shared, (candidate.negations - clause.negations) % 2 == 0


def _has_opposite(clause: _Clause, clauses: Sequence[_Clause], counts: Counter[str]) -> bool:
    """Return whether the passages lack a word of a clause, but have its opposite in a clause without negation."""
    missing = [value for value in clause.values if value not in counts]
    return any(
        frozenset((value, opposite)) in _OPPOSITES
        for candidate in clauses
        if candidate.negations % 2 == 0
        for opposite in candidate.values - clause.values
        for value in missing
    )


def _clauses(tokens: Sequence[Token]) -> Iterator[_Clause]:
    """Yield the clauses with content words; "and" and "or" also begin a clause."""
    clause, last = _Clause(), 0.0
    for index, token in enumerate(tokens):
        if token.at - last - (token.kind != "stop") >= 1:
            if clause.values:
                yield clause
            clause = _Clause()
        last = token.at
        word = token.text.lower().replace("’", "'")
        if word in _NEGATIONS or word.endswith("n't"):
            # "not only a doctor but also a pilot" denies nothing.
            following = [after.text.lower() for after in tokens[index + 1 : index + 12]]
            clause.negations += not (following[:1] in (["only"], ["just"], ["merely"]) and "also" in following)
        elif token.kind != "stop":
            clause.values.add(token.value)
    if clause.values:
        yield clause
