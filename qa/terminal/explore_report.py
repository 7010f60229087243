"""The output of `qa similar`, `qa topics` and `qa map`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.formats import page_label
from qa.answer.display import count
from qa.explore.results import Similar, SimilarDocument, Topic, Topics
from qa.terminal.answers import BOLD, DIM, Places, TerminalStyle, hits
from qa.terminal.reports import megabytes
from qa.terminal.text import clean_line, clean_name

_INDENT = "    "


def similar(found: Similar, style: TerminalStyle, place: Places) -> str:
    """Return similar documents or passages, best first."""
    if found.documents is not None:
        parts = [_document(document, style) for document in found.documents]
    else:
        parts = hits(found.passages or (), style, place)
    return "\n\n".join(parts or ["Nothing in the collection is similar."]) + "\n"


def _document(found: SimilarDocument, style: TerminalStyle) -> str:
    name = clean_line(found.title) or clean_name(found.path)
    lines = [f"{style.paint(f'[{found.rank}] {name}', BOLD)}  {style.paint(f'{found.score:.2f}', DIM)}"]
    lines.append(_INDENT + clean_name(found.place))
    for place, similar_place in found.because:
        pair = f"{place} and {similar_place}" if place else similar_place
        lines.append(_INDENT + style.paint(f"alike: {clean_name(pair)}", DIM))
    return "\n".join(lines)


def topics(found: Topics, style: TerminalStyle, place: Places) -> str:
    """Return topics, each with its subtopics and the passages to read first."""
    noun = found.unit.removesuffix("s")
    if not found.topics:
        return f"There are no {found.unit}.\n"
    lines = [f"{count(len(found.topics), 'topic')} of {count(found.total, noun)}"]
    if found.unassigned:
        lines[0] += f"; {count(found.unassigned, noun)} in none of them"
    for topic in found.topics:
        lines += ["", *_topic(topic, noun, style, place)]
    return "\n".join(lines) + "\n"


def _topic(topic: Topic, noun: str, style: TerminalStyle, place: Places) -> Iterator[str]:
    label = style.paint(clean_line(topic.label) or "others", BOLD)
    yield f"{topic.id:>3} {label}  {style.paint(count(topic.size, noun), DIM)}"
    if topic.topics:
        parts = "; ".join(f"{part.id} {clean_line(part.label) or 'others'} ({part.size:,})" for part in topic.topics)
        yield style.fit(parts, indent=_INDENT)
    for hit in topic.passages:
        # A sheet has many rows.
        is_sheet = hit.source.page is not None and page_label(hit.source.path) == "sheet"
        row = "  " + style.separator.join(map(clean_line, hit.heading)) if is_sheet and hit.heading else ""
        yield _INDENT + style.paint(place.cited(hit) + row, DIM)


def drawn(file: Path, size: int) -> str:
    """Return the message that a map was written."""
    return f"Wrote {clean_name(str(file))} ({megabytes(size)})\n"
