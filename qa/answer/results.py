"""The types of an answer. `qa ask --json` prints them field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Self

from corpus.formats import page_label
from corpus.types import PageBox
from qa.answer import display

if TYPE_CHECKING:
    from index import Info, StoredPassage

# How many passages are returned for a question, by default and at most.
DEFAULT_K, MAX_HITS = 5, 1000
# Characters of a question, at most.
LONGEST_QUESTION = 10_000
# Fields that `json_value` leaves out at their defaults, as few answers have them.
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "Alternative": ("time",),
    "Answer": ("more", "prose", "cited_by_line"),
    "IndexInfo": ("note",),
    "Source": ("outdated",),
}


class State(StrEnum):
    """Whether a file is still as it was indexed; `UNCHECKED` if it is not on this machine, or may not be read."""

    VERIFIED = "verified"
    CHANGED = "changed"
    MISSING = "missing"
    UNCHECKED = "unchecked"


class Mode(StrEnum):
    """Which halves of the index a question is answered from."""

    HYBRID = "hybrid"
    DENSE = "dense"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a passage.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        media_type: Such as `text/markdown`.
        chars: First character and one past the last, in code points of the document's text.
        lines: First and last line in the file, 1-based, inclusive; None for a file without lines, such as a PDF.
        page: Page of a paged document (slide, sheet, cell, row, message), 1-based, else None.
        sha256: Hex digest of the file's bytes when it was indexed.
        state: Whether the file is still the same.
        anchor: The nearest link target before the passage, for `page.html#anchor`, else None.
        outdated: The words or the name by which the document is outdated ("Superseded by ADR 9", "old/"), else "".
    """

    path: str
    media_type: str
    chars: tuple[int, int]
    lines: tuple[int, int] | None
    page: int | None
    sha256: str
    state: State
    anchor: str | None = None
    outdated: str = ""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A sentence that answers.

    Attributes:
        chars: Characters of the document, as in `Source`.
        text: The sentence.
        boxes: Its boxes on the pages of a PDF, one per line, if requested; see `qa.answer.citation`.
    """

    chars: tuple[int, int]
    text: str
    boxes: tuple[PageBox, ...] = ()

    @classmethod
    def of(cls, passage: StoredPassage, span: tuple[int, int]) -> Self:
        """Highlight part of a passage, given by characters of its text."""
        start, end = span
        return cls((passage.start + start, passage.start + end), passage.text[start:end])


@dataclass(frozen=True, slots=True)
class Location:
    """Another place that has the same passage."""

    path: str
    chars: tuple[int, int]
    lines: tuple[int, int] | None
    page: int | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked passage.

    Attributes:
        rank: 1 for the best.
        id: Stable: the same passage of the same file has the same id after any rebuild.
        score: In [0, 1] within one answer; higher is better.
        text: The passage: exactly `chars` of the document.
        title: The title of the document or record, or "" if it has none.
        heading: Headings above the passage, outermost first.
        source: The place of the passage.
        highlights: The sentences that answer, best first; none from `Retriever.search`.
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
    also_in: tuple[Location, ...] = ()

    @property
    def citation(self) -> str:
        """The place of the passage: `path:first-last` as editors open it, with its page, or `path § heading`."""
        return cite(self.source.path, self.source.lines, self.source.page, self.heading)

    def __str__(self) -> str:
        return display.hit_as_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return display.hit_as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the passage as in the JSON of an answer."""
        value: dict[str, Any] = json_value(self)
        return value


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another value than the answer's.

    Attributes:
        text: The value.
        citations: The passages that give it, by rank.
        time: `earlier` if the answer replaces it, `later` if it replaces the answer; "" if it contradicts that.
    """

    text: str
    citations: tuple[int, ...]
    time: str = ""


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """A sentence that a language model wrote, checked against the passages that it cites.

    Attributes:
        text: The sentence without its citations.
        citations: Passages by rank; a citation of anything else is left out, and makes the sentence unsupported.
        support: In [0, 1]: how well the passages support it; 0 if it is unsupported for any other `reason`.
        state: `supported` or `unsupported`.
        reason: Why it is unsupported, else "".
    """

    text: str
    citations: tuple[int, ...]
    support: float
    state: Literal["supported", "unsupported"]
    reason: str = ""


class Ending(StrEnum):
    """How an answer in prose ended."""

    COMPLETE = "complete"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Writing:
    """Which model wrote the prose of an answer, and how the writing ended.

    Attributes:
        llm: The name of the language model.
        ending: `complete`; `refused`, as it found no answer in the passages; or `failed`, perhaps after some sentences.
        error: What failed, else "".
        left_out: The number of unsupported sentences that were left out.
    """

    llm: str
    ending: Ending
    error: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The answering text, taken word for word from the best passage, or of steps from all that have some.

    Attributes:
        text: A few words if they answer, else the sentence, with the list that it introduces; if the question asks for
            documents, their titles, and if it asks for rows of a table, their cells.
        citations: The passages that say so, by rank, the quoted one first.
        sentence: The sentence that `text` is from.
        alternatives: Different dates or numbers that other passages give, and those that it replaces.
        more: If the question asks for documents or rows, how many matching ones are not shown.
        prose: The prose of a language model, if it was requested; see `qa.prose`.
        cited_by_line: If `text` is a list of documents or cells, or steps from several passages, the citations of each.
    """

    text: str
    citations: tuple[int, ...]
    sentence: str = ""
    alternatives: tuple[Alternative, ...] = ()
    more: int = 0
    prose: tuple[ProseSentence, ...] | None = None
    cited_by_line: tuple[tuple[int, ...], ...] = ()


