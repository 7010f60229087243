"""Damage to any row of the keyword index is detected as it is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import pytest

from corpus.errors import DamagedIndexError
from tests.index.postings import (
    SMALL,
    as_query,
    body,
    change,
    count_terms,
    open_reader,
    rollback,
    stored_lists,
    stored_row_id,
)

pytestmark = pytest.mark.usefixtures("_small_blocks")

ReadAction = Callable[[sqlite3.Connection, int, str], None]


def search(connection: sqlite3.Connection, block: int, term: str) -> None:
    open_reader(connection, len(SMALL)).search(as_query(term or "dog"), 5)


def verify(connection: sqlite3.Connection, block: int, term: str) -> None:
    open_reader(connection, len(SMALL)).verify()


def add(connection: sqlite3.Connection, block: int, term: str) -> None:
    change(connection, add={4 * block + 3: body(term or "oak")})


def remove(connection: sqlite3.Connection, block: int, term: str) -> None:
    passages = {row: fields for row, fields in SMALL.items() if row // 4 == block}
    change(connection, remove={row: it for row, it in passages.items() if term in ("", *count_terms(it)[0])})


EACH_READ = pytest.mark.parametrize("read", [search, verify, add, remove])


def flips(data: bytes) -> Iterator[bytes]:
    for offset in range(len(data)):
        changed = bytearray(data)
        changed[offset] ^= 1 << offset % 8
        yield bytes(changed)
    yield from (data[:-1], data + b"\0", b"")


@EACH_READ
def test_a_changed_byte_in_a_posting_list_is_detected(connection: sqlite3.Connection, read: ReadAction) -> None:
    """In any byte of any row, or in its checksum; undamaged, everything can be read."""
    change(connection, add=SMALL)
    for block, term in stored_lists(connection):
        number = stored_row_id(block, term)
        query = "SELECT data, checksum FROM posting_lists WHERE id = ?"
        ((data, check),) = connection.execute(query, (number,)).fetchall()
        for values in (*((changed, check) for changed in flips(data)), (data, check ^ 1)):
            with rollback(connection):
                connection.execute("UPDATE posting_lists SET data = ?, checksum = ? WHERE id = ?", (*values, number))
                with pytest.raises(DamagedIndexError, match=rf"the keyword index \(block {block}\)"):
                    read(connection, block, term)
    read(connection, 0, "dog")


@EACH_READ
@pytest.mark.parametrize("column", ["lengths", "hashes"])
def test_a_changed_byte_in_a_block_is_detected(connection: sqlite3.Connection, column: str, read: ReadAction) -> None:
    change(connection, add=SMALL)
    for block, old in connection.execute(f"SELECT block, {column} FROM blocks").fetchall():  # noqa: S608 - from above
        for changed in list(flips(old))[:: max(1, len(old) // 60)]:
            with rollback(connection):
                connection.execute(f"UPDATE blocks SET {column} = ? WHERE block = ?", (changed, block))  # noqa: S608
                with pytest.raises(DamagedIndexError, match=rf"the keyword index \(block {block}\)"):
                    read(connection, block, "")


@EACH_READ
def test_lost_row_is_not_mistaken_for_an_unused_word(connection: sqlite3.Connection, read: ReadAction) -> None:
    change(connection, add=SMALL)
    for block, term in stored_lists(connection):
        with rollback(connection):
            connection.execute("DELETE FROM posting_lists WHERE id = ?", (stored_row_id(block, term),))
            with pytest.raises(DamagedIndexError, match="the keyword index"):
                read(connection, block, term)


@EACH_READ
@pytest.mark.parametrize("block", [0, 1, 3])
def test_a_lost_block_is_detected(connection: sqlite3.Connection, block: int, read: ReadAction) -> None:
    """Even by a search for a term of other blocks."""
    change(connection, add=SMALL)
    connection.execute("DELETE FROM blocks WHERE block = ?", (block,))
    with pytest.raises(DamagedIndexError):
        read(connection, block, "cat" if block != 3 else "dog")
