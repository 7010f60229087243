"""Counts of the passages with the same text, so that a missing duplicate is noticed."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from index.storage.rows import damaged, have_types

_COUNT_ALL = "SELECT text_digest, count(*) FROM passages GROUP BY text_digest HAVING count(*) > 1"
_COUNT_PASSAGES = "SELECT count(*) FROM passages WHERE text_digest = ?"
_READ = "SELECT text_digest, passages, checksum FROM duplicates WHERE text_digest = ?"
_WRITE = "INSERT OR REPLACE INTO duplicates (text_digest, passages, checksum) VALUES (?, ?, ?)"


def duplicate_checksum(digest: bytes, passages: int) -> int:
    """Return the checksum of a row in `duplicates`."""
    return zlib.crc32(f"{passages}".encode(), zlib.crc32(digest))


def recount_duplicates(connection: sqlite3.Connection, digests: Iterable[bytes] | None = None) -> None:
    """Recount the passages with these texts, or with any text."""
    if digests is None:
        connection.execute("DELETE FROM duplicates")
        rows = ((*row, duplicate_checksum(*row)) for row in connection.execute(_COUNT_ALL))
        connection.executemany(_WRITE, rows)
        return
    for digest in sorted(digests):
        (count,) = connection.execute(_COUNT_PASSAGES, (digest,)).fetchone()
        if count > 1:
            connection.execute(_WRITE, (digest, count, duplicate_checksum(digest, count)))
        else:
            connection.execute("DELETE FROM duplicates WHERE text_digest = ?", (digest,))


def read_duplicates(connection: sqlite3.Connection, file: Path, digests: Sequence[bytes]) -> dict[bytes, int]:
    """Return how many passages have each text; raises DamagedIndexError if a row is damaged."""
    counts = dict.fromkeys(digests, 1)
    for digest in digests:
        for stored_digest, count, check in connection.execute(_READ, (digest,)):
            if (
                not have_types((stored_digest, count), (bytes, int))
                or duplicate_checksum(stored_digest, count) != check
            ):
                raise damaged(file, "checksum mismatch in the table of duplicates")
            counts[stored_digest] = count
    return counts
