"""Read the rows of a SQLite database page by page, without its B-trees: whatever leads to a page may be damaged.

The layout of pages, cells, rows and logs is SQLite's: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from index.storage.database import PAGE_SIZE

# The first byte of a leaf page: of a table with row ids, and of one without.
TABLE, INDEX = 0x0D, 0x0A

# Limits, so that no file fills the memory or keeps this running for hours: the most bytes of a row, enough for a vector
# of 32,768 dimensions; the fewest bytes of a cell with its pointer; and the most bytes read from overflow pages, for
# each byte of the files (a log can have many versions of a page).
_MAX_ROW = (1 << 16) + 128
_MIN_CELL = 6
_MAX_READ = 16

_LOG_HEADER, _FRAME_HEADER, _PAGE_HEADER = 32, 24, 8
# Bytes of a value by its serial type; from 12 on they are blobs and texts, 10 and 11 are not in use.
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
_NULL, _FLOAT, _ONE, _BLOB = 0, 7, 9, 12

Value = int | bytes | None


class PageScan:
    """The pages of a database and its write-ahead log."""

    def __init__(self, database: BinaryIO, log: BinaryIO | None) -> None:
        self._database = database
        self._log = log
        size = int.from_bytes(_read(database, 16, 2), "big")
        size = 1 << 16 if size == 1 else size
        self._size = size if size >= 512 and not size & (size - 1) else PAGE_SIZE
        self._budget = _MAX_READ * (_length(database) + _length(log))
        step = _FRAME_HEADER + self._size
        self._frames = range(_LOG_HEADER, _length(log) - step + 1, step)
        # Where in the log the last version of each page is, by page number.
        self._logged = {int.from_bytes(_read(log, at, 4), "big"): at + _FRAME_HEADER for at in self._frames}

    def rows(self, leaf: int, columns: int) -> Iterator[list[Value]]:
        """Yield the rows with `columns` columns on leaves of one type, last written first; texts come as bytes."""
        leaves = (page for page in self._pages() if page[:1] == bytes([leaf]))
        # The last page of a file may be cut short.
        for page in (page.ljust(self._size, b"\0") for page in leaves):
            cells = min(int.from_bytes(page[3:5], "big"), (self._size - _PAGE_HEADER) // _MIN_CELL)
            # As in SQLite, a pointer beyond the page is taken modulo its size; many may point to one cell.
            pointers = (at % self._size for at in struct.unpack_from(f">{cells}H", page, _PAGE_HEADER))
            for at in dict.fromkeys(pointers):
                row = self._row(page, at, leaf, columns)
                if row is not None:
                    yield row

    def _pages(self) -> Iterator[bytes]:
        for at in reversed(self._frames):
            yield _read(self._log, at + _FRAME_HEADER, self._size)
        for at in range(0, _length(self._database), self._size):
            yield _read(self._database, at, self._size)

    def _row(self, page: bytes, at: int, leaf: int, columns: int) -> list[Value] | None:
        try:
            _, at = _varint(page, at)  # bytes of the row
            if leaf == TABLE:
                _, at = _varint(page, at)  # its id
            header, types = _header(page, at, columns + 1)
        except IndexError:
            return None
        if len(types) != columns or 10 in types or 11 in types:
            return None
        sizes = [_SIZES[kind] if kind < _BLOB else (kind - _BLOB) // 2 for kind in types]
        length = header + sum(sizes)
        if length > _MAX_ROW:
            return None
        data = self._payload(page, at, length, leaf)
        if len(data) != length:
            return None
        values = []
        for kind, size in zip(types, sizes, strict=True):
            values.append(_value(kind, data[header : header + size]))
            header += size
        return values

    def _payload(self, page: bytes, at: int, length: int, leaf: int) -> bytes:
        """Return the bytes of a row: those on its page, and, if it is long, those on a chain of overflow pages."""
        usable = self._size
        most = usable - 35 if leaf == TABLE else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return page[at : at + length]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
        data = bytearray(page[at : at + local])
        following = page[at + local : at + local + 4]
        while len(data) < length and self._budget > 0:
            self._budget -= usable
            part = self._page(int.from_bytes(following, "big"))
            if len(part) < 5:
                break
            following = part[:4]
            data += part[4 : 4 + length - len(data)]
        return bytes(data)

    def _page(self, number: int) -> bytes:
        if number in self._logged:
            return _read(self._log, self._logged[number], self._size)
        return _read(self._database, (number - 1) * self._size, self._size) if number else b""


def _length(file: BinaryIO | None) -> int:
    return 0 if file is None else file.seek(0, 2)


def _read(file: BinaryIO | None, at: int, size: int) -> bytes:
    """Return bytes of a file: fewer at its end, none where the disk cannot read them."""
    if file is None:
        return b""
    try:
        file.seek(at)
        return file.read(size)
    except OSError:
        return b""


def _header(page: bytes, start: int, most: int) -> tuple[int, list[int]]:
    """Return the length of a row's header, and the serial types it lists: `most` at most."""
    length, at = _varint(page, start)
    types: list[int] = []
    while at < start + length and len(types) < most:
        kind, at = _varint(page, at)
        types.append(kind)
    return length, types


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, 8 in the ninth, and where it ends."""
    value = 0
    for end in range(at + 1, at + 9):
        value = value << 7 | data[end - 1] & 0x7F
        if not data[end - 1] & 0x80:
            return value, end
    return value << 8 | data[at + 8], at + 9


def _value(serial_type: int, data: bytes) -> Value:
    if serial_type >= _BLOB:
        return data
    if serial_type in (_NULL, _FLOAT):  # no floats are stored
        return None
    return 1 if serial_type == _ONE else int.from_bytes(data, "big", signed=True)
