"""Sheets of workbooks: each sheet is a page, each row a record, and also a document if there are titles."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import Row, add_records, form_table, title_field
from corpus.readers.records.tables import to_records

MAX_COLUMNS = 1000
# The name of a sheet, and its numbered rows, without blank rows.
Sheet = tuple[str, Sequence[tuple[int, Sequence[str]]]]


def add_sheets(builder: DocumentBuilder, sheets: Sequence[Sheet | None]) -> None:
    """Add sheets; None is for a sheet that is hidden or not a table, so that the others keep their numbers."""
    tables: list[tuple[str, list[tuple[int, Row]]] | None] = []
    # Whether each sheet has a column of titles, so that each row is a document.
    titled = True
    for sheet in sheets:
        names, records = to_records(sheet[1]) if sheet else ([], [])
        tables.append((sheet[0], records) if sheet else None)
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
