"""CSV and TSV: each row is a record and a page, and with a title a document."""

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
    tabs = path.lower().endswith(".tsv")
    csv.field_size_limit(MAX_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if tabs else _delimiter(text)))
    except csv.Error as error:
        raise Unreadable(f"damaged: {error}") from error
    names, records = to_records(list(enumerate(rows, 1)))
    builder = DocumentBuilder()
    add_records(builder, records, pages=True, documents_from=None if title_field(names) is None else 1)
    return builder.build("text/tab-separated-values" if tabs else "text/csv", note=note, title="")


def to_records(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[list[str], list[tuple[int, Row]]]:
    """Return the names of the columns, or [], and a record for each numbered row, without blank cells and rows."""
    names = _column_names([row for _, row in rows])
    records: list[tuple[int, Row]] = []
    for number, row in rows[1:] if names else rows:
        padded = [*names, *[""] * (len(row) - len(names))]
        if fields := [(name, value) for name, value in zip(padded, row, strict=False) if value.strip()]:
            records.append((number, fields))
    return names, records


def _column_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first row, where it holds distinct short words and no number."""
    names = [name.strip() for name in rows[0]] if len(rows) > 1 else []
    given = [name for name in names if name]
    distinct = len(set(given)) == len(given) and all(len(name) <= _LONGEST_NAME for name in given)
    numbers = any(name.replace(".", "").replace(",", "").isdigit() for name in given)
    return names if given and distinct and not numbers else []


def _delimiter(text: str) -> str:
    """The mark that every line of a sample has most of."""
    lines = [line for line in text[:_SAMPLE].split("\n")[:_SAMPLE_LINES] if line.strip()]
    counts = {mark: [line.count(mark) for line in lines] for mark in ",;\t|"}
    return max(counts, key=lambda mark: (min(counts[mark], default=0), sum(counts[mark])))
