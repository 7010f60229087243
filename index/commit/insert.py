"""Write documents and their passages into the tables, inside the transaction that makes a generation."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import deque
from collections.abc import Iterable
from dataclasses import astuple

from corpus import path_words
from corpus.types import Passage
from index.commit.change import Entry
from index.lexical.writer import Fields, LexicalWriter
from index.storage.rows import (
    Link,
    StoredDocument,
    StoredPassage,
    document_checksum,
    link_checksum,
    passage_checksum,
    passage_key,
    text_digest,
)


class Inserter:
    """Writes documents and their passages in one transaction, under the lowest row numbers that are free.

    Args:
        connection: In the transaction.
        postings: Told of each passage.
        texts: Where the digest of each passage's text is noted, if anywhere.

    Attributes:
        vectors: The vector of each passage written.
    """

    def __init__(
        self, connection: sqlite3.Connection, postings: LexicalWriter, *, texts: set[bytes] | None = None
    ) -> None:
        self._connection = connection
        self._postings = postings
        self._texts = texts
        self.vectors: array[int] = array("q")

    def insert(self, entries: Iterable[Entry]) -> None:
        """Write entries; their vectors are there already."""
        self._number()
        given = len(self._free)
        taken = list(self._free)
        for entry in entries:
            self._insert(entry)
        taken = taken[: given - len(self._free)]
        self._connection.executemany("DELETE FROM free_ids WHERE passage = ?", [(number,) for number in taken])

    def _number(self) -> None:
        """Find the row numbers to give."""
        self._document: int
        self._passage: int
        (self._document,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        (self._passage,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()
        gaps = "SELECT passage FROM free_ids WHERE passage BETWEEN 1 AND ? ORDER BY passage"
        self._free: deque[int] = deque(number for (number,) in self._connection.execute(gaps, (self._passage,)))
        self._connection.execute("DELETE FROM free_ids WHERE passage > ?", (self._passage,))

    def _insert(self, entry: Entry) -> None:
        self._document += 1
        document = StoredDocument(
            id=self._document,
            path=entry.path,
            sha256=entry.sha256,
            size=entry.size,
            mtime_ns=entry.mtime_ns,
            checked_ns=entry.checked_ns,
            media_type=entry.media_type,
            title=entry.title,
            passages=len(entry.passages),
            records=entry.records,
        )
        self._connection.execute(
            "INSERT INTO documents (id, path, sha256, size, mtime_ns, checked_ns, media_type, title, passages, "
            "records, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*astuple(document), document_checksum(document)),
        )
        rows = []
        for passage, digest in zip(entry.passages, entry.digests, strict=True):
            number = self._next_passage()
            rows.append(self._row(number, entry, passage, digest))
            self._postings.add(number, fields_of(entry.path, entry.title, passage))
        self._connection.executemany(
            "INSERT INTO passages (id, key, document, vector, start, end, link_checksum, body, line_first, line_last, "
            "page, title, heading, context, text, text_digest, checksum) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def _next_passage(self) -> int:
        if self._free:
            return self._free.popleft()
        self._passage += 1
        return self._passage

    def _row(self, number: int, entry: Entry, passage: Passage, digest: bytes) -> tuple[object, ...]:
        (vector,) = self._connection.execute("SELECT id FROM vectors WHERE digest = ?", (digest,)).fetchone()
        same = text_digest(passage.text)
        self.vectors.append(vector)
        if self._texts is not None:
            self._texts.add(same)
        key = passage_key(entry.path, passage.start, passage.end, same)
        link = Link(number, key, self._document, vector, passage.start, passage.end)
        fields = (
            *link,
            link_checksum(link),
            passage.body,
            *passage.lines,
            passage.page,
            None if passage.title == entry.title else passage.title,
            json.dumps(passage.heading, ensure_ascii=False),
            passage.context,
            passage.text,
            same,
        )
        return (*fields, passage_checksum(entry.path, fields))


def fields_of(path: str, title: str, passage: Passage | StoredPassage) -> Fields:
    """The text that a passage is found by.

    Args:
        path: Of its file.
        title: The file's own title; that of a record is the first of the headings.
        passage: Itself.
    """
    return Fields(title, "\n".join(passage.heading), passage.text[passage.body :], path_words(path))
