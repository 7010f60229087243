"""Damage to any row of the keyword index is detected when the row is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import pytest

from corpus.errors import DamagedIndexError
from tests.index.postings import SMALL, change, once, reader, row_of, stored, text, undone, weighed

pytestmark = pytest.mark.usefixtures("_small_blocks")

Read = Callable[[sqlite3.Connection, int, str], None]


def searched(connection: sqlite3.Connection, block: int, term: str) -> None:
    reader(connection, len(SMALL)).search(once(term or "dog"), 5)


def verified(connection: sqlite3.Connection, block: int, term: str) -> None:
    reader(connection, len(SMALL)).verify()


def added_to(connection: sqlite3.Connection, block: int, term: str) -> None:
    change(connection, add={4 * block + 3: text(term or "oak")})


def removed_from(connection: sqlite3.Connection, block: int, term: str) -> None:
    gone = {row: one for row, one in SMALL.items() if row // 4 == block and term in ("", *weighed(one)[0])}
    change(connection, remove=gone)


READS = pytest.mark.parametrize("reads", [searched, verified, added_to, removed_from])


def flips(data: bytes) -> Iterator[bytes]:
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        yield bytes(changed)
    yield from (data[:-1], data + b"\0", b"")


@READS
def test_a_changed_byte_in_a_posting_list_is_detected(connection: sqlite3.Connection, reads: Read) -> None:
    """In any byte of any row, or in its checksum; undamaged, everything can be read."""
    change(connection, add=SMALL)
    for block, term in stored(connection):
        number = row_of(block, term)
        query = "SELECT data, checksum FROM posting_lists WHERE id = ?"
        ((data, check),) = connection.execute(query, (number,)).fetchall()
        for values in (*((changed, check) for changed in flips(data)), (data, check ^ 1)):
            with undone(connection):
                connection.execute("UPDATE posting_lists SET data = ?, checksum = ? WHERE id = ?", (*values, number))
                with pytest.raises(DamagedIndexError, match=rf"the keyword index \(block {block}\)"):
                    reads(connection, block, term)
    reads(connection, 0, "dog")


@READS
@pytest.mark.parametrize("column", ["lengths", "hashes"])
def test_a_changed_byte_in_a_block_is_detected(connection: sqlite3.Connection, column: str, reads: Read) -> None:
    change(connection, add=SMALL)
    for block, old in connection.execute(f"SELECT block, {column} FROM blocks").fetchall():  # noqa: S608 - from above
        for changed in list(flips(old))[:: max(1, len(old) // 60)]:
            with undone(connection):
                connection.execute(f"UPDATE blocks SET {column} = ? WHERE block = ?", (changed, block))  # noqa: S608
                with pytest.raises(DamagedIndexError, match=rf"the keyword index \(block {block}\)"):
                    reads(connection, block, "")


@READS
def test_lost_row_is_not_mistaken_for_an_unused_word(connection: sqlite3.Connection, reads: Read) -> None:
    change(connection, add=SMALL)
    for block, term in stored(connection):
        with undone(connection):
            connection.execute("DELETE FROM posting_lists WHERE id = ?", (row_of(block, term),))
            with pytest.raises(DamagedIndexError, match="the keyword index"):
                reads(connection, block, term)


@READS
@pytest.mark.parametrize("block", [0, 1, 3])
def test_a_lost_block_is_detected(connection: sqlite3.Connection, block: int, reads: Read) -> None:
    """Even by a search for a term of other blocks."""
    change(connection, add=SMALL)
    connection.execute("DELETE FROM blocks WHERE block = ?", (block,))
    with pytest.raises(DamagedIndexError):
        reads(connection, block, "cat" if block != 3 else "dog")
