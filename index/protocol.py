"""The interfaces of all stores: an index to read, for questions, and a writer, for updates."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from corpus.errors import IncompatibleError, UsageError
from index.dense.scope import Scope, scope_of
from index.lexical.query_terms import analyse
from index.storage.rows import damaged, require_all
from index.storage.vectors import columns_of, pack_vector, unit_vectors

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from index.commit.change import ChangeSet, SplitFile
    from index.commit.staging import Staging
    from index.dense.exact_segments import Floats
    from index.dense.scope import Among
    from index.dense.search import Candidate
    from index.storage.metadata import Info, SkippedRow
    from index.storage.rows import FileStat, Link, Place, StoredDocument, StoredPassage
    from index.storage.vectors import PassageColumns, Stored, Vectors

_LATEST_OPENING = 10  # in characters, as blank lines may precede it
_MAX_SCOPES = 16  # in the cache, as many questions have the same scope


class Index(Protocol):
    """One generation of an index, open for reading: a context manager that several threads may use.

    It does not change while it is open, and every row is checked as it is read (except in `file_stats`): all methods
    raise DamagedIndexError if a row is damaged or missing. Row ids are valid in this generation only.

    Attributes:
        folder: The index folder, `.qa`, of the indexed files; None if they are not on this machine.
        format: The version of its files or tables.
        info: The metadata of the generation: counts, model, selection of files.
    """

    folder: Path | None
    format: int
    info: Info
    _place: Place  # where its rows are, for error messages

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it; twice is fine."""

    def is_newest(self) -> bool:
        """Return whether there is no newer generation, in a fraction of a millisecond; CorpusError if no folder."""

    def newest(self) -> Index:
        """Open the newest generation in the same place."""

    def load(self) -> None:
        """Read in advance what the first question would have to read."""

    def documents(self) -> tuple[StoredDocument, ...]:
        """Return all files, by path."""

    def file_stats(self) -> dict[str, FileStat]:
        """Return the stat values of all files when they were read, by path.

        These rows alone are not checked, as that takes half the time of a question about a large folder. A damaged one
        makes a file look new, gone or changed, and the update that follows checks all rows.
        """

    def document(self, path: str) -> StoredDocument | None:
        """Return the file with this path, or None."""

    def match_paths(self, *patterns: str) -> frozenset[int]:
        """Return the row ids of documents whose paths match any of the patterns, in the syntax of .gitignore.

        A leading "./", which shells complete, stands for the folder of the collection.

        Raises:
            UsageError: A pattern is invalid.
        """
        from pathspec import GitIgnoreSpec

        try:
            rules = GitIgnoreSpec.from_lines(re.sub(r"^(!?)(?:\./+)+", r"\1/", pattern) for pattern in patterns)
        except (ValueError, re.error) as error:  # the latter for a bad range, [z-a]
            raise UsageError(f"the path pattern {' '.join(map(repr, patterns))} cannot be read: {error}") from error
        return frozenset(document.id for document in self.documents() if rules.match_file(document.path))

    def skipped(self) -> tuple[SkippedRow, ...]:
        """Return the files and folders that were skipped, by path."""

    def dense(self, vector: Vectors, limit: int, *, documents: Among = None) -> list[Candidate]:
        """Return the passages whose vectors are nearest, best first; ties by passage key.

        Args:
            vector: `(dim,) float32`, unit L2 norm.
            limit: At most this many.
            documents: Row ids of the documents to search, a scope of passages, or None for all.

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
        return self._dense(vector, limit, self._cached_scope(documents)) if limit > 0 else []

    def keyword(self, question: str | Mapping[str, float], limit: int, *, documents: Among = None) -> list[Candidate]:
        """Return the passages that contain terms of a question, by BM25, best first; ties by passage key.

        Args:
            question: Any text (there are no operators), or terms with their weights.
            limit: At most this many.
            documents: Row ids of the documents to search, a scope of passages, or None for all.
        """
        weights = analyse(question).terms if isinstance(question, str) else question
        if not weights or limit < 1:
            return []
        candidates = self._keyword(weights, limit, self._cached_scope(documents))
        return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.key))[:limit]

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Return the number of passages that contain each term."""

    def scope(self, passages: frozenset[int]) -> Scope:
        """Return a scope that limits `dense` and `keyword` to these passages, by row id."""
        by_id = {link.id: link for link in self._links(*self._id_condition("id", passages))}
        links = require_all(by_id, sorted(passages), "passage", self._place)
        return scope_of(links, frozenset(link.document for link in links), passages)

    def columns(self, documents: frozenset[int] | None = None) -> PassageColumns:
        """Return the row ids of all passages, or those of some documents, with the ids of their documents and vectors.

        They are sorted by document, then by position in the text.
        """
        links = self._links("true") if documents is None else self._links(*self._id_condition("document", documents))
        columns = columns_of(links, self._place)
        if documents is None and len(columns.passages) != self.info.passages:
            raise damaged(self._place, "the number of passages is inconsistent")
        return columns

    def passages(self, ids: Sequence[int]) -> list[StoredPassage]:
        """Return passages by row id, in the order given."""
        by_id = {passage.id: passage for passage in self._passages(*self._id_condition("id", ids))} if ids else {}
        return require_all(by_id, ids, "passage", self._place)

    def passages_of(self, path: str) -> tuple[StoredPassage, ...]:
        """Return the passages of a document in text order; none if there is no such document."""
        document = self.document(path)
        if document is None:
            return ()
        rows = self._passages(*self._id_condition("document", [document.id]))
        # A damaged SQL index can return a row more than once, or of another document.
        passages = {passage.id: passage for passage in rows if passage.document.id == document.id}
        if len(passages) != document.passages:
            raise damaged(self._place, f"the passages of document {document.id} are inconsistent")
        return tuple(sorted(passages.values(), key=lambda passage: (passage.start, passage.end)))

    def preceding(self, passages: Sequence[StoredPassage], gap: int) -> dict[int, StoredPassage]:
        """Return the passages right before these, by the row ids of these.

        The first of a document or record has none, nor has one with more than `gap` characters in between.
        """
        wanted: defaultdict[int, list[StoredPassage]] = defaultdict(list)
        for passage in passages:
            wanted[passage.document.id].append(passage)
        before: dict[int, StoredPassage] = {}
        for document, group in wanted.items():
            found = list(self._passages_ending(document, [(passage.start - gap, passage.start) for passage in group]))
            for passage in group:
                near = (p for p in found if passage.start - gap <= p.end <= passage.start and p.item == passage.item)
                last = max(near, key=lambda other: (other.end, other.start), default=None)
                if last is not None:
                    before[passage.id] = last
        return before

    def openings(self, passages: Sequence[StoredPassage]) -> dict[int, StoredPassage]:
        """Return the passages at the beginning of the documents of these, by the row ids of these.

        One that is the first itself has none, nor has one of another record of its document.
        """
        condition, ids = self._id_condition("document", {passage.document.id for passage in passages})
        found = self._passages(f"{condition} AND p.start <= {_LATEST_OPENING}", ids)
        first = {p.item: p for p in sorted(found, key=lambda passage: passage.start, reverse=True)}
        pairs = ((passage, first.get(passage.item)) for passage in passages)
        return {p.id: opening for p, opening in pairs if opening is not None and opening.id != p.id}

    def find(self, key: str) -> StoredPassage | None:
        """Return the passage with this stable id, or None."""

    def duplicates(self, passages: Sequence[StoredPassage]) -> dict[int, tuple[StoredPassage, ...]]:
        """Return, by a passage's row id, the other passages with the same text, in order of path and span."""
        by_id = {passage.id: passage for passage in passages}
        ids = {link.id for link in self._links_with_texts_of(passages)}
        if missing := sorted(by_id.keys() - ids):
            raise damaged(self._place, f"the duplicates of passage {missing[0]} are inconsistent")
        all_passages = [*by_id.values(), *self.passages(sorted(ids - by_id.keys()))]
        by_text: defaultdict[bytes, list[StoredPassage]] = defaultdict(list)
        for passage in sorted(all_passages, key=lambda passage: (passage.document.path, passage.start)):
            by_text[passage.text_digest].append(passage)
        return {p.id: tuple(other for other in by_text[p.text_digest] if other.id != p.id) for p in passages}

    def size(self) -> int:
        """Return the size of the whole index, in bytes."""

    def cosines(self, vectors: Sequence[int], vector: Vectors) -> Floats:
        """Return the cosines of stored vectors, by row id, with a vector: `(n,)`, as `dense` scores them."""

    def vectors(self, vectors: Sequence[int]) -> Stored:
        """Return vectors by row id, in the order given: `(n, dim) float16`."""

    @abstractmethod
    def _dense(self, vector: Vectors, limit: int, scope: Scope | None) -> list[Candidate]:
        """Return the nearest passages: see `dense`."""

    @abstractmethod
    def _keyword(self, terms: Mapping[str, float], limit: int, scope: Scope | None) -> Iterable[Candidate]:
        """Return the best passages, and all that tie with the last, in any order."""

    @abstractmethod
    def _id_condition(self, column: str, ids: Collection[int]) -> tuple[str, str]:
        """Return the SQL condition that a column of a passage is among row ids, and the value to bind to it."""

    @abstractmethod
    def _links(self, condition: str, *values: object) -> Iterable[Link]:
        """Read the links of the passages `p` that meet an SQL condition."""

    @abstractmethod
    def _passages(self, condition: str, *values: object) -> Iterable[StoredPassage]:
        """Read the passages `p` that meet an SQL condition."""

    @abstractmethod
    def _passages_ending(self, document: int, ranges: Sequence[tuple[int, int]]) -> Iterable[StoredPassage]:
        """Read the passages of a document that end in one of these ranges, ends inclusive."""

    @abstractmethod
    def _links_with_texts_of(self, passages: Sequence[StoredPassage]) -> Iterable[Link]:
        """Read the links of all passages that have the text of one of these."""

    def _read_scope(self, documents: frozenset[int]) -> Scope:
        """Read the scope of documents."""
        links = list(self._links(*self._id_condition("document", documents)))
        if any(link.document not in documents for link in links):
            raise damaged(self._place, "the passages of documents are inconsistent")
        return scope_of(links, documents)

    def _cached_scope(self, among: Among) -> Scope | None:
        if not isinstance(among, frozenset):
            return among
        scope = self._scopes.get(among)
        if scope is None:
            if len(self._scopes) >= _MAX_SCOPES:
                self._scopes.clear()
            scope = self._scopes[among] = self._read_scope(among)
        return scope

    @cached_property
    def _scopes(self) -> dict[frozenset[int], Scope]:
        return {}


