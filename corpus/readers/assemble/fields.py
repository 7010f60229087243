"""Lay out records with named fields, such as the rows of a table, and find their titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.types import BlockKind

_TITLES = ("title", "name", "headline", "subject", "titel", "titre", "título", "label", "question", "term")
# If there are more records than this, short ones share passages.
_MAX_SECTIONS = 5000
# Records of fewer characters on average are read as lists of fields, others as texts.
_MIN_TEXT = 400
_MAX_TITLE = 200

Row = Sequence[tuple[str, str]]


def title_field(names: Iterable[str]) -> str | None:
    """Return the name of the field that is a record's title, or None."""
    by_lower_case = {name.strip().lower(): name for name in reversed(list(names))}
    return next((by_lower_case[name] for name in _TITLES if name in by_lower_case), None)


def form_table(rows: Sequence[tuple[int, Row]]) -> bool:
    """Whether rows are so many and so short that they stay a single table."""
    return len(rows) > _MAX_SECTIONS and _are_short(rows)


def _are_short(rows: Sequence[tuple[int, Row]]) -> bool:
    return sum(len(value) for _, row in rows for _, value in row) < _MIN_TEXT * len(rows)


def add_records(
    builder: DocumentBuilder,
    rows: Sequence[tuple[int, Row]],
    *,
    pages: bool,
    documents_from: int | None = None,
    heading: str = "",
    level: int = 1,
) -> None:
    """Add numbered rows, each as a page or section, or as a line of one table if they are many and short.

    Unless they are a table, each row numbered `documents_from` or higher is a separate document. The `heading` above
    all of them, such as the name of a sheet, belongs to the first. The title of a short record stays among its fields,
    where it can be an answer ("who works in logistics?"); the title of a longer text becomes its heading.
    """
    if form_table(rows):
        builder.heading(1, heading)
        builder.block("\n".join(f"Row {number}: {_record_line(row)}" for number, row in rows), BlockKind.TABLE)
        return
    are_short = _are_short(rows)
    page = 0
    for number, row in rows:
        title, fields = _split_title(row)
        if documents_from is not None and number >= documents_from:
            builder.begin_record(title)
        builder.heading(1, heading)
        heading = ""
        if pages:
            builder.page(number - page)
            page = number
            if are_short and fields:
                builder.section(level, title)
                builder.fields(row)
            else:
                builder.section(level, "")
                builder.heading(level, title)
                builder.fields(fields)
        else:
            builder.section(level, f"{title} (row {number})" if title else f"Row {number}")
            builder.fields(row)


def _split_title(row: Row) -> tuple[str, Row]:
    """Return the title of a row, or "", and its other fields."""
    field = title_field(name for name, _ in row)
    at = next((number for number, (name, _) in enumerate(row) if name == field), 0)
    title = one_line(row[at][1]) if field else ""
    if not 0 < len(title) <= _MAX_TITLE:
        return "", row
    return title, [*row[:at], *row[at + 1 :]]


def _record_line(row: Row) -> str:
    return "; ".join(f"{name}: {one_line(value)}" if name else one_line(value) for name, value in row)
