"""Whether the numbers and names of a sentence belong to what they belong to in its passages, or have changed places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from qa.prose.compare import negates
from qa.prose.words import Kind, Token, is_ordinal

_PREPOSITIONS = "from to by in after before until into than with for of"
# How much the words right beside a fact tell, and a preposition before it, beside others by their distance.
_BESIDE, _PREPOSITION = 0.6, 0.3
_FAR = 8
# Facts of a kind that are no farther apart are one: "12 May", "Ann Lee", "6-4, 3-6".
_JOINED = 2.5
# How much better the other way must fit: for two facts of the sentence, and for one that has taken another's place.
_PAIR_MARGIN = 0.02
_RIVAL_FACTOR, _RIVAL_MARGIN = 2.0, 0.1


@dataclass(frozen=True, slots=True)
class _Fact:
    """A number or name where it stands.

    Attributes:
        kind: Facts of one kind could stand for each other.
        text: As written.
        values: Its words.
        context: What it stands beside, each with its weight.
    """

    kind: Kind
    text: str
    values: frozenset[str]
    context: dict[str, float]

    def fits(self, other: _Fact) -> float:
        """How alike two facts stand."""
        return sum(weight * other.context.get(word, 0.0) for word, weight in self.context.items())


def exchanged_facts(sentence: Sequence[Token], passages: Sequence[Token]) -> str | None:
    """The first fact of a sentence that rather stands where the passages have another; None if all stand well."""
    names = {token.value for token in (*sentence, *passages) if token.kind == "name"}
    said = list(_facts(sentence, names))
    given = list(_facts(passages, names))
    inside = frozenset().union(*(fact.values for fact in said))
    for fact in said:
        rivals = [fact.fits(one) for one in given if one.kind == fact.kind and not one.values & inside]
        own = _best(fact, fact, given)
        if own and rivals and max(rivals) > _RIVAL_FACTOR * own + _RIVAL_MARGIN:
            return fact.text
    for one, other in combinations(said, 2):
        if one.kind != other.kind or one.values & other.values:
            continue
        straight = _best(one, one, given), _best(other, other, given)
        crossed = _best(one, other, given), _best(other, one, given)
        if None not in (*straight, *crossed) and _sum(crossed) > _sum(straight) + _PAIR_MARGIN:
            return one.text
    return None


def _sum(values: tuple[float | None, float | None]) -> float:
    return sum(value or 0.0 for value in values)


def _best(fact: _Fact, place: _Fact, given: Sequence[_Fact]) -> float | None:
    """How well a fact would stand at the best place that the passages have for `place`; None if they have none."""
    avoided = frozenset() if fact is place else fact.values
    found = (
        fact.fits(one)
        for one in given
        if one.kind == place.kind and one.values & place.values and not one.values & avoided
    )
    return max(found, default=None)


def _facts(tokens: Sequence[Token], names: set[str]) -> Iterator[_Fact]:
    kinds: list[Kind] = ["word" if is_ordinal(one) else "name" if one.value in names else one.kind for one in tokens]
    at = 0
    while at < len(tokens):
        kind, end = kinds[at], at + 1
        if kind in ("number", "name"):
            while end < len(tokens) and kinds[end] == kind and tokens[end].at - tokens[end - 1].at <= _JOINED:
                end += 1
            members = tokens[at:end]
            text, values = " ".join(one.text for one in members), frozenset(one.value for one in members)
            yield _Fact(kind, text, values, _context(tokens, kinds, at, end))
        at = end


def _context(tokens: Sequence[Token], kinds: Sequence[Kind], at: int, end: int) -> dict[str, float]:
    """What tokens from `at` to `end` stand beside: words and facts of the other kind."""
    found: dict[str, float] = {}
    for number, token in enumerate(tokens):
        if not at <= number < end and kinds[number] not in ("stop", kinds[at]) and not negates(token):
            distance = min(abs(token.at - tokens[at].at), abs(token.at - tokens[end - 1].at))
            if distance <= _FAR:
                found[token.value] = max(found.get(token.value, 0.0), 1 / (1 + distance))
    for sign, near, beside in (("<", at, _telling(kinds, range(at - 1, max(-1, at - 4), -1))),
                               (">", end - 1, _telling(kinds, range(end, min(len(tokens), end + 3))))):  # fmt: skip
        if beside is not None and kinds[beside] != kinds[at] and abs(tokens[beside].at - tokens[near].at) <= 1:
            found[sign + tokens[beside].value] = _BESIDE
    if at and (word := tokens[at - 1].text.lower()) in _PREPOSITIONS.split():
        found["@" + word] = _PREPOSITION
    return found


def _telling(kinds: Sequence[Kind], places: range) -> int | None:
    return next((place for place in places if kinds[place] != "stop"), None)
