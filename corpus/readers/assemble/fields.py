"""Records with named fields, such as the rows of a table: which field is the title, and when they are too many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.types import BlockKind

_TITLES = ("title", "name", "headline", "subject", "titel", "titre", "título", "label", "question", "term")
# More records than this, of few characters each, are put several into a passage.
MOST_SINGLE = 5000
_SHORT = 400
_LONGEST_TITLE = 200

Row = Sequence[tuple[str, str]]


def title_field(names: Iterable[str]) -> str | None:
    """The field that names a record, by its own name; None where there is none."""
    given = {name.strip().lower(): name for name in reversed(list(names))}
    return next((given[name] for name in _TITLES if name in given), None)


def are_table(records: Sequence[tuple[int, Row]]) -> bool:
    """Whether records are so many and so short that they stay one table, several of them in a passage."""
    size = sum(len(value) for _, record in records for _, value in record)
    return len(records) > MOST_SINGLE and size < _SHORT * len(records)


def add_records(
    builder: DocumentBuilder,
    records: Sequence[tuple[int, Row]],
    *,
    pages: bool,
    documents_from: int | None = None,
    above: str = "",
    level: int = 1,
) -> None:
    """Write records, each with its number: one a page, or one a line where they are many and short.

    Args:
        builder: Where to.
        records: Number, and names and values of the fields, those without a value left out.
        pages: Whether the number is that of a page.
        documents_from: Those of this number and above are documents of their own, unless they are a table.
        above: A heading for them all, such as the name of a sheet: it goes with the first.
        level: Of the titles.
    """
    if are_table(records):
        builder.heading(1, above)
        builder.block("\n".join(f"Row {number}: {_line(record)}" for number, record in records), BlockKind.TABLE)
        return
    at = 0
    for number, record in records:
        title, fields = _titled(record)
        if documents_from is not None and number >= documents_from:
            builder.begin(title)
        builder.heading(1, above)
        above = ""
        if pages:
            builder.page(number - at)
            at = number
        if not pages:
            builder.under(level, f"{title} (row {number})" if title else f"Row {number}")
            builder.record_lines(record)
        else:
            builder.record(title, fields, level=level)


def _titled(record: Row) -> tuple[str, Row]:
    """The title of a record, "" where it has none, and its other fields."""
    named = title_field(name for name, _ in record)
    title = next((one_line(value) for name, value in record if name == named), "") if named else ""
    if not 0 < len(title) <= _LONGEST_TITLE:
        return "", record
    return title, [(name, value) for name, value in record if name != named]


def _line(record: Row) -> str:
    return "; ".join(f"{name}: {one_line(value)}" if name else one_line(value) for name, value in record)
