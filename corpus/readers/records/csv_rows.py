"""CSV and TSV: each row is a record and a page, and also a document if there is a column of titles."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import add_records, title_field
from corpus.readers.records.tables import to_records
from corpus.text.encodings import decode_lines
from corpus.types import Extracted

_SAMPLE = 64 * 1024
_SAMPLE_ROWS = 20
# A first line for Excel.
_SEPARATOR = re.compile(r'sep=([^\w"\r\n])\r?\n', re.IGNORECASE)


def read(path: str, data: bytes) -> Extracted:
    """Read a table; see `corpus.readers`."""
    text, note = decode_lines(data)
    text = text.removeprefix("\ufeff")
    is_tsv = path.lower().endswith(".tsv")
    csv.field_size_limit(MAX_BYTES)
    separator = _SEPARATOR.match(text)
    try:
        delimiter = separator[1] if separator else "\t" if is_tsv else _guess_delimiter(text)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise Unreadable(f"damaged: {error}") from error
    names, records = to_records(list(enumerate(rows, 1))[1 if separator else 0 :])
    builder = DocumentBuilder()
    add_records(builder, records, pages=True, documents_from=None if title_field(names) is None else 1)
    return builder.build("text/tab-separated-values" if is_tsv else "text/csv", note=note, title="")


def _guess_delimiter(text: str) -> str:
    """Return the delimiter that is most frequent in all rows of a sample."""
    counts: dict[str, list[int]] = {}
    for mark in ",;\t|":
        rows = csv.reader(io.StringIO(text[:_SAMPLE], newline=""), delimiter=mark)
        counts[mark] = [len(row) - 1 for row in islice(rows, _SAMPLE_ROWS) if "".join(row).strip()]
    return max(counts, key=lambda mark: (min(counts[mark], default=0), sum(counts[mark])))
