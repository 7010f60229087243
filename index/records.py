"""The rows of the index as values, and the one place where they are read back and checked."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corpus.errors import DamagedIndexError
from corpus.split import join_context

from .encoder import Vectors
from .schema import REPAIR, checksum


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
        documents: Documents in it.
        passages: Passages in it.
        model: The encoder as the user named it.
        fingerprint: Of that encoder.
        dimension: Length of its vectors.
        splitter: Version of the splitter that cut the passages.
        include: Patterns of the files it takes in, none for all.
        exclude: Patterns of the files it leaves out.
        vectors: Different vectors of its passages.
        segments: The FAISS files that hold them.
    """

    generation: int
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


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document of the index.

    Attributes:
        id: Row number; good for this generation only.
        path: Relative to the corpus root, with forward slashes.
        sha256: Digest of the file's bytes when it was read, hex.
        size: Bytes.
        mtime_ns: Time of the file's last change when it was read.
        checked_ns: When its bytes were last read.
        media_type: Such as `text/markdown`.
        title: The document's title, or "".
    """

    id: int
    path: str
    sha256: str
    size: int
    mtime_ns: int
    checked_ns: int
    media_type: str
    title: str


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage of the index, its row checked.

    Attributes:
        id: Row number; good for this generation only.
        key: Stable: 16 hex digits over path, span and text.
        document: Where it stands.
        vector: Row number of its vector.
        start: First character in the document.
        end: One past the last.
        body: Where the text proper begins in `text`.
        lines: First and last line, 1-based, inclusive.
        page: Page of a paged document, 1-based, else None.
        heading: Headings above it, outermost first.
        context: What the encoder reads before the text proper, or "".
        text: The passage.
        text_digest: BLAKE2b-128 of `text`.
    """

    id: int
    key: str
    document: StoredDocument
    vector: int
    start: int
    end: int
    body: int
    lines: tuple[int, int]
    page: int | None
    heading: tuple[str, ...]
    context: str
    text: str
    text_digest: bytes

    @property
    def title(self) -> str:
        """The document's title, or ""."""
        return self.document.title

    @property
    def encoder_text(self) -> str:
        """What the encoder reads of it, as `corpus.split.encoder_text`."""
        return join_context(self.context, self.text[self.body :])


@dataclass(frozen=True, slots=True)
class Left:
    """A file or folder that was left out; the stat values say which state of it was judged."""

    path: str
    reason: str
    unreadable: bool
    size: int | None = None
    mtime_ns: int | None = None
    checked_ns: int | None = None


DOCUMENT_COLUMNS = "d.id, d.path, d.sha256, d.size, d.mtime_ns, d.checked_ns, d.media_type, d.title, d.checksum"
PASSAGE_COLUMNS = (
    "p.id, p.key, p.vector, p.start, p.end, p.body, p.line_first, p.line_last, p.page, p.heading, p.context, p.text, "
    "p.text_digest, p.checksum"
)
# The ids are bound as one JSON list, which has no limit on their number.
AMONG = "(SELECT value FROM json_each(?))"


def ids_json(ids: Sequence[int]) -> str:
    """Row numbers as the one value that `AMONG` takes."""
    return json.dumps([int(number) for number in ids])


def passage_key(path: str, start: int, end: int, text_digest: bytes) -> str:
    """The stable id of a passage: 16 hex digits of BLAKE2b over path, span and text digest."""
    return checksum(path, start, end, text_digest).hex()


def text_digest(text: str) -> bytes:
    """What tells passages of the same text: BLAKE2b-128."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def vector_digest(fingerprint: str, encoder_text: str) -> bytes:
    """What a vector is found again by: BLAKE2b-128 over the encoder and the exact text it reads."""
    data = f"{fingerprint}\n{encoder_text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def read_documents(connection: sqlite3.Connection, file: Path) -> Iterator[StoredDocument]:
    """All documents, by path.

    Raises:
        DamagedIndexError: A row does not hold what was written.
    """
    for row in connection.execute(f"SELECT {DOCUMENT_COLUMNS} FROM documents d ORDER BY d.path"):
        yield document_of(row, file)


def document_of(row: Sequence[Any], file: Path) -> StoredDocument:
    """Check and read a row of `DOCUMENT_COLUMNS`."""
    if checksum(*row[:-1]) != row[-1]:
        raise damaged(file, f"document {row[0]}")
    return StoredDocument(*row[:-1])


def read_passages(
    connection: sqlite3.Connection, file: Path, condition: str, values: Sequence[object]
) -> Iterator[StoredPassage]:
    """Passages (as `p`) of documents (as `d`) that meet an SQL condition.

    Raises:
        DamagedIndexError: A row does not hold what was written.
    """
    query = (
        f"SELECT {PASSAGE_COLUMNS}, {DOCUMENT_COLUMNS} FROM passages p JOIN documents d ON d.id = p.document "
        f"WHERE {condition}"
    )
    width = PASSAGE_COLUMNS.count(",") + 1
    documents: dict[tuple[Any, ...], StoredDocument] = {}
    for row in connection.execute(query, tuple(values)):
        whole = row[width:]
        if whole not in documents:
            documents[whole] = document_of(whole, file)
        yield passage_of(row[:width], documents[whole], file)


def passage_of(row: Sequence[Any], document: StoredDocument, file: Path) -> StoredPassage:
    """Check and read a row of `PASSAGE_COLUMNS`; the checksum also binds it to its document."""
    if checksum(document.path, *row[:-1]) != row[-1]:
        raise damaged(file, f"passage {row[0]}")
    number, key, vector, start, end, body, first, last, page, heading, *rest = row[:-1]
    return StoredPassage(
        number, key, document, vector, start, end, body, (first, last), page, tuple(json.loads(heading)), *rest
    )


def vector_checksum(digest: bytes, data: bytes) -> int:
    """The checksum of a vector's row: CRC-32, since a question reads hundreds of them."""
    return zlib.crc32(data, zlib.crc32(digest))


