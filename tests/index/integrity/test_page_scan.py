"""Rows are read without a database's B-trees, in bounded time and memory, whatever the file contains.

`test_salvage.py` checks that all rows of databases written by SQLite are read.
"""

from __future__ import annotations

import io
import random

import pytest

from index.integrity import page_scan

PAGE = 8192
# A cell's length, its number, and the header of its row: the length of that, and the types of the values, of which the
# third is a blob of 64 KiB.
CELL = bytes([0x84, 0x80, 0x18, 1, 7, 0, 44, 0x88, 0x80, 0x0C, 1])
# By SQLite's rule, so many bytes of such a row are on its page, before the number of its overflow page.
LOCAL_BYTES = 1003


class CountingFile(io.BytesIO):
    """Counts the bytes read."""

    bytes_read = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.bytes_read += len(data)
        return data


def leaf(offsets: list[int], content: bytes) -> bytes:
    """Return a page with cells at these offsets."""
    page = bytearray(content)
    pointers = b"".join(offset.to_bytes(2, "big") for offset in offsets)
    page[:8] = bytes([page_scan.TABLE, 0, 0, *len(offsets).to_bytes(2, "big"), 0, 0, 0])
    page[8 : 8 + len(pointers)] = pointers
    return bytes(page)


def test_long_rows_that_share_overflow_pages_are_not_read_endlessly() -> None:
    """On each page, 90 cells for rows of 64 KiB point to an overflow page that points to itself."""
    content = bytearray(PAGE)
    offsets = [2800 + len(CELL) * number for number in range(90)]
    for offset in offsets:
        content[offset : offset + len(CELL)] = CELL
    for offset in offsets:
        content[offset + 4 + LOCAL_BYTES : offset + 8 + LOCAL_BYTES] = b"\0\0\0\2"
    cycle = b"\0\0\0\2" + bytes(PAGE - 4)
    file = CountingFile(bytes(PAGE) + cycle + leaf(offsets, bytes(content)) * 200)
    size = len(file.getbuffer())
    rows = sum(1 for _ in page_scan.PageScan(file, None).rows(page_scan.TABLE, columns=4))
    # Some rows were read completely before the limit was reached.
    assert 0 < rows < 90 * 200 / 4
    assert file.bytes_read < 20 * size


def test_headers_that_claim_to_be_long_are_not_read_to_their_end() -> None:
    """One more type than there are columns shows that the row is of another table."""
    page = bytes([0xFF, 0x7F]) + bytes(PAGE)
    assert page_scan._parse_header(page, 0, 5) == (0x3FFF, [0] * 5)


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_yield_only_well_formed_rows(seed: int) -> None:
    generator = random.Random(seed)  # noqa: S311 - not for secrets
    pages = b"".join(
        bytes([generator.choice([page_scan.TABLE, page_scan.INDEX])]) + generator.randbytes(PAGE - 1) for _ in range(4)
    )
    database, log = io.BytesIO(pages), io.BytesIO(generator.randbytes(32 + 2 * (24 + PAGE)))
    scan = page_scan.PageScan(database, log)
    for leaf_type, columns in ((page_scan.TABLE, 4), (page_scan.INDEX, 2)):
        for row in scan.rows(leaf_type, columns):
            assert len(row) == columns
