"""Write documents and their passages into the tables, inside the transaction that makes a generation."""

from __future__ import annotations

import json
import sqlite3
from collections import deque
from collections.abc import Iterable

from corpus.paths import path_words
from corpus.types import Passage

from .changes import Entry
from .postings import Fields, PostingsWriter
from .records import StoredPassage, passage_key, text_digest
from .schema import checksum


class Inserter:
    """Writes documents and their passages in one transaction, under the lowest row numbers that are free."""

    def __init__(self, connection: sqlite3.Connection, postings: PostingsWriter) -> None:
        self._connection = connection
        self._postings = postings
        self._document: int
        self._passage: int
        (self._document,) = connection.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        (self._passage,) = connection.execute(
            "SELECT max(coalesce((SELECT max(id) FROM passages), 0), coalesce((SELECT max(passage) FROM free), 0))"
        ).fetchone()
        self._free: deque[int] = deque(
            number for (number,) in connection.execute("SELECT passage FROM free ORDER BY passage")
        )

    def insert(self, entries: Iterable[Entry]) -> None:
        """Write entries; their vectors are there already."""
        given = len(self._free)
        taken = list(self._free)
        for entry in entries:
            self._insert(entry)
        taken = taken[: given - len(self._free)]
        self._connection.executemany("DELETE FROM free WHERE passage = ?", [(number,) for number in taken])

    def _insert(self, entry: Entry) -> None:
        self._document += 1
        fields = (entry.path, entry.sha256, entry.size, entry.mtime_ns, entry.checked_ns, entry.media_type, entry.title)
        self._connection.execute(
            "INSERT INTO documents (id, path, sha256, size, mtime_ns, checked_ns, media_type, title, checksum) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self._document, *fields, checksum(self._document, *fields)),
        )
        rows = []
        for passage, digest in zip(entry.passages, entry.digests, strict=True):
            number = self._next_passage()
            rows.append(self._row(number, entry.path, passage, digest))
            self._postings.add(number, fields_of(entry.path, entry.title, passage))
        self._connection.executemany(
            "INSERT INTO passages (id, key, vector, start, end, body, line_first, line_last, page, heading, context, "
            "text, text_digest, document, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def _next_passage(self) -> int:
        if self._free:
            return self._free.popleft()
        self._passage += 1
        return self._passage

    def _row(self, number: int, path: str, passage: Passage, digest: bytes) -> tuple[object, ...]:
        (vector,) = self._connection.execute("SELECT id FROM vectors WHERE digest = ?", (digest,)).fetchone()
        same = text_digest(passage.text)
        fields = (
            number,
            passage_key(path, passage.start, passage.end, same),
            vector,
            passage.start,
            passage.end,
            passage.body,
            *passage.lines,
            None,  # a page, once a reader of paged documents gives one
            json.dumps(passage.heading, ensure_ascii=False),
            passage.context,
            passage.text,
            same,
        )
        return (*fields, self._document, checksum(path, *fields))


def fields_of(path: str, title: str, passage: Passage | StoredPassage) -> Fields:
    """The text that a passage is found by."""
    return Fields(title, "\n".join(passage.heading), passage.text[passage.body :], path_words(path))
