"""The bytes of a database that say how others are to be read: page heads, pointers, lengths, kinds of values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

Span = tuple[int, int]

_SQLITE_HEADER = 100
# By the first byte of a page: whether it is a leaf, and whether it is of a table.
_KINDS = {0x0D: (True, True), 0x05: (False, True), 0x0A: (True, False), 0x02: (False, False)}
_OVERFLOW_POINTER = 4


def structure(data: bytes, pages: list[tuple[str, int, str]], size: int) -> dict[str, tuple[Span, ...]]:
    """Spans of bytes, by table or index and by what they are.

    Args:
        data: The database.
        pages: Name of the table or index, number and kind of each page, as `dbstat` lists them.
        size: Bytes of a page.
    """
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for name, number, kind in pages:
        start = (number - 1) * size
        if kind == "overflow":
            found[f"{name} overflow pointers"].append((start, start + _OVERFLOW_POINTER))
        else:
            for what, span in _of_page(data, start, start + (_SQLITE_HEADER if number == 1 else 0), size):
                found[f"{name} {what}"].append(span)
    used = {number for _, number, _ in pages}
    for number in range(1, len(data) // size + 1):
        if number not in used:
            # A page of the list of free pages begins with the next one's number and how many it lists.
            found["list of free pages"].append(((number - 1) * size, (number - 1) * size + 16))
    return {name: tuple(spans) for name, spans in found.items()}


def _of_page(data: bytes, start: int, head: int, size: int) -> Iterator[tuple[str, Span]]:
    leaf, of_table = _KINDS[data[head]]
    length = 8 if leaf else 12
    yield "page heads", (head, head + length)
    cells = int.from_bytes(data[head + 3 : head + 5], "big")
    pointers = head + length
    if cells:
        yield "cell pointers", (pointers, pointers + 2 * cells)
    for place in range(pointers, pointers + 2 * cells, 2):
        cell = start + int.from_bytes(data[place : place + 2], "big")
        yield "cell heads", (cell, min(_end_of_head(data, cell, leaf=leaf, of_table=of_table), start + size))


def _end_of_head(data: bytes, place: int, *, leaf: bool, of_table: bool) -> int:
    """Where the values of a cell begin: behind its child, its length, its number and the kinds of its values."""
    if not leaf:
        place += 4
    if leaf or not of_table:
        place, _ = _number(data, place)
    if of_table:
        place, _ = _number(data, place)
        if not leaf:
            return place
    _, kinds = _number(data, place)
    return place + kinds


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number in seven bits a byte, and where it ends."""
    value = 0
    for count in range(9):
        byte = data[place + count]
        if count == 8:
            return place + 9, value << 8 | byte
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            return place + count + 1, value
    raise AssertionError("not reached")
