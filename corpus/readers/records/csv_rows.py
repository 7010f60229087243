"""CSV and TSV: each row is a record and a page, and also a document if there is a column of titles."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, zip_longest
from statistics import median, median_high

from corpus.errors import Unreadable
from corpus.formats import MAX_BYTES
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import Row, add_records, title_field
from corpus.text.encodings import decode_lines
from corpus.types import Extracted

_SAMPLE = 64 * 1024
_SAMPLE_ROWS = 20
# Maximum length of most names, and of any name, such as a question of a survey.
_MAX_USUAL_NAME, _MAX_NAME = 80, 300
_YEAR = re.compile(r"\s*(?:19|20)\d\d\s*")
_NUMBER, _CURRENCY = r"\d[\d.,'’ ]*", r"(?:[A-Z]{3}|[$€£¥%])"
# What is a value, not a name, if the cell below is alike.
_VALUES = (
    # a date with or without a time
    re.compile(r"\d{1,4}[-./ ]{1,2}\w{1,9}[-./ ]{1,2}\d{1,4}(?:[T ]\d.*)?"),
    # a signed number, an amount
    re.compile(rf"[+−-]\s?{_NUMBER}|[+−-]?{_CURRENCY}\s?[+−-]?{_NUMBER}|[+−-]?{_NUMBER}{_CURRENCY}"),
    # an address
    re.compile(r"[^\s@]+@[^\s@]+|\w+://\S+"),
    # the label of a form's field
    re.compile(r"[^:]+:"),
)
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


def to_records(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[list[str], list[tuple[int, Row]]]:
    """Return the column names, or [], and the records of numbered rows; blank cells and rows are left out.

    Rows above the names, such as a title, are records without names.
    """
    filled = [sum(map(bool, map(str.strip, row))) for _, row in rows]
    usual = median([count for count in filled if count] or [0])
    # In a table of two columns, the first may be unnamed.
    head = next((i for i, (_, row) in enumerate(rows) if 2 * filled[i] + (not any(row[:1])) > usual), 0)
    names = _column_names([row for _, row in rows[head:]])
    records: list[tuple[int, Row]] = []
    for i, (number, row) in enumerate(rows):
        if names and i == head:
            continue
        padded = [*(names if i > head else []), *[""] * len(row)]
        if fields := [(name, value) for name, value in zip(padded, row, strict=False) if value.strip()]:
            records.append((number, fields))
    return names, records


def _column_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the first row if it has short names and neither values nor numbers but years, otherwise [].

    Names may be repeated, unlike values, which recur in the rows below.
    """
    names = [name.strip() for name in rows[0]] if len(rows) > 1 else []
    filled = [name for name in names if name]
    repeated = {name for name, count in Counter(filled).items() if count > 1}
    if not filled or (repeated and any(cell.strip() in repeated for row in rows[1:] for cell in row)):
        return []
    lengths = list(map(len, filled))
    pairs = list(zip_longest(names, rows[1][: len(names)], fillvalue=""))
    if any(value.fullmatch(name) and value.fullmatch(below.strip()) for name, below in pairs for value in _VALUES):
        return []
    numbers = [(name, below) for name, below in pairs if _is_number(name)]
    # A single year may be a quantity, and years above years are data.
    are_years = len(numbers) > 1 and all(is_year(name) and not is_year(it) for name, it in numbers)
    is_short = median_high(lengths) <= _MAX_USUAL_NAME and max(lengths) <= _MAX_NAME
    return names if is_short and (are_years or not numbers) else []


def is_value(text: str) -> bool:
    """Whether a cell is a number, a date, an amount, or something else that is hardly ever a name of a column."""
    return _is_number(text) or any(value.fullmatch(text.strip()) for value in _VALUES)


def is_year(text: str) -> bool:
    """Whether a cell is a year."""
    return _YEAR.fullmatch(text) is not None


def _is_number(text: str) -> bool:
    return text.strip().replace(".", "").replace(",", "").isdigit()


def _guess_delimiter(text: str) -> str:
    """Return the delimiter that is most frequent in all rows of a sample."""
    counts: dict[str, list[int]] = {}
    for mark in ",;\t|":
        rows = csv.reader(io.StringIO(text[:_SAMPLE], newline=""), delimiter=mark)
        counts[mark] = [len(row) - 1 for row in islice(rows, _SAMPLE_ROWS) if "".join(row).strip()]
    return max(counts, key=lambda mark: (min(counts[mark], default=0), sum(counts[mark])))
