"""Change an index and recompute its checksums, so that the change looks as if the tool had made it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from index.dense import vector_refs
from index.lexical import posting_blocks
from index.storage import duplicates, rows
from index.storage.database import checksum
from index.storage.vectors import vector_checksum


def edit(file: Path, *statements: str | tuple[str, Sequence[object]]) -> None:
    """Change rows of an index, then recompute every checksum."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            text, values = (statement, ()) if isinstance(statement, str) else statement
            connection.execute(text, values)
        _update_checksums(connection)


def set_meta(file: Path, key: str, change: Callable[[Any], Any]) -> None:
    """Change a value of `meta`, then recompute every checksum."""
    with closing(sqlite3.connect(file)) as connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    edit(file, ("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(change(json.loads(text))), key)))


def replace_segment(folder: Path, data: bytes, *, number: int = 0, **values: object) -> None:
    """Replace the contents of a FAISS file, and its size and digest in `meta`."""

    def change(segments: list[dict[str, Any]]) -> list[dict[str, Any]]:
        segment = segments[number]
        (folder / segment["name"]).write_bytes(data)
        segment |= {"size": len(data), "digest": hashlib.blake2b(data, digest_size=32).hexdigest(), **values}
        return segments

    set_meta(folder / "index.db", "segments", change)


def _update_checksums(connection: sqlite3.Connection) -> None:
    _reseal(connection, "documents", "id", lambda row: checksum(*row[:-1]))
    _reseal(connection, "passages", "id", lambda row: rows.link_checksum(rows.Link(*row[:6])), column="link_checksum")
    paths = dict(connection.execute("SELECT id, path FROM documents"))
    _reseal(connection, "passages", "id", lambda row: checksum(paths.get(row[2], ""), *row[:-1]))
    _reseal(connection, "vectors", "id", lambda row: vector_checksum(_bytes(row[1]), _bytes(row[2])))
    _reseal(connection, "vector_refs", "vector", lambda row: vector_refs.ref_checksum(*row[:4]))
    _reseal(connection, "duplicates", "text_digest", lambda row: duplicates.duplicate_checksum(_bytes(row[0]), row[1]))
    _reseal(connection, "skipped", "rowid", lambda row: checksum(*row[:-1]))
    _reseal(connection, "posting_lists", "id", lambda row: posting_blocks.row_checksum(row[0], _bytes(row[1])))
    _reseal(connection, "blocks", "block", lambda row: posting_blocks._block_checksum(row[0], *map(_bytes, row[1:3])))
    meta = dict(connection.execute("SELECT key, value FROM meta WHERE key <> 'checksum'"))
    meta_checksum = checksum(*(part for pair in sorted(meta.items()) for part in pair)).hex()
    connection.execute("UPDATE meta SET value = ? WHERE key = 'checksum'", (meta_checksum,))


def _reseal(
    connection: sqlite3.Connection,
    table: str,
    key: str,
    checksum_of: Callable[[Sequence[Any]], object],
    column: str = "checksum",
) -> None:
    stored = connection.execute(f"SELECT {key}, * FROM {table}").fetchall()  # noqa: S608 - names from here
    for row_id, *row in stored:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (checksum_of(row), row_id))  # noqa: S608


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
