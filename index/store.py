"""The writing side: embeddings as they come, and the one transaction that makes a new generation."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import numpy as np

from corpus.errors import ModelError

from . import disk
from .arrange import arrange
from .changes import Change, Extent, Maker, Seen
from .encoder import Vectors
from .insert import Inserter, fields_of
from .postings import PostingsWriter
from .records import (
    AMONG,
    Info,
    Left,
    Segment,
    StoredDocument,
    damaged,
    ids_json,
    pack_vector,
    read_documents,
    read_info,
    read_left,
    read_passages,
    read_vectors,
    vector_checksum,
    write_info,
    write_left,
)
from .schema import DATABASE, checksum, open_for_writing, seam
from .vectors import SEGMENT_MOST, Ids, build, delete_others, is_there, save

# Vectors that no passage refers to any more are kept for undo, up to this many or as many as are in use.
SPARE_VECTORS = 10_000


class Store:
    """The index opened for writing; the caller holds the writer lock.

    Args:
        folder: The index folder, `.qa`.

    Raises:
        IncompatibleError: Written by another format version.
        DamagedIndexError: It cannot be read.
        StorageError: The disk refused.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / DATABASE
        self._connection = open_for_writing(self._file)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with seam(self._file):
            self._connection.close()

    def info(self) -> Info | None:
        """What the current generation is made of, or None before the first."""
        with seam(self._file):
            return read_info(self._connection, self._file)

    def documents(self) -> dict[str, StoredDocument]:
        """All documents by path."""
        with seam(self._file):
            return {document.path: document for document in read_documents(self._connection, self._file)}

    def skipped(self) -> tuple[Left, ...]:
        """What was left out, by path."""
        with seam(self._file):
            return read_left(self._connection)

    def known(self, digests: Iterable[bytes]) -> frozenset[bytes]:
        """Those of the digests whose vectors are stored and undamaged."""
        found = set()
        with seam(self._file):
            for digest in digests:
                row = self._connection.execute(
                    "SELECT vector, checksum FROM vectors WHERE digest = ?", (digest,)
                ).fetchone()
                if row is not None and vector_checksum(digest, row[0]) == row[1]:
                    found.add(digest)
        return frozenset(found)

    def add_vectors(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Keep embeddings at once, so that an interrupted build loses none; the generation stays the same.

        Raises:
            ModelError: The encoder gave something that is no vector.
        """
        if not np.isfinite(vectors).all():
            raise ModelError("the model gave a vector that is not finite. Choose another model.")
        rows = []
        for digest, vector in zip(digests, vectors, strict=True):
            data = pack_vector(vector)
            rows.append((digest, data, vector_checksum(digest, data)))
        with self._transaction():
            self._connection.executemany(
                "INSERT INTO vectors (digest, vector, checksum) VALUES (?, ?, ?) ON CONFLICT (digest) "
                "DO UPDATE SET vector = excluded.vector, checksum = excluded.checksum",
                rows,
            )
            self._mark_spare(digests)

    def adopt_vectors(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Take over digests and vectors of another database, those known already left as they are."""
        with self._transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO vectors (digest, vector, checksum) VALUES (?, ?, ?)",
                [(digest, data, vector_checksum(digest, data)) for digest, data in rows],
            )
            self._mark_spare([digest for digest, _ in rows])

    def _mark_spare(self, digests: Sequence[bytes]) -> None:
        used = self._next_generation()
        self._connection.executemany(
            "INSERT INTO spare (vector, used) SELECT id, ? FROM vectors v WHERE digest = ? "
            "AND NOT EXISTS (SELECT 1 FROM passages WHERE vector = v.id) "
            "ON CONFLICT (vector) DO UPDATE SET used = excluded.used",
            [(used, digest) for digest in digests],
        )

    def require_intact(self) -> None:
        """Check the structure of the whole database, which reading single rows does not.

        Raises:
            DamagedIndexError: SQLite finds a fault.
        """
        with seam(self._file):
            (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(self._file, f"the database ({verdict})")

    def note(self, seen: Sequence[Seen], left: Sequence[Left]) -> None:
        """Remember what was looked at; the generation stays the same."""
        with self._transaction():
            self._note(seen, left)

    def commit(self, change: Change, maker: Maker, *, seen: Sequence[Seen], left: Sequence[Left]) -> Info:
        """Make the next generation; after a crash at any moment there is the old one or the new one.

        Raises:
            DamagedIndexError: A row to be replaced does not hold what was written.
            StorageError: The disk refused; the old generation stands.
        """
        with seam(self._file):
            before = read_info(self._connection, self._file)
        with self._transaction():
            generation = self._next_generation()
            postings = PostingsWriter(self._connection, self._file)
            if change.extent is Extent.ALL:
                before = None if before is None else replace(before, vectors=0, segments=())
                self._clear(change.kept, generation, postings)
                dropped: list[int] = []
            else:
                dropped = self._remove(change.removed | set(change.paths), postings)
            Inserter(self._connection, postings).insert(change.entries)
            postings.flush()
            self._note(seen, left)
            vectors, segments = self._save_vectors(before, dropped, generation, maker.dimension)
            info = self._info(maker, generation, vectors, segments)
            self._prune(info)
            write_info(self._connection, info)
        delete_others(self.folder, [segment.name for segment in segments])
        return info

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with seam(self._file):
            disk.about_to("begin", self._file)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                disk.about_to("commit", self._file)
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite itself rolls back after some errors, such as a full disk.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _next_generation(self) -> int:
        with seam(self._file):
            info = read_info(self._connection, self._file)
        return 1 if info is None else info.generation + 1

    def _clear(self, kept: frozenset[str], generation: int, postings: PostingsWriter) -> None:
        """Empty everything but some documents, whose words are entered again."""
        ids = ids_json([document for document, path in self._paths() if path in kept])
        self._connection.execute(
            "INSERT INTO spare (vector, used) SELECT DISTINCT vector, ? FROM passages WHERE true "
            "ON CONFLICT (vector) DO UPDATE SET used = excluded.used",
            (generation,),
        )
        for table in ("placed", "free"):
            self._connection.execute(f"DELETE FROM {table}")
        postings.clear()
        for table, column in (("passages", "document"), ("documents", "id")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} NOT IN {AMONG}", (ids,))
        held = set()
        for passage in read_passages(self._connection, self._file, f"p.document IN {AMONG}", (ids,)):
            held.add(passage.id)
            postings.add(passage.id, fields_of(passage.document.path, passage.title, passage))
        gaps = [(number,) for number in range(1, max(held, default=0)) if number not in held]
        self._connection.executemany("INSERT INTO free (passage) VALUES (?)", gaps)

    def _remove(self, paths: frozenset[str] | set[str], postings: PostingsWriter) -> list[int]:
        """Take documents out; returns the row numbers of their vectors."""
        chosen = (ids_json([document for document, path in self._paths() if path in paths]),)
        passages = list(read_passages(self._connection, self._file, f"p.document IN {AMONG}", chosen))
        for passage in passages:
            postings.remove(passage.id, fields_of(passage.document.path, passage.title, passage))
        self._connection.executemany("INSERT INTO free (passage) VALUES (?)", [(passage.id,) for passage in passages])
        self._connection.execute(f"DELETE FROM passages WHERE document IN {AMONG}", chosen)
        self._connection.execute(f"DELETE FROM documents WHERE id IN {AMONG}", chosen)
        return sorted({passage.vector for passage in passages})

    def _paths(self) -> list[tuple[int, str]]:
        return self._connection.execute("SELECT id, path FROM documents").fetchall()

    def _note(self, seen: Sequence[Seen], left: Sequence[Left]) -> None:
        documents = self.documents() if seen else {}
        for file in seen:
            old = documents[file.path]
            stat = (file.size, file.mtime_ns, file.checked_ns)
            check = checksum(old.id, old.path, old.sha256, *stat, old.media_type, old.title)
            self._connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, checked_ns = ?, checksum = ? WHERE id = ?",
                (*stat, check, old.id),
            )
        write_left(self._connection, left)

    def _prune(self, info: Info) -> None:
        """Forget the spare vectors that were used longest ago."""
        limit = max(SPARE_VECTORS, info.vectors)
        (spare,) = self._connection.execute("SELECT count(*) FROM spare").fetchone()
        if spare > limit:
            oldest = "SELECT vector FROM spare ORDER BY used, vector LIMIT ?"
            gone = ids_json([number for (number,) in self._connection.execute(oldest, (spare - limit,))])
            self._connection.execute(f"DELETE FROM spare WHERE vector IN {AMONG}", (gone,))
            self._connection.execute(f"DELETE FROM vectors WHERE id IN {AMONG}", (gone,))

    def _save_vectors(
        self, before: Info | None, dropped: Sequence[int], generation: int, dimension: int
    ) -> tuple[int, tuple[Segment, ...]]:
        """Bring the FAISS files in line with the passages; how many vectors are in use, and the files."""
        gone = self._numbers(
            "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM passages WHERE vector = value)",
            ids_json(dropped),
        )
        come = self._numbers("SELECT vector FROM spare s WHERE EXISTS (SELECT 1 FROM passages WHERE vector = s.vector)")
        segments = self._recounted(() if before is None else before.segments, gone, come)
        self._connection.execute("DELETE FROM spare AS s WHERE EXISTS (SELECT 1 FROM passages WHERE vector = s.vector)")
        self._connection.executemany(
            "INSERT INTO spare (vector, used) VALUES (?, ?)", ((number, generation) for number in gone.tolist())
        )
        new = come[~np.isin(come, self._placed(come))]
        lost = [segment for segment in segments if not is_there(self.folder, segment)]
        plan = arrange(segments, len(new), lost=lost)
        written = self._write_segments(plan.merged, plan.kept, new, generation, dimension)
        live = (0 if before is None else before.vectors) + len(come) - len(gone)
        return live, (*plan.kept, *written)

    def _recounted(self, segments: Sequence[Segment], gone: Ids, come: Ids) -> list[Segment]:
        """The segments, with as many dead vectors as they have now."""
        change: Counter[int] = Counter()
        query = f"SELECT segment, count(*) FROM placed WHERE vector IN {AMONG} GROUP BY segment"
        change.update(dict(self._connection.execute(query, (ids_json(gone.tolist()),))))
        if segments:
            change.subtract(dict(self._connection.execute(query, (ids_json(come.tolist()),))))
        return [replace(segment, dead=segment.dead + change[segment.number]) for segment in segments]

    def _placed(self, ids: Ids) -> Ids:
        if not self._connection.execute("SELECT 1 FROM placed LIMIT 1").fetchone():
            return np.empty(0, dtype=np.int64)
        return self._numbers(f"SELECT vector FROM placed WHERE vector IN {AMONG}", ids_json(ids.tolist()))

    def _write_segments(
        self, merged: Sequence[Segment], kept: Sequence[Segment], new: Ids, generation: int, dimension: int
    ) -> list[Segment]:
        old = [segment.number for segment in merged]
        live = self._numbers(
            f"SELECT vector FROM placed p WHERE segment IN {AMONG} "
            "AND EXISTS (SELECT 1 FROM passages WHERE vector = p.vector)",
            ids_json(old),
        )
        self._connection.execute(f"DELETE FROM placed WHERE segment IN {AMONG}", (ids_json(old),))
        ids = np.sort(np.concatenate([new, live]))
        number = max((segment.number for segment in (*kept, *merged)), default=0)

        def fetch(wanted: Ids) -> Vectors:
            return read_vectors(self._connection, self._file, wanted.tolist(), dimension)

        written = []
        for start in range(0, len(ids), SEGMENT_MOST):
            part = ids[start : start + SEGMENT_MOST]
            number += 1
            written.append(
                save(build(part, fetch, dimension=dimension), self.folder, number=number, generation=generation)
            )
            self._connection.executemany(
                "INSERT INTO placed (vector, segment) VALUES (?, ?)", ((vector, number) for vector in part.tolist())
            )
        return written

    def _numbers(self, query: str, *values: object) -> Ids:
        rows = self._connection.execute(query, values)
        return np.fromiter((number for (number,) in rows), dtype=np.int64)

    def _info(self, maker: Maker, generation: int, vectors: int, segments: tuple[Segment, ...]) -> Info:
        (documents,) = self._connection.execute("SELECT count(*) FROM documents").fetchone()
        (passages,) = self._connection.execute("SELECT count(*) FROM passages").fetchone()
        return Info(
            generation=generation,
            documents=documents,
            passages=passages,
            model=maker.model,
            fingerprint=maker.fingerprint,
            dimension=maker.dimension,
            splitter=maker.splitter,
            include=maker.include,
            exclude=maker.exclude,
            vectors=vectors,
            segments=segments,
        )
