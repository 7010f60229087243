"""The rows of documents and passages: value types, and functions that read and check them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, TypeVar

from corpus.errors import DamagedIndexError
from corpus.formats import MAIL
from corpus.types import OUTDATED, QUOTED
from index.storage.database import REPAIR, checksum

_Value = TypeVar("_Value")
# Where rows are stored, as error messages name it: a database file, or an address in PostgreSQL.
Place = Path | str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """An indexed file: one document, or one for each of its records."""

    id: int  # row id, valid in this generation only
    path: str  # relative to the corpus root, with forward slashes
    sha256: str  # digest of the file's bytes, hex
    size: int  # bytes
    mtime_ns: int  # the file's modification time when it was read
    checked_ns: int  # when its bytes were last read
    media_type: str  # such as `text/markdown`
    title: str  # the file's title, or ""
    passages: int  # number of its passages
    records: int = 0  # number of its records; 0 if the file is one document
    metadata: str = "[]"  # JSON: names and values of the file's metadata

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the file's metadata, such as its author; a list repeats its name."""
        return tuple((name, value) for name, value in json.loads(self.metadata) if name != OUTDATED)

    @property
    def outdated(self) -> str:
        """The words or the name by which the document is outdated ("Superseded by ADR 9", "old/"); "" if it is not."""
        return "" if OUTDATED not in self.metadata else dict(json.loads(self.metadata)).get(OUTDATED, "")


class FileStat(NamedTuple):
    """The columns of a document that are compared with its file: see `StoredDocument`."""

    size: int
    mtime_ns: int
    checked_ns: int


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage of the index, from a checked row; the attributes not listed here are as in `corpus.types.Passage`.

    Attributes:
        id: Row id, valid in this generation only.
        key: Stable id, 16 hex digits: see `passage_key`.
        document: The file it is from.
        vector: Row id of its vector.
        text_digest: BLAKE2b-128 of `text`.
        record_title: Title of its record, "" if that has none; None if the title is the file's.
    """

    id: int
    key: str
    document: StoredDocument
    vector: int
    start: int
    end: int
    body: int
    lines: tuple[int, int] | None
    page: int | None
    anchor: str | None
    heading: tuple[str, ...]
    context: str
    text: str
    text_digest: bytes
    record_title: str | None = None

    @property
    def title(self) -> str:
        """The title of its record if it is in one, else of the file; "" if there is none."""
        return self.document.title if self.record_title is None else self.record_title

    @property
    def item(self) -> tuple[int, int | None, str | None]:
        """What its document or record is told by: the file, and for a record its page and title."""
        if not self.document.records:
            return self.document.id, None, None
        return self.document.id, self.page, self.record_title

    @property
    def is_front_matter(self) -> bool:
        """Whether it is a note's front matter: metadata above the text, one field per line."""
        return self.start <= 1 and self.text.startswith("---") and bool(self.document.fields)

    @property
    def is_mail(self) -> bool:
        """Whether its file is a message or mailbox."""
        return self.document.media_type in MAIL

    @property
    def is_quoted(self) -> bool:
        """Whether it is text that a message quotes from an earlier one."""
        return self.is_mail and "".join(self.heading[-1:]).startswith(QUOTED)

    @property
    def encoder_text(self) -> str:
        """The text that the encoder embeds."""
        from corpus import join_context  # imported here because keyword search needs no splitter

        return join_context(self.context, self.text[self.body :])


class Link(NamedTuple):
    """The columns of a passage that a search reads in bulk; they have a separate checksum."""

    id: int
    key: str
    document: int
    vector: int
    start: int
    end: int


# Columns of both tables and the types of their values, in the order in which checksums cover them.
DOCUMENT_COLUMNS: Mapping[str, type | UnionType] = {
    "id": int, "path": str, "sha256": str, "size": int, "mtime_ns": int, "checked_ns": int, "media_type": str,
    "title": str, "passages": int, "records": int, "metadata": str, "checksum": bytes,
}  # fmt: skip
PASSAGE_COLUMNS: Mapping[str, type | UnionType] = {
    "id": int, "key": str, "document": int, "vector": int, "start": int, "end": int, "link_checksum": int, "body": int,
    "line_first": int | None, "line_last": int | None, "page": int | None, "anchor": str | None, "title": str | None,
    "heading": str, "context": str, "text": str, "text_digest": bytes, "checksum": bytes,
}  # fmt: skip
# The same columns in an SQL query, with the aliases of the tables.
DOCUMENT = ", ".join(f"d.{name}" for name in DOCUMENT_COLUMNS)
FILE_STAT = ", ".join(f"d.{name}" for name in ("path", *FileStat._fields))
PASSAGE = ", ".join(f"p.{name}" for name in PASSAGE_COLUMNS)
LINK = ", ".join(f"p.{name}" for name in (*Link._fields, "link_checksum"))
# Ids are bound as one JSON list, since SQLite limits the number of parameters.
AMONG = "(SELECT value FROM json_each(?))"


