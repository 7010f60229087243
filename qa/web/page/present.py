"""Prepares answers and passages for the templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from corpus.types import BlockKind
from qa.answer import display
from qa.answer.results import MAX_HITS, Answer, Correction, Hit, Result, cite
from qa.explore.results import Similar
from qa.web.page.marks import MarkedText, Marks, Span
from qa.web.page.state import PageState
from qa.web.page.text_views import TextBlock

# How many other places of the same text are listed.
_ALSO = 3
_MORE = 10
# The end of a line that was wrapped because it was full.
_FULL_LINE = re.compile(r"(?<=[^\n]{50})\r?\n(?=[^\W\d_]|[\"'“‘(])")
_SOURCE_TYPES = ("text/x-", "text/javascript")
_PROSE = frozenset({"text/x-rst", "text/x-org", "text/x-tex", "text/x-bibtex"})


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A citation and the address that opens it."""

    rank: int
    citation: str
    href: str


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A passage in the list of results."""

    rank: int
    citation: str
    href: str
    like: str
    state: str
    trail: tuple[str, ...]
    pieces: tuple[MarkedText, ...]
    is_code: bool
    is_open: bool
    also_in: tuple[ShownPlace, ...]
    also_more: int


@dataclass(frozen=True, slots=True)
class ShownAlternative:
    """An answer from other passages."""

    text: str
    cited: tuple[ShownPlace, ...]


@dataclass(frozen=True, slots=True)
class ShownResult:
    """The answer to a question."""

    found: bool
    confidence_word: str
    percent: str
    text: str
    sentence: tuple[MarkedText, ...]
    cited: tuple[ShownPlace, ...]
    alternatives: tuple[ShownAlternative, ...]
    corrections: tuple[Correction, ...]
    passages: tuple[ShownHit, ...]
    more: int


@dataclass(frozen=True, slots=True)
class ShownSimilar:
    """Passages similar to a place."""

    place: str
    passages: tuple[ShownHit, ...]


def shown_result(result: Result, state: PageState, k: int) -> ShownResult:
    """Return an answer with the links it needs."""
    places = {hit.rank: _place(hit, state) for hit in result.passages}

    def cited(ranks: Iterable[int]) -> tuple[ShownPlace, ...]:
        return tuple(places[rank] for rank in ranks if rank in places)

    answer = result.answer
    return ShownResult(
        found=result.found,
        confidence_word=display.confidence_word(result.confidence),
        percent=display.percent(result.confidence),
        text=answer.text.strip("\n") if answer else "",
        sentence=_sentence(answer) if answer else (),
        cited=cited(answer.citations) if answer else (),
        alternatives=tuple(ShownAlternative(other.text, cited(other.citations)) for other in answer.alternatives)
        if answer
        else (),
        corrections=result.corrections,
        passages=shown_hits(result.passages, state, answer if result.found else None),
        more=min(k + _MORE, MAX_HITS) if k < MAX_HITS and len(result.passages) == k else 0,
    )


def shown_similar(similar: Similar, state: PageState) -> ShownSimilar:
    """Return passages similar to a place."""
    return ShownSimilar(similar.of.place or similar.of.given, shown_hits(similar.passages or (), state))


def shown_hits(hits: Sequence[Hit], state: PageState, answer: Answer | None = None) -> tuple[ShownHit, ...]:
    """Return passages with their sentences marked, and the answer itself in the first cited one."""
    return tuple(_shown(hit, state, answer) for hit in hits)


def _shown(hit: Hit, state: PageState, answer: Answer | None) -> ShownHit:
    first, (start, end) = hit.source.chars[0], display.body_span(hit)
    is_code = hit.source.media_type.startswith(_SOURCE_TYPES) and hit.source.media_type not in _PROSE
    sentences = tuple(highlight.chars for highlight in hit.highlights)
    answers: tuple[Span, ...] = ()
    if answer and sentences and hit.rank in answer.citations[:1]:
        at = hit.text.find(answer.text, sentences[0][0] - first)
        is_part = at >= 0 and len(answer.text) < len(hit.highlights[0].text)
        answers = ((first + at, first + at + len(answer.text)),) if is_part else ()
    text = hit.text[start:end] if is_code else _FULL_LINE.sub(_blank, hit.text[start:end])
    place = _place(hit, state)
    return ShownHit(
        rank=hit.rank,
        citation=place.citation,
        href=place.href,
        like=state.closed.link(like=hit.id),
        state=hit.source.state.value,
        trail=tuple(filter(None, map(str.strip, display.trail(hit)))),
        pieces=_marks(sentences, answers, is_found=answer is not None).cut(text, first + start),
        is_code=is_code,
        is_open=state.open == hit.id,
        also_in=tuple(
            ShownPlace(hit.rank, name := cite(other.path, other.lines, other.page), state.opened(name))
            for other in hit.also_in[:_ALSO]
        ),
        also_more=max(0, len(hit.also_in) - _ALSO),
    )


def _marks(sentences: tuple[Span, ...], answers: tuple[Span, ...], *, is_found: bool) -> Marks:
    """Return marks that make the best sentence stand out, or all alike if no answer was found."""
    return Marks(sentences[1:], sentences[:1], answers) if is_found else Marks(sentences)


def _blank(line_end: re.Match[str]) -> str:
    return " " * len(line_end[0])


def _place(hit: Hit, state: PageState) -> ShownPlace:
    mark = hit.highlights[0].chars if hit.highlights else None
    citation = cite(hit.source.path, hit.source.lines, hit.source.page)
    return ShownPlace(hit.rank, citation, state.opened(hit.id, mark))


def _sentence(answer: Answer) -> tuple[MarkedText, ...]:
    """Return the answer's sentence in one line with the answer marked; () if the answer is the whole sentence."""
    sentence, text = " ".join(answer.sentence.split()), " ".join(answer.text.split())
    if sentence in ("", text):
        return ()
    at = sentence.find(text)
    return Marks(answers=((at, at + len(text)),) if at >= 0 else ()).cut(sentence)


def heading_levels(blocks: Sequence[TextBlock]) -> list[int]:
    """Return the level of each heading, below the page's own two and none skipped; 0 for other blocks."""
    levels, last = [], 2
    for block in blocks:
        if block.kind == BlockKind.HEADING:
            last = max(3, min(last + 1, block.level + 2, 6))
        levels.append(last if block.kind == BlockKind.HEADING else 0)
    return levels
