"""The sentences of a passage that answer, and the answer made of the best of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus import sentence_spans
from index import StoredPassage
from qa.answer.results import Answer, Highlight

# A highlight longer than this no longer points anywhere.
_MAX_HIGHLIGHT = 400
_MAX_HIGHLIGHTS = 3
# Of a list that a sentence introduces, so many items.
_MAX_ITEMS = 10
# Further sentences are highlighted where they are nearly as good as the best.
_NEARLY = 0.92
_MARKER = re.compile(r"(?:[•◦▪‣●○■□–—*+-]|\(?\d{1,3}[.)])\s+")
_SOFT_BREAK = re.compile(r"[;:,]\s+|\s+")


@dataclass(frozen=True, slots=True)
class Marked:
    """The answering sentences of one passage.

    Attributes:
        highlights: Best first; the items of a list behind the sentence that introduces it.
        score: The best one's.
        answer: The text to show as the answer: the best sentence, with its list.
    """

    highlights: tuple[Highlight, ...]
    score: float
    answer: str = ""


SpanScore = Callable[[int, int], float]


def mark(passage: StoredPassage, score: SpanScore) -> Marked:
    """Choose the sentences of a passage that answer.

    Args:
        passage: The passage.
        score: How well a span answers, by first character and one past the last, counted from the text proper.
    """
    body = passage.text[passage.body :]
    base = passage.start + passage.body
    spans = _sentences(body)
    if not spans:
        return Marked((), 0.0)
    scored = sorted(
        ((round(score(start, end), 9), start, end) for start, end in spans),
        key=lambda entry: (-entry[0], entry[1]),
    )
    best, *first = scored[0]
    listed = _list_behind(body, spans, (first[0], first[1]))
    further = [(start, end) for score, start, end in scored[1:_MAX_HIGHLIGHTS] if score >= _NEARLY * best > 0]
    chosen = [(first[0], first[1]), *(listed or further)]
    highlights = tuple(Highlight((base + start, base + end), body[start:end]) for start, end in chosen)
    return Marked(highlights, best, body[first[0] : listed[-1][1] if listed else first[1]])


def compose(marked: Sequence[Marked]) -> Answer | None:
    """The answer to show first: the best sentence of the best passage, cited by rank."""
    for rank, found in enumerate(marked, start=1):
        if found.highlights:
            return Answer(found.answer, (rank,))
    return None


def _list_behind(body: str, spans: Sequence[tuple[int, int]], lead: tuple[int, int]) -> list[tuple[int, int]]:
    """The items of the list that a sentence introduces by its colon; none where it introduces none."""
    if not body[lead[0] : lead[1]].rstrip().endswith(":"):
        return []
    items: list[tuple[int, int]] = []
    for start, end in spans[spans.index(lead) + 1 :]:
        line = body.rfind("\n", 0, start) + 1
        marked = _MARKER.fullmatch(body[line:start].lstrip())
        # What goes on behind an item's first sentence belongs to it; a paragraph behind the list does not.
        goes_on = items and "\n\n" not in body[items[-1][1] : start] and body[line:start].strip()
        if len(items) == _MAX_ITEMS or not (marked or goes_on):
            break
        items.append((start, end))
    return items


def _sentences(body: str) -> list[tuple[int, int]]:
    """Sentences of a text, list markers left out, over-long ones cut between words."""
    found = []
    for first, end in sentence_spans(body):
        marker = _MARKER.match(body, first, end)
        start = marker.end() if marker else first
        while end - start > _MAX_HIGHLIGHT:
            breaks = [m.end() for m in _SOFT_BREAK.finditer(body, start, start + _MAX_HIGHLIGHT)]
            stop = breaks[-1] if breaks else start + _MAX_HIGHLIGHT
            found.append((start, start + len(body[start:stop].rstrip())))
            # Behind a cut inside a word there may be a blank.
            start = stop + len(body[stop:end]) - len(body[stop:end].lstrip())
        found.append((start, end))
    return found
