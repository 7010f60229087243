"""Read the rows of a SQLite database page by page, without its B-trees, as the pointers to a page may be damaged.

The layout of pages, cells, rows and logs is SQLite's: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from index.storage.database import PAGE_SIZE

# The first byte of a leaf page: of a table with row ids, and of one without.
TABLE, INDEX = 0x0D, 0x0A

# Limits that bound memory and time for any file: bytes of a row, enough for a vector of 32,768 dimensions; bytes of a
# cell with its pointer; and bytes read from overflow pages per byte of the files (a log can have many versions of a
# page).
_MAX_ROW_BYTES = (1 << 16) + 128
_MIN_CELL_BYTES = 6
_MAX_READ_FACTOR = 16

_LOG_HEADER, _FRAME_HEADER, _PAGE_HEADER = 32, 24, 8
# Bytes of a value by its serial type; those from 12 on are blobs and texts, 10 and 11 are unused.
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
        self._page_size = size if size >= 512 and not size & (size - 1) else PAGE_SIZE
        self._bytes_left = _MAX_READ_FACTOR * (_file_size(database) + _file_size(log))
        frame_size = _FRAME_HEADER + self._page_size
        self._frames = range(_LOG_HEADER, _file_size(log) - frame_size + 1, frame_size)
        # Offset in the log of the last version of each page, by page number.
        self._log_offsets = {
            int.from_bytes(_read(log, start, 4), "big"): start + _FRAME_HEADER for start in self._frames
        }

    def rows(self, leaf: int, columns: int) -> Iterator[list[Value]]:
        """Yield the rows with `columns` columns on leaf pages of one type, newest first; texts are bytes."""
        leaves = (page for page in self._pages() if page[:1] == bytes([leaf]))
        # The last page of a file may be cut short.
        for page in (page.ljust(self._page_size, b"\0") for page in leaves):
            cells = min(int.from_bytes(page[3:5], "big"), (self._page_size - _PAGE_HEADER) // _MIN_CELL_BYTES)
            # As in SQLite, a pointer beyond the page is taken modulo its size; many may point to one cell.
            pointers = (offset % self._page_size for offset in struct.unpack_from(f">{cells}H", page, _PAGE_HEADER))
            for offset in dict.fromkeys(pointers):
                row = self._parse_row(page, offset, leaf, columns)
                if row is not None:
                    yield row

    def _pages(self) -> Iterator[bytes]:
        for offset in reversed(self._frames):
            yield _read(self._log, offset + _FRAME_HEADER, self._page_size)
        for offset in range(0, _file_size(self._database), self._page_size):
            yield _read(self._database, offset, self._page_size)

    def _parse_row(self, page: bytes, offset: int, leaf: int, columns: int) -> list[Value] | None:
        try:
            _, offset = _parse_varint(page, offset)  # length of the row
            if leaf == TABLE:
                _, offset = _parse_varint(page, offset)  # row id
            start, types = _parse_header(page, offset, columns + 1)
        except IndexError:
            return None
        if len(types) != columns or 10 in types or 11 in types:
            return None
        sizes = [_SIZES[kind] if kind < _BLOB else (kind - _BLOB) // 2 for kind in types]
        length = start + sum(sizes)
        if length > _MAX_ROW_BYTES:
            return None
        data = self._read_payload(page, offset, length, leaf)
        if len(data) != length:
            return None
        values = []
        for kind, size in zip(types, sizes, strict=True):
            values.append(_parse_value(kind, data[start : start + size]))
            start += size
        return values

    def _read_payload(self, page: bytes, offset: int, length: int, leaf: int) -> bytes:
        """Return the bytes of a row: those on its page and, for a long row, on a chain of overflow pages."""
        page_size = self._page_size
        max_local = page_size - 35 if leaf == TABLE else (page_size - 12) * 64 // 255 - 23
        if length <= max_local:
            return page[offset : offset + length]
        min_local = (page_size - 12) * 32 // 255 - 23
        local = min_local + (length - min_local) % (page_size - 4)
        local = local if local <= max_local else min_local
        data = bytearray(page[offset : offset + local])
        next_page = page[offset + local : offset + local + 4]
        while len(data) < length and self._bytes_left > 0:
            self._bytes_left -= page_size
            part = self._read_page(int.from_bytes(next_page, "big"))
            if len(part) < 5:
                break
            next_page = part[:4]
            data += part[4 : 4 + length - len(data)]
        return bytes(data)

    def _read_page(self, number: int) -> bytes:
        if number in self._log_offsets:
            return _read(self._log, self._log_offsets[number], self._page_size)
        return _read(self._database, (number - 1) * self._page_size, self._page_size) if number else b""


def _file_size(file: BinaryIO | None) -> int:
    return 0 if file is None else file.seek(0, 2)


def _read(file: BinaryIO | None, offset: int, size: int) -> bytes:
    """Read bytes of a file: fewer at its end, none if the disk cannot read them."""
    if file is None:
        return b""
    try:
        file.seek(offset)
        return file.read(size)
    except OSError:
        return b""


def _parse_header(page: bytes, start: int, limit: int) -> tuple[int, list[int]]:
    """Return the length of a row's header, and at most `limit` of its serial types."""
    length, offset = _parse_varint(page, start)
    serial_types: list[int] = []
    while offset < start + length and len(serial_types) < limit:
        serial_type, offset = _parse_varint(page, offset)
        serial_types.append(serial_type)
    return length, serial_types


def _parse_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return a number, stored as 7 bits per byte and 8 in the ninth, and the offset of its end."""
    value = 0
    for end in range(offset + 1, offset + 9):
        value = value << 7 | data[end - 1] & 0x7F
        if not data[end - 1] & 0x80:
            return value, end
    return value << 8 | data[offset + 8], offset + 9


def _parse_value(serial_type: int, data: bytes) -> Value:
    if serial_type >= _BLOB:
        return data
    if serial_type in (_NULL, _FLOAT):  # no floats are stored
        return None
    return 1 if serial_type == _ONE else int.from_bytes(data, "big", signed=True)
