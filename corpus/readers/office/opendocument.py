"""OpenDocument slides (ODP), each a page, and workbooks (ODS), with their cells as displayed."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from corpus.formats import ODP, ODS
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.odt import add_elements, read_content, repeat_count, row_texts, text_in
from corpus.readers.office.xml_tree import find_all, find_first
from corpus.readers.office.zip_archive import Archive
from corpus.readers.records.sheets import Sheet, add_sheets
from corpus.types import Extracted

_SKIP = frozenset({"annotation"})
# What holds text on a slide.
_SHAPES = (
    *("frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "measure", "caption"),
    *("path", "polygon", "polyline", "regular-polygon"),
)


def read_slides(archive: Archive) -> Extracted:
    """Read a presentation."""
    builder = DocumentBuilder()
    for page in find_all(read_content(archive), "page"):
        builder.page()
        builder.section(1, "")
        shapes = find_all(page, *_SHAPES, skip=frozenset({"notes"}))
        frames = sorted(shapes, key=lambda frame: not _is_title(frame))
        for frame in frames:
            if _is_title(frame):
                builder.heading(1, " ".join(text_in(frame).split()))
            else:
                add_elements(builder, frame)
        for notes in find_all(page, "notes"):
            for frame in find_all(notes, "frame"):
                if frame.get("class") == "notes":
                    add_elements(builder, frame)
    builder.title = archive.read_title("meta.xml")
    return builder.build(ODP.media_type)


def _is_title(frame: Element) -> bool:
    return frame.get("class") == "title"


def read_sheets(archive: Archive) -> Extracted:
    """Read a workbook."""
    builder = DocumentBuilder()
    tables = find_all(find_first(read_content(archive), "spreadsheet"), "table", skip=frozenset({"tracked-changes"}))
    add_sheets(builder, [Sheet(table.get("name", ""), list(_rows(table))) for table in tables])
    return builder.build(ODS.media_type, title=archive.read_title("meta.xml"))


def _rows(table: Element) -> Iterator[tuple[int, list[str]]]:
    number = 1
    for row in find_all(table, "table-row"):
        values = row_texts(row, _cell_text)
        if any(map(str.strip, values)):
            yield number, values
        # A repeated row is yielded only once.
        number += repeat_count(row, "number-rows-repeated")


def _cell_text(cell: Element) -> str:
    date = cell.get("date-value", "").replace("T", " ").removesuffix(" 00:00:00")
    return date or "\n".join(text_in(line) for line in find_all(cell, "p", skip=_SKIP))
