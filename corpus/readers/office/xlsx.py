"""Workbooks (XLSX): cells as text, with the strings and styles that the sheets share."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from functools import lru_cache
from xml.etree.ElementTree import Element

from corpus.formats import XLSX
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import each, first
from corpus.readers.office.zip_archive import Archive
from corpus.readers.records.sheets import MAX_COLUMNS, Sheet, add_sheets
from corpus.types import Extracted

# Built-in number formats of dates and times (ECMA-376, part 1, 18.8.30).
_DATES = frozenset({*range(14, 23), *range(45, 48)})
_QUOTED = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\\.")
_DATE_CODE = re.compile(r"[ymdhs]", re.IGNORECASE)
_EPOCH = datetime.datetime(1899, 12, 30)
_EPOCH_1904 = datetime.datetime(1904, 1, 1)


def read(archive: Archive, main: str) -> Extracted:
    """Read a workbook whose list of sheets is in the part `main`."""
    book = archive.xml(main)
    links = archive.links(main)
    cells = _Cells(archive, dict(links.values()), book)
    sheets: list[Sheet | None] = []
    for sheet in each(book, "sheet"):
        kind, part = links.get(sheet.get("r:id", ""), ("", ""))
        is_shown = kind == "worksheet" and sheet.get("state", "visible") == "visible"
        sheets.append((sheet.get("name", ""), list(cells.rows(archive.xml(part)))) if is_shown else None)
    builder = DocumentBuilder()
    add_sheets(builder, sheets)
    return builder.build(XLSX.media_type, title=archive.title("docProps/core.xml"))


class _Cells:
    """Converts cells to text, with the strings and styles that a workbook's sheets share."""

    def __init__(self, archive: Archive, parts: dict[str, str], book: Element) -> None:
        self._strings = [_text(string) for string in each(archive.optional(parts.get("sharedStrings", "")), "si")]
        self._dates = _date_styles(archive.optional(parts.get("styles", "")))
        properties = first(book, "workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._epoch = _EPOCH_1904 if is_1904 else _EPOCH

    def rows(self, sheet: Element) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a sheet that are not blank, with their numbers."""
        number = 0
        for row in each(sheet, "row"):
            given = row.get("r", "")
            number = int(given) if given.isdigit() else number + 1
            values: list[str] = []
            for cell in each(row, "c"):
                column = _column(cell.get("r", "").rstrip("0123456789")[:4]) or len(values)
                if column >= MAX_COLUMNS:
                    break
                values.extend([""] * (column - len(values)))
                values.append(self._value(cell))
            if any(map(str.strip, values)):
                yield number, values

    def _value(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _text(cell)
        text = cell.findtext("v") or ""
        if kind == "s":
            return self._strings[int(text)] if text.isdigit() and int(text) < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        return self._number(text, cell.get("s", "")) if kind == "n" else text

    def _number(self, text: str, style: str) -> str:
        try:
            value = float(text)
            if style.isdigit() and int(style) in self._dates:
                moment = self._epoch + datetime.timedelta(seconds=round(value * 86400))
                return moment.date().isoformat() if value == int(value) else moment.isoformat(" ")
        except (ValueError, OverflowError):
            return text
        return f"{value:.15g}"


def _text(element: Element) -> str:
    # Phonetic hints (rPh) are not part of the text.
    return "".join(part.text or "" for part in each(element, "t", skip=frozenset({"rPh"})))


def _date_styles(styles: Element | None) -> frozenset[int]:
    """Indices of the cell styles that display a number as a date or time."""
    codes = {code.get("numFmtId", ""): code.get("formatCode", "") for code in each(styles, "numFmt")}
    keys = [style.get("numFmtId", "0") for group in each(styles, "cellXfs") for style in group]
    return frozenset(
        number
        for number, key in enumerate(keys)
        if _DATE_CODE.search(_QUOTED.sub("", codes.get(key, ""))) or (key.isdigit() and int(key) in _DATES)
    )


@lru_cache
def _column(letters: str) -> int:
    """Return the index of a column, from 0: "AB" is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter.upper()) - 64
    return max(0, number - 1)
