"""Detect numbers and names in another context than in the passages, such as two swapped dates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from qa.prose.rows import YES_OR_NO, Row
from qa.prose.words import Kind, Token, is_ordinal, is_vague, tokens_of

_PREPOSITIONS = "from to by in after before until into than with for of"
# Weights of the words adjacent to a fact and of a preposition before it; other words weigh by their distance.
_ADJACENT, _PREPOSITION = 0.6, 0.3
_MAX_DISTANCE = 8
# Neighbours of the same kind at most this far apart are a single fact: "12 May", "Ann Lee", "6-4, 3-6".
_MAX_GAP = 2.5
# How much better another fact of the passages must fit the context of a fact in the sentence.
_RIVAL_FACTOR, _RIVAL_MARGIN = 2.0, 0.1


@dataclass(frozen=True, slots=True)
class _Fact:
    """A number or name in its context.

    Attributes:
        kind: Facts of the same kind could be mistaken for each other.
        text: As written.
        values: The normalised forms of its words.
        context: The weights of the words around it.
    """

    kind: Kind
    text: str
    values: frozenset[str]
    context: dict[str, float]

    def similarity(self, other: _Fact) -> float:
        """Return how similar the contexts of two facts are."""
        return sum(weight * other.context.get(word, 0.0) for word, weight in self.context.items())


def swapped_fact(sentence: Sequence[Token], passages: Sequence[Token]) -> str | None:
    """Return the first fact of a sentence that has the context of another fact in the passages, or None."""
    names = {token.value for token in (*sentence, *passages) if token.kind == "name"}
    claimed = list(_facts_in(sentence, names))
    cited = list(_facts_in(passages, names))
    stated = frozenset().union(*(fact.values for fact in claimed))
    for fact in claimed:
        rivals = [fact.similarity(rival) for rival in cited if rival.kind == fact.kind and not rival.values & stated]
        similarity = _best_similarity(fact, fact, cited)
        if similarity > 0 and max(rivals, default=0.0) > _RIVAL_FACTOR * similarity + _RIVAL_MARGIN:
            return fact.text
    for first, second in combinations(claimed, 2):
        if first.kind != second.kind or first.values & second.values:
            continue
        pairs = (first, first), (second, second), (first, second), (second, first)
        straight, other_straight, crossed, other_crossed = (_best_similarity(*pair, cited) for pair in pairs)
        if crossed + other_crossed > straight + other_straight > -math.inf:
            return first.text
    return None


def misplaced_cell(sentence: Sequence[Token], rows: Sequence[Row], rest: str) -> str | None:
    """Return the first cell in a sentence that is in none of the rows that the sentence mentions, or None.

    Args:
        sentence: Its tokens.
        rows: All rows of the passages.
        rest: The passages without their rows, which may say it of other things.
    """
    said, elsewhere = _joined(sentence), _joined(tokens_of(rest))
    columns = defaultdict[str, dict[str, str]](dict)
    places = defaultdict[str, set[int]](set)
    for number, row in enumerate(rows):
        for position, (name, cell) in enumerate(row):
            column = columns[name or str(position)]
            words = _joined(tokens_of(cell))
            if words.strip() and words in said and cell.lower() not in YES_OR_NO:
                column[words] = cell
                places[words].add(number)
    for left, right in combinations(filter(None, columns.values()), 2):
        mentioned = set().union(*(places[words] for words in left))
        for words, cell in right.items():
            if not places[words] & mentioned and words not in elsewhere:
                return cell
    return None


def _joined(tokens: Sequence[Token]) -> str:
    """Return the content words between blanks."""
    return f" {' '.join(token.value for token in tokens if token.kind != 'stop' and not is_vague(token))} "


def _best_similarity(fact: _Fact, original: _Fact, cited: Sequence[_Fact]) -> float:
    """Return how well a fact fits the best place where the passages mention `original`; -inf if they do not."""
    return max(
        (fact.similarity(other) for other in cited if other.kind == original.kind and other.values & original.values),
        default=-math.inf,
    )


def _facts_in(tokens: Sequence[Token], names: set[str]) -> Iterator[_Fact]:
    kinds: list[Kind] = [
        "word" if is_ordinal(token) else "name" if token.value in names else token.kind for token in tokens
    ]
    start = 0
    while start < len(tokens):
        kind, end = kinds[start], start + 1
        if kind in ("number", "name"):
            while end < len(tokens) and kinds[end] == kind and tokens[end].at - tokens[end - 1].at <= _MAX_GAP:
                end += 1
            words = tokens[start:end]
            text, values = " ".join(token.text for token in words), frozenset(token.value for token in words)
            yield _Fact(kind, text, values, _context(tokens, kinds, start, end))
        start = end


def _context(tokens: Sequence[Token], kinds: Sequence[Kind], start: int, end: int) -> dict[str, float]:
    """Return the weights of the words, and facts of the other kind, around the tokens from `start` to `end`."""
    weights: dict[str, float] = {}
    for index, token in enumerate(tokens):
        if not start <= index < end and kinds[index] not in ("stop", kinds[start]):
            distance = min(abs(token.at - tokens[start].at), abs(token.at - tokens[end - 1].at))
            if distance <= _MAX_DISTANCE:
                weights[token.value] = max(weights.get(token.value, 0.0), 1 / (1 + distance))
    before, after = range(start - 1, -1, -1), range(end, len(tokens))
    for sign, edge, indices in (("<", start, before), (">", end - 1, after)):
        adjacent = next((index for index in indices if kinds[index] != "stop"), None)
        if adjacent is not None and abs(tokens[adjacent].at - tokens[edge].at) <= 1:
            weights[sign + tokens[adjacent].value] = _ADJACENT
    if start and (word := tokens[start - 1].text.lower()) in _PREPOSITIONS.split():
        weights["@" + word] = _PREPOSITION
    return weights
