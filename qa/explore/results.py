"""What `qa similar` and `qa topics` return. Their JSON is these types: the contract of the faces, version 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qa.answer.results import Hit, json_value


@dataclass(frozen=True, slots=True)
class Subject:
    """What others are compared with: the text as given, or what a place means.

    Attributes:
        place: Where it is, as cited; None for a text.
        title: Of its document or record, or "".
        passages: How many of the collection's passages it is; 0 for a text.
    """

    given: str
    place: str | None
    title: str
    passages: int


@dataclass(frozen=True, slots=True)
class SimilarDocument:
    """A document or record that is like another.

    Attributes:
        rank: 1 for the most similar.
        score: Cosine of the means of both's vectors; higher is better.
        path: Of its file.
        title: Its title, or "".
        place: The document (its path), or where the record is.
        because: The pairs of passages that match best, as cited: first the subject's own ("" for a text), then the
            document's.
    """

    rank: int
    score: float
    path: str
    title: str
    place: str
    because: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Similar:
    """What is like something: passages, or documents if those were asked for."""

    of: Subject
    passages: tuple[Hit, ...] | None = None
    documents: tuple[SimilarDocument, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """The object that `qa similar --json` prints."""
        found = {"passages": self.passages} if self.documents is None else {"documents": self.documents}
        return {"version": 1, "of": json_value(self.of), **{key: json_value(value) for key, value in found.items()}}


@dataclass(frozen=True, slots=True)
class Topic:
    """What some of the passages or documents are about.

    Attributes:
        id: "3"; of the second level "3.1".
        label: Its terms in one line.
        terms: Words as they are written in the collection, most telling first.
        size: How many passages or documents it has.
        passages: The most central ones.
        topics: The second level; () where it has no parts.
    """

    id: str
    label: str
    terms: tuple[str, ...]
    size: int
    passages: tuple[Hit, ...]
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class Topics:
    """What a collection is about.

    Attributes:
        topics: By number; those of a first grouping by size.
        unassigned: How many passages or documents belong to none.
        unit: "passages" or "documents": what is counted.
        total: How many there are.
    """

    topics: tuple[Topic, ...]
    unassigned: int
    unit: str
    total: int

    def as_json(self) -> dict[str, Any]:
        """The object that `qa topics --json` prints."""
        return {"version": 1, **json_value(self)}
