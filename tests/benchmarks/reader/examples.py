"""One training example: a question with one passage."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.common import read_lines

# The relevance of a passage on the subject that does not answer: it is not trained on.
UNKNOWN = -1
# Share of their words that two questions have in common from which on they are compared in training.
_ALIKE = 0.4


@dataclass(frozen=True, slots=True)
class Example:
    """A question with one passage.

    Attributes:
        group: The same for all examples of a question.
        question: Its text.
        context: Title › heading path.
        text: The passage itself.
        start: First character of the answer in `text`; -1 if there is none or its place is unknown.
        end: One past its last character.
        answered: Whether the passage answers the question.
        relevant: 1, 0, or `UNKNOWN`.
        kind: Where the example comes from.
    """

    group: str
    question: str
    context: str
    text: str
    start: int
    end: int
    answered: bool
    relevant: int
    kind: str


Passage = Mapping[str, Any]
Passages = dict[str, list[dict[str, Any]]]
_WORD = re.compile(r"\w+")


def passages_of(work: Path, name: str) -> Passages:
    """The passages of a dataset by file, in order."""
    passages: Passages = defaultdict(list)
    for row in read_lines(work / "passages" / f"{name}.jsonl"):
        passages[row["file"]].append(row)
    return passages


def answered(group: str, question: str, passage: Passage, answer: str, kind: str) -> Example:
    """A question with a passage that contains its answer."""
    at = passage["text"].index(answer)
    return Example(group, question, passage["context"], passage["text"], at, at + len(answer), True, 1, kind)


def no_answer(group: str, question: str, passage: Passage, kind: str) -> Example:
    """A question with a passage that only seems to answer it."""
    return Example(group, question, passage["context"], passage["text"], -1, -1, False, UNKNOWN, kind)


def unanswered(example: Example, passage: Passage, relevant: int, kind: str) -> Example:
    """The question of an example with a passage that does not answer it."""
    context, text = passage["context"], passage["text"]
    return replace(example, context=context, text=text, start=-1, end=-1, answered=False, relevant=relevant, kind=kind)


def most_similar(question: str, passages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Passages by the number of words they share with the question, most first."""
    words = _words(question)
    return sorted(passages, key=lambda part: -len(words & _words(part["context"], part["text"])))


def with_hard_negatives(example: Example, ranked: list[dict[str, Any]], kind: str, random: Random) -> list[Example]:
    """An example, and its question with up to three similar passages without the answer, each with probability 0.7."""
    answer = example.text[example.start : example.end]
    negatives = [part for part in ranked if answer not in part["text"]][:3]
    return [example, *(unanswered(example, part, 0, kind) for part in negatives if random.random() < 0.7)]


def with_near_misses(groups: Iterable[list[Example]]) -> list[list[Example]]:
    """Put each question without an answer into the group of the answered one that has most words in common with it.

    It stays alone if less than `_ALIKE` of the words of both are in common.
    """
    groups = list(groups)
    result = [group for group in groups if group[0].answered]
    for miss in [group for group in groups if not group[0].answered]:
        alike = [group for group in result if group[0].answered and _overlap(miss[0], group[0]) >= _ALIKE]
        if alike:
            most = max(alike, key=lambda group: _overlap(miss[0], group[0]))
            most += [replace(example, group=most[0].group) for example in miss]
        else:
            result.append(miss)
    return result


def _overlap(example: Example, other: Example) -> float:
    """The share of the words of two questions that both have."""
    words, others = _words(example.question), _words(other.question)
    return len(words & others) / len(words | others)


@lru_cache(50_000)  # a collection's passages are compared with each of its questions
def _words(*texts: str) -> frozenset[str]:
    return frozenset(_WORD.findall(" ".join(texts).lower()))
