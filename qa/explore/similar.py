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
from qa.answer.citation import cited, file_states
from qa.answer.results import cite
from qa.explore.clusters import evenly_spaced, score_of, unit_rows
from qa.explore.results import Similar, SimilarDocument, Subject
from qa.filters import Filter, select
from qa.near_duplicates import nearly_same, words_of
from qa.places import Place, find_place, looks_like_path, page_in_words

# Characters of a text; a longer one should be indexed as a file.
_MAX_CHARS = 100_000
# Documents are found with some passages (probes) and with the mean; how many hits each of these searches returns.
_PROBES = 16
_HITS_PER_PROBE = 50
_HITS_OF_MEAN = 200
# How many pairs of passages explain why a document is similar.
_MAX_PAIRS = 3
_BATCH = 16


@dataclass(frozen=True, slots=True)
class SimilarQuery:
    """A resolved request: what passages or documents are compared with.

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
    """A search for similar passages or documents; see `Retriever.similar` for its fields."""

    what: str
    k: int
    only: Filter
    here: Path | None
    keep_all: bool
    indexed_only: bool


def similar_passages(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest) -> Similar:
    """Return the passages most similar to the requested item, best first."""
    query = _resolve(root, snapshot, encoder, request, whole=False)
    documents = select(snapshot, request.only)
    excluded = () if request.keep_all else query.passages
    depth = request.k + 16
    hits: list[tuple[StoredPassage, float]] = []
    while len(hits) < request.k:
        candidates = snapshot.dense(query.mean, depth, documents=documents)
        hits = list(islice(_without_duplicates(snapshot, candidates, excluded), request.k))
        if len(candidates) < depth:
            break
        depth = 4 * (depth + len(query.passages))
    return Similar(query.subject, passages=cited(root, snapshot, hits, {}))


def _without_duplicates(
    snapshot: Index, candidates: Sequence[Candidate], excluded: Sequence[StoredPassage]
) -> Iterator[tuple[StoredPassage, float]]:
    """Yield candidates with scores in [0, 1], without duplicates, excluded passages and their near-duplicates."""
    ids, texts = {passage.id for passage in excluded}, {passage.text_digest for passage in excluded}
    excluded_words = [words_of(passage) for passage in excluded]
    remaining = [candidate for candidate in candidates if candidate.passage not in ids]
    for at in range(0, len(remaining), _BATCH):
        batch = remaining[at : at + _BATCH]
        passages = snapshot.passages([candidate.passage for candidate in batch])
        for passage, candidate in zip(passages, batch, strict=True):
            if passage.is_front_matter:
                continue
            words = words_of(passage)
            if passage.text_digest not in texts and not any(nearly_same(words, seen) for seen in excluded_words):
                texts.add(passage.text_digest)
                yield passage, score_of(candidate.score)


def similar_documents(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest) -> Similar:
    """Return the documents and records most similar to the one with the requested item, best first."""
    query = _resolve(root, snapshot, encoder, request, whole=True)
    among = select(snapshot, request.only)
    items = {passage.item for passage in query.passages}
    words = _all_words(query.passages)
    ranked = []
    for passages in _candidates(snapshot, query, among, 3 * request.k + 20):
        is_same = query.passages and (passages[0].item in items or nearly_same(_all_words(passages), words))
        if is_same and not request.keep_all:
            continue
        vectors = stored_vectors(snapshot, passages)
        ranked.append((float(unit_mean(vectors) @ query.mean), passages, vectors))
    ranked.sort(key=lambda entry: (-entry[0], entry[1][0].key))
    states = file_states(root, snapshot, [passages[0].document for _, passages, _ in ranked[: request.k]])
    documents = tuple(
        SimilarDocument(
            rank=rank,
            score=score_of(score),
            path=passages[0].document.path,
            title=passages[0].title,
            place=cite_passages(passages[:1]) if passages[0].document.records else passages[0].document.path,
            state=states[passages[0].document.path],
            because=tuple(_best_pairs(query, passages, vectors)),
        )
        for rank, (score, passages, vectors) in enumerate(ranked[: request.k], 1)
    )
    return Similar(query.subject, documents=documents)


def _candidates(snapshot: Index, query: SimilarQuery, among: Among, wanted: int) -> Iterator[list[StoredPassage]]:
    """Yield the passages of each document or record that may be similar, most promising first."""
    probes = [(query.mean, _HITS_OF_MEAN + len(query.passages))]
    if len(query.vectors) > 1:
        probes += [(vector, _HITS_PER_PROBE) for vector in query.vectors[evenly_spaced(len(query.vectors), _PROBES)]]
    scores: dict[int, float] = {}
    for vector, limit in probes:
        for candidate in snapshot.dense(vector, limit, documents=among):
            scores[candidate.passage] = max(scores.get(candidate.passage, -1.0), candidate.score)
    ranked = snapshot.passages(sorted(scores, key=lambda row_id: (-scores[row_id], row_id)))
    items = {passage.item: passage.document.path for passage in ranked}
    for item, path in islice(items.items(), wanted):
        yield _without_front_matter([passage for passage in snapshot.passages_of(path) if passage.item == item])


def _best_pairs(query: SimilarQuery, passages: Sequence[StoredPassage], vectors: Vectors) -> Iterator[tuple[str, str]]:
    """Yield the pairs of passages with the highest cosines, each passage in at most one pair."""
    cosines = unit_rows(query.vectors) @ unit_rows(vectors).T
    for _ in range(min(_MAX_PAIRS, *cosines.shape)):
        row, column = divmod(int(cosines.argmax()), cosines.shape[1])
        left = cite_passages([query.passages[row]]) if query.passages else ""
        yield left, cite_passages([passages[column]])
        cosines[row, :] = cosines[:, column] = -np.inf


def _resolve(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest, *, whole: bool) -> SimilarQuery:
    """Resolve a request to a text or the passages of a place; with `whole`, to those of its document or records."""
    place = find_place(snapshot, root, request.what, request.here, indexed_only=request.indexed_only)
    if place is None:
        return _encode_text(encoder, request.what)
    if place.document is None:
        raise UsageError(f"{place.path} is not in the index; `qa index` says why, or indexes it.")
    passages = _passages_at(snapshot, place)
    if not passages:
        line = f" at line {place.lines[0]:,}" if place.lines else ""
        page = f" {page_in_words(place.path, place.page)}" if place.page else ""
        raise UsageError(f"{place.path} has no text{line}{page}.")
    citation = cite_passages(passages) if place.lines or place.page or place.passages else place.path
    if whole:
        items = {passage.item for passage in passages}
        passages = [passage for passage in snapshot.passages_of(place.path) if passage.item in items]
        citation = cite_passages(passages) if place.document.records else place.path
    passages = _without_front_matter(passages)
    title = passages[0].title if len({passage.title for passage in passages}) == 1 else place.document.title
    subject = Subject(request.what, citation, title, len(passages))
    return SimilarQuery(subject, tuple(passages), stored_vectors(snapshot, passages))


def _passages_at(snapshot: Index, place: Place) -> list[StoredPassage]:
    passages = list(place.passages or snapshot.passages_of(place.path))
    if place.lines is not None:
        first, last = place.lines
        return [
            passage for passage in passages if passage.lines and passage.lines[0] <= last and first <= passage.lines[1]
        ]
    return [passage for passage in passages if place.page in (None, passage.page)]


def _without_front_matter(passages: list[StoredPassage]) -> list[StoredPassage]:
    """Return passages without front matter, which is alike in all notes, unless there is nothing else."""
    return [passage for passage in passages if not passage.is_front_matter] or passages


def _encode_text(encoder: Encoder, text: str) -> SimilarQuery:
    """Encode a text as it would be indexed: split into chunks that fit the model."""
    if not text.strip():
        raise UsageError("nothing to compare: give a place, a file or a text.")
    if looks_like_path(text):
        raise UsageError(f"{text} is not in the collection. Give a path, path:line, a passage id, or a text.")
    if len(text) > _MAX_CHARS:
        raise UsageError(f"the text has {len(text):,} characters; the limit is {_MAX_CHARS:,}. Index it as a file.")
    block = Block(BlockKind.PARAGRAPH, 0, len(text))
    document = Document(text, "", (block,), path="", sha256="")
    chunks = split(document, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
    vectors = encoder.encode_passages([chunk.text for chunk in chunks])
    return SimilarQuery(Subject(text, None, "", 0), (), vectors)


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
