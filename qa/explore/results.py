"""The results of `qa similar` and `qa topics`. Their JSON has these types' fields: a public contract, version 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qa.answer.results import Hit, State, json_value


@dataclass(frozen=True, slots=True)
class Subject:
    """What passages or documents are compared with: a place or a text.

    Attributes:
        given: What the user gave.
        place: The place, as cited; None for a text.
        title: The title of its document or record, or "".
        passages: How many passages of the collection it consists of; 0 for a text.
    """

    given: str
    place: str | None
    title: str
    passages: int


@dataclass(frozen=True, slots=True)
class SimilarDocument:
    """A document or record similar to the subject.

    Attributes:
        rank: 1 for the most similar.
        score: Cosine between both mean vectors; higher is better.
        path: The path of its file.
        title: Its title, or "".
        place: The document's path, or the record's citation.
        state: Whether the file is still as it was indexed.
        because: The best-matching pairs of passages, as cited: the subject's ("" for a text), then the document's.
    """

    rank: int
    score: float
    path: str
    title: str
    place: str
    state: State
    because: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Similar:
    """The passages similar to a subject, or the documents if those were requested."""

    of: Subject
    passages: tuple[Hit, ...] | None = None
    documents: tuple[SimilarDocument, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object that `qa similar --json` prints."""
        items = {"passages": self.passages} if self.documents is None else {"documents": self.documents}
        return {"version": 1, "of": json_value(self.of), **{key: json_value(value) for key, value in items.items()}}

    to_dict = as_json


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a collection, or a part of one.

    Attributes:
        id: Such as "3", or "3.1" for a part.
        label: Its terms in one line.
        terms: Terms as spelled in the collection, most distinctive first.
        size: How many passages or documents it has.
        passages: Its most central passages.
        topics: Its parts; empty if it has none.
    """

    id: str
    label: str
    terms: tuple[str, ...]
    size: int
    passages: tuple[Hit, ...]
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a collection.

    Attributes:
        topics: In order of their ids; when first found, that is by size.
        unassigned: How many passages or documents belong to no topic.
        unit: What is grouped and counted: "passages" or "documents".
        total: How many passages or documents there are.
    """

    topics: tuple[Topic, ...]
    unassigned: int
    unit: str
    total: int

    def as_json(self) -> dict[str, Any]:
        """Return the object that `qa topics --json` prints."""
        return {"version": 1, **json_value(self)}

    to_dict = as_json
