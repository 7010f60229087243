"""The metadata of a generation, and the files skipped by it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from corpus.errors import DamagedIndexError
from index.storage.database import checksum
from index.storage.rows import damaged, have_types

# No encoder has more.
_MAX_DIMENSION = 65_536
# Column types of `skipped`, without the checksum.
_SKIPPED_TYPES = (str, str, int, int | None, int | None, int | None)


@dataclass(frozen=True, slots=True)
class Segment:
    """A FAISS file with part of the vectors."""

    number: int  # identifies it in `vector_refs`
    name: str  # file name in the index folder
    size: int  # bytes
    digest: str  # BLAKE2b-256 of the file, hex
    held: int  # number of vectors in it
    dead: int = 0  # how many of them are no longer used by any passage

    @property
    def live(self) -> int:
        """The number of its vectors that passages use."""
        return self.held - self.dead


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which files under the root are indexed, and how they are read.

    Attributes:
        include: Patterns, as in .gitignore, of the files to index; () for all.
        exclude: Patterns of the files to leave out.
        paths: Files, and folders with a trailing slash, that the index is limited to; () for the whole root.
        formats: Formats of files whose names do not show it, as in `corpus.formats.effective_name`.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConfig(Selection):
    """The settings an index is built with."""

    model: str  # the encoder, as named by the user
    fingerprint: str  # of that encoder
    dimension: int  # length of its vectors
    splitter: int  # version of the splitter
    from_file: tuple[str, ...] = ()  # names of the selection fields that were set in a settings file


@dataclass(frozen=True, slots=True, kw_only=True)
class Info(BuildConfig):
    """The metadata of a generation, the state of an index after a commit."""

    generation: int  # number of commits, from 1
    files: int  # number of files
    documents: int  # number of documents: a file counts once, or once for each of its records
    passages: int  # number of passages
    vectors: int  # number of distinct vectors of its passages
    skipped: int  # number of files and folders that were skipped
    segments: tuple[Segment, ...]  # the FAISS files that hold the vectors

    @property
    def config(self) -> BuildConfig:
        """The settings it was built with."""
        return BuildConfig(**{field.name: getattr(self, field.name) for field in fields(BuildConfig)})


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a check of an index."""

    documents: int  # number of documents
    passages: int  # number of passages
    problems: tuple[str, ...]  # a message for each damaged part of the index


def run_checks(info: Info, checks: Iterable[Callable[[], None]]) -> Verified:
    """Run the checks of an index, each of which raises DamagedIndexError if its part is damaged."""
    problems = []
    for check in checks:
        try:
            check()
        except DamagedIndexError as error:
            problems.append(str(error))
    # Several checks may need the same damaged rows.
    return Verified(info.documents, info.passages, tuple(dict.fromkeys(problems)))


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A skipped file or folder, with its stat values at the time."""

    path: str
    reason: str
    unreadable: bool
    size: int | None = None
    mtime_ns: int | None = None
    checked_ns: int | None = None


def read_info(connection: sqlite3.Connection, file: Path) -> Info | None:
    """Return the metadata of the last commit, or None if there was none."""
    rows = connection.execute("SELECT key, value FROM meta").fetchall()
    if not rows:
        # Only a commit writes documents.
        if connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone():
            raise damaged(file, "table meta is empty")
        return None
    values = dict(rows)
    if not all(have_types(row, (str, str)) for row in rows) or _meta_checksum(values) != values.pop("checksum", ""):
        raise damaged(file, "checksum mismatch in table meta")
    if values.pop("tables", "") != _schema_checksum(connection):
        raise damaged(file, "checksum mismatch in the list of tables")
    try:
        info = parse_info({key: json.loads(value) for key, value in values.items()})
        if sum(segment.live for segment in info.segments) != info.vectors:
            raise ValueError("the segments do not hold the vectors")
        return info
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise damaged(file, "table meta has an invalid value") from error


def parse_info(values: dict[str, Any]) -> Info:
    """Validate metadata and return it, as a forged index can have valid checksums."""
    for key in ("include", "exclude", "paths", "formats"):
        values[key] = tuple(map(str, values[key]))
    values["from_file"] = tuple(map(str, values.get("from_file", ())))
    values["segments"] = tuple(Segment(**segment) for segment in values["segments"])
    info = Info(**values)
    _require_types(info)
    for segment in info.segments:
        _require_types(segment)
    numbers = {segment.number for segment in info.segments}
    if len(numbers) != len(info.segments) or any(
        segment.live < 0 or Path(segment.name).name != segment.name or "\0" in segment.name for segment in info.segments
    ):
        raise ValueError("a segment is invalid")
    if not 0 < info.dimension <= _MAX_DIMENSION:
        raise ValueError("the dimension is out of range")
    return info


def info_values(info: Info) -> dict[str, Any]:
    """Return the metadata as a dictionary that `parse_info` accepts."""
    values = asdict(info)
    # Left out when empty, so that most indexes are stored as they were before this field was added.
    return values if info.from_file else {key: value for key, value in values.items() if key != "from_file"}


def _require_types(item: Info | Segment) -> None:
    for field in fields(item):
        value = getattr(item, field.name)
        is_not_text = field.type == "str" and not isinstance(value, str)
        if is_not_text or (field.type == "int" and not (type(value) is int and value >= 0)):
            raise TypeError(f"{field.name} is {value!r}")


def write_info(connection: sqlite3.Connection, info: Info) -> None:
    """Replace the metadata."""
    rows = {key: json.dumps(value) for key, value in info_values(info).items()}
    rows["tables"] = _schema_checksum(connection)
    rows["checksum"] = _meta_checksum(rows)
    connection.execute("DELETE FROM meta")
    connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", rows.items())


def _schema_checksum(connection: sqlite3.Connection) -> str:
    """Return a checksum over the tables, the indexes and their root pages."""
    rows = connection.execute("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY type, name")
    return checksum(*(field for row in rows for field in row)).hex()


def _meta_checksum(rows: dict[str, str]) -> str:
    return checksum(*(part for pair in sorted(rows.items()) if pair[0] != "checksum" for part in pair)).hex()


def read_skipped(connection: sqlite3.Connection, file: Path, count: int) -> tuple[SkippedRow, ...]:
    """Return the skipped files and folders, by path; there must be `count` rows."""
    skipped = []
    query = "SELECT path, reason, unreadable, size, mtime_ns, checked_ns, checksum FROM skipped ORDER BY path"
    for *row, check in connection.execute(query):
        if checksum(*row) != check or not have_types(row, _SKIPPED_TYPES):
            raise damaged(file, "checksum mismatch in the skipped files")
        path, reason, unreadable, *stat = row
        skipped.append(SkippedRow(path, reason, bool(unreadable), *stat))
    if len(skipped) != count:
        raise damaged(file, "the number of skipped files is inconsistent")
    return tuple(skipped)


def write_skipped(connection: sqlite3.Connection, skipped: Sequence[SkippedRow]) -> None:
    """Replace the list of skipped files and folders."""
    connection.execute("DELETE FROM skipped")
    rows = [(row.path, row.reason, int(row.unreadable), row.size, row.mtime_ns, row.checked_ns) for row in skipped]
    connection.executemany(
        "INSERT INTO skipped (path, reason, unreadable, size, mtime_ns, checked_ns, checksum) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(*row, checksum(*row)) for row in rows],
    )