def ids_json(ids: Iterable[int]) -> str:
    """Return row ids as the value to bind to `AMONG`."""
    return json.dumps([int(row_id) for row_id in ids])


def passage_key(path: str, text_digest: bytes, occurrence: int) -> str:
    """Return the stable id of a passage: 16 hex digits of BLAKE2b over path, text digest and occurrence.

    It does not depend on the position, so it survives edits above; `occurrence` numbers the file's passages with the
    same text from 0.
    """
    return checksum(path, text_digest, occurrence).hex()


def text_digest(text: str) -> bytes:
    """Return the BLAKE2b-128 of a text; duplicates have the same."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def read_documents(connection: sqlite3.Connection, file: Path) -> Iterator[StoredDocument]:
    """Yield all files, by path; raises DamagedIndexError if a row is damaged."""
    # Read from the table itself, as a damaged SQL index can lack a row.
    for row in connection.execute(f"SELECT {DOCUMENT} FROM documents d NOT INDEXED ORDER BY d.path"):
        yield parse_document(row, file)


def parse_file_stats(rows: Iterable[Sequence[Any]], count: int, place: Place) -> dict[str, FileStat]:
    """Return the stat values in `count` rows of `FILE_STAT`, by path, without verifying checksums."""
    stats: dict[str, FileStat] = {}
    for path, size, mtime, checked in rows:
        if not type(size) is type(mtime) is type(checked) is int or type(path) is not str:
            raise damaged(place, "a document has a wrong type of value")
        stats[path] = FileStat(size, mtime, checked)
    if len(stats) != count:
        raise damaged(place, "the number of documents is inconsistent")
    return stats


def count_documents(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the numbers of files and of documents: a file counts once, or once for each of its records."""
    (files,) = connection.execute("SELECT count(*) FROM documents").fetchone()
    query = "SELECT count(*), coalesce(sum(records), 0) FROM documents WHERE records > 0"
    with_records, records = connection.execute(query).fetchone()
    return files, files - with_records + records


def document_checksum(document: StoredDocument) -> bytes:
    """Return the checksum of a document's row."""
    return checksum(*astuple(document))


def parse_document(row: Sequence[Any], place: Place) -> StoredDocument:
    """Return the document in a row of `DOCUMENT`; raises DamagedIndexError if the row is damaged."""
    if checksum(*row[:-1]) != row[-1] or not have_types(row, DOCUMENT_COLUMNS.values()) or not _is_below_root(row[1]):
        raise damaged(place, f"checksum mismatch in document {row[0]}")
    document = StoredDocument(*row[:-1])
    if min(document.passages, document.records) < 0:
        raise damaged(place, f"document {document.id} has a negative count")
    if document.metadata != "[]" and not _is_list_of_pairs(document.metadata):
        raise damaged(place, f"document {document.id} has metadata that is not names and values")
    return document


def _is_list_of_pairs(metadata: str) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        pairs = json.loads(metadata)
        return isinstance(pairs, list) and all(
            isinstance(pair, list) and have_types(pair, (str, str)) for pair in pairs
        )
    return False


def have_types(row: Sequence[object], types: Collection[type | UnionType]) -> bool:
    """Return whether the values have these types, as SQLite and damage allow any type in any column."""
    return len(row) == len(types) and all(map(isinstance, row, types))


def _is_below_root(path: str) -> bool:
    """Return whether a path is below the root: a forged index can have valid checksums."""
    parts = set(path.replace(os.sep, "/").split("/"))
    return "\0" not in path and not {"", ".", ".."} & parts and not os.path.splitdrive(path)[0]


