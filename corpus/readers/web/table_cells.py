"""Tables: rows and columns of data with cells that span several, or the layout of a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, zip_longest
from typing import NamedTuple

from corpus.readers.web.parts import Part, Row, joined_text
from corpus.readers.web.source_lines import Fragment
from corpus.types import BlockKind

# Larger spans count as this large.
_MAX_SPAN = 1000
# Longer texts are not repeated in each row and column that they span.
_MAX_REPEATED = 100
# After as many more cells than the page states, those that follow in a table span only one row and column.
_MAX_ADDED = 50_000
# Rows with at least this many characters per cell on average only lay out the page.
_LAYOUT_CELL = 300


class Cell:
    """A cell with its blocks."""

    def __init__(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.is_header = tag == "th"
        self.rows = _span(attributes, "rowspan")
        self.columns = _span(attributes, "colspan")
        self.parts: list[Part] = []

    @cached_property
    def text(self) -> str:
        """Its text on one line."""
        return joined_text(self.parts)

    @property
    def line(self) -> int:
        """The line of the file on which its text begins, 0 for none."""
        return next((part.content.lines[0][1] for part in self.parts if part.content.lines), 0)

    def complexity(self, *, is_alone: bool) -> int:
        """Return 0 for one block, 1 for several, and 2 for what is hardly ever in a table of data.

        That is a table, and a heading that is above other text, or `is_alone` in its row.
        """
        has_several = len(self.parts) > 1
        has_heading = any(part.kind is BlockKind.HEADING and part.content.text for part in self.parts)
        if (has_heading and (is_alone or has_several)) or any(len(part.rows) > 1 for part in self.parts):
            return 2
        is_listing = any(part.kind is BlockKind.CODE and "\n" in part.content.text for part in self.parts)
        return int(has_several or is_listing or any(part.rows for part in self.parts))


class Table:
    """Takes the blocks of a table, each after the start of its row and cell."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._is_presentation = attributes.get("role") in ("presentation", "none")
        self._caption: list[Part] = []
        self._rows: list[list[Cell]] = []
        # The blocks of the open cell or caption; text outside, such as the commands of a template, is not shown there.
        self._open: list[Part] | None = None

    def add(self, parts: Iterable[Part]) -> None:
        """Add blocks to the open cell or caption."""
        if self._open is not None:
            self._open.extend(parts)

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin a row, a cell or a caption; a cell inside another is the next one."""
        if tag == "caption":
            self._open = self._caption
        elif tag == "tr" or not self._rows:
            self._rows.append([])
        if tag in ("td", "th"):
            cell = Cell(tag, attributes)
            self._rows[-1].append(cell)
            self._open = cell.parts

    def end(self) -> None:
        """End what is open."""
        self._open = None

    def blocks(self, line: int) -> list[Part]:
        """Return the blocks that are written for it; rows of data whose line is unknown are on the given one."""
        blocks = self._caption
        limit = self._highest_complexity()
        for is_data, group in groupby(lay_out(self._rows, limit), key=lambda row: row.is_data):
            rows = list(group)
            if is_data and _is_table(rows):
                blocks.append(_table(rows, line))
            else:
                for row in rows:
                    for cell in row.cells:
                        blocks += cell.parts
        return blocks

    def _highest_complexity(self) -> int:
        """Return the highest complexity of cells of data; a table with column names has nothing but data."""
        rows = list(filter(None, map(_filled, self._rows)))
        if rows and _names_columns(rows[0]):
            return 2
        return int(not self._is_presentation and sum(len(row) > 1 for row in rows) > 1)


class LaidOutRow(NamedTuple):
    """The cells of a row, the text in each column, and whether it is data rather than layout."""

    cells: Sequence[Cell]
    texts: Sequence[str]
    is_data: bool


def lay_out(rows: Sequence[Sequence[Cell]], limit: int) -> Iterator[LaidOutRow]:
    """Yield each row that is not blank; a row of data has no cell whose complexity exceeds the limit.

    The text of a cell is in each row and column that it spans; but that of a label, the first of a row that does not
    name columns, as in "Total", is only in the first one.
    """
    room = _MAX_ADDED
    width = max(map(len, rows), default=0)
    # By column, the text that is repeated, and the number of the first row below it.
    repeated: dict[int, tuple[str, int]] = {}
    for number, row in enumerate(rows):
        is_data = _is_data(row, limit)
        # Whether the next cell is a label, as there is no text before it.
        is_label = not _names_columns(row)
        texts: list[str] = []
        for cell in (*row, None):
            while room > 0 and (above := repeated.get(len(texts))) and above[1] > number:
                texts.append(above[0])
                room -= 1
            if cell is not None:
                # The text of layout is not needed, unless it is short enough to be repeated below.
                own_text = cell.text if is_data or len(cell.parts) == 1 else ""
                added = min(cell.columns - 1, max(0, room))
                is_label = is_label and not any(texts[-1:])
                copies = 0 if is_label or len(own_text) > _MAX_REPEATED else min(added, max(0, width - len(texts) - 1))
                for text in (own_text, *[own_text] * copies, *[""] * (added - copies)):
                    repeated[len(texts)] = (text if len(text) <= _MAX_REPEATED else "", number + cell.rows)
                    texts.append(text)
                room -= cell.columns - 1
        if _filled(row):
            yield LaidOutRow(row, texts, is_data)


def _names_columns(row: Sequence[Cell]) -> bool:
    """Whether a row has the names of columns, and is not a title above them."""
    filled = _filled(row)
    return (len(filled) > 1 or filled != row[:1]) and all(cell.is_header for cell in filled)


def _filled(row: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in row if cell.parts]


def _is_data(row: Sequence[Cell], limit: int) -> bool:
    """Whether no cell of a row is more complex than a limit; one without neighbours has one block if that is 1."""
    filled = _filled(row)
    is_alone = len(filled) == 1
    limit = 0 if is_alone and limit == 1 else limit
    return limit > 1 or all(cell.complexity(is_alone=is_alone) <= limit for cell in filled)


def _is_table(rows: Sequence[LaidOutRow]) -> bool:
    """Whether some row has several cells with text, and cells are short on average."""
    if all(len(_filled(row.cells)) < 2 for row in rows):
        return False
    cells = [cell for row in rows for cell in row.cells]
    return sum(len(cell.text) for cell in cells) < _LAYOUT_CELL * len(cells)


def _table(rows: Sequence[LaidOutRow], line: int) -> Part:
    first = next(part for row in rows for cell in row.cells for part in cell.parts)
    rows = _with_joined_names(rows)
    lines = [next((cell.line for cell in row.cells if cell.line), line) for row in rows]
    table_rows = [Row(row.texts, number) for row, number in zip(rows, lines, strict=True)]
    return Part(Fragment("", ()), BlockKind.TABLE, rows=table_rows, anchor=first.anchor)


def _with_joined_names(rows: Sequence[LaidOutRow]) -> Sequence[LaidOutRow]:
    """Join consecutive rows of column names: "Income" in a cell above "Plan" and "Actual" makes it "Income Plan"."""
    joined: list[LaidOutRow] = []
    is_spanned = False
    for row in rows:
        has_names = _names_columns(row.cells)
        if is_spanned and has_names:
            pairs = zip_longest(joined[-1].texts, row.texts, fillvalue="")
            names = [upper if upper == lower else f"{upper} {lower}".strip() for upper, lower in pairs]
            joined[-1] = joined[-1]._replace(texts=names)
        else:
            joined.append(row)
        is_spanned = has_names and any(cell.columns > 1 for cell in row.cells)
    return joined


def _span(attributes: Mapping[str, str], name: str) -> int:
    """Return the value of a cell's `rowspan` or `colspan`, 1 by default."""
    value = attributes.get(name, "").strip()
    return max(1, min(int(value[:9]), _MAX_SPAN)) if value.isdecimal() else 1
