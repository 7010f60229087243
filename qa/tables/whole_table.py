"""The whole table that a passage is part of: its rows from all passages of the document.

Tables with bars, which go on over several passages, and records, such as the rows of a CSV file, whose fields stand one
below the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from index import Index, StoredPassage
from qa.reader.tables import TextTable, tables

# Of a document with more, no table is put together.
_MAX_PASSAGES = 1000
# Fields of a record, and records of a table, at least.
_LEAST = 2
_FIELD = re.compile(r"([^\s:][^\n:]{0,39}):(?: (.*))?")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: Of each column; "" where it has none.
        passage: It is in this one.
        span: There, in characters, end exclusive.
    """

    cells: tuple[str, ...]
    passage: StoredPassage
    span: Span


@dataclass(frozen=True, slots=True)
class WholeTable:
    """A table.

    Attributes:
        columns: Their names.
        rows: All of them, in order.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, number: int) -> list[str]:
        """The cells of a column."""
        return [row.cells[number] for row in self.rows]

    @property
    def about(self) -> str:
        """What says of what its rows are: the name of the file, the title, the headings that all rows are below."""
        first = self.rows[0].passage
        name = PurePosixPath(first.document.path).stem.replace("_", " ")
        headings = (one for one in _headings(self.rows[0]) if all(one in row.passage.heading for row in self.rows))
        return " ".join((name, first.document.title, *headings))


def whole_tables(snapshot: Index, ranked: Sequence[StoredPassage]) -> Iterator[WholeTable]:
    """Yield all tables of the documents that some passages are rows of, in the order of these."""
    having = {one.document.path: one.document for one in ranked if next(_rows(one), None) is not None}
    for path, document in having.items():
        rows: dict[tuple[str, ...], list[Row]] = {}
        for one in snapshot.passages_of(path) if document.passages <= _MAX_PASSAGES else ():
            for columns, row in _rows(one):
                rows.setdefault(columns, []).append(row)
        yield from (_whole(columns, some) for columns, some in rows.items() if len(some) >= _LEAST)


def _whole(columns: tuple[str, ...], rows: Sequence[Row]) -> WholeTable:
    """The table of some rows; records may lack fields, and headings that part it are its last column."""
    if len(columns) == 1:
        fields = [dict(_fields(row.passage.text[slice(*row.span)])) for row in rows]
        columns = tuple(dict.fromkeys(name for one in fields for name in one))
        rows = [
            Row(tuple(one.get(name, "") for name in columns), row.passage, row.span)
            for one, row in zip(fields, rows, strict=True)
        ]
    below = [_headings(row) for row in rows]
    common = set(below[0]).intersection(*below)
    parts = ["; ".join(one for one in several if one not in common) for several in below]
    if any(parts):
        columns = (*columns, "")
        rows = [Row((*row.cells, part), row.passage, row.span) for row, part in zip(rows, parts, strict=True)]
    return WholeTable(columns, tuple(rows))


def _headings(row: Row) -> tuple[str, ...]:
    """What a row is below; the title of a record, which is one of its values, is left out."""
    return tuple(one for one in row.passage.heading if one not in row.cells)


def _rows(passage: StoredPassage) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Each row of a passage with the names of the columns, of a record with that of the first field alone."""
    text = passage.text
    for table in tables(text, passage.context):
        yield from ((table.columns, Row(cells, passage, span)) for cells, span in _cells(text, table))
    if "|" in text or passage.is_front_matter:
        return
    at = 0
    for block in text.split("\n\n"):
        fields = _fields(block)
        if len(fields) >= _LEAST:
            yield fields[0][:1], Row((), passage, (at, at + len(block)))
        at += len(block) + 2


def _cells(text: str, table: TextTable) -> Iterator[tuple[tuple[str, ...], Span]]:
    for row in table.rows if len(table.columns) >= _LEAST else ():
        if len(row) == len(table.columns):
            yield tuple(text[slice(*cell)].replace(r"\|", "|") for cell in row), (row[0][0], row[-1][1])


def _fields(block: str) -> list[tuple[str, str]]:
    """The fields of a record; [] of other text. What goes on in further lines belongs to the field before."""
    found: list[tuple[str, str]] = []
    for line in block.split("\n"):
        if field := _FIELD.fullmatch(line):
            found.append((field[1], field[2] or ""))
        elif not found:
            return []
        else:
            found[-1] = found[-1][0], f"{found[-1][1]}\n{line}"
    return found
