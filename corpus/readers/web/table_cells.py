"""The cells of a table in rows and columns, with those that span several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from corpus.readers.web.source_lines import Fragment

# Larger spans count as this large.
_MAX_SPAN = 1000
# Longer texts are not repeated in each row that they span.
_MAX_REPEATED = 100
# After as many more cells than the page states, those that follow in a table span only one row and column.
_MAX_ADDED = 50_000


class Cell(NamedTuple):
    """A cell's content, and the numbers of rows and columns that it spans."""

    content: Fragment
    rows: int
    columns: int


def span(attributes: Mapping[str, str], name: str) -> int:
    """Return the value of a cell's `rowspan` or `colspan`, 1 by default."""
    value = attributes.get(name, "").strip()
    return max(1, min(int(value[:9]), _MAX_SPAN)) if value.isdecimal() else 1


def lay_out(rows: Sequence[Sequence[Cell]]) -> Iterator[tuple[list[Fragment], list[str]]]:
    """Yield the contents of each row that is not blank, and the text in each column.

    The text of a cell is in each row that it spans, but only in the first column.
    """
    room = _MAX_ADDED
    # By column, the text that is repeated, and the number of the first row below it.
    repeated: dict[int, tuple[str, int]] = {}
    for number, row in enumerate(rows):
        texts: list[str] = []
        for cell in (*row, None):
            while room > 0 and (above := repeated.get(len(texts))) and above[1] > number:
                texts.append(above[0])
                room -= 1
            if cell is not None:
                for text in (cell.content.text, *[""] * min(cell.columns - 1, room)):
                    repeated[len(texts)] = (text if len(text) <= _MAX_REPEATED else "", number + cell.rows)
                    texts.append(text)
                room -= cell.columns - 1
        contents = [cell.content for cell in row]
        if any(content.text.strip() for content in contents):
            yield contents, texts
