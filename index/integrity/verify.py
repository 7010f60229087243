"""Check a whole index: its checksums, and that its parts agree; a question checks only the rows that it reads."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from corpus.errors import DamagedIndexError, StorageError
from index.dense.faiss_segments import describe_failure, load_segment, vector_ids
from index.dense.vector_refs import read_ref_table
from index.lexical.bm25 import LexicalIndex
from index.storage.database import DATABASE, REPAIR, open_for_reading, translate_errors, unfinished
from index.storage.duplicates import read_duplicates
from index.storage.metadata import Info, Segment, Verified, read_info, read_skipped, run_checks
from index.storage.rows import damaged, read_documents, read_links, read_passages, require_structure
from index.storage.vectors import Ids, has_valid_checksum, read_vectors
from index.storage.wal import require_log_follows

_BATCH = 10_000


def verify(folder: Path) -> Verified:
    """Check the structure of the database, every row, every FAISS file, and that they agree.

    Raises:
        NoIndexError: There is no index, or the first build was never finished.
        IncompatibleError: It has another format version.
        DamagedIndexError: Nothing can be read.
        StorageError: A file may not be read.
    """
    file = folder / DATABASE
    require_log_follows(file)
    with closing(open_for_reading(file)) as connection:
        with translate_errors(file):
            info = read_info(connection, file)
        if info is None:
            raise unfinished(file)
        check = _Check(connection, file, info)
        rows = (check.structure, check.documents, check.passages, check.vectors, check.vector_refs)
        segments: list[Callable[[], None]] = [partial(check.segment, segment) for segment in info.segments]
        tables = (check.segment_numbers, check.duplicates, check.lexical, check.skipped_and_free_ids)
        return run_checks(info, (translate_errors(file)(part) for part in (*rows, *segments, *tables)))


class _Check:
    """The checks of one generation; each raises DamagedIndexError."""

    def __init__(self, connection: sqlite3.Connection, file: Path, info: Info) -> None:
        self._connection = connection
        self._file = file
        self._info = info

    def structure(self) -> None:
        require_structure(self._connection, self._file)

    def documents(self) -> None:
        counts = [max(1, document.records) for document in read_documents(self._connection, self._file)]
        expected = (self._info.files, self._info.documents)
        self._require((len(counts), sum(counts)) == expected, "the number of documents")

    def passages(self) -> None:
        counted: Counter[int] = Counter()
        expected: dict[int, int] = {}
        for passage in read_passages(self._connection, self._file, "true"):
            counted[passage.document.id] += 1
            expected[passage.document.id] = passage.document.passages
        self._require(counted == expected, "the number of passages of a document")
        self._require(counted.total() == self._info.passages, "the number of passages")

    def vectors(self) -> None:
        ids = self._read_ids("SELECT vector FROM vector_refs WHERE refcount > 0")
        for start in range(0, len(ids), _BATCH):
            read_vectors(self._connection, self._file, ids[start : start + _BATCH].tolist(), self._info.dimension)
        # Vectors kept for undo may be of another model.
        spare = "id NOT IN (SELECT vector FROM vector_refs WHERE refcount > 0)"
        query = f"SELECT id, digest, vector, checksum FROM vectors WHERE {spare}"
        for vector_id, *row in self._connection.execute(query):
            if not has_valid_checksum(*row):
                raise damaged(self._file, f"checksum mismatch in vector {vector_id}")

    def vector_refs(self) -> None:
        table = read_ref_table(self._connection, self._file)
        is_same = np.array_equal(table.vectors, self._read_ids("SELECT id FROM vectors"))
        self._require(is_same, "the list of vector references")
        links = read_links(self._connection, self._file, "true")
        vectors, refcounts = np.unique(np.fromiter((link.vector for link in links), dtype=np.int64), return_counts=True)
        live = table.refcounts > 0
        is_same = np.array_equal(table.vectors[live], vectors) and np.array_equal(table.refcounts[live], refcounts)
        self._require(is_same, "the refcount of a vector")
        self._require(len(vectors) == self._info.vectors, "the number of vectors in use")

    def segment(self, segment: Segment) -> None:
        file = self._file.with_name(segment.name)
        try:
            index = load_segment(file.parent, segment, dimension=self._info.dimension)
        except PermissionError as error:
            raise StorageError(f"cannot read {file}: {describe_failure(error)}.") from error
        except (OSError, ValueError) as error:
            raise DamagedIndexError(
                f"{file} is damaged: {describe_failure(error)}. Answers are still right, but slower. {REPAIR}"
            ) from error
        table = read_ref_table(self._connection, self._file)
        in_segment = table.segments == segment.number
        is_same = np.array_equal(np.sort(vector_ids(index)), table.vectors[in_segment])
        self._require(is_same, f"the list of vectors in {segment.name}")
        live = int((table.refcounts[in_segment] > 0).sum())
        self._require(live == segment.live, f"the number of vectors in {segment.name}")

    def segment_numbers(self) -> None:
        table = read_ref_table(self._connection, self._file)
        numbers = [0, *(segment.number for segment in self._info.segments)]
        self._require(bool(np.isin(table.segments, numbers).all()), "the list of FAISS files")

    def duplicates(self) -> None:
        query = "SELECT text_digest, count(*) FROM passages GROUP BY text_digest HAVING count(*) > 1"
        expected = dict(self._connection.execute(query))
        digests = [digest for (digest,) in self._connection.execute("SELECT text_digest FROM duplicates")]
        self._require(read_duplicates(self._connection, self._file, digests) == expected, "the list of duplicates")

    def lexical(self) -> None:
        index = LexicalIndex(self._connection, self._file, self._info.passages)
        index.verify()
        is_same = np.array_equal(index.passages(), self._read_ids("SELECT id FROM passages"))
        self._require(is_same, "the list of passages in the keyword index")

    def skipped_and_free_ids(self) -> None:
        read_skipped(self._connection, self._file, self._info.skipped)
        used, free_ids = self._read_ids("SELECT id FROM passages"), self._read_ids("SELECT passage FROM free_ids")
        all_ids = np.unique(np.concatenate([used, free_ids]))
        is_gapless = len(all_ids) == len(used) + len(free_ids) == all_ids.max(initial=0) and all_ids.min(initial=1) == 1
        self._require(bool(is_gapless), "the list of free ids")

    def _read_ids(self, query: str) -> Ids:
        return np.sort(np.fromiter((row_id for (row_id,) in self._connection.execute(query)), dtype=np.int64))

    def _require(self, is_consistent: bool, subject: str) -> None:  # noqa: FBT001 - the claim itself
        if not is_consistent:
            raise damaged(self._file, f"{subject} is inconsistent")
