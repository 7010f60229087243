"""OpenDocument slides (ODP), each a page, and workbooks (ODS), with cells as displayed."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from corpus.formats import ODP, ODS
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.odt import add_content, content, text_in
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.readers.records.sheets import MAX_COLUMNS, add_sheets
from corpus.types import Extracted

_SKIP = frozenset({"annotation"})


def read_slides(archive: Archive) -> Extracted:
    """Read a presentation."""
    builder = DocumentBuilder()
    for page in each(content(archive), "page"):
        builder.page()
        builder.section(1, "")
        frames = sorted(
            each(page, "frame", "custom-shape", skip=frozenset({"notes"})), key=lambda frame: not _is_title(frame)
        )
        for frame in frames:
            if _is_title(frame):
                builder.heading(1, " ".join(text_in(frame).split()))
            else:
                add_content(builder, frame)
        for notes in each(page, "notes"):
            for frame in each(notes, "frame"):
                if frame.get("class") == "notes":
                    add_content(builder, frame)
    builder.title = archive.title("meta.xml")
    return builder.build(ODP.media_type)


def _is_title(frame: Element) -> bool:
    return frame.get("class") == "title"


def read_sheets(archive: Archive) -> Extracted:
    """Read a workbook."""
    builder = DocumentBuilder()
    tables = each(first(content(archive), "spreadsheet"), "table", skip=frozenset({"tracked-changes"}))
    add_sheets(builder, [(table.get("name", ""), list(_rows(table))) for table in tables])
    return builder.build(ODS.media_type, title=archive.title("meta.xml"))


def _rows(table: Element) -> Iterator[tuple[int, list[str]]]:
    number = 1
    for row in each(table, "table-row"):
        values: list[str] = []
        for cell in each(row, "table-cell", "covered-table-cell"):
            repeated = min(_count(cell, "number-columns-repeated"), MAX_COLUMNS - len(values))
            values.extend([_value(cell)] * repeated)
        if any(map(str.strip, values)):
            yield number, values
        # A repeated row is yielded only once.
        number += _count(row, "number-rows-repeated")


def _count(element: Element, name: str) -> int:
    given = element.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 9 else 1


def _value(cell: Element) -> str:
    date = cell.get("date-value", "").replace("T", " ").removesuffix(" 00:00:00")
    return date or "\n".join(text_in(line) for line in each(cell, "p", skip=_SKIP))
