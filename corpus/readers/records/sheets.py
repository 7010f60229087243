"""Sheets of workbooks: each sheet is a page, each row a record, and also a document if there are titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import Row, add_records, form_table, title_field
from corpus.readers.records.tables import to_records

MAX_COLUMNS = 1000


class Sheet(NamedTuple):
    """The name of a sheet, its numbered rows, without blank rows, and the comments on its cells by row."""

    name: str
    rows: Sequence[tuple[int, Sequence[str]]]
    comments: Mapping[int, Sequence[str]] = {}


def add_sheets(builder: DocumentBuilder, sheets: Sequence[Sheet | None]) -> None:
    """Add sheets; None is for a sheet that is hidden or not a table, so that the others keep their numbers."""
    tables: list[tuple[str, list[tuple[int, Row]]] | None] = []
    # Whether each sheet has a column of titles, so that each row is a document.
    titled = True
    for sheet in sheets:
        names, records = to_records(sheet.rows) if sheet else ([], [])
        tables.append((sheet.name, _with_comments(records, sheet.comments)) if sheet else None)
        titled = titled and (not records or (title_field(names) is not None and not form_table(records)))
    for table in tables:
        builder.page()
        if table is None:
            continue
        name, records = table
        builder.section(1, "")
        if titled:
            add_records(builder, records, pages=False, documents_from=1, heading=name, level=2)
        else:
            builder.heading(1, name)
            add_records(builder, records, pages=False, level=2)


def _with_comments(records: Sequence[tuple[int, Row]], comments: Mapping[int, Sequence[str]]) -> list[tuple[int, Row]]:
    """Add comments to the records of their rows, or as a record if a row is none, such as that of the column names."""
    fields = {row: [("Comment", text) for text in texts] for row, texts in comments.items()}
    commented = [(row, [*record, *fields.pop(row, ())]) for row, record in records]
    return sorted([*commented, *((row, texts) for row, texts in fields.items() if texts)], key=itemgetter(0))
