"""What a sentence says that its passages do not: another number or name, or the opposite.

Rules over words, not understanding: each was made with examples, and how often they are right is measured
(tests/qa/prose). Negations and opposites are English; numbers and names are compared in any language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from qa.prose.words import Token

# "one" and "first" stand in too many phrases to be numbers that a passage must have.
_VAGUE = frozenset({"one", "first"})
_NEGATIONS = "not no never none neither nor nobody nothing without cannot hardly closed shut unable unless"
# Stems.
_PAIRS = (
    "rose/fell rise/fall rais/lower increas/decreas enabl/disabl accept/reject open/close well/badli "
    "befor/after up/down includ/exclud older/newer more/less rare/common allow/forbid above/below"
)
_OPPOSITES = frozenset(frozenset(pair.split("/")) for pair in _PAIRS.split())


@dataclass(slots=True)
class _Clause:
    """The telling words of a clause, and how many of its words negate."""

    values: set[str] = field(default_factory=set)
    negations: int = 0


def missing_fact(sentence: Sequence[Token], passages: Sequence[Token]) -> str | None:
    """The first number or name of a sentence that no passage has; None if they have all."""
    known = {token.value for token in passages}
    for token in sentence:
        if token.kind in ("number", "name") and token.value not in known and token.text.lower() not in _VAGUE:
            return token.text
    return None


def negates(token: Token) -> bool:
    """Whether a word negates what its clause says."""
    word = token.text.lower().replace("’", "'")
    return word in _NEGATIONS.split() or word.endswith("n't")


def is_contrary(sentence: Sequence[Token], passages: Sequence[Token]) -> bool:
    """Whether a sentence denies what the passages say, or says what they deny.

    Each clause is compared with the one of the passages that shares most with it; two negations make none.
    """
    clauses = list(_clauses(passages))
    counts = Counter(value for clause in clauses for value in clause.values)
    differs, said, given = False, 0, dict[int, int]()
    for clause in _clauses(sentence):
        if clause.negations % 2 == 0 and _has_opposite(clause, clauses, counts):
            return True
        nearest = max(clauses, key=lambda one: _likeness(one, clause, counts), default=_Clause())
        shared = clause.values & nearest.values
        opposed = sum(
            frozenset((one, other)) in _OPPOSITES
            for one in clause.values - shared
            for other in nearest.values - clause.values
        )
        said += clause.negations + opposed
        given[id(nearest)] = nearest.negations
        is_odd = (clause.negations + opposed + nearest.negations) % 2 == 1
        differs |= is_odd and len(shared) >= min(2, len(clause.values))
    # What differs in one clause may be made up for in the next: "not without notice".
    return differs and (said + sum(given.values())) % 2 == 1


def _likeness(one: _Clause, clause: _Clause, counts: Counter[str]) -> tuple[float, bool]:
    """How much of a clause another has, rare words counting more; of two alike, the one that agrees."""
    shared = sum(1 / counts[value] for value in sorted(clause.values & one.values))
    return round(shared, 6), (one.negations - clause.negations) % 2 == 0


def _has_opposite(clause: _Clause, clauses: Sequence[_Clause], counts: Counter[str]) -> bool:
    """Whether a clause has a word that the passages have only the opposite of, and do not deny."""
    new = [value for value in clause.values if value not in counts]
    return any(
        frozenset((value, other)) in _OPPOSITES
        for one in clauses
        if one.negations % 2 == 0
        for other in one.values
        for value in new
    )


def _clauses(tokens: Sequence[Token]) -> Iterator[_Clause]:
    """Clauses that say something; "and" and "or" begin one too."""
    clause, last = _Clause(), 0.0
    for token in tokens:
        if token.at - last - (token.kind != "stop") >= 1:
            if clause.values:
                yield clause
            clause = _Clause()
        last = token.at
        if negates(token):
            clause.negations += 1
        elif token.kind != "stop":
            clause.values.add(token.value)
    if clause.values:
        yield clause
