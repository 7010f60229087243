"""CSV and TSV: each row is a record and a page, and also a document if there is a column of titles."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import Row, add_records, title_field
from corpus.text.encodings import decode_lines
from corpus.types import Extracted

_SAMPLE = 64 * 1024
_SAMPLE_LINES = 20
_LONGEST_NAME = 80


def read(path: str, data: bytes) -> Extracted:
    """Read a table; see `corpus.readers`."""
    text, note = decode_lines(data)
    text = text.removeprefix("\ufeff")
    is_tsv = path.lower().endswith(".tsv")
    csv.field_size_limit(MAX_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if is_tsv else _guess_delimiter(text)))
    except csv.Error as error:
        raise Unreadable(f"damaged: {error}") from error
    names, records = to_records(list(enumerate(rows, 1)))
    builder = DocumentBuilder()
    add_records(builder, records, pages=True, documents_from=None if title_field(names) is None else 1)
    return builder.build("text/tab-separated-values" if is_tsv else "text/csv", note=note, title="")


def to_records(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[list[str], list[tuple[int, Row]]]:
    """Return the column names, or [], and the records of numbered rows; blank cells and rows are left out."""
    names = _column_names([row for _, row in rows])
    records: list[tuple[int, Row]] = []
    for number, row in rows[1:] if names else rows:
        padded = [*names, *[""] * (len(row) - len(names))]
        if fields := [(name, value) for name, value in zip(padded, row, strict=False) if value.strip()]:
            records.append((number, fields))
    return names, records


def _column_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the first row if it has distinct short names and no numbers, otherwise []."""
    names = [name.strip() for name in rows[0]] if len(rows) > 1 else []
    filled = [name for name in names if name]
    is_distinct = len(set(filled)) == len(filled) and all(len(name) <= _LONGEST_NAME for name in filled)
    has_number = any(name.replace(".", "").replace(",", "").isdigit() for name in filled)
    return names if filled and is_distinct and not has_number else []


def _guess_delimiter(text: str) -> str:
    """Return the delimiter that is most frequent in all lines of a sample."""
    lines = [line for line in text[:_SAMPLE].split("\n")[:_SAMPLE_LINES] if line.strip()]
    counts = {mark: [line.count(mark) for line in lines] for mark in ",;\t|"}
    return max(counts, key=lambda mark: (min(counts[mark], default=0), sum(counts[mark])))
