"""Records with named fields, such as rows of a table: which field is the title, and how records are laid out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.types import BlockKind

_TITLES = ("title", "name", "headline", "subject", "titel", "titre", "título", "label", "question", "term")
# With more records than this, short ones share passages.
_MANY = 5000
# Records of fewer characters on average are read as lists of fields, others as texts.
_SHORT = 400
_MAX_TITLE = 200

Row = Sequence[tuple[str, str]]


def title_field(names: Iterable[str]) -> str | None:
    """Return the field that holds a record's title, judging by its name, or None."""
    given = {name.strip().lower(): name for name in reversed(list(names))}
    return next((given[name] for name in _TITLES if name in given), None)


def are_table(rows: Sequence[tuple[int, Row]]) -> bool:
    """Whether rows are so many and so short that they stay one table."""
    return len(rows) > _MANY and _are_short(rows)


def _are_short(rows: Sequence[tuple[int, Row]]) -> bool:
    return sum(len(value) for _, row in rows for _, value in row) < _SHORT * len(rows)


def add_records(
    builder: DocumentBuilder,
    rows: Sequence[tuple[int, Row]],
    *,
    pages: bool,
    documents_from: int | None = None,
    above: str = "",
    level: int = 1,
) -> None:
    """Add numbered rows, each as a page or section, or as a line of one table if they are many and short.

    Unless they are a table, each row numbered `documents_from` or higher is a document of its own. The heading `above`
    them all, such as the name of a sheet, belongs to the first. The title of a short record stays among its fields,
    where it can be an answer ("who works in logistics?"); the title of a text becomes its heading.
    """
    if are_table(rows):
        builder.heading(1, above)
        builder.block("\n".join(f"Row {number}: {_line(row)}" for number, row in rows), BlockKind.TABLE)
        return
    short = _are_short(rows)
    page = 0
    for number, row in rows:
        title, fields = _split_title(row)
        if documents_from is not None and number >= documents_from:
            builder.begin_record(title)
        builder.heading(1, above)
        above = ""
        if pages:
            builder.page(number - page)
            page = number
            if short and fields:
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
    title_name = title_field(name for name, _ in row)
    title = next((one_line(value) for name, value in row if name == title_name), "") if title_name else ""
    if not 0 < len(title) <= _MAX_TITLE:
        return "", row
    return title, [(name, value) for name, value in row if name != title_name]


def _line(row: Row) -> str:
    return "; ".join(f"{name}: {one_line(value)}" if name else one_line(value) for name, value in row)
