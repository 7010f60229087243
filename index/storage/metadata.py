"""What is written down about a generation as a whole, and about the files that were left out of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from index.storage.database import checksum
from index.storage.rows import are, damaged

# No encoder has more.
_MOST_DIMENSIONS = 65_536
# Columns of a file that was left out: path, reason, unreadable, size, mtime_ns, checked_ns.
_SKIPPED_KINDS = (str, str, int, int | None, int | None, int | None)


@dataclass(frozen=True, slots=True)
class Segment:
    """A FAISS file that holds part of the vectors.

    Attributes:
        number: What `placed` knows it by.
        name: Its file, in the index folder.
        size: Bytes.
        digest: BLAKE2b-256 of the file, hex.
        held: Vectors in it.
        dead: Those of them that no passage refers to any more.
    """

    number: int
    name: str
    size: int
    digest: str
    held: int
    dead: int = 0

    @property
    def live(self) -> int:
        """Vectors in it that can be found."""
        return self.held - self.dead


@dataclass(frozen=True, slots=True)
class Info:
    """What a generation is made of.

    Attributes:
        generation: Counts commits, from 1.
        files: Files in it.
        documents: Documents in it: a file counts as many as it has records, or one.
        passages: Passages in it.
        model: The encoder as the user named it.
        fingerprint: Of that encoder.
        dimension: Length of its vectors.
        splitter: Version of the splitter that cut the passages.
        include: Patterns of the files it takes in, none for all.
        exclude: Patterns of the files it leaves out.
        vectors: Different vectors of its passages.
        segments: The FAISS files that hold them.
        skipped: Files and folders that were left out; None where an earlier version did not count them.
        paths: Files, and folders with a slash at the end, that it is limited to; () for the whole root.
    """

    generation: int
    files: int
    documents: int
    passages: int
    model: str
    fingerprint: str
    dimension: int
    splitter: int
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    vectors: int
    segments: tuple[Segment, ...]
    skipped: int | None = None
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A file or folder that was left out; the stat values say which state of it was judged."""

    path: str
    reason: str
    unreadable: bool
    size: int | None = None
    mtime_ns: int | None = None
    checked_ns: int | None = None


def read_info(connection: sqlite3.Connection, file: Path) -> Info | None:
    """What the last commit wrote down, or None before the first.

    Raises:
        DamagedIndexError: It does not hold what was written, or the tables are not those that were there.
    """
    found = connection.execute("SELECT key, value FROM meta").fetchall()
    if not found:
        return None
    rows = dict(found)
    if not all(are(row, (str, str)) for row in found) or _meta_checksum(rows) != rows.pop("checksum", ""):
        raise damaged(file, "table meta")
    if rows.pop("tables", "") != _tables(connection):
        raise damaged(file, "the list of tables")
    try:
        return _info_of({key: json.loads(value) for key, value in rows.items()})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damaged(file, "table meta") from error


def _info_of(values: dict[str, Any]) -> Info:
    """What was written down, made sure of as far as it can be: whoever writes checksums can write anything."""
    for key in ("include", "exclude", "paths"):
        values[key] = tuple(map(str, values.get(key, ())))
    values["segments"] = tuple(Segment(**segment) for segment in values["segments"])
    info = Info(**values)
    _require_kinds(info, info.generation, info.documents, info.passages, info.dimension, info.splitter, info.vectors)
    _require_kinds(info, info.files, 0 if info.skipped is None else info.skipped)
    for one in info.segments:
        _require_kinds(one, one.number, one.size, one.held, one.dead, one.live)
        if Path(one.name).name != one.name or "\0" in one.name:
            raise ValueError("a segment lies elsewhere")
    numbers = {one.number for one in info.segments}
    if len(numbers) != len(info.segments) or sum(one.live for one in info.segments) != info.vectors:
        raise ValueError("the segments have not the vectors")
    if not 0 < info.dimension <= _MOST_DIMENSIONS:
        raise ValueError("there is no such dimension")
    return info


def _require_kinds(one: Info | Segment, *numbers: object) -> None:
    texts = (one.name, one.digest) if isinstance(one, Segment) else (one.model, one.fingerprint)
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(n, int) and n >= 0 for n in numbers):
        raise TypeError("a value is of another kind")


def write_info(connection: sqlite3.Connection, info: Info) -> None:
    """Replace what is written down about the index."""
    values = asdict(info)
    if not info.paths:  # so that earlier versions read an index of a whole root
        del values["paths"]
    rows = {key: json.dumps(value) for key, value in values.items()} | {"tables": _tables(connection)}
    rows["checksum"] = _meta_checksum(rows)
    connection.execute("DELETE FROM meta")
    connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", rows.items())


def _tables(connection: sqlite3.Connection) -> str:
    """What tables and indexes there are, and where in the file they begin."""
    rows = connection.execute("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY type, name")
    return checksum(*(field for row in rows for field in row)).hex()


def _meta_checksum(rows: dict[str, str]) -> str:
    return checksum(*(part for pair in sorted(rows.items()) if pair[0] != "checksum" for part in pair)).hex()


def read_skipped(connection: sqlite3.Connection, file: Path, count: int | None) -> tuple[SkippedRow, ...]:
    """What was left out, by path; so many, where that is known.

    Raises:
        DamagedIndexError: A row is missing or does not hold what was written.
    """
    found = []
    query = "SELECT path, reason, unreadable, size, mtime_ns, checked_ns, checksum FROM skipped ORDER BY path"
    for *fields, check in connection.execute(query):
        if checksum(*fields) != check or not are(fields, _SKIPPED_KINDS):
            raise damaged(file, "what is noted of skipped files")
        path, reason, unreadable, *stat = fields
        found.append(SkippedRow(path, reason, bool(unreadable), *stat))
    if count is not None and len(found) != count:
        raise damaged(file, "the number of skipped files")
    return tuple(found)


def write_skipped(connection: sqlite3.Connection, left: Sequence[SkippedRow]) -> None:
    """Replace what is written down about what was left out."""
    connection.execute("DELETE FROM skipped")
    rows = [(one.path, one.reason, int(one.unreadable), one.size, one.mtime_ns, one.checked_ns) for one in left]
    connection.executemany(
        "INSERT INTO skipped (path, reason, unreadable, size, mtime_ns, checked_ns, checksum) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(*row, checksum(*row)) for row in rows],
    )
