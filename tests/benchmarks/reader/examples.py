"""One training example: a question with one passage."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .sources import read_lines

# Relevance of a passage that is on the subject and does not answer is not trained.
UNTOLD = -1


@dataclass(frozen=True, slots=True)
class Example:
    """A question with one passage.

    Attributes:
        group: Examples of one question share it.
        question: As it is asked.
        context: Title › heading path.
        text: The passage proper.
        start: First character of the answer in `text`; -1 where there is none, or where none is told.
        end: One past its last.
        answered: Whether the passage answers.
        relevant: 1, 0, or `UNTOLD`.
        kind: Where it comes from.
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


Passages = dict[str, list[dict[str, Any]]]
_WORD = re.compile(r"\w+")


def passages_of(work: Path, name: str) -> Passages:
    """Passages of a set by file, in order."""
    found: Passages = defaultdict(list)
    for row in read_lines(work / "passages" / f"{name}.jsonl"):
        found[row["file"]].append(row)
    return found


def unanswered(example: Example, context: str, text: str, relevant: int, kind: str) -> Example:
    """The question with a passage that does not answer it."""
    return replace(example, context=context, text=text, start=-1, end=-1, answered=False, relevant=relevant, kind=kind)


def most_alike(question: str, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Passages by how many words of the question they have, most first."""
    words = set(_WORD.findall(question.lower()))
    return sorted(parts, key=lambda part: -len(words & set(_WORD.findall(f"{part['context']} {part['text']}".lower()))))
