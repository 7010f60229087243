"""The reading side: one generation, held for as long as it is open, without writing anything."""

# ruff: noqa: S608 - statements are put together from names in this package; values are bound

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from corpus.errors import IncompatibleError, NoIndexError, UsageError

from .analysis import cut, term_of
from .encoder import Encoder, Vectors
from .postings import Postings
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
    read_vectors_there,
)
from .schema import DATABASE, open_for_reading, seam
from .terms import query_terms
from .vectors import Ids, VectorIndex, exact_scores, open_all

# What FAISS computes from float16 differs from the exact inner product of unit vectors by less than this.
_ROUNDING = 1e-3
# How many more than wanted are fetched at first: enough that nothing left out ties with the last place.
_BEYOND = 16
# So many vectors are compared one by one rather than searched for among all.
_FEW = 20_000

# Sorts as results are ordered everywhere: by score turned negative, then by passage key; the row number comes along.
_Ranked = tuple[float, str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage, by row number and stable id, and how well it matches; higher is better."""

    passage: int
    key: str
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

    def load(self) -> None:
        """Read now what the first question would read of both halves of the index."""
        with seam(self._file):
            self._postings.load()
        _ = self._nearest

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
        if limit < 1:
            return []
        share, wanted = 1.0, limit
        if documents is not None:
            among = self._vector_ids(documents)
            if len(among) <= _FEW:
                return _candidates(self._ranked(self._scored(among, vector), documents), limit)
            # Of a scope far from the question as many must be compared as without one.
            share, wanted = len(among) / self.info.vectors, 8 * limit
        size = int((limit + _BEYOND) / share)
        while True:
            ids, bound = self._nearest.search(vector, size)
            scored = self._scored(ids, vector)
            # Passages are looked up for no more vectors than needed.
            head = len(scored) if documents is not None else limit + _BEYOND
            ranked = self._ranked(scored[:head], documents)
            bound += _ROUNDING
            if head < len(scored):
                bound = max(bound, -scored[head][0])
            # What was left out scores no better than the bound, so it cannot tie with the last place.
            if len(ranked) >= wanted and bound < -ranked[limit - 1][0]:
                return _candidates(ranked, limit)
            if size >= self._nearest.held:
                return _candidates(self._ranked(scored, documents), limit)
            size *= 2

    def keyword(self, question: str, limit: int, *, documents: frozenset[int] | None = None) -> list[Candidate]:
        """The passages that share the question's words, by BM25, best first; ties by passage key.

        Args:
            question: Any text; nothing in it is an operator.
            limit: At most this many.
            documents: Row numbers of the documents to choose from, or None for all.
        """
        wanted = query_terms(question)
        if not wanted or limit < 1:
            return []
        among = None if documents is None else self._passage_ids(documents)
        with seam(self._file):
            ids, scores = self._postings.search(wanted, limit, among=among)
        keys = dict(self._rows(f"SELECT id, key FROM passages WHERE id IN {AMONG}", ids_json(ids.tolist())))
        missing = [number for number in ids.tolist() if number not in keys]
        if missing:
            raise damaged(self._file, f"passage {missing[0]} (missing)")
        pairs = zip(ids.tolist(), scores.tolist(), strict=True)
        return _candidates(sorted((-score, keys[number], number) for number, score in pairs), limit)

    def document_frequency(self, words: Sequence[str]) -> dict[str, int]:
        """In how many passages each word stands, after stemming; of writing without spaces, its rarest pair."""
        terms = {word: [term for piece in cut(word) for term in term_of(piece)] for word in words}
        found = self.frequencies([term for several in terms.values() for term in several])
        return {word: min((found[term] for term in several), default=0) for word, several in terms.items()}

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many passages each term stands; terms as `index.terms.query_terms` gives them."""
        with seam(self._file):
            return self._postings.frequencies(terms)

    def verify_terms(self) -> None:
        """Check the whole keyword index, of which a question reads only its own words.

        Raises:
            DamagedIndexError: It does not hold what was written.
        """
        with seam(self._file):
            self._postings.verify()

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
        from pathspec import GitIgnoreSpec  # noqa: PLC0415 - most questions have no pattern

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
        if documents != info.documents:
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
        return self._numbers("SELECT DISTINCT vector FROM passages WHERE document IN", documents)

    def _passage_ids(self, documents: frozenset[int]) -> Ids:
        return self._numbers("SELECT id FROM passages WHERE document IN", documents)

    def _numbers(self, query: str, among: frozenset[int]) -> Ids:
        rows = self._rows(f"{query} {AMONG}", ids_json(tuple(among)))
        return np.array(rows, dtype=np.int64).reshape(-1)

    @cached_property
    def _postings(self) -> Postings:
        return Postings(self._connection, self._file, self.info.passages)

    @cached_property
    def _nearest(self) -> VectorIndex:
        return open_all(
            self._folder,
            self.info.segments,
            self._members,
            lambda ids: self._stored_vectors(ids.tolist()),
            dimension=self.info.dimension,
        )

    def _members(self, segment: int) -> Ids:
        """The live vectors of a segment."""
        query = (
            "SELECT vector FROM placed p WHERE segment = ? AND EXISTS (SELECT 1 FROM passages WHERE vector = p.vector) "
            "ORDER BY vector"
        )
        return np.array(self._rows(query, segment), dtype=np.int64).reshape(-1)

    def _scored(self, ids: Ids, query: Vectors) -> list[tuple[float, int]]:
        """Vectors by their exact scores, turned negative, the best first; those that are gone are left out."""
        asked: list[int] = ids.tolist()
        with seam(self._file):
            there, vectors = read_vectors_there(self._connection, self._file, asked, self.info.dimension)
        if len(there) < len(asked):
            self._require_unused(frozenset(asked).difference(there))
        return sorted(zip((-exact_scores(vectors, query)).tolist(), there, strict=True))

    def _require_unused(self, gone: frozenset[int]) -> None:
        rows = self._rows(f"SELECT vector FROM passages WHERE vector IN {AMONG} LIMIT 1", ids_json(tuple(gone)))
        if rows:
            raise damaged(self._file, f"vector {rows[0][0]} (missing)")

    def _ranked(self, scored: Sequence[tuple[float, int]], documents: frozenset[int] | None) -> list[_Ranked]:
        """The passages of vectors, best first; vectors that no passage has any more have none."""
        negative_of = {vector: negative for negative, vector in scored}
        rows = self._rows(
            f"SELECT id, key, vector, document FROM passages WHERE vector IN {AMONG}",
            ids_json(tuple(negative_of)),
        )
        return sorted(
            (negative_of[vector], key, number)
            for number, key, vector, document in rows
            if documents is None or document in documents
        )


def require_same_encoder(info: Info, encoder: Encoder) -> None:
    """Refuse to compare vectors of different models.

    Raises:
        IncompatibleError: The index was built with another model, or the same one with other files.
    """
    if info.fingerprint != encoder.fingerprint:
        raise IncompatibleError(
            f"the index was built with {info.model} (fingerprint {info.fingerprint[:12]}), not with {encoder.name} "
            f"({encoder.fingerprint[:12]}). Ask with that model, or embed again: `qa index --model {encoder.name}`."
        )


def _candidates(ranked: Sequence[_Ranked], limit: int) -> list[Candidate]:
    return [Candidate(passage, key, -negative) for negative, key, passage in ranked[:limit]]
