"""Rows of a database found page by page, without its trees: whatever leads to a page may be damaged.

The layout of pages, cells and logs is SQLite's: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from index.storage.database import PAGE_SIZE

# The first byte of a leaf: of a table with row numbers, of one without or an index.
TABLE, INDEX = 0x0D, 0x0A
# Nothing a file says fills the memory or makes this run for hours: bytes of a row, of which a vector of 32,768
# dimensions has as many; a cell and what points to it, at the least; and what is read of rows that go on elsewhere, in
# bytes for each byte of the files: one of a log may be there in many versions.
_LONGEST_ROW = (1 << 16) + 128
_SMALLEST_CELL = 6
_MOST_READ = 16

_LOG_HEADER = 32
_FRAME_HEADER = 24
_PAGE_HEADER = 8
# Bytes of a value of the first kinds; the others are texts and blobs, or not in use.
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
_FLOAT, _ONE = 7, 9
_TEXT_OR_BLOB = 12

Value = int | bytes | None
Record = list[Value]


class Pages:
    """The pages of a database and its log, the last written first.

    Args:
        database: Open for reading.
        log: The same, where there is one.
    """

    def __init__(self, database: BinaryIO, log: BinaryIO | None) -> None:
        self._database = database
        self._log = log
        self.size = _page_size(database)
        # Where in the log a page stands as it was written last.
        self._logged: dict[int, int] = {}
        self._left = _MOST_READ * (_length(database) + _length(log))

    def leaves(self, kind: int) -> Iterator[bytes]:
        """Pages that look like leaves of this kind; those that cannot be read are passed over."""
        step = _FRAME_HEADER + self.size
        frames = range(_LOG_HEADER, _length(self._log) - step + 1, step)
        for place in frames:
            number = int.from_bytes(_read(self._log, place, 4), "big")
            self._logged[number] = place + _FRAME_HEADER
        pages = ((self._log, place + _FRAME_HEADER) for place in reversed(frames))
        yield from self._of_kind(pages, kind)
        starts = range(0, _length(self._database), self.size)
        yield from self._of_kind(((self._database, start) for start in starts), kind)

    def _of_kind(self, places: Iterable[tuple[BinaryIO | None, int]], kind: int) -> Iterator[bytes]:
        for file, place in places:
            page = _read(file, place, self.size)
            # The last page of a file that was cut short holds what it holds.
            if page[:1] == bytes([kind]):
                yield page.ljust(self.size, b"\0")

    def records(self, kind: int, columns: int) -> Iterator[Record]:
        """Values of the rows on all leaves of a kind that have so many columns, as far as they can be made out."""
        for page in self.leaves(kind):
            cells = min(int.from_bytes(page[3:5], "big"), (self.size - _PAGE_HEADER) // _SMALLEST_CELL)
            # As SQLite does, what leads beyond the page is taken to lead into it; many may lead to one cell.
            places = (place % self.size for place in struct.unpack_from(f">{cells}H", page, _PAGE_HEADER))
            for place in dict.fromkeys(places):
                record = self._record(page, place, kind, columns)
                if record is not None:
                    yield record

    def _record(self, page: bytes, place: int, kind: int, columns: int) -> Record | None:
        try:
            _, place = _number(page, place)
            if kind == TABLE:
                _, place = _number(page, place)
            head, kinds = _kinds(page, place, columns)
        except IndexError:
            return None
        if len(kinds) != columns or any(one in (10, 11) for one in kinds):
            return None
        sizes = [_SIZES[one] if one < _TEXT_OR_BLOB else (one - _TEXT_OR_BLOB) // 2 for one in kinds]
        length = head + sum(sizes)
        if length > _LONGEST_ROW:
            return None
        data = self._payload(page, place, length, kind)
        values: Record = []
        for one, size in zip(kinds, sizes, strict=True):
            values.append(_value(one, data[head : head + size]))
            head += size
        return values if head == len(data) else None

    def _payload(self, page: bytes, place: int, length: int, kind: int) -> bytes:
        """The bytes of a row: on its page, or, where it is long, on a chain of others from there on."""
        usable = self.size
        most = usable - 35 if kind == TABLE else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return page[place : place + length]
        least = (usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (usable - 4)
        here = here if here <= most else least
        data = bytearray(page[place : place + here])
        following = page[place + here : place + here + 4]
        while len(data) < length and self._left > 0:
            self._left -= usable
            part = self._numbered(int.from_bytes(following, "big"))
            if len(part) < 5:
                break
            following = part[:4]
            data += part[4 : 4 + length - len(data)]
        return bytes(data)

    def _numbered(self, number: int) -> bytes:
        if number in self._logged:
            return _read(self._log, self._logged[number], self.size)
        return _read(self._database, (number - 1) * self.size, self.size) if number else b""


def _page_size(database: BinaryIO) -> int:
    """As the header says it, if that can be."""
    size = int.from_bytes(_read(database, 16, 2), "big")
    size = 1 << 16 if size == 1 else size
    return size if size >= 512 and not size & (size - 1) else PAGE_SIZE


def _length(file: BinaryIO | None) -> int:
    return 0 if file is None else file.seek(0, 2)


def _read(file: BinaryIO | None, place: int, size: int) -> bytes:
    """Bytes of a file, fewer at its end; none where the disk cannot give them."""
    if file is None:
        return b""
    try:
        file.seek(place)
        return file.read(size)
    except OSError:
        return b""


def _kinds(page: bytes, place: int, most: int) -> tuple[int, list[int]]:
    """How long the head of a row is, and the kinds of its values that it lists: one more than wanted, at most."""
    start = place
    head, place = _number(page, place)
    kinds: list[int] = []
    while place < start + head and len(kinds) <= most:
        one, place = _number(page, place)
        kinds.append(one)
    return head, kinds


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number in seven bits a byte, eight in the ninth, and where it ends."""
    value = 0
    for _ in range(8):
        byte = data[place]
        place += 1
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            return value, place
    return value << 8 | data[place], place + 1


def _value(kind: int, data: bytes) -> Value:
    """A whole number, a text (in UTF-8) or a blob; no other kind is looked for."""
    if kind >= _TEXT_OR_BLOB:
        return data
    if kind in (0, _FLOAT):
        return None
    return 1 if kind == _ONE else int.from_bytes(data, "big", signed=True)
