"""The reading side: one generation, held for as long as it is open, without writing anything."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from pathspec import GitIgnoreSpec

from corpus.errors import IncompatibleError, NoIndexError, UsageError

from .encoder import Vectors
from .records import (
    AMONG,
    Info,
    Left,
    StoredDocument,
    StoredPassage,
    damaged,
    ids_json,
    read_documents,
    read_info,
    read_left,
    read_passages,
    read_vectors,
)
from .schema import DATABASE, open_for_reading, seam
from .terms import expression, words
from .vectors import Ids, VectorIndex, exact_scores, open_or_rebuild

# float32 sums of 1,000 products of unit vectors differ from the exact ones by less than this.
_ROUNDING = 1e-4
DEFAULT_WEIGHTS = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage, by row number, and how well it matches; higher is better."""

    passage: int
    score: float


class Snapshot:
    """One generation of an index, unaffected by what is committed after it was opened.

    Open it as a context manager, or close it. Several threads may ask at once.

    Args:
        folder: The index folder, `.qa`.

    Raises:
        NoIndexError: There is no index, or the first was never finished.
        IncompatibleError: Written by another format version.
        DamagedIndexError: It does not hold what was written to it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / DATABASE
        self._connection = open_for_reading(self._file)
        try:
            with seam(self._file):
                self.info = self._read_info()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the generation."""
        self._connection.close()

    def documents(self) -> tuple[StoredDocument, ...]:
        """All documents, by path."""
        with seam(self._file):
            return tuple(read_documents(self._connection, self._file))

    def skipped(self) -> tuple[Left, ...]:
        """What was left out, by path."""
        with seam(self._file):
            return read_left(self._connection)

    def dense(self, vector: Vectors, limit: int, *, documents: frozenset[int] | None = None) -> list[Candidate]:
        """The passages whose vectors are nearest, best first; ties by passage key.

        Args:
            vector: `(dim,) float32`, unit L2 norm.
            limit: At most this many.
            documents: Row numbers of the documents to choose from, or None for all.

        Returns:
            Scores are cosines, computed in float64 from the stored vectors.

        Raises:
            IncompatibleError: The vector has another dimension.
        """
        if vector.shape != (self.info.dimension,):
            raise IncompatibleError(
                f"the question's vector has shape {vector.shape}, the index holds {self.info.dimension} dimensions. "
                "Ask with the model the index was built with."
            )
        among = None if documents is None else self._vector_ids(documents)
        available = len(self._all_vector_ids) if among is None else len(among)

        def fetch(size: int) -> tuple[list[_Ranked], bool]:
            ids, rough = self._nearest.search(vector, size, among=among)
            ranked = self._ranked_by_vector(ids, vector, documents)
            if size >= available:
                return ranked, True
            # What was not fetched scores no better than the worst that was, rounding aside.
            return ranked, rough[-1] + _ROUNDING < ranked[limit - 1].score

        return _best(fetch, limit)

    def keyword(
        self,
        question: str,
        limit: int,
        *,
        documents: frozenset[int] | None = None,
        weights: tuple[float, float, float, float] = DEFAULT_WEIGHTS,
    ) -> list[Candidate]:
        """The passages that share the question's words, by BM25, best first; ties by passage key.

        BM25 is SQLite's, https://www.sqlite.org/fts5.html#the_bm25_function, with k1 1.2 and b 0.75.

        Args:
            question: Any text; nothing in it is an operator.
            limit: At most this many.
            documents: Row numbers of the documents to choose from, or None for all.
            weights: Of a word in the title, in the headings, in the text and in the path.
        """
        match = expression(words(question))
        if not match:
            return []
        scope = "" if documents is None else f"AND +rowid IN (SELECT id FROM passages WHERE document IN {AMONG})"
        query = (
            "SELECT p.id, p.key, t.score FROM "
            f"(SELECT rowid AS id, -bm25(terms, ?, ?, ?, ?) AS score FROM terms WHERE terms MATCH ? {scope} "
            "ORDER BY score DESC LIMIT ?) t JOIN passages p ON p.id = t.id"
        )
        values = [*weights, match, *([] if documents is None else [ids_json(tuple(documents))])]

        def fetch(size: int) -> tuple[list[_Ranked], bool]:
            ranked = sorted(_Ranked(-score, key, number) for number, key, score in self._rows(query, *values, size))
            done = len(ranked) < size or ranked[-1].negative > ranked[limit - 1].negative
            return ranked, done

        return _best(fetch, limit)

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many passages each word stands, after stemming; words as `index.terms.words` gives them."""
        query = "SELECT count(*) FROM terms WHERE terms MATCH ?"
        return {term: int(next(iter(self._rows(query, expression((term,)))))[0]) for term in terms}

    def passages(self, ids: Sequence[int]) -> list[StoredPassage]:
        """Passages by row number, in the order asked.

        Raises:
            DamagedIndexError: One is missing or does not hold what was written.
        """
        found = {passage.id: passage for passage in self._passages(f"p.id IN {AMONG}", ids_json(ids))}
        missing = [number for number in ids if number not in found]
        if missing:
            raise damaged(self._file, f"passage {missing[0]} (missing)")
        return [found[number] for number in ids]

    def vectors(self, ids: Sequence[int]) -> Vectors:
        """Vectors of passages by row number, in the order asked: `(n, dim) float32`, unit L2 norm.

        Raises:
            DamagedIndexError: One is missing or does not hold what was written.
        """
        rows = self._rows(f"SELECT id, vector FROM passages WHERE id IN {AMONG}", ids_json(ids))
        numbers: dict[int, int] = dict(rows)
        missing = [number for number in ids if number not in numbers]
        if missing:
            raise damaged(self._file, f"passage {missing[0]} (missing)")
        return self._stored_vectors([numbers[number] for number in ids])

    def twins(self, ids: Sequence[int]) -> dict[int, tuple[StoredPassage, ...]]:
        """For each passage the others with the same text, by path and place; empty for most."""
        asked = f"(SELECT text_digest FROM passages WHERE id IN {AMONG})"
        same: dict[bytes, list[StoredPassage]] = {}
        for passage in self._passages(f"p.text_digest IN {asked} ORDER BY d.path, p.start", ids_json(ids)):
            same.setdefault(passage.text_digest, []).append(passage)
        owner = {passage.id: group for group in same.values() for passage in group}
        return {number: tuple(twin for twin in owner.get(number, ()) if twin.id != number) for number in ids}

    def find(self, key: str) -> StoredPassage | None:
        """The passage with this stable id, if there is one."""
        return next(iter(self._passages("p.key = ?", key)), None)

    def passages_of(self, path: str) -> tuple[StoredPassage, ...]:
        """The passages of a document, in the order of the text."""
        return tuple(self._passages("d.path = ? ORDER BY p.start, p.end", path))

    def match_paths(self, pattern: str) -> frozenset[int]:
        """Row numbers of the documents whose paths match a pattern, in the syntax of .gitignore.

        Raises:
            UsageError: The pattern cannot be read.
        """
        try:
            rules = GitIgnoreSpec.from_lines([pattern])
        except ValueError as error:
            raise UsageError(f"the path pattern {pattern!r} cannot be read: {error}") from error
        return frozenset(document.id for document in self.documents() if rules.match_file(document.path))

    def _read_info(self) -> Info:
        info = read_info(self._connection, self._file)
        if info is None:
            raise NoIndexError(f"the first index in {self._folder} was never finished. Run `qa index` again.")
        (documents,) = self._connection.execute("SELECT count(*) FROM documents").fetchone()
        (passages,) = self._connection.execute("SELECT count(*) FROM passages").fetchone()
        if (documents, passages) != (info.documents, info.passages):
            raise damaged(self._file, "the number of rows")
        return info

    def _rows(self, query: str, *values: object) -> list[Any]:
        with seam(self._file):
            return self._connection.execute(query, values).fetchall()

    def _passages(self, condition: str, *values: object) -> Iterator[StoredPassage]:
        with seam(self._file):
            yield from read_passages(self._connection, self._file, condition, values)

    def _stored_vectors(self, ids: Sequence[int]) -> Vectors:
        with seam(self._file):
            return read_vectors(self._connection, self._file, ids, self.info.dimension)

    def _vector_ids(self, documents: frozenset[int]) -> Ids:
        rows = self._rows(
            f"SELECT DISTINCT vector FROM passages WHERE document IN {AMONG}",
            ids_json(tuple(documents)),
        )
        return np.array(rows, dtype=np.int64).reshape(-1)

    @cached_property
    def _all_vector_ids(self) -> Ids:
        return np.array(self._rows("SELECT DISTINCT vector FROM passages"), dtype=np.int64).reshape(-1)

    @cached_property
    def _nearest(self) -> VectorIndex:
        return open_or_rebuild(
            self._folder,
            self.info.vectors_file,
            self._all_vector_ids,
            lambda ids: self._stored_vectors(ids.tolist()),
            dimension=self.info.dimension,
        )

    def _ranked_by_vector(self, ids: Ids, query: Vectors, documents: frozenset[int] | None) -> list[_Ranked]:
        scores = exact_scores(self._stored_vectors(ids.tolist()), query)
        score_of = dict(zip(ids.tolist(), scores.tolist(), strict=True))
        rows = self._rows(
            f"SELECT id, key, vector, document FROM passages WHERE vector IN {AMONG}",
            ids_json(ids.tolist()),
        )
        return sorted(
            _Ranked(-score_of[vector], key, number)
            for number, key, vector, document in rows
            if documents is None or document in documents
        )


@dataclass(frozen=True, slots=True, order=True)
class _Ranked:
    """Sorts as results are ordered everywhere: best score first, ties by passage key."""

    negative: float
    key: str
    passage: int

    @property
    def score(self) -> float:
        return -self.negative


def _best(fetch: Callable[[int], tuple[list[_Ranked], bool]], limit: int) -> list[Candidate]:
    """Fetch more until nothing left out can tie with the last place, so that ties are broken by key alone."""
    if limit < 1:
        return []
    size = 2 * limit + 16
    ranked, complete = fetch(size)
    while not complete:
        size *= 2
        ranked, complete = fetch(size)
    return [Candidate(entry.passage, entry.score) for entry in ranked[:limit]]
