"""Assemble the whole table that a passage is part of, from all passages of the document.

Handles tables with bars, which may continue over several passages, and records, such as the rows of a CSV file, whose
fields are on a line each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from index import Index, StoredPassage
from qa.language.replacement import STRUCK_OUT
from qa.language.spans import Span
from qa.structure.tables import TextTable, tables

# No table is assembled from a document with more passages.
_MAX_PASSAGES = 1000
# The fewest fields of a record, columns of a table, and rows of a table.
_LEAST = 2
# Where the name of a column in camel case is divided: "unitPrice", but not "kWh".
_CAMEL = re.compile(r"(?<=[a-z]{2})(?=[A-Z])")
_FIELD = re.compile(r"([^\s:][^\n:]{0,39}):(?: (.*))?")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        cells: One for each column, without what is struck out; "" if the row lacks it.
        passage: The passage that contains the row.
        span: Its characters in the passage's text, end exclusive.
    """

    cells: tuple[str, ...]
    passage: StoredPassage
    span: Span


@dataclass(frozen=True, slots=True)
class WholeTable:
    """A table.

    Attributes:
        columns: The names of the columns.
        rows: All rows, in order.
        lines: The line of text with each column of a transposed table; empty for others.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    lines: tuple[Row, ...] = ()

    def column(self, number: int) -> list[str]:
        """Return the cells of a column."""
        return [row.cells[number] for row in self.rows]

    def cited(self, row: Row, column: int) -> Row:
        """Return a row to be cited for its cell in a column: the line with the column, if the table is transposed."""
        if not self.lines:
            return row
        line = self.lines[column]
        return replace(row, passage=line.passage, span=line.span)

    @property
    def about(self) -> str:
        """The text that names the subject of the rows: the title, and the headings above all rows."""
        first, *later_rows = self.rows
        shared = (name for name in _headings(first) if all(name in row.passage.heading for row in later_rows))
        return " ".join((first.passage.document.title, *shared))

    @property
    def file_name(self) -> str:
        """The names of the file and its folder, which may name the subject of the rows, too."""
        path = PurePosixPath(self.rows[0].passage.document.path)
        return f"{path.parent.name} {path.stem}".replace("_", " ").strip()


def whole_tables(snapshot: Index, ranked: Sequence[StoredPassage]) -> Iterator[WholeTable]:
    """Yield all tables of the documents whose rows are in some passages, in the order of these."""
    with_rows = (passage.document for passage in ranked if next(_rows(passage), None) is not None)
    documents = {document.path: document for document in with_rows}
    for path, document in documents.items():
        rows: dict[tuple[str, ...], list[Row]] = {}
        for passage in snapshot.passages_of(path) if document.passages <= _MAX_PASSAGES else ():
            for columns, row in _rows(passage):
                rows.setdefault(columns, []).append(row)
        yield from (_whole(columns, group) for columns, group in rows.items() if len(group) >= _LEAST)


def _whole(columns: tuple[str, ...], rows: Sequence[Row]) -> WholeTable:
    """Assemble a table from rows; records may lack fields, and headings that divide the table become a last column."""
    if len(columns) == 1:
        fields = [dict(_fields(row.passage.text[slice(*row.span)])) for row in rows]
        columns = tuple(dict.fromkeys(name for field in fields for name in field))
        rows = [
            Row(tuple(record.get(name, "") for name in columns), row.passage, row.span)
            for record, row in zip(fields, rows, strict=True)
        ]
    headings_by_row = [_headings(row) for row in rows]
    common = set(headings_by_row[0]).intersection(*headings_by_row)
    parts = ["; ".join(heading for heading in headings if heading not in common) for headings in headings_by_row]
    if any(parts):
        columns = (*columns, "")
        rows = [Row((*row.cells, part), row.passage, row.span) for row, part in zip(rows, parts, strict=True)]
    names = (_CAMEL.sub(" ", name) if name[:1].islower() else name for name in columns)
    return WholeTable(tuple(names), tuple(rows))


def _headings(row: Row) -> tuple[str, ...]:
    """Return the headings above a row, without the title of a record, which is one of its values."""
    return tuple(heading for heading in row.passage.heading if heading not in row.cells)


def _rows(passage: StoredPassage) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Yield the rows of a passage, each with the column names; a record's row has only the first field's name."""
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
        if _LEAST <= len(row) <= len(table.columns):
            cells = [STRUCK_OUT.sub("", text[slice(*cell)]).strip().replace(r"\|", "|") for cell in row]
            yield (*cells, *[""] * (len(table.columns) - len(row))), (row[0][0], row[-1][1])


def _fields(block: str) -> list[tuple[str, str]]:
    """Return the fields of a record, with their continuation lines; [] for other text."""
    fields: list[tuple[str, str]] = []
    for line in block.split("\n"):
        if field := _FIELD.fullmatch(line):
            fields.append((field[1], field[2] or ""))
        elif not fields:
            return []
        else:
            fields[-1] = fields[-1][0], f"{fields[-1][1]}\n{line}"
    return fields
