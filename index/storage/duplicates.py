"""Texts that stand in more than one passage, counted, so that none of their places can be lost unnoticed."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from index.storage.rows import are, damaged

_REPEATED = "SELECT text_digest, count(*) FROM passages GROUP BY text_digest HAVING count(*) > 1"
_COUNT = "SELECT count(*) FROM passages WHERE text_digest = ?"
_ENTER = "INSERT OR REPLACE INTO duplicates (text_digest, passages, checksum) VALUES (?, ?, ?)"
# Values that one statement binds.
_MOST = 500


def duplicate_checksum(digest: bytes, passages: int) -> int:
    """The checksum of a row."""
    return zlib.crc32(f"{passages}".encode(), zlib.crc32(digest))


def count(connection: sqlite3.Connection, digests: Iterable[bytes] | None = None) -> None:
    """Count texts anew: those whose passages came or went, or all."""
    if digests is None:
        connection.execute("DELETE FROM duplicates")
        rows = connection.execute(_REPEATED)
        connection.executemany(
            _ENTER, ((digest, number, duplicate_checksum(digest, number)) for digest, number in rows)
        )
        return
    for digest in sorted(digests):
        (number,) = connection.execute(_COUNT, (digest,)).fetchone()
        if number > 1:
            connection.execute(_ENTER, (digest, number, duplicate_checksum(digest, number)))
        else:
            connection.execute("DELETE FROM duplicates WHERE text_digest = ?", (digest,))


def read_duplicates(connection: sqlite3.Connection, file: Path, digests: Sequence[bytes]) -> dict[bytes, int]:
    """In how many passages each text stands.

    Raises:
        DamagedIndexError: A row does not hold what was written.
    """
    found = dict.fromkeys(digests, 1)
    for start in range(0, len(digests), _MOST):
        part = digests[start : start + _MOST]
        places = ", ".join("?" * len(part))
        query = f"SELECT text_digest, passages, checksum FROM duplicates WHERE text_digest IN ({places})"  # noqa: S608
        for digest, count, check in connection.execute(query, part):
            if not are((digest, count), (bytes, int)) or duplicate_checksum(digest, count) != check:
                raise damaged(file, "the number of passages with one text")
            found[digest] = count
    return found
