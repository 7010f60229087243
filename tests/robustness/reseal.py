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
        _seal(connection)


def set_meta(file: Path, key: str, change: Callable[[Any], Any]) -> None:
    """Change one value of `meta`, and recompute its checksum."""
    with closing(sqlite3.connect(file)) as connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    edit(file, ("UPDATE meta SET value = ? WHERE key = ?", (json.dumps(change(json.loads(text))), key)))


def replace_segment(folder: Path, data: bytes, *, which: int = 0, **values: object) -> None:
    """Replace the contents of a FAISS file, with its recorded size and digest."""

    def change(segments: list[dict[str, Any]]) -> list[dict[str, Any]]:
        one = segments[which]
        (folder / one["name"]).write_bytes(data)
        one |= {"size": len(data), "digest": hashlib.blake2b(data, digest_size=32).hexdigest(), **values}
        return segments

    set_meta(folder / "index.db", "segments", change)


def _seal(connection: sqlite3.Connection) -> None:
    _each(connection, "documents", "id", lambda row: checksum(*row[:-1]))
    _each(connection, "passages", "id", lambda row: rows.link_checksum(rows.Link(*row[:6])), into="link_checksum")
    paths = dict(connection.execute("SELECT id, path FROM documents"))
    _each(connection, "passages", "id", lambda row: checksum(paths.get(row[2], ""), *row[:-1]))
    _each(connection, "vectors", "id", lambda row: vector_checksum(_bytes(row[1]), _bytes(row[2])))
    _each(connection, "vector_refs", "vector", lambda row: vector_refs.ref_checksum(*row[:4]))
    _each(connection, "duplicates", "text_digest", lambda row: duplicates.duplicate_checksum(_bytes(row[0]), row[1]))
    _each(connection, "skipped", "rowid", lambda row: checksum(*row[:-1]))
    _each(connection, "posting_lists", "id", lambda row: posting_blocks.row_checksum(row[0], _bytes(row[1])))
    _each(connection, "blocks", "block", lambda row: posting_blocks._block_checksum(row[0], *map(_bytes, row[1:3])))
    meta = dict(connection.execute("SELECT key, value FROM meta WHERE key <> 'checksum'"))
    seal = checksum(*(part for pair in sorted(meta.items()) for part in pair)).hex()
    connection.execute("UPDATE meta SET value = ? WHERE key = 'checksum'", (seal,))


def _each(
    connection: sqlite3.Connection,
    table: str,
    key: str,
    seal: Callable[[Sequence[Any]], object],
    into: str = "checksum",
) -> None:
    found = connection.execute(f"SELECT {key}, * FROM {table}").fetchall()  # noqa: S608 - names from here
    for number, *row in found:
        connection.execute(f"UPDATE {table} SET {into} = ? WHERE {key} = ?", (seal(row), number))  # noqa: S608


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
