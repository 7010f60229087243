"""Workbooks (XLSX): cells as text, with the sheets' shared strings and styles."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from functools import lru_cache
from xml.etree.ElementTree import Element

from corpus.formats import XLSX
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.xml_tree import find_all, find_first
from corpus.readers.office.zip_archive import Archive
from corpus.readers.records.merged_cells import Merged, fill_merged
from corpus.readers.records.sheets import MAX_COLUMNS, Sheet, add_sheets
from corpus.types import Extracted

# Built-in number formats of percentages, dates and times (ECMA-376, part 1, 18.8.30).
_BUILT_IN = {"9": "0%", "10": "0.00%", "46": "[h]:mm:ss"} | dict.fromkeys(map(str, (*range(14, 23), 45, 47)), "d")
_QUOTED = re.compile(r"\"[^\"]*\"|\[[^\]]*\]|\\.")
_DATE_CODE = re.compile(r"[ymdhs]", re.IGNORECASE)
# A time that may exceed a day, such as a total of hours.
_DURATION_CODE = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
# The first and the last of merged cells.
_REFERENCES = re.compile(r"([A-Z]{1,3})([0-9]{1,9}):([A-Z]{1,3})([0-9]{1,9})")
_EPOCH = datetime.datetime(1899, 12, 30)
_EPOCH_1904 = datetime.datetime(1904, 1, 1)


def read(archive: Archive, main: str) -> Extracted:
    """Read a workbook with its list of sheets in the part `main`."""
    book = archive.read_xml(main)
    links = archive.relationships(main)
    cells = _CellReader(archive, dict(links.values()), book)
    sheets: list[Sheet | None] = []
    for sheet in find_all(book, "sheet"):
        kind, part = links.get(sheet.get("r:id", ""), ("", ""))
        is_shown = kind == "worksheet" and sheet.get("state", "visible") == "visible"
        sheets.append((sheet.get("name", ""), _rows(archive.read_xml(part), cells)) if is_shown else None)
    builder = DocumentBuilder()
    add_sheets(builder, sheets)
    return builder.build(XLSX.media_type, title=archive.read_title("docProps/core.xml"))


def _rows(sheet: Element, cells: _CellReader) -> list[tuple[int, list[str]]]:
    merged = (_REFERENCES.fullmatch(cell.get("ref", "")) for cell in find_all(sheet, "mergeCell"))
    return fill_merged(list(cells.rows(sheet)), [_merged(match) for match in merged if match])


def _merged(match: re.Match[str]) -> Merged:
    """Return the place of merged cells, up to `MAX_COLUMNS`."""
    left, right = (min(_column_index(letters), MAX_COLUMNS - 1) for letters in match.group(1, 3))
    return Merged(int(match[2]), left, int(match[4]), right)


class _CellReader:
    """Converts cells to text, with the strings and styles that a workbook's sheets share."""

    def __init__(self, archive: Archive, parts: dict[str, str], book: Element) -> None:
        self._strings = [_text(si) for si in find_all(archive.read_optional(parts.get("sharedStrings", "")), "si")]
        self._kinds = _style_kinds(archive.read_optional(parts.get("styles", "")))
        properties = find_first(book, "workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._epoch = _EPOCH_1904 if is_1904 else _EPOCH

    def rows(self, sheet: Element) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and cells of each row that is not blank."""
        number = 0
        for row in find_all(sheet, "row"):
            stated = row.get("r", "")
            number = int(stated) if stated.isdigit() else number + 1
            values: list[str] = []
            for cell in find_all(row, "c"):
                column = _column_index(cell.get("r", "").rstrip("0123456789")[:4]) or len(values)
                if column >= MAX_COLUMNS:
                    break
                values.extend([""] * (column - len(values)))
                values.append(self._cell_text(cell))
            if any(map(str.strip, values)):
                yield number, values

    def _cell_text(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _text(cell)
        text = cell.findtext("v") or ""
        if kind == "s":
            return self._strings[int(text)] if text.isdigit() and int(text) < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        return self._number_text(text, cell.get("s", "")) if kind == "n" else text

    def _number_text(self, text: str, style: str) -> str:
        try:
            value = float(text)
            kind = self._kinds[int(style)] if style.isdigit() and int(style) < len(self._kinds) else ""
            if kind == "duration":
                return _duration(round(value * 86400))
            if kind == "date":
                moment = self._epoch + datetime.timedelta(seconds=round(value * 86400))
                if 0 <= value < 1:  # a time
                    return moment.time().isoformat("seconds" if moment.second else "minutes")
                return moment.date().isoformat() if value == int(value) else moment.isoformat(" ")
        except (ValueError, OverflowError):
            return text
        return f"{value * 100:.15g}%" if kind == "percentage" else f"{value:.15g}"


def _text(element: Element) -> str:
    # Phonetic hints (rPh) are not part of the text.
    return "".join(part.text or "" for part in find_all(element, "t", skip=frozenset({"rPh"})))


def _style_kinds(styles: Element | None) -> list[str]:
    """Whether each cell style shows a number as a "duration", "date" or "percentage"; "" for other styles."""
    codes = _BUILT_IN | {code.get("numFmtId", ""): code.get("formatCode", "") for code in find_all(styles, "numFmt")}
    keys = [style.get("numFmtId", "0") for group in find_all(styles, "cellXfs") for style in group]
    return [_kind(codes.get(key, "")) for key in keys]


def _kind(code: str) -> str:
    if _DURATION_CODE.search(code):
        return "duration"
    shown = _QUOTED.sub("", code)
    return "date" if _DATE_CODE.search(shown) else "percentage" if "%" in shown else ""


def _duration(seconds: int) -> str:
    """Return hours and minutes, "38:30", with the seconds if there are any."""
    minutes, rest = divmod(abs(seconds), 60)
    hours = f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}"
    return f"{hours}:{rest:02}" if rest else hours


@lru_cache
def _column_index(letters: str) -> int:
    """Return the index of a column, from 0: "AB" is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter.upper()) - 64
    return max(0, number - 1)
