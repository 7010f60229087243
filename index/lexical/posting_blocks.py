"""The keyword index as rows: posting lists by block of passages and hash of the term.

A row has the posting lists of all terms with one hash in one block, and each block records which hashes have a row: a
missing row is noticed, and cannot pass for a term that no passage has.
"""

from __future__ import annotations

import sqlite3
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corpus.errors import DamagedIndexError
from index.storage.rows import AMONG, damaged, ids_json

# Passages in a block: small enough to keep changes small, large enough to keep the rows of a term few.
BLOCK = 16_384
# Hashes of terms: a full block has about one term for each.
HASHES = 65_536
_MAP_BYTES = HASHES // 8
# Before a posting list: bytes of its term, number of its postings.
_HEAD = struct.Struct("<IH")

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Posting lists by term: positions of passages in the block as ascending uint16, little-endian, then weights as uint8.
PostingLists = dict[bytes, bytes]


class PassageBlock(NamedTuple):
    """What a block knows of its passages and terms.

    Attributes:
        lengths: `(n,) uint16`, words of each passage; 0 for none.
        hashes: `(8192,) uint8`, a bit for each hash that has a row, the lowest first.
    """

    lengths: npt.NDArray[np.uint16]
    hashes: npt.NDArray[np.uint8]


EMPTY = PassageBlock(np.zeros(0, dtype=np.uint16), np.zeros(_MAP_BYTES, dtype=np.uint8))


def term_bytes(term: str) -> bytes:
    """A term as it is stored."""
    return term.encode("utf-8", "surrogatepass")


def term_hash(term: bytes) -> int:
    """The hash that decides in which row of a block a term is."""
    return zlib.crc32(term) % HASHES


def row_id(block: int, number: int) -> int:
    """The row of a block for one hash."""
    return block * HASHES + number


def read_blocks(connection: sqlite3.Connection, file: Path, condition: str = "true") -> dict[int, PassageBlock]:
    """The blocks that meet an SQL condition, by number, ascending."""
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
    """Rows and their posting lists."""
    wanted = list(rows)
    found = 0
    query = f"SELECT id, data, checksum FROM posting_lists WHERE id IN {AMONG}"
    for row in connection.execute(query, (ids_json(wanted),)):
        found += 1
        yield row[0], posting_lists_in(row, file)
    if found != len(wanted):
        raise damaged(file, "a row of the keyword index is missing")


def posting_lists_in(row: tuple[Any, ...], file: Path) -> PostingLists:
    """Check and unpack a row `(id, data, checksum)` of `posting_lists`."""
    number, data, check = row
    if not isinstance(data, bytes) or row_checksum(number, data) != check:
        raise damaged_block(file, number // HASHES)
    lists: PostingLists = {}
    at = 0
    try:
        while at < len(data):
            size, count = _HEAD.unpack_from(data, at)
            start = at + _HEAD.size
            at = start + size + 3 * count
            lists[data[start : start + size]] = data[start + size : at]
    except struct.error as error:
        raise damaged_block(file, number // HASHES) from error
    if at > len(data):
        raise damaged_block(file, number // HASHES)
    return lists


def write_posting_lists(connection: sqlite3.Connection, rows: Mapping[int, PostingLists]) -> None:
    """Replace rows, and delete those without posting lists."""
    connection.executemany("DELETE FROM posting_lists WHERE id = ?", [(row,) for row in rows if not rows[row]])
    # In order, so that two builds of the same files write the same bytes, into full pages.
    packed = ((row, _pack(lists)) for row, lists in sorted(rows.items()) if lists)
    connection.executemany(
        "INSERT OR REPLACE INTO posting_lists (id, data, checksum) VALUES (?, ?, ?)",
        ((row, data, row_checksum(row, data)) for row, data in packed),
    )


def _pack(lists: PostingLists) -> bytes:
    parts = []
    for term, data in sorted(lists.items()):
        parts += [_HEAD.pack(len(term), len(data) // 3), term, data]
    return b"".join(parts)


def pack_postings(weights: Mapping[int, int]) -> bytes:
    """A posting list of weights by position."""
    order = sorted(weights)
    positions = array("H", order)
    if sys.byteorder == "big":
        positions.byteswap()
    return positions.tobytes() + bytes([weights[position] for position in order])


def unpack_postings(data: bytes) -> tuple[Numbers, Floats]:
    """Positions, ascending, and weights of a posting list."""
    count = len(data) // 3
    positions = np.frombuffer(data, dtype="<u2", count=count)
    return positions.astype(np.int64), np.frombuffer(data, dtype=np.uint8, offset=2 * count).astype(np.float64)


def row_checksum(row: int, data: bytes) -> int:
    """CRC-32 over a row and its number: cheap, as a common word has many rows."""
    return zlib.crc32(data, zlib.crc32(b"%d" % row))


def _block_checksum(number: int, lengths: bytes, hashes: bytes) -> int:
    return zlib.crc32(hashes, zlib.crc32(lengths, zlib.crc32(b"%d %d" % (number, len(lengths)))))


def damaged_block(file: Path, block: int) -> DamagedIndexError:
    """The error for a damaged block or row of it."""
    return damaged(file, f"checksum mismatch in the keyword index (block {block})")
