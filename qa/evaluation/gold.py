"""Where the answers of questions stand in a collection, and whether a passage reaches them.

The rules: a place is *hit* by a stretch of text that shares at least half of the shorter of the two, and *covered* by
one that holds at least half of the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpus import load
from corpus.errors import Unreadable
from index import Snapshot
from qa.evaluation.questions import Asked, Place

_KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a document, or all of it (None)."""

    path: str
    chars: tuple[int, int] | None

    def is_hit(self, path: str, start: int, end: int) -> bool:
        """Whether characters of a document share at least half of the shorter of the two."""
        if path != self.path:
            return False
        if self.chars is None:
            return True
        first, last = self.chars
        shared = min(end, last) - max(start, first)
        return shared > 0 and shared >= 0.5 * min(last - first, max(end - start, 1))

    def is_covered(self, path: str, start: int, end: int) -> bool:
        """Whether characters of a document hold at least half of this span."""
        if path != self.path:
            return False
        if self.chars is None:
            return True
        first, last = self.chars
        return min(end, last) - max(start, first) >= 0.5 * (last - first)


@dataclass(frozen=True, slots=True)
class Gold:
    """A question and where its answer stands in the collection.

    Attributes:
        id: The question's id.
        question: As it will be searched.
        answerable: Whether the collection answers it.
        evidence: A tuple a piece of the answer: the spans that give it, any of which will do. Empty: not there.
        grades: Paths and passage ids with their grades; those that are not there keep their names.
        by_document: Whether a ranking is one of documents, because documents are graded.
        missing: What of this is not in the collection, in words.
        placed: Whether there is anything to judge by; False where all that would answer is missing.
    """

    id: str
    question: str
    answerable: bool
    evidence: tuple[tuple[Span, ...], ...] = ()
    grades: tuple[tuple[str, int], ...] = ()
    by_document: bool = False
    missing: tuple[str, ...] = ()
    placed: bool = True

    @property
    def spans(self) -> Iterator[Span]:
        """All spans of all pieces."""
        return (span for piece in self.evidence for span in piece)

    def is_hit(self, path: str, chars: tuple[int, int]) -> bool:
        """Whether characters of a document hit any of the evidence."""
        return any(span.is_hit(path, *chars) for span in self.spans)


class Collection:
    """The documents that questions may name: by path, by the end of it, or by name alone."""

    def __init__(self, root: Path, paths: Iterable[str], snapshot: Snapshot | None = None) -> None:
        """Name documents.

        Args:
            root: The corpus root.
            paths: Of the documents, relative to the root.
            snapshot: Knows their passages; None where no question names passages.
        """
        self._root = root
        self._snapshot = snapshot
        self._by_name: dict[str, list[str]] = {}
        self._texts: dict[str, str | None] = {}
        for path in paths:
            self._by_name.setdefault(PurePosixPath(path).name, []).append(path)

    def find(self, file: str) -> tuple[str, ...]:
        """Paths of the documents that a question means by `file`: the one of that path, else all that fit."""
        file = file.removeprefix("./")
        same = self._by_name.get(PurePosixPath(file).name, [])
        if file in same:
            return (file,)
        return tuple(path for path in same if f"/{path}".endswith(f"/{file}") or f"/{file}".endswith(f"/{path}"))

    def has_passage(self, key: str) -> bool:
        """Whether there is a passage of this id."""
        return self._snapshot is not None and _KEY.fullmatch(key) is not None and self._snapshot.find(key) is not None

    def text(self, path: str) -> str | None:
        """A document's text as it is now; None where its file cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = load(self._root, path).text
            except Unreadable:
                self._texts[path] = None
        return self._texts[path]


def place(asked: Asked, collection: Collection) -> Gold:
    """Find the places of a question's answer in the collection."""
    missing: list[str] = []
    evidence = tuple(_piece(places, collection, missing) for places in asked.evidence)
    grades: dict[str, int] = {}
    documents = passages = 0
    for name, grade in asked.relevant:
        paths = collection.find(name)
        passage = not paths and collection.has_passage(name)
        documents, passages = documents + len(paths), passages + passage
        if not paths and not passage:
            missing.append(f"{name} is not in the collection")
        for unit in paths or (name,):
            grades[unit] = max(grade, grades.get(unit, 0))
    return Gold(
        id=asked.id,
        question=asked.question,
        answerable=asked.answerable,
        evidence=evidence,
        grades=tuple(grades.items()),
        by_document=documents > 0,
        missing=tuple(missing),
        placed=not asked.answerable or any(evidence) or documents + passages > 0,
    )


def _piece(places: Iterable[Place], collection: Collection, missing: list[str]) -> tuple[Span, ...]:
    spans: list[Span] = []
    problems = []
    for each in places:
        found = list(_spans(each, collection))
        spans.extend(found)
        if not found:
            there = collection.find(each.file)
            problems.append(f"its text is not in {each.file}" if there else f"{each.file} is not in the collection")
    if not spans:
        missing.extend(problems[:1])
    return tuple(spans)


def _spans(wanted: Place, collection: Collection) -> Iterator[Span]:
    for path in collection.find(wanted.file):
        if wanted.text is None:
            yield Span(path, wanted.chars)
            continue
        at = (collection.text(path) or "").find(wanted.text)
        if at >= 0:
            yield Span(path, (at, at + len(wanted.text)))
