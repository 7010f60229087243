"""What the templates show of answers and passages, beyond their own fields."""

from __future__ import annotations

import re

from qa.answer import display
from qa.answer.results import Answer, Hit, Location, Source, cite
from qa.explore.results import Similar
from qa.web.page.marks import MarkedText, Marks, Span

# The end of a line that was wrapped because it was full.
_FULL_LINE = re.compile(r"(?<=[^\n]{50})\r?\n(?=[^\W\d_]|[\"'“‘(])")
_SOURCE_TYPES = ("text/x-", "text/javascript")
_PROSE = frozenset({"text/x-rst", "text/x-org", "text/x-tex", "text/x-bibtex"})


def citation(place: Source | Location) -> str:
    """Return a place as cited; the headings are shown below it."""
    return cite(place.path, place.lines, place.page)


def trail(hit: Hit) -> list[str]:
    """Return the headings above a passage."""
    return [name.strip() for name in display.trail(hit) if name.strip()]


def is_code(hit: Hit) -> bool:
    """Return whether a passage is source code, whose lines are shown as they are."""
    return hit.source.media_type.startswith(_SOURCE_TYPES) and hit.source.media_type not in _PROSE


def passage(hit: Hit, answer: Answer | None) -> tuple[MarkedText, ...]:
    """Return a passage with its best sentence marked, and in the first cited one the answer itself.

    If there is no answer, all sentences are marked alike.
    """
    first, (start, end) = hit.source.chars[0], display.body_span(hit)
    sentences = tuple(highlight.chars for highlight in hit.highlights)
    answers: tuple[Span, ...] = ()
    if answer and sentences and hit.rank in answer.citations[:1]:
        at = hit.text.find(answer.text, sentences[0][0] - first)
        if at >= 0 and len(answer.text) < len(hit.highlights[0].text):
            answers = ((first + at, first + at + len(answer.text)),)
    text = hit.text[start:end]
    if not is_code(hit):
        text = _FULL_LINE.sub(lambda line_end: " " * len(line_end[0]), text)
    marks = Marks(sentences[1:], sentences[:1], answers) if answer else Marks(sentences)
    return marks.cut(text, first + start)


def sentence(answer: Answer) -> tuple[MarkedText, ...]:
    """Return the answer's sentence in one line with the answer marked; () if the answer is the whole sentence."""
    sentence_text, text = " ".join(answer.sentence.split()), " ".join(answer.text.split())
    if sentence_text in ("", text):
        return ()
    at = sentence_text.find(text)
    return Marks(answers=((at, at + len(text)),) if at >= 0 else ()).cut(sentence_text)


def subject(similar: Similar) -> str:
    """Return what passages are similar to: a place or a text."""
    return similar.of.place or similar.of.given
