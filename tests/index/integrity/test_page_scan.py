"""Rows are found without a database's trees, in bounded time and memory, whatever the file contains.

`test_salvage.py` checks that all rows are found, in databases written by SQLite.
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
# By SQLite's rule, this many bytes of such a row are on its page, followed by the number of the overflow page.
HERE = 1003


class Counting(io.BytesIO):
    """Counts the bytes read."""

    read_so_far = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.read_so_far += len(found)
        return found


def leaf(cells: list[int], content: bytes) -> bytes:
    """A page with cells at these places."""
    page = bytearray(content)
    pointers = b"".join(place.to_bytes(2, "big") for place in cells)
    page[:8] = bytes([page_scan.TABLE, 0, 0, *len(cells).to_bytes(2, "big"), 0, 0, 0])
    page[8 : 8 + len(pointers)] = pointers
    return bytes(page)


def test_long_rows_that_share_overflow_pages_are_not_read_endlessly() -> None:
    """Ninety cells on each page continue on a page that continues on itself; each would be 64 KiB long."""
    content = bytearray(PAGE)
    places = [2800 + len(CELL) * number for number in range(90)]
    for place in places:
        content[place : place + len(CELL)] = CELL
    for place in places:
        content[place + 4 + HERE : place + 8 + HERE] = b"\0\0\0\2"
    cycle = b"\0\0\0\2" + bytes(PAGE - 4)
    file = Counting(bytes(PAGE) + cycle + leaf(places, bytes(content)) * 200)
    size = len(file.getbuffer())
    found = sum(1 for _ in page_scan.PageScan(file, None).rows(page_scan.TABLE, columns=4))
    # Some were read to their end, until the limit was reached.
    assert 0 < found < 90 * 200 / 4
    assert file.read_so_far < 20 * size


def test_headers_that_claim_to_be_long_are_not_read_to_their_end() -> None:
    """One type more than wanted shows that the row is of another table."""
    page = bytes([0xFF, 0x7F]) + bytes(PAGE)
    assert page_scan._header(page, 0, 5) == (0x3FFF, [0] * 5)


@pytest.mark.parametrize("seed", range(20))
def test_random_noise_yields_only_well_formed_records(seed: int) -> None:
    noise = random.Random(seed)  # noqa: S311 - not for secrets
    pages = b"".join(
        bytes([noise.choice([page_scan.TABLE, page_scan.INDEX])]) + noise.randbytes(PAGE - 1) for _ in range(4)
    )
    database, log = io.BytesIO(pages), io.BytesIO(noise.randbytes(32 + 2 * (24 + PAGE)))
    found = page_scan.PageScan(database, log)
    for kind, columns in ((page_scan.TABLE, 4), (page_scan.INDEX, 2)):
        for record in found.rows(kind, columns):
            assert len(record) == columns
