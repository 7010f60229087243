"""Finds passages and documents similar to a place, a document, a record or a text, by the cosine of stored vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from corpus import split
from corpus.errors import UsageError
from corpus.types import Block, BlockKind, Document
from index import Among, Candidate, Encoder, Index, StoredPassage, Vectors
from qa.answer.citation import cited
from qa.answer.results import DEFAULT_K, MAX_HITS, cite
from qa.explore.clusters import spread, unit_rows
from qa.explore.results import Similar, SimilarDocument, Subject
from qa.filters import EVERYTHING, Filter, select
from qa.near_duplicates import nearly_same, words_of
from qa.places import Place, find_place, looks_like_path

# Characters of a text; a longer one should be indexed as a file.
_LONGEST = 100_000
# Documents are found by searching with some passages (probes) and with the mean; how many hits each search returns.
_PROBES = 16
_FOUND_BY_PROBE = 50
_FOUND_BY_MEAN = 200
# How many pairs of passages explain why a document is similar.
_PAIRS = 3
_READ_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Compared:
    """What passages or documents are compared with.

    Attributes:
        subject: Its description in the result.
        passages: The passages it consists of; () for a text.
        vectors: `(n, dim) float32`, of its passages, or of a text's chunks.
    """

    subject: Subject
    passages: tuple[StoredPassage, ...]
    vectors: Vectors

    @property
    def mean(self) -> Vectors:
        """The mean vector: `(dim,) float32`, unit L2 norm."""
        return unit_mean(self.vectors)


@dataclass(frozen=True, slots=True)
class SimilarRequest:
    """A search for similar passages or documents.

    Attributes:
        what: A place, a path, a passage id, or a text.
        k: How many to return.
        only: Which documents to choose from.
        here: The working directory, against which paths are resolved before the root.
        keep_all: Whether to keep the item itself, its duplicates and its near-duplicates.
        indexed_only: Whether to treat files that are not indexed as nonexistent.
    """

    what: str
    k: int = DEFAULT_K
    only: Filter = EVERYTHING
    here: Path | None = None
    keep_all: bool = False
    indexed_only: bool = False


def similar_passages(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest) -> Similar:
    """Return the passages most similar to the requested item, best first."""
    compared = _compared(root, snapshot, encoder, request, whole=False)
    documents = select(snapshot, request.only)
    excluded = () if request.keep_all else compared.passages
    depth = request.k + 16
    found: list[tuple[StoredPassage, float]] = []
    while len(found) < request.k:
        candidates = snapshot.dense(compared.mean, depth, documents=documents)
        found = list(islice(_distinct(snapshot, candidates, excluded), request.k))
        if len(candidates) < depth:
            break
        depth = 4 * (depth + len(compared.passages))
    return Similar(compared.subject, passages=cited(root, snapshot, found, {}))


def _distinct(
    snapshot: Index, candidates: Sequence[Candidate], excluded: Sequence[StoredPassage]
) -> Iterator[tuple[StoredPassage, float]]:
    """Yield candidates with scores in [0, 1], without duplicates, excluded passages and their near-duplicates."""
    ids, texts = {passage.id for passage in excluded}, {passage.text_digest for passage in excluded}
    excluded_words = [words_of(passage) for passage in excluded]
    left = [candidate for candidate in candidates if candidate.passage not in ids]
    for at in range(0, len(left), _READ_AT_ONCE):
        batch = left[at : at + _READ_AT_ONCE]
        for passage, candidate in zip(snapshot.passages([each.passage for each in batch]), batch, strict=True):
            if passage.is_front_matter:
                continue
            words = words_of(passage)
            if passage.text_digest not in texts and not any(nearly_same(words, other) for other in excluded_words):
                texts.add(passage.text_digest)
                yield passage, round(max(candidate.score, 0.0), 6)


def similar_documents(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest) -> Similar:
    """Return the documents and records most similar to the one with the requested item, best first."""
    compared = _compared(root, snapshot, encoder, request, whole=True)
    among = select(snapshot, request.only)
    own = {group_of(passage) for passage in compared.passages}
    words = _all_words(compared.passages)
    ranked = []
    for passages in _candidates(snapshot, compared, among, 3 * request.k + 20):
        is_same = compared.passages and (group_of(passages[0]) in own or nearly_same(_all_words(passages), words))
        if is_same and not request.keep_all:
            continue
        vectors = stored_vectors(snapshot, passages)
        ranked.append((float(unit_mean(vectors) @ compared.mean), passages, vectors))
    ranked.sort(key=lambda entry: (-entry[0], entry[1][0].key))
    documents = tuple(
        SimilarDocument(
            rank=rank,
            score=round(max(score, 0.0), 6),
            path=passages[0].document.path,
            title=passages[0].title,
            place=cite_passages(passages[:1]) if passages[0].document.records else passages[0].document.path,
            because=tuple(_pairs(compared, passages, vectors)),
        )
        for rank, (score, passages, vectors) in enumerate(ranked[: request.k], 1)
    )
    return Similar(compared.subject, documents=documents)


def _candidates(snapshot: Index, compared: Compared, among: Among, wanted: int) -> Iterator[list[StoredPassage]]:
    """Yield the passages of each document or record that may be similar, most promising first."""
    probes = [(compared.mean, _FOUND_BY_MEAN + len(compared.passages))]
    if len(compared.vectors) > 1:
        probes += [(vector, _FOUND_BY_PROBE) for vector in compared.vectors[spread(len(compared.vectors), _PROBES)]]
    scores: dict[int, float] = {}
    for vector, limit in probes:
        for candidate in snapshot.dense(vector, limit, documents=among):
            scores[candidate.passage] = max(scores.get(candidate.passage, -1.0), candidate.score)
    ranked = snapshot.passages(sorted(scores, key=lambda number: (-scores[number], number)))
    paths = {group_of(passage): passage.document.path for passage in ranked}
    for group, path in islice(paths.items(), wanted):
        yield _texts([passage for passage in snapshot.passages_of(path) if group_of(passage) == group])


def _pairs(compared: Compared, passages: Sequence[StoredPassage], vectors: Vectors) -> Iterator[tuple[str, str]]:
    """Yield the pairs of passages with the highest cosines, each passage in at most one pair."""
    cosines = unit_rows(compared.vectors) @ unit_rows(vectors).T
    for _ in range(min(_PAIRS, *cosines.shape)):
        own, other = divmod(int(cosines.argmax()), cosines.shape[1])
        cited_own = cite_passages([compared.passages[own]]) if compared.passages else ""
        yield cited_own, cite_passages([passages[other]])
        cosines[own, :] = cosines[:, other] = -np.inf


def _compared(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest, *, whole: bool) -> Compared:
    """Resolve a request: to the passages of a place, with `whole` those of its documents or records, or to a text."""
    if not 1 <= request.k <= MAX_HITS:
        raise UsageError(f"k must be from 1 to {MAX_HITS:,}, not {request.k}.")
    place = find_place(snapshot, root, request.what, request.here, indexed_only=request.indexed_only)
    if place is None:
        return _of_text(encoder, request.what)
    if place.document is None:
        raise UsageError(f"{place.path} is not in the index; `qa index` says why, or indexes it.")
    passages = _passages_of(snapshot, place)
    if not passages:
        raise UsageError(f"{request.what} has no passages: there is no text, or the file is empty.")
    where = cite_passages(passages) if place.lines or place.page or place.passages else place.path
    if whole:
        groups = {group_of(passage) for passage in passages}
        passages = [passage for passage in snapshot.passages_of(place.path) if group_of(passage) in groups]
        where = cite_passages(passages) if place.document.records else place.path
    passages = _texts(passages)
    title = passages[0].title if len({passage.title for passage in passages}) == 1 else place.document.title
    subject = Subject(request.what, where, title, len(passages))
    return Compared(subject, tuple(passages), stored_vectors(snapshot, passages))


def _passages_of(snapshot: Index, place: Place) -> list[StoredPassage]:
    passages = list(place.passages or snapshot.passages_of(place.path))
    if place.lines is not None:
        first, last = place.lines
        return [
            passage for passage in passages if passage.lines and passage.lines[0] <= last and first <= passage.lines[1]
        ]
    return [passage for passage in passages if place.page in (None, passage.page)]


def _texts(passages: list[StoredPassage]) -> list[StoredPassage]:
    """Return passages without front matter, which is alike in all notes, unless there is nothing else."""
    return [passage for passage in passages if not passage.is_front_matter] or passages


def _of_text(encoder: Encoder, text: str) -> Compared:
    """Encode a text as it would be indexed: split into chunks that fit the model."""
    if not text.strip():
        raise UsageError("nothing to compare: give a place, a file or a text.")
    if looks_like_path(text):
        raise UsageError(f"{text} is not in the collection. Give a path, path:line, a passage id, or a text.")
    if len(text) > _LONGEST:
        raise UsageError(f"the text has {len(text):,} characters; the limit is {_LONGEST:,}. Index it as a file.")
    block = Block(BlockKind.PARAGRAPH, 0, len(text))
    document = Document(text, "", (block,), path="", sha256="")
    chunks = split(document, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
    vectors = encoder.encode_passages([chunk.text for chunk in chunks])
    return Compared(Subject(text, None, "", 0), (), vectors)


def group_of(passage: StoredPassage) -> tuple[int, int | None, str | None]:
    """Return what identifies a passage's document or record: the file, and for a record its page and title."""
    if not passage.document.records:
        return passage.document.id, None, None
    return passage.document.id, passage.page, passage.record_title


def stored_vectors(snapshot: Index, passages: Sequence[StoredPassage]) -> Vectors:
    """Return the vectors of passages: `(n, dim) float32`."""
    return snapshot.vectors([passage.vector for passage in passages]).astype(np.float32)


def _all_words(passages: Sequence[StoredPassage]) -> frozenset[str]:
    return frozenset().union(*map(words_of, passages))


def unit_mean(vectors: Vectors) -> Vectors:
    """Return the mean of some vectors, scaled to unit L2 norm: `(dim,)`."""
    mean: Vectors = unit_rows(vectors.sum(axis=0, keepdims=True))[0]
    return mean


def cite_passages(passages: Sequence[StoredPassage]) -> str:
    """Return one citation that spans passages of a document."""
    first, last = passages[0], passages[-1]
    lines = (first.lines[0], last.lines[1]) if first.lines and last.lines else None
    return cite(first.document.path, lines, first.page, first.heading)