def link_checksum(link: Link) -> int:
    """Return the checksum of a link: CRC-32 for speed, as a question reads hundreds of links."""
    row_id, key, document, vector, start, end = link
    return zlib.crc32(f"{row_id} {key} {document} {vector} {start} {end}".encode("utf-8", "surrogatepass"))


def read_links(
    connection: sqlite3.Connection, file: Path, condition: str, values: Sequence[object] = ()
) -> Iterator[Link]:
    """Yield the links of passages that meet an SQL condition on `p`; raises DamagedIndexError if a row is damaged."""
    return parse_links(connection.execute(f"SELECT {LINK} FROM passages p WHERE {condition}", tuple(values)), file)


def parse_links(rows: Iterable[Sequence[Any]], place: Place) -> Iterator[Link]:
    """Yield the links in rows of `LINK`; raises DamagedIndexError if one is damaged."""
    # Types are checked inline for speed, as a question reads hundreds of rows.
    for row_id, key, document, vector, start, end, check in rows:
        integers = type(row_id) is type(document) is type(vector) is type(start) is type(end) is int
        link = Link(row_id, key, document, vector, start, end)
        if not integers or type(key) is not str or link_checksum(link) != check:
            raise damaged(place, f"checksum mismatch in passage {row_id}")
        yield link


def read_passages(
    connection: sqlite3.Connection, file: Path, condition: str, values: Sequence[object] = ()
) -> Iterator[StoredPassage]:
    """Yield the passages that meet an SQL condition on `p`, the passage, and `d`, the document."""
    query = f"SELECT {PASSAGE}, {DOCUMENT} FROM passages p JOIN documents d ON d.id = p.document WHERE {condition}"
    return parse_passages(connection.execute(query, tuple(values)), file)


def parse_passages(rows: Iterable[tuple[Any, ...]], place: Place) -> Iterator[StoredPassage]:
    """Yield the passages in rows of `PASSAGE` and `DOCUMENT`; raises DamagedIndexError if one is damaged."""
    width = len(PASSAGE_COLUMNS)
    documents: dict[tuple[Any, ...], StoredDocument] = {}
    for row in rows:
        document_row = row[width:]
        if document_row not in documents:
            documents[document_row] = parse_document(document_row, place)
        yield _parse_passage(row[:width], documents[document_row], place)


def _parse_passage(row: Sequence[Any], document: StoredDocument, place: Place) -> StoredPassage:
    if checksum(document.path, *row[:-1]) != row[-1] or not have_types(row, PASSAGE_COLUMNS.values()):
        raise damaged(place, f"checksum mismatch in passage {row[0]}")
    row_id, key, _, vector, start, end, _, body, first, last, page, anchor, title, heading, context, text, digest, _ = (
        row
    )
    lines = None if first is None or last is None else (first, last)
    is_valid = len(text) == end - start and 0 <= body <= len(text)
    is_valid = is_valid and ((first is last is None) if lines is None else 0 < first <= last)
    parsed: object = None
    with contextlib.suppress(ValueError, RecursionError):
        parsed = json.loads(heading)
    if not is_valid or not isinstance(parsed, list) or not have_types(parsed, [str] * len(parsed)):
        raise damaged(place, f"checksum mismatch in passage {row_id}")
    headings = tuple(parsed)
    return StoredPassage(
        row_id, key, document, vector, start, end, body, lines, page, anchor, headings, context, text, digest, title
    )


def require_structure(connection: sqlite3.Connection, file: Path) -> None:
    """Have SQLite check the structure of the whole database; raises DamagedIndexError if it finds a fault."""
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(file, " ".join(str(verdict).split()).rstrip("."))


def require_all(values: Mapping[int, _Value], ids: Sequence[int], kind: str, place: Place) -> list[_Value]:
    """Return the values in the order of `ids`; raises DamagedIndexError if one is missing."""
    missing = [row_id for row_id in ids if row_id not in values]
    if missing:
        raise damaged(place, f"{kind} {missing[0]} is missing")
    return [values[row_id] for row_id in ids]


def damaged(place: Place, problem: str) -> DamagedIndexError:
    """Return the error for a problem such as a checksum mismatch, with advice on how to repair it."""
    repair = REPAIR if isinstance(place, Path) else "Rebuild it with `qa index --full`, or restore a back-up."
    return DamagedIndexError(f"{place} is damaged: {problem}. {repair}")
