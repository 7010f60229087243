"""CSV and TSV: a row is a record with the names of its columns, and counts as a page; with a title, a document."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import Row, add_records, title_field
from corpus.text.encodings import decode, require_few_lines
from corpus.types import Extracted

_SAMPLE = 64 * 1024


def read(path: str, data: bytes) -> Extracted:
    """Read a table; see `corpus.readers`."""
    text, note = decode(data)
    require_few_lines(text)
    text = text.removeprefix("\ufeff")
    tabs = path.lower().endswith(".tsv")
    csv.field_size_limit(MAX_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if tabs else _delimiter(text)))
    except csv.Error as error:
        raise Unreadable(f"damaged: {error}") from error
    builder = DocumentBuilder()
    titled = title_field(names_of(rows)) is not None
    add_records(builder, records_of(rows), pages=True, documents_from=1 if titled else None)
    return builder.build("text/tab-separated-values" if tabs else "text/csv", note=note, title="")


def records_of(rows: Sequence[Sequence[str]]) -> list[tuple[int, Row]]:
    """Rows as records, numbered from 1 as a spreadsheet does; the first may have the columns' names."""
    names = names_of(rows)
    return [
        (number, found)
        for number, row in enumerate(rows, 1)
        if (number > 1 or not names) and (found := _record(names, row))
    ]


def names_of(rows: Sequence[Sequence[str]]) -> list[str]:
    """The names of the columns, where the first row has them: different short words, none a number."""
    if len(rows) < 2:
        return []
    names = [name.strip() for name in rows[0]]
    given = [name for name in names if name]
    good = len(given) >= 1 and len(set(given)) == len(given) and all(len(name) <= 80 for name in given)
    return names if good and not any(name.replace(".", "").replace(",", "").isdigit() for name in given) else []


def _record(names: Sequence[str], row: Sequence[str]) -> Row:
    padded = [*names, *[""] * (len(row) - len(names))]
    return [(name, value) for name, value in zip(padded, row, strict=False) if value.strip()]


def _delimiter(text: str) -> str:
    sample = text[:_SAMPLE].split("\n")[:20]
    counts = {mark: [line.count(mark) for line in sample if line.strip()] for mark in ",;\t|"}
    steady = {mark: min(found, default=0) for mark, found in counts.items()}
    return max(steady, key=lambda mark: (steady[mark], sum(counts[mark]))) if any(map(sum, counts.values())) else ","
