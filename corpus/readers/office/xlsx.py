"""Workbooks (XLSX): a sheet is a page, a row a record with the names of its columns, and with a title a document."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from xml.etree.ElementTree import Element

from corpus.formats import XLSX
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.assemble.fields import Row, add_records, are_table, title_field
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.readers.records.csv_rows import names_of
from corpus.types import Extracted

_DATES = frozenset({*range(14, 23), *range(45, 48)})
_QUOTED = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\\.")
_EPOCH = datetime.datetime(1899, 12, 30)
_EPOCH_1904 = datetime.datetime(1904, 1, 1)
_MOST_COLUMNS = 1000


def read(archive: Archive, main: str) -> Extracted:
    """Read a workbook whose list of sheets is in the part `main`."""
    book = archive.xml(main)
    links = archive.related(main)
    parts = dict(links.values())
    about = first(book, "workbookPr")
    cells = _Cells(
        strings=_strings(archive.optional(parts.get("sharedStrings", ""))),
        dates=_date_styles(archive.optional(parts.get("styles", ""))),
        epoch=_EPOCH_1904 if about is not None and about.get("date1904") in ("1", "true") else _EPOCH,
    )
    builder = DocumentBuilder()
    sheets = [_sheet(archive, cells, sheet, links) for sheet in each(book, "sheet")]
    filled = [sheet for sheet in sheets if sheet is not None and sheet.records]
    titled = all(sheet.titled for sheet in filled) and not any(are_table(sheet.records) for sheet in filled)
    for sheet in sheets:
        builder.page()
        if sheet is None:
            continue
        builder.under(1, "")
        if titled:
            add_records(builder, sheet.records, pages=False, documents_from=1, above=sheet.name, level=2)
        else:
            builder.heading(1, sheet.name)
            add_records(builder, sheet.records, pages=False, level=2)
    return builder.build(XLSX.media_type, title=archive.title("docProps/core.xml"))


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet that can be seen: its rows as records, and whether a column has their titles."""

    name: str
    records: list[tuple[int, Row]]
    titled: bool


def _sheet(archive: Archive, cells: _Cells, sheet: Element, links: dict[str, tuple[str, str]]) -> _Sheet | None:
    kind, name = links.get(sheet.get("r:id", ""), ("", ""))
    if kind != "worksheet" or sheet.get("state", "visible") != "visible":
        return None
    rows = list(cells.rows(archive.xml(name)))
    names = names_of([row for _, row in rows])
    records: list[tuple[int, Row]] = []
    for number, row in rows[1:] if names else rows:
        padded = [*names, *[""] * (len(row) - len(names))]
        fields = [(name, value) for name, value in zip(padded, row, strict=False) if value.strip()]
        if fields:
            records.append((number, fields))
    return _Sheet(sheet.get("name", ""), records, title_field(names) is not None)


def _strings(root: Element | None) -> list[str]:
    return [] if root is None else [_text(one) for one in each(root, "si")]


def _text(element: Element) -> str:
    # Beside the text may stand how it is pronounced.
    return "".join(one.text or "" for one in each(element, "t", leave=frozenset({"rPh"})))


def _date_styles(root: Element | None) -> frozenset[int]:
    """Which styles of cells show a number as a date or a time."""
    if root is None:
        return frozenset()
    formats = {one.get("numFmtId", ""): one.get("formatCode", "") for one in each(root, "numFmt")}
    found = set()
    for number, style in enumerate(style for styles in each(root, "cellXfs") for style in styles):
        key = style.get("numFmtId", "0")
        code = _QUOTED.sub("", formats.get(key, ""))
        if re.search(r"[ymdhs]", code, re.IGNORECASE) or (key.isdigit() and int(key) in _DATES):
            found.add(number)
    return frozenset(found)


class _Cells:
    def __init__(self, *, strings: list[str], dates: frozenset[int], epoch: datetime.datetime) -> None:
        self._strings = strings
        self._dates = dates
        self._epoch = epoch

    def rows(self, sheet: Element) -> Iterator[tuple[int, list[str]]]:
        """Rows that are not empty, with their numbers."""
        number = 0
        for row in each(sheet, "row"):
            given = row.get("r", "")
            number = int(given) if given.isdigit() else number + 1
            values: list[str] = []
            for cell in each(row, "c"):
                place = _column(cell.get("r", "")) or len(values)
                if place >= _MOST_COLUMNS:
                    break
                values.extend([""] * (place - len(values)))
                values.append(self._value(cell))
            if any(map(str.strip, values)):
                yield number, values

    def _value(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _text(cell)
        found = cell.find("v")
        text = (found.text or "") if found is not None else ""
        if kind == "s":
            return self._strings[int(text)] if text.isdigit() and int(text) < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        return self._number(text, cell.get("s", "")) if kind == "n" and text else text

    def _number(self, text: str, style: str) -> str:
        try:
            value = float(text)
            if style.isdigit() and int(style) in self._dates:
                moment = self._epoch + datetime.timedelta(seconds=round(value * 86400))
                return moment.date().isoformat() if value == int(value) else moment.isoformat(" ")
        except (ValueError, OverflowError):
            return text
        return f"{value:.15g}"


def _column(place: str) -> int:
    """The number of a column from 0: that of "AB12" is 27."""
    return _number_of(place.rstrip("0123456789")[:4])


@lru_cache
def _number_of(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter.upper()) - 64
    return max(0, number - 1)