def pack_vector(vector: Vectors) -> bytes:
    """A unit vector as it is stored: float16 loses less than the encoder's own rounding."""
    return vector.astype("<f2").tobytes()


def read_vectors(connection: sqlite3.Connection, file: Path, ids: Sequence[int], dimension: int) -> Vectors:
    """Stored vectors in the order asked: `(n, dim) float32`, unit L2 norm.

    Raises:
        DamagedIndexError: One is missing or does not hold what was written.
    """
    there, vectors = read_vectors_there(connection, file, ids, dimension)
    if len(there) < len(ids):
        known = frozenset(there)
        missing = next(number for number in ids if number not in known)
        raise damaged(file, f"vector {missing} (missing)")
    return vectors


def read_vectors_there(
    connection: sqlite3.Connection, file: Path, ids: Sequence[int], dimension: int
) -> tuple[list[int], Vectors]:
    """As `read_vectors`, but those that are missing are left out: row numbers and vectors.

    Raises:
        DamagedIndexError: One does not hold what was written.
    """
    query = f"SELECT id, digest, vector, checksum FROM vectors WHERE id IN {AMONG}"
    found: dict[int, bytes] = {}
    for number, digest, data, check in connection.execute(query, (ids_json(ids),)):
        if vector_checksum(digest, data) != check or len(data) != 2 * dimension:
            raise damaged(file, f"vector {number}")
        found[number] = data
    there = [number for number in ids if number in found]
    data = b"".join([found[number] for number in there])
    vectors = np.frombuffer(data, dtype="<f2").reshape(len(there), dimension).astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit: Vectors = vectors / np.maximum(norms, np.finfo(np.float32).tiny)[:, np.newaxis]
    return there, unit


def read_info(connection: sqlite3.Connection, file: Path) -> Info | None:
    """What the last commit wrote down, or None before the first.

    Raises:
        DamagedIndexError: It does not hold what was written.
    """
    rows = dict(connection.execute("SELECT key, value FROM meta"))
    if not rows:
        return None
    check = rows.pop("checksum", "")
    if _meta_checksum(rows) != check:
        raise damaged(file, "table meta")
    values = {key: json.loads(value) for key, value in rows.items()}
    values["include"] = tuple(values["include"])
    values["exclude"] = tuple(values["exclude"])
    values["segments"] = tuple(Segment(**segment) for segment in values["segments"])
    return Info(**values)


def write_info(connection: sqlite3.Connection, info: Info) -> None:
    """Replace what is written down about the index."""
    rows = {key: json.dumps(value) for key, value in asdict(info).items()}
    rows["checksum"] = _meta_checksum(rows)
    connection.execute("DELETE FROM meta")
    connection.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", rows.items())


def _meta_checksum(rows: dict[str, str]) -> str:
    return checksum(*(part for pair in sorted(rows.items()) for part in pair)).hex()


def read_left(connection: sqlite3.Connection) -> tuple[Left, ...]:
    """What was left out, by path."""
    rows = connection.execute("SELECT path, reason, unreadable, size, mtime_ns, checked_ns FROM skipped ORDER BY path")
    return tuple(Left(path, reason, bool(unreadable), *stat) for path, reason, unreadable, *stat in rows)


def write_left(connection: sqlite3.Connection, left: Sequence[Left]) -> None:
    """Replace what is written down about what was left out."""
    connection.execute("DELETE FROM skipped")
    connection.executemany(
        "INSERT INTO skipped (path, reason, unreadable, size, mtime_ns, checked_ns) VALUES (?, ?, ?, ?, ?, ?)",
        [(one.path, one.reason, one.unreadable, one.size, one.mtime_ns, one.checked_ns) for one in left],
    )


def damaged(file: Path, what: str) -> DamagedIndexError:
    """The error for a row that does not hold what was written to it."""
    return DamagedIndexError(f"{file} is damaged: {what} does not hold what was written. {REPAIR}")
