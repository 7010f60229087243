"""The keyword index as rows: buckets of terms, and for each block of passages what there is to be found.

A bucket holds the terms of one hash, so a row that must be there answers for every term, those too that no passage
has: a lost row cannot pass for a word that stands nowhere.
"""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

import sqlite3
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from corpus.errors import DamagedIndexError
from index.storage.rows import AMONG, damaged, ids_json

# Passages in a block: small enough that a change is, large enough that a term's rows are few.
BLOCK = 16_384
# Buckets in a block: a full one has about one term in each.
HASHES = 65_536
_MAP = HASHES // 8
# Of a term in a bucket: bytes of its name, passages that have it.
_HEAD = struct.Struct("<IH")

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# The terms of a bucket and what is kept of each: places in the block as ascending uint16, little-endian, then weights
# as uint8.
PostingLists = dict[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Block:
    """What a block of passages has.

    Attributes:
        lengths: `(n,) uint16`: words of each passage, 0 where there is none.
        buckets: `(8192,) uint8`: a bit for each bucket that has terms, the lowest first.
    """

    lengths: npt.NDArray[np.uint16]
    buckets: npt.NDArray[np.uint8]


EMPTY = Block(np.zeros(0, dtype=np.uint16), np.zeros(_MAP, dtype=np.uint8))


def term_bytes(term: str) -> bytes:
    """A term as it stands in a bucket."""
    return term.encode("utf-8", "surrogatepass")


def term_hash(name: bytes) -> int:
    """Which bucket of a block a term is in."""
    return zlib.crc32(name) % HASHES


def row_id(block: int, bucket: int) -> int:
    """The row number of a bucket."""
    return block * HASHES + bucket


def read_blocks(connection: sqlite3.Connection, file: Path, condition: str = "true") -> dict[int, Block]:
    """The blocks that meet an SQL condition, by number, in order.

    Raises:
        DamagedIndexError: One does not hold what was written.
    """
    query = f"SELECT block, lengths, hashes, checksum FROM blocks WHERE {condition} ORDER BY block"
    return {row[0]: _block_of(row, file) for row in connection.execute(query)}


def _block_of(row: tuple[Any, ...], file: Path) -> Block:
    number, lengths, buckets, check = row
    if not (isinstance(lengths, bytes) and isinstance(buckets, bytes)) or len(lengths) % 2 or len(buckets) != _MAP:
        raise lost(file, number)
    if _block_checksum(number, lengths, buckets) != check:
        raise lost(file, number)
    return Block(np.frombuffer(lengths, dtype="<u2"), np.frombuffer(buckets, dtype=np.uint8))


def write_block(connection: sqlite3.Connection, number: int, block: Block) -> None:
    """Replace what is written down about a block, or forget it where nothing is left in it."""
    used = np.flatnonzero(block.lengths)
    if not len(used):
        connection.execute("DELETE FROM blocks WHERE block = ?", (number,))
        return
    lengths = block.lengths[: int(used[-1]) + 1].astype("<u2").tobytes()
    buckets = block.buckets.tobytes()
    connection.execute(
        "INSERT OR REPLACE INTO blocks (block, lengths, hashes, checksum) VALUES (?, ?, ?, ?)",
        (number, lengths, buckets, _block_checksum(number, lengths, buckets)),
    )


def read_posting_lists(
    connection: sqlite3.Connection, file: Path, rows: Iterable[int]
) -> Iterator[tuple[int, PostingLists]]:
    """Row numbers and buckets, all of which must be there.

    Raises:
        DamagedIndexError: One is missing or does not hold what was written.
    """
    wanted = list(rows)
    found = 0
    query = f"SELECT id, data, checksum FROM posting_lists WHERE id IN {AMONG}"
    for row in connection.execute(query, (ids_json(wanted),)):
        found += 1
        yield row[0], posting_lists_in(row, file)
    if found != len(wanted):
        raise damaged(file, "a row of the keyword index is missing")


def posting_lists_in(row: tuple[Any, ...], file: Path) -> PostingLists:
    """Check and take apart a row `(id, data, checksum)` of `postings`."""
    number, data, check = row
    if not isinstance(data, bytes) or row_checksum(number, data) != check:
        raise lost(file, number // HASHES)
    try:
        return _unpacked(data)
    except struct.error as error:
        raise lost(file, number // HASHES) from error


def write_posting_lists(connection: sqlite3.Connection, buckets: Mapping[int, PostingLists]) -> None:
    """Replace buckets by row number; those that are empty go."""
    written, emptied = [], []
    # In order, so that two builds of the same files write the same bytes, into full pages.
    for number, bucket in sorted(buckets.items()):
        if bucket:
            data = _packed(bucket)
            written.append((number, data, row_checksum(number, data)))
        else:
            emptied.append((number,))
    connection.executemany("DELETE FROM posting_lists WHERE id = ?", emptied)
    connection.executemany("INSERT OR REPLACE INTO posting_lists (id, data, checksum) VALUES (?, ?, ?)", written)


def row_checksum(row: int, data: bytes) -> int:
    """CRC-32 over a bucket and its place; it is taken for every row of a common word, so it has to be quick."""
    return zlib.crc32(data, zlib.crc32(b"%d" % row))


def pack_postings(entries: Mapping[int, int]) -> bytes:
    """Places and weights as a bucket keeps them."""
    order = sorted(entries)
    places = array("H", order)
    if sys.byteorder == "big":
        places.byteswap()
    return places.tobytes() + bytes([entries[place] for place in order])


def unpack_postings(data: bytes) -> tuple[Numbers, Floats]:
    """Places and weights, the places ascending."""
    count = len(data) // 3
    places = np.frombuffer(data, dtype="<u2", count=count)
    return places.astype(np.int64), np.frombuffer(data, dtype=np.uint8, offset=2 * count).astype(np.float64)


def lost(file: Path, block: int) -> DamagedIndexError:
    """The error for a block of which something does not hold what was written."""
    return damaged(file, f"checksum mismatch in the keyword index (block {block})")


def _packed(bucket: PostingLists) -> bytes:
    parts = []
    for name in sorted(bucket):
        data = bucket[name]
        parts += [_HEAD.pack(len(name), len(data) // 3), name, data]
    return b"".join(parts)


def _unpacked(data: bytes) -> PostingLists:
    bucket: PostingLists = {}
    at = 0
    while at < len(data):
        size, count = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        at = start + size + 3 * count
        if at > len(data):
            raise struct.error("an entry runs past the end")
        bucket[data[start : start + size]] = data[start + size : at]
    return bucket


def _block_checksum(number: int, lengths: bytes, buckets: bytes) -> int:
    return zlib.crc32(buckets, zlib.crc32(lengths, zlib.crc32(b"%d %d" % (number, len(lengths)))))
