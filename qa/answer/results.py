"""What a question comes back with. The JSON of `qa ask --json` is these types, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from corpus.formats import page_label
from corpus.types import PageBox

# Most passages that one question can be answered with.
MAX_HITS = 1000


class State(StrEnum):
    """Whether the file still says what the index says it said."""

    VERIFIED = "verified"
    CHANGED = "changed"
    MISSING = "missing"


class Mode(StrEnum):
    """Which candidates a question is answered from."""

    HYBRID = "hybrid"
    DENSE = "dense"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a passage stands.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        media_type: Such as `text/markdown`.
        chars: First character and one past the last, in code points of the document's text.
        lines: First and last line, 1-based, inclusive.
        page: Page of a paged document (slide, sheet, cell, row, message), 1-based, else None.
        sha256: Digest of the file's bytes when it was indexed, hex.
        state: What re-reading the file now showed.
    """

    path: str
    media_type: str
    chars: tuple[int, int]
    lines: tuple[int, int]
    page: int | None
    sha256: str
    state: State


@dataclass(frozen=True, slots=True)
class Highlight:
    """A sentence that answers.

    Attributes:
        chars: Document characters, as in `Source`.
        text: The sentence.
        boxes: Where it stands on the pages of a PDF, a box a line, if that was looked up; see `qa.answer.pdf_boxes`.
    """

    chars: tuple[int, int]
    text: str
    boxes: tuple[PageBox, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Another place where the same passage stands."""

    path: str
    chars: tuple[int, int]
    lines: tuple[int, int]
    page: int | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked passage.

    Attributes:
        rank: 1 for the best.
        id: Stable: the same passage of the same file has the same id after any rebuild.
        score: In [0, 1] within one answer; higher is better.
        text: The passage: exactly `chars` of the document.
        title: The document's title, of a record its own, or "" where it states none.
        heading: Headings above the passage, outermost first.
        source: Where it stands.
        highlights: The sentences that answer, best first.
        also_in: Other places with the same text.
    """

    rank: int
    id: str
    score: float
    text: str
    title: str
    heading: tuple[str, ...]
    source: Source
    highlights: tuple[Highlight, ...] = ()
    also_in: tuple[Place, ...] = ()

    @property
    def citation(self) -> str:
        """The place in the form that editors open, `path:first-last` or `path:line`, or with its page."""
        return cite(self.source.path, self.source.lines, self.source.page)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answering text, taken word for word from the cited passages (by rank)."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The state of the index that answered."""

    documents: int
    passages: int
    model: str
    generation: int


@dataclass(frozen=True, slots=True)
class Result:
    """The whole answer to one question.

    Attributes:
        question: As it was asked.
        id: The caller's own id of the question, in a batch.
        found: Whether the tool judges that the collection answers the question.
        confidence: Probability in [0, 1] that the answer is in these passages.
        answer: The best answering text, or None where nothing was found to quote.
        passages: Best first; given even where `found` is false.
        index: The state of the index that answered.
        timings_ms: Milliseconds by step; `total` is the whole.
        corrections: Words that no passage has, each with the one that was searched for in its place.
    """

    question: str
    id: str | int | None
    found: bool
    confidence: float
    answer: Answer | None
    passages: tuple[Hit, ...]
    index: IndexInfo
    timings_ms: dict[str, float]
    corrections: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The object that `qa ask --json` prints: contract version 1."""
        return {
            "version": 1,
            "id": self.id,
            "question": self.question,
            "found": self.found,
            "confidence": self.confidence,
            "answer": None
            if self.answer is None
            else {"text": self.answer.text, "citations": list(self.answer.citations)},
            "passages": [_hit_json(hit) for hit in self.passages],
            "index": {
                "documents": self.index.documents,
                "passages": self.index.passages,
                "model": self.index.model,
                "generation": self.index.generation,
            },
            "timings_ms": self.timings_ms,
        }


def _hit_json(hit: Hit) -> dict[str, Any]:
    source = hit.source
    return {
        "rank": hit.rank,
        "id": hit.id,
        "score": hit.score,
        "text": hit.text,
        "title": hit.title,
        "heading": list(hit.heading),
        "source": {
            "path": source.path,
            "media_type": source.media_type,
            "chars": list(source.chars),
            "lines": list(source.lines),
            "page": source.page,
            "sha256": source.sha256,
            "state": source.state.value,
        },
        "highlights": [_highlight_json(mark) for mark in hit.highlights],
        "also_in": [
            {"path": place.path, "chars": list(place.chars), "lines": list(place.lines), "page": place.page}
            for place in hit.also_in
        ],
    }


def _highlight_json(mark: Highlight) -> dict[str, Any]:
    found: dict[str, Any] = {"chars": list(mark.chars), "text": mark.text}
    if mark.boxes:
        found["boxes"] = [{"page": page, "box": box} for page, *box in mark.boxes]
    return found


def cite(path: str, lines: tuple[int, int], page: int | None) -> str:
    """Write a place as a person cites it: `a.md:9-14`, `a.md:9`, `paper.pdf, p. 3`, `talk.pptx, slide 3`."""
    if page is not None:
        return f"{path}, {page_label(path)} {page}"
    first, last = lines
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