def answer_from_parts(parts: Iterable[tuple[StoredPassage, str]], passages: Sequence[StoredPassage]) -> Answer | None:
    """Answer with the texts of those parts whose passages are shown, each line with its citation; None if none is."""
    ranks = {passage.id: rank for rank, passage in enumerate(passages, start=1)}
    shown = [(ranks[passage.id], text) for passage, text in parts if passage.id in ranks]
    text = "\n".join(text for _, text in shown)
    by_line = tuple((rank,) for rank, text in shown for _ in text.split("\n"))
    cited = tuple(sorted(rank for rank, _ in shown))
    return Answer(text, cited, sentence=text, cited_by_line=by_line) if shown else None


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The state of the index that answered.

    Attributes:
        documents: How many documents it has.
        passages: How many passages it has.
        model: The model it was built with.
        generation: Increases with each update.
        note: What users should know, such as that the index is behind the files; "" if nothing is known.
    """

    documents: int
    passages: int
    model: str
    generation: int
    note: str = ""

    @classmethod
    def of(cls, info: Info, note: str = "") -> IndexInfo:
        """Return what answers say about an index."""
        return cls(info.documents, info.passages, info.model, info.generation, note)


@dataclass(frozen=True, slots=True)
class Correction:
    """A word or long number of a question that no passage has so, and what was searched for instead."""

    word: str
    searched: str


@dataclass(frozen=True, slots=True)
class Result:
    """The whole answer to one question.

    Attributes:
        question: The question as the user wrote it.
        id: The caller's own id of the question, in a batch.
        found: Whether the collection probably answers the question.
        confidence: Probability in [0, 1] that the answer is in these passages.
        answer: The best answering text, or None if there is none to quote.
        passages: Best first; given even if `found` is false.
        index: The state of the index that answered.
        timings_ms: Milliseconds by step, and their `total`; equal results may differ in these.
        corrections: Misspelt words of the question, and long numbers that the collection groups otherwise.
        rerank_model: The name of the cross-encoder that ordered the first passages; None without one.
        writing: How the prose in `answer` was written; None without a language model.
    """

    question: str
    id: str | int | None
    found: bool
    confidence: float
    answer: Answer | None
    passages: tuple[Hit, ...]
    index: IndexInfo
    timings_ms: dict[str, float] = field(compare=False)
    corrections: tuple[Correction, ...] = ()
    rerank_model: str | None = None
    writing: Writing | None = None

    def __str__(self) -> str:
        return display.as_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return display.as_html(self)

    def as_json(self) -> dict[str, Any]:
        """The object that `qa ask --json` prints: contract version 1."""
        return {
            "version": 1,
            "id": self.id,
            "question": self.question,
            "corrections": json_value(self.corrections),
            "found": self.found,
            "confidence": self.confidence,
            "answer": json_value(self.answer),
            "passages": json_value(self.passages),
            "index": json_value(self.index),
            "rerank_model": self.rerank_model,
            "timings_ms": self.timings_ms,
            **({} if self.writing is None else {"writing": json_value(self.writing)}),
        }

    # The name that `Hit` has for it.
    to_dict = as_json


def json_value(value: Any) -> Any:
    """Convert dataclasses to objects and tuples to lists, without boxes that were not requested; see `OPTIONAL`."""
    if isinstance(value, Highlight):
        boxes = {"boxes": [{"page": page, "box": box} for page, *box in value.boxes]} if value.boxes else {}
        return {"chars": list(value.chars), "text": value.text, **boxes}
    if is_dataclass(value):
        members = {field: getattr(value, field.name) for field in fields(value)}
        optional = OPTIONAL.get(type(value).__name__, ())
        return {
            field.name: json_value(member)
            for field, member in members.items()
            if not (field.name in optional and member == field.default)
        }
    if isinstance(value, tuple):
        return [json_value(part) for part in value]
    return value.value if isinstance(value, StrEnum) else value


def cite(path: str, lines: tuple[int, int] | None, page: int | None, heading: Sequence[str] = ()) -> str:
    """Return a citation as a person writes it: `a.md:9-14`, `paper.pdf, p. 3`, `letter.docx § Costs › Travel`."""
    if page is not None:
        return f"{path}, {page_label(path)} {page}"
    if lines is None:
        return f"{path} § {' › '.join(heading)}" if heading else path
    first, last = lines
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
