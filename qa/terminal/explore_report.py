"""The output of `qa similar`, `qa topics` and `qa map`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.formats import page_label
from qa.answer.display import FLAGS, count, flags, format_size
from qa.explore.results import Similar, SimilarDocument, Topic, Topics
from qa.terminal.answers import BOLD, DIM, WARN, Places, TerminalStyle, render_hits
from qa.terminal.text import clean_line, clean_name

_INDENT = "    "


def render_similar(similar: Similar, style: TerminalStyle, places: Places) -> str:
    """Return similar documents or passages, best first."""
    if similar.documents is not None:
        parts = [_render_document(document, style) for document in similar.documents]
    else:
        parts = render_hits(similar.passages or (), style, places)
    return "\n\n".join(parts or ["Nothing in the collection is similar."]) + "\n"


def _render_document(document: SimilarDocument, style: TerminalStyle) -> str:
    name = clean_line(document.title) or clean_name(document.path)
    lines = [f"{style.paint(f'[{document.rank}] {name}', BOLD)}  {style.paint(f'{document.score:.2f}', DIM)}"]
    remark = f"  {style.paint(f'! {FLAGS[document.state]}', WARN)}" if document.state in FLAGS else ""
    lines.append(_INDENT + clean_name(document.place) + remark)
    for source, target in document.because:
        pair = f"{source} and {target}" if source else target
        lines.append(_INDENT + style.paint(f"alike: {clean_name(pair)}", DIM))
    return "\n".join(lines)


def render_topics(topics: Topics, style: TerminalStyle, places: Places) -> str:
    """Return topics, each with its subtopics and the passages to read first."""
    noun = topics.unit.removesuffix("s")
    if not topics.topics:
        return f"There are no {topics.unit}.\n"
    lines = [f"{count(len(topics.topics), 'topic')} of {count(topics.total, noun)}"]
    if topics.unassigned:
        lines[0] += f"; {count(topics.unassigned, noun)} in none of them"
    for topic in topics.topics:
        lines += ["", *_topic_lines(topic, noun, style, places)]
    return "\n".join(lines) + "\n"


def _topic_lines(topic: Topic, noun: str, style: TerminalStyle, places: Places) -> Iterator[str]:
    label = style.paint(clean_line(topic.label) or "others", BOLD)
    yield f"{topic.id:>3} {label}  {style.paint(count(topic.size, noun), DIM)}"
    if topic.topics:
        parts = "; ".join(f"{part.id} {clean_line(part.label) or 'others'} ({part.size:,})" for part in topic.topics)
        yield style.fit(parts, indent=_INDENT)
    for hit in topic.passages:
        # A sheet has many rows.
        is_sheet = hit.source.page is not None and page_label(hit.source.path) == "sheet"
        row = "  " + style.separator.join(map(clean_line, hit.heading)) if is_sheet and hit.heading else ""
        remarks = "".join(f"  {style.paint(f'! {flag}', WARN)}" for flag in flags(hit))
        yield _INDENT + style.paint(places.cited(hit) + row, DIM) + remarks


def render_map_written(file: Path, size: int) -> str:
    """Return the message that a map was written."""
    return f"Wrote {clean_name(str(file))} ({format_size(size)})\n"