class IndexWriter(Protocol):
    """An index opened for writing, by one process at a time: vectors as they are embedded, then one generation."""

    _staging: Staging

    def __enter__(self) -> Self:
        return self

    def info(self) -> Info | None:
        """Return the metadata of the current generation, or None before the first."""

    def documents(self) -> dict[str, StoredDocument]:
        """Return all documents, by path."""

    def skipped(self) -> tuple[SkippedRow, ...]:
        """Return the files and folders that were skipped, by path."""

    def known_vectors(self, digests: Sequence[bytes], dimension: int) -> frozenset[bytes]:
        """Return the digests whose vectors are stored and usable."""

    def add_vectors(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        """Commit embeddings, `(n, dim) float32`, so that an interrupted build loses none, or raise ModelError."""
        packed = map(pack_vector, unit_vectors(vectors))
        self.adopt_vectors(list(zip(digests, packed, strict=True)))

    def adopt_vectors(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Commit digests with vectors in their stored form, `(dim,) float16` in little-endian bytes."""

    def require_intact(self) -> None:
        """Check the structure that a full build relies on; raises DamagedIndexError."""

    def stage(self, file: SplitFile) -> None:
        """Keep a file for the next commit."""
        self._staging.add(file)

    def _next_generation(self) -> int:
        info = self.info()
        return 1 if info is None else info.generation + 1

    @property
    def staged(self) -> Sequence[str]:
        """Paths of the files that are staged."""
        return self._staging.paths

    def update_stats(self, unchanged: Sequence[StoredDocument], skipped: Sequence[SkippedRow]) -> None:
        """Commit new stat values of unchanged documents, and the skipped files, without a new generation."""

    def commit(self, change: ChangeSet) -> Info:
        """Make the next generation and return its metadata; a crash leaves either the old one or the new one.

        Raises:
            DamagedIndexError: A row to be replaced is damaged.
            StorageError: A read or write failed, or the connection was lost; the index is at either the old or the new
                generation.
        """
