"""The keyword index as rows: posting lists by block of passages and hash of the term.

A row has the posting lists of all terms with one hash in one block, and each block records which hashes have a row, so
that a missing row is noticed, not mistaken for an unused term.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.errors import DamagedIndexError
from index.lexical.postings import PostingList
from index.storage.rows import AMONG, damaged, ids_json

# Passages in a block: small enough to keep changes small, large enough to keep the rows of a term few.
BLOCK = 16_384
# Number of hashes: few, as each row takes time and space; a full block has about three terms for each hash.
HASHES = 8192
_MAP_BYTES = HASHES // 8
_MAX_NUMBER = 1 << 32

PostingLists = dict[bytes, PostingList]


class PassageBlock(NamedTuple):
    """The data of a block on all its passages and terms.

    Attributes:
        lengths: `(n,) uint16`, number of words of each passage; 0 for no passage.
        hashes: `(1024,) uint8`, a bit for each hash that has a row, the lowest first.
    """

    lengths: npt.NDArray[np.uint16]
    hashes: npt.NDArray[np.uint8]


EMPTY = PassageBlock(np.zeros(0, dtype=np.uint16), np.zeros(_MAP_BYTES, dtype=np.uint8))


def term_bytes(term: str) -> bytes:
    """Return a term as it is stored."""
    return term.encode("utf-8", "surrogatepass")


def term_hash(term: bytes) -> int:
    """Return the hash that decides which row of a block a term is in."""
    return zlib.crc32(term) % HASHES


def row_id(block: int, hashed: int) -> int:
    """Return the id of a block's row for one hash."""
    return block * HASHES + hashed


def read_blocks(connection: sqlite3.Connection, file: Path, condition: str = "true") -> dict[int, PassageBlock]:
    """Read the blocks that meet an SQL condition, by number, ascending."""
    query = f"SELECT block, lengths, hashes, checksum FROM blocks WHERE {condition} ORDER BY block"
    blocks = {}
    for number, lengths, hashes, check in connection.execute(query):
        if not (isinstance(lengths, bytes) and isinstance(hashes, bytes)) or len(lengths) % 2:
            raise damaged_block(file, number)
        if len(hashes) != _MAP_BYTES or _block_checksum(number, lengths, hashes) != check:
            raise damaged_block(file, number)
        blocks[number] = PassageBlock(np.frombuffer(lengths, dtype="<u2"), np.frombuffer(hashes, dtype=np.uint8))
    return blocks


def write_block(connection: sqlite3.Connection, number: int, block: PassageBlock) -> None:
    """Replace a block, or delete it if it has no passages."""
    used = np.flatnonzero(block.lengths)
    if not len(used):
        connection.execute("DELETE FROM blocks WHERE block = ?", (number,))
        return
    lengths = block.lengths[: int(used[-1]) + 1].astype("<u2").tobytes()
    hashes = block.hashes.tobytes()
    connection.execute(
        "INSERT OR REPLACE INTO blocks (block, lengths, hashes, checksum) VALUES (?, ?, ?, ?)",
        (number, lengths, hashes, _block_checksum(number, lengths, hashes)),
    )


def read_posting_lists(
    connection: sqlite3.Connection, file: Path, rows: Iterable[int]
) -> Iterator[tuple[int, PostingLists]]:
    """Yield the ids of rows and their posting lists."""
    ids = list(rows)
    count = 0
    query = f"SELECT id, data, checksum FROM posting_lists WHERE id IN {AMONG}"
    for row in connection.execute(query, (ids_json(ids),)):
        count += 1
        yield row[0], parse_posting_lists(row, file)
    if count != len(ids):
        raise damaged(file, "a row of the keyword index is missing")


def parse_posting_lists(row: tuple[Any, ...], file: Path) -> PostingLists:
    """Check a row `(id, data, checksum)` of `posting_lists`, and return its posting lists by term."""
    number, data, check = row
    if not isinstance(data, bytes) or row_checksum(number, data) != check:
        raise damaged_block(file, number // HASHES)
    posting_lists: PostingLists = {}
    offset = 0
    try:
        while offset < len(data):
            # Inlined, as a call for each number would double the time.
            size, offset = (data[offset], offset + 1) if data[offset] < 0x80 else _decode_varint(data, offset)
            term, offset = data[offset : offset + size], offset + size
            count, offset = (data[offset], offset + 1) if data[offset] < 0x80 else _decode_varint(data, offset)
            size, offset = (data[offset], offset + 1) if data[offset] < 0x80 else _decode_varint(data, offset)
            posting_lists[term] = PostingList(count, data[offset : offset + size])
            offset += size
    except IndexError as error:
        raise damaged_block(file, number // HASHES) from error
    if offset > len(data):
        raise damaged_block(file, number // HASHES)
    return posting_lists


def pack_posting_list(term: bytes, count: int, data: bytes) -> tuple[bytes, ...]:
    """Return the bytes of a term's posting list in a row, in parts: with the term and its number of passages."""
    return _encode_varint(len(term)), term, _encode_varint(count), _encode_varint(len(data)), data


def write_rows(connection: sqlite3.Connection, rows: Iterable[tuple[int, bytes]]) -> None:
    """Replace rows; if they are sorted, two builds of the same files write the same bytes, into full pages."""
    connection.executemany(
        "INSERT OR REPLACE INTO posting_lists (id, data, checksum) VALUES (?, ?, ?)",
        ((row, data, row_checksum(row, data)) for row, data in rows),
    )


def delete_rows(connection: sqlite3.Connection, rows: Iterable[int]) -> None:
    """Delete rows that have no terms any more."""
    connection.executemany("DELETE FROM posting_lists WHERE id = ?", [(row,) for row in rows])


def _encode_varint(value: int) -> bytes:
    """Encode a number in groups of seven bits, the highest first, all but the last with the eighth bit set."""
    if value < 0x80:
        return bytes((value,))
    return bytes((*(byte | 0x80 for byte in _encode_varint(value >> 7)), value & 0x7F))


def _decode_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return an encoded number and the offset of its end; raises IndexError."""
    value = data[offset] & 0x7F
    while data[offset] & 0x80:
        offset += 1
        value = value << 7 | data[offset] & 0x7F
        if value > _MAX_NUMBER:
            raise IndexError("longer than any row")
    return value, offset + 1


def row_checksum(row: int, data: bytes) -> int:
    """Return the checksum of a row and its id: CRC-32 for speed, as a common word has many rows."""
    return zlib.crc32(data, zlib.crc32(b"%d" % row))


def _block_checksum(number: int, lengths: bytes, hashes: bytes) -> int:
    return zlib.crc32(hashes, zlib.crc32(lengths, zlib.crc32(b"%d %d" % (number, len(lengths)))))


def damaged_block(file: Path, block: int) -> DamagedIndexError:
    """Return the error for a damaged block, or a damaged row of one."""
    return damaged(file, f"checksum mismatch in the keyword index (block {block})")
