"""Workbooks (XLSX): cells as text, with the sheets' shared strings and styles."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from xml.etree.ElementTree import Element

from corpus.formats import XLSX
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.office.xml_tree import find_all, find_first
from corpus.readers.office.zip_archive import Archive, text_of
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
# The digits of a number, a currency, as in `"€"`, `[$€-407]` and `[$CHF]`, and other brackets, as in `[Red]`.
_DIGITS = re.compile(r"[0#?](?:[0#?,.]*[0#?])?")
_CURRENCY = re.compile(r"\[\$([^\]-]+)[^\]]*\]|\"\s*([$€£¥₹₩₪₺₽]|[A-Z]{3})\s*\"|(?<!\[)([$€£¥₹₩₪₺₽])")
_CONDITION = re.compile(r"\[(?!\$)[^\]]*\]")
_BLANK = re.compile(r"\s")
# Currencies that may be before a number; others would be between a minus and the number.
_BEFORE = "$€£"
# Programs allow no longer format.
_MAX_CODE = 255
# Parts with the comments on a sheet, and the names of their elements.
_COMMENTS = {"comments": "comment", "threadedComment": "threadedComment"}
# The row in the name of a cell.
_ROW = re.compile(r"(?<=[A-Z])\d{1,7}$")
# Names of hidden sheets in a note, and characters of each.
_MAX_NAMES, _MAX_NAME = 5, 40
_EPOCH = datetime.datetime(1899, 12, 30)
_EPOCH_1904 = datetime.datetime(1904, 1, 1)


def read(archive: Archive, main: str) -> Extracted:
    """Read a workbook with its list of sheets in the part `main`."""
    book = archive.read_xml(main)
    links = archive.relationships(main)
    cells = _CellReader(archive, dict(links.values()), book)
    sheets: list[Sheet | None] = []
    hidden: list[str] = []
    for sheet in find_all(book, "sheet"):
        name, (kind, part) = sheet.get("name", ""), links.get(sheet.get("r:id", ""), ("", ""))
        if kind == "worksheet" and sheet.get("state", "visible") == "visible":
            sheets.append(Sheet(name, _rows(archive.read_xml(part), cells), _comments(archive, part)))
        else:
            sheets.append(None)
            hidden += [name] if kind == "worksheet" else []
    builder = DocumentBuilder()
    add_sheets(builder, sheets)
    note = _describe_left_out(hidden, cells.uncalculated)
    return builder.build(XLSX.media_type, note=note, title=archive.read_title("docProps/core.xml"))


def _comments(archive: Archive, part: str) -> dict[int, list[str]]:
    """Return the comments on the cells of a sheet by row; a thread replaces its summary for older programs."""
    by_cell: dict[str, list[str]] = {}
    # "comments" come before "threadedComment".
    for kind, comments in sorted(archive.relationships(part).values()):
        if kind in _COMMENTS:
            found: dict[str, list[str]] = {}
            for comment in find_all(archive.read_optional(comments), _COMMENTS[kind]):
                found.setdefault(comment.get("ref", ""), []).append(one_line(text_of(find_first(comment, "text"))))
            by_cell |= found
    by_row: dict[int, list[str]] = {}
    for cell, texts in by_cell.items():
        if row := _ROW.search(cell):
            by_row.setdefault(int(row[0]), []).extend(filter(None, texts))
    return by_row


def _describe_left_out(hidden: Sequence[str], uncalculated: int) -> str:
    """Return a note on the sheets and values that were not read, or ""."""
    notes: list[str] = []
    if hidden:
        names = ", ".join(f'"{one_line(name)[:_MAX_NAME]}"' for name in hidden[:_MAX_NAMES])
        others = f" and {len(hidden) - _MAX_NAMES:,} more" if len(hidden) > _MAX_NAMES else ""
        notes.append(f"{'hidden sheets were' if len(hidden) > 1 else 'a hidden sheet was'} left out: {names}{others}")
    if uncalculated:
        formulas = "1 formula was" if uncalculated == 1 else f"{uncalculated:,} formulas were"
        notes.append(f"{formulas} left out, as no results are saved; open and save the file in a spreadsheet program")
    return "; ".join(notes)


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
        self._formats = _number_formats(archive.read_optional(parts.get("styles", "")))
        properties = find_first(book, "workbookPr")
        is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._epoch = _EPOCH_1904 if is_1904 else _EPOCH
        # The number of formulas without a result.
        self.uncalculated = 0

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
        # A result of kind "str" may be empty.
        self.uncalculated += not text and kind != "str" and cell.find("f") is not None
        if kind == "s":
            return self._strings[int(text)] if text.isdigit() and int(text) < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        return self._number_text(text, cell.get("s", "")) if kind == "n" else text

    def _number_text(self, text: str, style: str) -> str:
        try:
            value = float(text)
            formats = self._formats
            shown = formats[int(style)] if style.isdigit() and int(style) < len(formats) else _NumberFormat()
            if shown.kind == "duration":
                return _duration(round(value * 86400))
            if shown.kind == "date":
                moment = self._epoch + datetime.timedelta(seconds=round(value * 86400))
                if 0 <= value < 1:  # a time
                    return moment.time().isoformat("seconds" if moment.second else "minutes")
                return moment.date().isoformat() if value == int(value) else moment.isoformat(" ")
        except (ValueError, OverflowError):
            return text
        if shown.kind == "percentage":
            return f"{value * 100:.15g}%"
        return shown.amount(value) if shown.kind == "currency" else f"{value:.15g}"


def _text(element: Element) -> str:
    # Phonetic hints (rPh) are not part of the text.
    return "".join(part.text or "" for part in find_all(element, "t", skip=frozenset({"rPh"})))


class _NumberFormat(NamedTuple):
    """How a cell style shows a number: as a "duration", "date", "percentage" or "currency"; "" for other styles."""

    kind: str = ""
    decimals: int = 0
    before: str = ""
    after: str = ""

    def amount(self, value: float) -> str:
        """Return an amount with its currency, and with cents if the style shows any."""
        number = f"{abs(value):.{self.decimals}f}" if self.decimals else f"{abs(value):.15g}"
        return f"{'-' if value < 0 else ''}{self.before}{number}{self.after}"


def _number_formats(styles: Element | None) -> list[_NumberFormat]:
    """Return how each cell style shows numbers."""
    stated = {it.get("numFmtId", ""): it.get("formatCode", "")[:_MAX_CODE] for it in find_all(styles, "numFmt")}
    codes = _BUILT_IN | stated
    keys = [style.get("numFmtId", "0") for group in find_all(styles, "cellXfs") for style in group]
    formats = {key: _number_format(codes.get(key, "")) for key in set(keys)}
    return [formats[key] for key in keys]


def _number_format(code: str) -> _NumberFormat:
    if _DURATION_CODE.search(code):
        return _NumberFormat("duration")
    shown = _QUOTED.sub("", code)
    if _DATE_CODE.search(shown):
        return _NumberFormat("date")
    return _NumberFormat("percentage") if "%" in shown else _currency_format(code)


def _currency_format(code: str) -> _NumberFormat:
    """Return the format of amounts with a currency, or one without a kind."""
    # What follows is for negative numbers.
    code = _CONDITION.sub("", code.partition(";")[0])
    currency = _CURRENCY.search(code)
    if currency is None:
        return _NumberFormat()
    lead, tail = code[: currency.start()], code[currency.end() :]
    is_after = _DIGITS.search(lead) is not None
    digits = _DIGITS.search(lead if is_after else tail)
    if digits is None:
        return _NumberFormat()
    name, decimals = next(filter(None, currency.groups())), digits[0].partition(".")[2].count("0")
    between = lead[digits.end() :] if is_after else tail[: digits.start()]
    blank = " " if _BLANK.search(between + currency[0]) else ""
    if not is_after and name in _BEFORE:
        return _NumberFormat("currency", decimals, before=name + blank)
    return _NumberFormat("currency", decimals, after=(blank or " ") + name)


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
