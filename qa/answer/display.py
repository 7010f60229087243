"""A result as Python shows it: as text where it is printed, as HTML in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qa.answer.results import Hit, Result


def as_text(result: Result) -> str:
    """Return the answer, its confidence, and where each passage is; control characters are left out."""
    places = [f"[{hit.rank}] {hit.citation}  {' › '.join(hit.heading)}".rstrip() for hit in result.passages]
    text = "\n".join((_answer(result), _confidence(result), *places))
    return "".join(c if c.isprintable() or c == "\n" else " " if c.isspace() else "" for c in text)


def as_html(result: Result) -> str:
    """Return the answer and each passage with its highlights marked; all text is escaped."""
    passages = "".join(
        f"<li value={hit.rank}><b>{escape(hit.citation)}</b> {escape(' › '.join(hit.heading))}"
        f"<blockquote style='white-space: pre-wrap'>{_marked(hit)}</blockquote></li>"
        for hit in result.passages
    )
    return f"<p>{escape(_answer(result))}</p><p><small>{_confidence(result)}</small></p><ol>{passages}</ol>"


def _answer(result: Result) -> str:
    if not result.passages:
        return "No passage matches the question."
    if not result.found or result.answer is None:
        return "No passage answers this with confidence." if not result.found else "These passages should answer it."
    return f"{result.answer.text} {' '.join(f'[{rank}]' for rank in result.answer.citations)}"


def _confidence(result: Result) -> str:
    return f"Confidence: {result.confidence:.0%}"


def _marked(hit: Hit) -> str:
    first, at, parts = hit.source.chars[0], 0, []
    for start, end in sorted((a - first, b - first) for a, b in (light.chars for light in hit.highlights)):
        if start >= at:
            parts += [escape(hit.text[at:start]), "<mark>", escape(hit.text[start:end]), "</mark>"]
            at = end
    return "".join((*parts, escape(hit.text[at:])))
