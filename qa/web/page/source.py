"""A view of a source: its text or its page around a place, with the cited text marked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import LineMap, Sandbox, digest, load, read_file
from corpus.errors import Unreadable, UsageError
from corpus.formats import MARKDOWN, PDF, SHEETS
from corpus.types import Block, BlockKind, Document
from qa.answer.citation import state_without
from qa.answer.results import State, cite
from qa.places import Place, find_place
from qa.web.page.marks import Marks, Span, window
from qa.web.page.pictures import Pictures, PictureView, boxes_on
from qa.web.page.state import PageState
from qa.web.page.table_view import TABLES, TableView, table_view
from qa.web.page.text_views import BlocksView, LinesView, blocks_view, lines_view

if TYPE_CHECKING:
    from index import Index
    from qa.web.page.markdown import MarkdownView

    Body = LinesView | BlocksView | TableView | PictureView | MarkdownView

# How many characters of a document are shown at once.
ROOM = 24_000
_LINE_END = re.compile("\n")
_BLANK_LINES = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class SourceView:
    """A source, ready to be shown.

    Attributes:
        path: The path of its file.
        title: The title of the document or record, or "".
        citation: The place, as cited.
        key: The passage's id, or "" if the place is not a single passage.
        state: The file's current state.
        text: The passage as indexed, or "".
        is_there: Whether the file still has the passage.
        reason: Why the file cannot be read, or "".
        body: The text or page to show; None if the file cannot be read.
        earlier: Where the previous part is, as `PageState.at`; None at the beginning.
        later: Where the next part is; None at the end.
    """

    path: str
    title: str
    citation: str
    key: str
    state: State
    text: str
    is_there: bool = True
    reason: str = ""
    body: Body | None = None
    earlier: int | None = None
    later: int | None = None


class Sources:
    """Makes views of sources."""

    def __init__(self) -> None:
        self.pictures = Pictures()
        # Keyed by digest too; paging through a long document parses it only once.
        self._load = lru_cache(maxsize=4)(_load)

    def view(self, root: Path, snapshot: Index, wanted: PageState, sandbox: Sandbox) -> SourceView:
        """Return the source that is open on a page.

        Raises:
            UsageError: The collection has no such place; hidden and excluded files are not shown.
        """
        place = find_place(snapshot, root, wanted.open, None)
        if place is None or place.document is None:
            raise UsageError(f"{wanted.open} is not in the collection.")
        view = _named(place)
        try:
            if place.document.media_type == PDF.media_type:
                return self._page(view, place, wanted, read_file(root, place.path), sandbox)
            document = self._load(root, place.path, snapshot.info.formats, sandbox, digest(read_file(root, place.path)))
        except Unreadable as error:
            return replace(view, state=state_without(place.path, error), is_there=False, reason=error.reason)
        return _text(view, place, wanted, document)

    def _page(self, view: SourceView, place: Place, wanted: PageState, data: bytes, sandbox: Sandbox) -> SourceView:
        """Show the current page of a PDF; if the file has changed, mark as much of the passage as it still has."""
        sha256 = digest(data)
        is_same = place.document is not None and sha256 == place.document.sha256
        begins = place.page or (place.passages[0].page if place.passages else None) or 1
        page = wanted.part or begins
        drawn = self.pictures.draw(sandbox, data, sha256, page)
        # By paragraph, as a page number or a figure may come between two of them.
        texts = [("passage", begins, text) for text in _BLANK_LINES.split(view.text) if text.strip()]
        if view.text and (sentence := _sentence(place, wanted)):
            texts.append(("sentence", begins, sentence))
        boxes = boxes_on(sandbox, data, page, texts) if texts else ()
        return replace(
            view,
            state=State.VERIFIED if is_same else State.CHANGED,
            is_there=is_same or bool(boxes) or page != begins,
            body=PictureView(sha256, page, drawn.pages, drawn.width, drawn.height, boxes),
            earlier=page - 1 if page > 1 else None,
            later=page + 1 if page < drawn.pages else None,
        )


def _load(root: Path, path: str, formats: tuple[str, ...], sandbox: Sandbox, _sha256: str) -> Document:
    return load(root, path, formats=formats, sandbox=sandbox)


def _named(place: Place) -> SourceView:
    first = place.passages[0] if place.passages else None
    title = first.title if first else place.document.title if place.document else ""
    cited = first or place
    key = first.key if first and len(place.passages) == 1 else ""
    text = "\n".join(passage.text for passage in place.passages)
    return SourceView(place.path, title, cite(place.path, cited.lines, cited.page), key, State.VERIFIED, text)


def _sentence(place: Place, wanted: PageState) -> str:
    first = place.passages[0]
    if wanted.sentence is None or not first.start <= wanted.sentence[0] < wanted.sentence[1] <= first.end:
        return ""
    return first.text[wanted.sentence[0] - first.start : wanted.sentence[1] - first.start]


def _text(view: SourceView, place: Place, wanted: PageState, document: Document) -> SourceView:
    is_same = place.document is not None and document.sha256 == place.document.sha256
    view = replace(view, state=State.VERIFIED if is_same else State.CHANGED)
    span, marks = _marked(place, wanted, document, is_same=is_same)
    if span is None and place.passages:
        view = replace(view, is_there=False)
    around = span or (0, 0)
    if wanted.part is not None:
        at = min(wanted.part, max(0, len(document.text) - 1)) + ROOM // 2
        around = (at, at)
    begin, end = _extent(document, around[0] if wanted.part is None else around[0] - ROOM // 2)
    edges = [edge - begin for edge in _edges(document, around)]
    first, last = (begin + at for at in window(end - begin, (around[0] - begin, around[1] - begin), edges, room=ROOM))
    return replace(
        view,
        body=_body(document, (first, last), marks),
        earlier=max(_extent(document, first - 1)[0], first - ROOM) if first > 0 else None,
        later=last if last < len(document.text) else None,
    )


def _extent(document: Document, at: int) -> Span:
    """Return the characters that parts are cut from: in a workbook those of one sheet, else the whole document."""
    page = document.page_of(at) if document.media_type in SHEETS else None
    return (0, len(document.text)) if page is None else document.page_span(page) or (0, len(document.text))


def _marked(place: Place, wanted: PageState, document: Document, *, is_same: bool) -> tuple[Span | None, Marks]:
    """Return where the place is in the current document, and its marks."""
    if place.page is not None:
        span = document.page_span(place.page)
        return span, Marks((span,) if span else ())
    if place.lines is not None:
        lines = LineMap(document.text)
        if document.file_lines != () or not 1 <= place.lines[0] <= len(lines):
            return None, Marks()
        span = lines.span(place.lines[0])[0], lines.span(min(max(place.lines), len(lines)))[1]
        return span, Marks((span,))
    if not place.passages:
        return None, Marks()
    first, last = place.passages[0], place.passages[-1]
    sentence = (wanted.sentence,) if wanted.sentence and _sentence(place, wanted) else ()
    span = (first.start, last.end)
    marks = Marks((span,), sentence)
    if not is_same:
        at = document.text.find(first.text)
        if at < 0:
            return None, Marks()
        span = (at, at + len(first.text))
        marks = replace(marks, passages=((first.start, first.end),)).moved(at - first.start)
    return span, marks


def _edges(document: Document, around: Span) -> list[int]:
    """Return where a document may be cut: between lines if it is shown line by line, else between blocks."""
    if _is_lines(document):
        low, high = max(0, around[0] - ROOM), around[1] + ROOM
        return [at + 1 for at in range(low, min(high, len(document.text))) if document.text[at] == "\n"]
    starts = [at for block in document.blocks for at in _cuts(document.text, block)]
    return starts[bisect_left(starts, around[0] - ROOM) : bisect_left(starts, around[1] + ROOM)]


def _cuts(text: str, block: Block) -> Iterator[int]:
    """Yield where a block begins, and in a table each further row."""
    yield block.start
    if block.kind is BlockKind.TABLE:
        yield from (line_end.end() for line_end in _LINE_END.finditer(text, block.start, block.end))


def _is_lines(document: Document) -> bool:
    return document.file_lines == () and document.media_type != MARKDOWN.media_type


def _body(document: Document, shown: Span, marks: Marks) -> Body:
    if _is_lines(document):
        return lines_view(document, shown, marks)
    if document.media_type in TABLES:
        return table_view(document, shown, marks)
    if document.media_type != MARKDOWN.media_type:
        return blocks_view(document, shown, marks)
    from qa.web.page.markdown import markdown_view  # noqa: PLC0415 - other formats do not need its parser

    start, end = shown
    head = next((block for block in document.blocks[:1] if block.kind in (BlockKind.META, BlockKind.DATA)), None)
    preface = document.text[start : head.end] if head and head.end > start else ""
    begin = start + len(preface)
    return markdown_view(preface, document.text[begin:end], begin, marks)
