"""Resolves the evidence of questions in a collection, and judges whether a passage contains it.

Text *hits* a gold span if they overlap by at least half of the shorter one, and *covers* the span if it contains at
least half of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpus import load
from corpus.errors import Unreadable
from index import Index
from qa.evaluation.questions import EvalQuestion, EvidenceSpan

_KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Characters of a document, or None for the whole document."""

    path: str
    chars: tuple[int, int] | None

    def is_hit(self, path: str, start: int, end: int) -> bool:
        """Return whether the text overlaps this span by at least half of the shorter of the two."""
        if path != self.path or self.chars is None:
            return path == self.path
        first, last = self.chars
        overlap = min(end, last) - max(start, first)
        return overlap > 0 and overlap >= 0.5 * min(last - first, end - start)

    def is_covered(self, path: str, start: int, end: int) -> bool:
        """Return whether the text contains at least half of this span."""
        if path != self.path or self.chars is None:
            return path == self.path
        first, last = self.chars
        return min(end, last) - max(start, first) >= 0.5 * (last - first)


@dataclass(frozen=True, slots=True)
class Gold:
    """A question with its evidence resolved in the collection.

    Attributes:
        evidence: A tuple of alternative spans for each piece of the answer, empty if the piece is missing.
        grades: Paths and passage ids with their grades, missing ones included.
        by_document: Whether documents are ranked rather than passages, because documents are graded.
        missing: Descriptions of what is not in the collection.
        resolved: Whether there is anything to judge by.
    """

    id: str
    question: str
    answerable: bool
    evidence: tuple[tuple[GoldSpan, ...], ...] = ()
    grades: tuple[tuple[str, int], ...] = ()
    by_document: bool = False
    missing: tuple[str, ...] = ()
    resolved: bool = True

    @property
    def spans(self) -> Iterator[GoldSpan]:
        """The spans of all pieces."""
        return (span for piece in self.evidence for span in piece)

    def is_hit(self, path: str, start: int, end: int) -> bool:
        """Return whether the text hits any span of the evidence."""
        return any(span.is_hit(path, start, end) for span in self.spans)


class DocumentLookup:
    """Finds the documents that questions name by path, by the end of a path, or by file name."""

    def __init__(self, root: Path, paths: Iterable[str], snapshot: Index | None = None) -> None:
        self._root = root
        self._snapshot = snapshot
        self._formats = () if snapshot is None else snapshot.info.formats
        self._by_name: dict[str, list[str]] = {}
        self._texts: dict[str, str | None] = {}
        for path in paths:
            self._by_name.setdefault(PurePosixPath(path).name, []).append(path)

    def find(self, file: str) -> tuple[str, ...]:
        """Return the document at the path `file`, else those whose path ends with `file`, or the other way round."""
        same_name = self._by_name.get(PurePosixPath(file).name, [])
        if file in same_name:
            return (file,)
        return tuple(path for path in same_name if f"/{path}".endswith(f"/{file}") or f"/{file}".endswith(f"/{path}"))

    def has_passage(self, key: str) -> bool:
        """Return whether there is a passage with this id."""
        return self._snapshot is not None and _KEY.fullmatch(key) is not None and self._snapshot.find(key) is not None

    def text(self, path: str) -> str | None:
        """Return a document's current text; None if its file cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = load(self._root, path, formats=self._formats).text
            except Unreadable:
                self._texts[path] = None
        return self._texts[path]


def resolve_evidence(question: EvalQuestion, documents: DocumentLookup) -> Gold:
    """Find the evidence of a question in a collection."""
    missing: list[str] = []
    evidence = []
    for alternatives in question.evidence:
        evidence.append(tuple(gold_span for span in alternatives for gold_span in _resolve_span(span, documents)))
        if not evidence[-1]:
            file = alternatives[0].file
            missing.append(f"its text is not in {file}" if documents.find(file) else f"{file} is not in the collection")
    grades: dict[str, int] = {}
    answerable, by_document = question.answerable, False
    resolved = not answerable or any(evidence)
    for name, grade in question.relevant:
        paths = documents.find(name)
        by_document = by_document or bool(paths)
        if paths or documents.has_passage(name):
            resolved = True
        else:
            missing.append(f"{name} is not in the collection")
        for unit in paths or (name,):
            grades[unit] = max(grade, grades.get(unit, 0))
    graded = tuple(grades.items())
    return Gold(
        question.id, question.question, answerable, tuple(evidence), graded, by_document, tuple(missing), resolved
    )


def _resolve_span(span: EvidenceSpan, documents: DocumentLookup) -> Iterator[GoldSpan]:
    for path in documents.find(span.file):
        if span.text is None:
            yield GoldSpan(path, span.chars)
        elif (at := (documents.text(path) or "").find(span.text)) >= 0:
            yield GoldSpan(path, (at, at + len(span.text)))
