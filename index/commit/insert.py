"""Insert the rows of files and passages inside a commit's transaction."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, replace
from itertools import chain, count
from typing import Any

from corpus import path_words
from corpus.types import Passage
from index.commit.change import SplitFile
from index.lexical.writer import Fields, LexicalWriter
from index.storage.database import checksum
from index.storage.rows import (
    DOCUMENT_COLUMNS,
    PASSAGE_COLUMNS,
    Link,
    StoredDocument,
    StoredPassage,
    document_checksum,
    link_checksum,
    passage_key,
    text_digest,
)

_INSERT_DOCUMENT, _INSERT_PASSAGE = (
    f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for table, columns in (("documents", DOCUMENT_COLUMNS), ("passages", PASSAGE_COLUMNS))
)
# How many words of a file's metadata are indexed with each of its passages.
_MAX_METADATA_WORDS = 60
# Index of `text_digest` in a passage's row, which ends with the checksum.
_TEXT_DIGEST = -2


class Inserter:
    """Inserts files and their passages, reusing the ids of deleted passages, lowest first."""

    def __init__(self, connection: sqlite3.Connection, lexical: LexicalWriter, *, texts: set[bytes] | None) -> None:
        self._connection = connection
        self._lexical = lexical
        self.texts = texts  # collects the text digests of inserted passages, unless None
        self.vectors: array[int] = array("q")  # the vector id of each inserted passage

    def insert(self, files: Iterable[SplitFile]) -> None:
        """Insert files whose vectors are already stored."""
        (last_document_id,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM documents").fetchone()
        (last_passage_id,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()
        self._connection.execute("DELETE FROM free_ids WHERE passage NOT BETWEEN 1 AND ?", (last_passage_id,))
        free_ids = [row_id for (row_id,) in self._connection.execute("SELECT passage FROM free_ids ORDER BY passage")]
        ids = chain(free_ids, count(last_passage_id + 1))
        count_before = len(self.vectors)
        for document_id, file in enumerate(files, last_document_id + 1):
            self._insert(replace(file.document, id=document_id), file, ids)
        reused = free_ids[: len(self.vectors) - count_before]
        self._connection.executemany("DELETE FROM free_ids WHERE passage = ?", [(row_id,) for row_id in reused])

    def _insert(self, document: StoredDocument, file: SplitFile, ids: Iterator[int]) -> None:
        self._connection.execute(_INSERT_DOCUMENT, (*astuple(document), document_checksum(document)))
        query = "SELECT id FROM vectors WHERE digest = ?"
        vectors = [self._connection.execute(query, (digest,)).fetchone()[0] for digest in file.digests]
        self.vectors.extend(vectors)
        rows = list(passage_rows(document, file.passages, ids, vectors))
        for row, passage in zip(rows, file.passages, strict=True):
            self._lexical.add(row[0], fields_of(document, passage))
            if self.texts is not None:
                self.texts.add(row[_TEXT_DIGEST])
        self._connection.executemany(_INSERT_PASSAGE, rows)


def passage_rows(
    document: StoredDocument, passages: Iterable[Passage | StoredPassage], ids: Iterator[int], vectors: Iterable[int]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a file's passages, all columns from `id` to `checksum`; the same for all stores."""
    occurrences: Counter[bytes] = Counter()
    for passage, vector in zip(passages, vectors, strict=True):
        digest = text_digest(passage.text)
        key = passage_key(document.path, digest, occurrences[digest])
        occurrences[digest] += 1
        link = Link(next(ids), key, document.id, vector, passage.start, passage.end)
        fields = (
            *link,
            link_checksum(link),
            passage.body,
            *(passage.lines or (None, None)),
            passage.page,
            passage.anchor,
            None if passage.title == document.title else passage.title,
            json.dumps(passage.heading, ensure_ascii=False),
            passage.context,
            passage.text,
            digest,
        )
        yield (*fields, checksum(document.path, *fields))


def fields_of(document: StoredDocument, passage: Passage | StoredPassage) -> Fields:
    """Return the texts that the keyword index has of a passage; a record's title is its first heading."""
    metadata = " ".join(value for name, value in document.fields if name != "title").split()[:_MAX_METADATA_WORDS]
    title = " ".join((document.title, *metadata))
    return Fields(title, "\n".join(passage.heading), passage.text[passage.body :], path_words(document.path))
