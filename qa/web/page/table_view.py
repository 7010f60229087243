"""Turns tables and sheets, whose rows were extracted as lines of `name: value`, back into tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from corpus.formats import SHEETS, format_of
from corpus.types import Block, BlockKind, Document
from qa.web.page.marks import MarkedText, Marks, Span

TABLES = SHEETS | {kind.media_type for name in ("a.csv", "a.tsv") if (kind := format_of(name))}
_NAME = re.compile(r"(?P<name>[^\n:]{1,80}): ?(?P<value>.*)", re.DOTALL)
_ROW = re.compile(r"[Rr]ow (\d+)\)?$")
# A table of many short rows has one row per line.
_SHORT_ROW = re.compile(r"Row (?P<number>\d+): (?P<cells>.*)")
_NEXT_CELL = re.compile("; ")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: its number in the file, and one cell per column."""

    number: int | None
    cells: tuple[tuple[MarkedText, ...], ...]
    is_marked: bool


@dataclass(frozen=True, slots=True)
class TableView:
    """Rows of a table."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True, slots=True)
class _TableRecord:
    """A row of the extracted text: its number, and where its title and its lines or fields are."""

    number: int | None
    title: Span | None
    fields: tuple[Span, ...]


def table_view(document: Document, shown: Span, marks: Marks) -> TableView:
    """Return the rows in the shown characters of a table."""
    blocks = [block for block in document.blocks if block.start < shown[1] and shown[0] < block.end]
    is_sheet = document.media_type in SHEETS
    records = list(_records(document, blocks, shown, is_sheet=is_sheet))
    columns = _columns(document.text, records)
    titled = ("Title",) if any(record.title for record in records) else ()
    sheet = blocks[0].heading[:1] if is_sheet and blocks else ()
    rows = (_row(document.text, record, columns, marks, titled=bool(titled)) for record in records)
    return TableView("".join(sheet), (*titled, *columns), tuple(rows))


def _records(document: Document, blocks: Sequence[Block], shown: Span, *, is_sheet: bool) -> Iterator[_TableRecord]:
    title: Span | None = None
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            if title:
                yield _TableRecord(document.page_of(title[0]), title, ())
            title = None if is_sheet else (block.start, block.end)
        elif block.kind is BlockKind.TABLE:
            yield from _short_rows(document.text, max(block.start, shown[0]), min(block.end, shown[1]))
        else:
            named = _ROW.search(block.heading[-1]) if is_sheet and block.heading else None
            number = int(named[1]) if named else None if is_sheet else document.page_of(block.start)
            yield _TableRecord(number, title, tuple(_lines(document.text, block.start, block.end)))
            title = None
    if title:
        yield _TableRecord(document.page_of(title[0]), title, ())


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    return (line.span() for line in _LINE.finditer(text, start, end))


def _short_rows(text: str, begin: int, stop: int) -> Iterator[_TableRecord]:
    for start, end in _lines(text, begin, stop):
        row = _SHORT_ROW.fullmatch(text, start, end)
        cells = row.start("cells") if row else start
        cuts = [cells, *(separator.end() for separator in _NEXT_CELL.finditer(text, cells, end))]
        spans = [(cell, following - 2) for cell, following in pairwise(cuts)] + [(cuts[-1], end)]
        yield _TableRecord(int(row["number"]) if row else None, None, tuple(spans))


def _columns(text: str, records: Sequence[_TableRecord]) -> tuple[str, ...]:
    """Return field names in order of appearance; one in a single row of many is taken for part of a value."""
    counts: Counter[str] = Counter()
    for record in records:
        counts.update({field["name"]: 1 for span in record.fields if (field := _NAME.fullmatch(text, *span))})
    return tuple(name for name, count in counts.items() if count > 1 or len(records) < 3)


def _row(text: str, record: _TableRecord, columns: Sequence[str], marks: Marks, *, titled: bool) -> TableRow:
    """Return a row; lines without a column's name continue the cell above."""
    spans: dict[str, list[Span]] = {name: [] for name in columns}
    loose: list[Span] = []
    current = loose
    for start, end in record.fields:
        field = _NAME.fullmatch(text, start, end)
        named = field if field and field["name"] in spans else None
        current = spans[named["name"]] if named else current
        current.append((named.start("value") if named else start, end))
    cells = [_cell(text, cell, marks) for cell in spans.values()]
    cells = [_cell(text, [record.title] if record.title else [], marks), *cells] if titled else cells
    # Without column names, each line is a cell.
    cells += ([_cell(text, loose, marks)] if loose else []) if columns else [_cell(text, [s], marks) for s in loose]
    starts = {start for start, _ in record.fields}
    if marks.place in starts and not any(piece.is_place for cell in cells for piece in cell):
        cells = _with_place(cells)
    return TableRow(record.number, tuple(cells), any(piece.mark for cell in cells for piece in cell))


def _with_place(cells: Sequence[tuple[MarkedText, ...]]) -> list[tuple[MarkedText, ...]]:
    """Move the place to the first marked piece, if it was on a column's name, which a row does not show."""
    first = next(((n, m) for n, cell in enumerate(cells) for m, piece in enumerate(cell) if piece.mark), None)
    return [
        tuple(replace(piece, is_place=(n, m) == first) for m, piece in enumerate(cell)) for n, cell in enumerate(cells)
    ]


def _cell(text: str, spans: Sequence[Span], marks: Marks) -> tuple[MarkedText, ...]:
    lines = [marks.cut(text[start:end], start) for start, end in spans]
    return tuple(piece for n, line in enumerate(lines) for piece in ((MarkedText("\n"), *line) if n else line))
