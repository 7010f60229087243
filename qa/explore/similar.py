"""Passages and documents like a place, a document, a record, or a text: by the cosine of vectors that are there."""

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
from qa.answer.results import MAX_HITS, cite
from qa.explore.results import Similar, SimilarDocument, Subject
from qa.filters import EVERYTHING, Filter, select
from qa.near_duplicates import nearly_same, words_of
from qa.places import Place, find_place, looks_like_path

# A longer text is a document: index it.
_LONGEST = 100_000
# Passages that are compared one by one to find documents, and how many each brings.
_PROBES = 16
_FOUND_BY_PROBE = 50
_FOUND_BY_MEAN = 200
# Pairs of passages that say why a document is similar.
_PAIRS = 3
_READ_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Compared:
    """What others are compared with.

    Attributes:
        subject: As the result names it.
        passages: Those it consists of; () for a text.
        vectors: `(n, dim) float32`, of its passages or of the parts of a text.
    """

    subject: Subject
    passages: tuple[StoredPassage, ...]
    vectors: Vectors

    @property
    def mean(self) -> Vectors:
        """`(dim,) float32`, unit L2 norm."""
        return unit_mean(self.vectors)


@dataclass(frozen=True, slots=True)
class SimilarRequest:
    """A search for what is similar.

    Attributes:
        what: A place, a path, a passage id, or a text.
        k: How many to return.
        only: Which documents to choose from.
        here: The working directory, which paths are relative to before the root.
        keep_all: Whether to keep the thing itself, its duplicates and its near-duplicates.
        indexed_only: Whether files that are not indexed are as if they did not exist.
    """

    what: str
    k: int = 5
    only: Filter = EVERYTHING
    here: Path | None = None
    keep_all: bool = False
    indexed_only: bool = False


def similar_passages(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest) -> Similar:
    """Return the passages most like something, best first."""
    compared = _compared(root, snapshot, encoder, request, whole=False)
    documents = select(snapshot, request.only)
    left_out = () if request.keep_all else compared.passages
    depth = request.k + 16
    found: list[tuple[StoredPassage, float]] = []
    while len(found) < request.k:
        candidates = snapshot.dense(compared.mean, depth, documents=documents)
        found = list(islice(_others(snapshot, candidates, left_out), request.k))
        if len(candidates) < depth:
            break
        depth = 4 * (depth + len(compared.passages))
    return Similar(compared.subject, passages=cited(root, snapshot, found, {}))


def _others(
    snapshot: Index, candidates: Sequence[Candidate], left_out: Sequence[StoredPassage]
) -> Iterator[tuple[StoredPassage, float]]:
    """Candidates with their scores in [0, 1], one of each text, without some passages and what says nearly the same."""
    ids, texts = {passage.id for passage in left_out}, {passage.text_digest for passage in left_out}
    known = [words_of(passage) for passage in left_out]
    left = [one for one in candidates if one.passage not in ids]
    for at in range(0, len(left), _READ_AT_ONCE):
        several = left[at : at + _READ_AT_ONCE]
        for passage, one in zip(snapshot.passages([one.passage for one in several]), several, strict=True):
            if passage.is_front_matter:
                continue
            words = words_of(passage)
            if passage.text_digest not in texts and not any(nearly_same(words, own) for own in known):
                texts.add(passage.text_digest)
                yield passage, round(max(one.score, 0.0), 6)


def similar_documents(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest) -> Similar:
    """Return the documents and records most like the one that something is in, best first."""
    compared = _compared(root, snapshot, encoder, request, whole=True)
    among = select(snapshot, request.only)
    own = {group_of(passage) for passage in compared.passages}
    words = _all_words(compared.passages)
    ranked = []
    for passages in _candidates(snapshot, compared, among, 3 * request.k + 20):
        same = compared.passages and (group_of(passages[0]) in own or nearly_same(_all_words(passages), words))
        if same and not request.keep_all:
            continue
        vectors = stored_vectors(snapshot, passages)
        ranked.append((float(unit_mean(vectors) @ compared.mean), passages, vectors))
    ranked.sort(key=lambda one: (-one[0], one[1][0].key))
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
    """The passages of each document or record that may be similar, likeliest first."""
    places = np.linspace(0, len(compared.vectors) - 1, min(_PROBES, len(compared.vectors))).astype(int)
    probes = [(compared.mean, _FOUND_BY_MEAN + len(compared.passages))]
    probes += [(compared.vectors[place], _FOUND_BY_PROBE) for place in places] if len(places) > 1 else []
    scores: dict[int, float] = {}
    for vector, limit in probes:
        for one in snapshot.dense(vector, limit, documents=among):
            scores[one.passage] = max(scores.get(one.passage, -1.0), one.score)
    ranked = sorted(scores, key=lambda number: (-scores[number], number))
    groups = dict.fromkeys(group_of(passage) for passage in snapshot.passages(ranked))
    paths = {passage.document.id: passage.document.path for passage in snapshot.passages(ranked)}
    for group in list(groups)[:wanted]:
        yield _texts([one for one in snapshot.passages_of(paths[group[0]]) if group_of(one) == group])


def _pairs(compared: Compared, passages: Sequence[StoredPassage], vectors: Vectors) -> Iterator[tuple[str, str]]:
    """The pairs of passages with the highest cosines, each passage in one of them at most."""
    cosines = unit_rows(compared.vectors) @ unit_rows(vectors).T
    for _ in range(min(_PAIRS, *cosines.shape)):
        ours, theirs = divmod(int(cosines.argmax()), cosines.shape[1])
        own = cite_passages([compared.passages[ours]]) if compared.passages else ""
        yield own, cite_passages([passages[theirs]])
        cosines[ours, :] = cosines[:, theirs] = -np.inf


def _compared(root: Path, snapshot: Index, encoder: Encoder, request: SimilarRequest, *, whole: bool) -> Compared:
    """What is compared: the passages of a place, or with `whole` those of its documents or records; or a text."""
    if not 1 <= request.k <= MAX_HITS:
        raise UsageError(f"k must be from 1 to {MAX_HITS:,}, not {request.k}.")
    place = find_place(snapshot, root, request.what, request.here, indexed_only=request.indexed_only)
    if place is None:
        return _of_text(encoder, request.what)
    if place.document is None:
        raise UsageError(f"{place.path} is not in the index; `qa index` says why, or indexes it.")
    passages = list(_passages_of(snapshot, place))
    if not passages:
        raise UsageError(f"{request.what} has no passage: there is no text, or the file is empty.")
    where = cite_passages(passages) if place.lines or place.page or place.passages else place.path
    if whole:
        groups = {group_of(passage) for passage in passages}
        passages = [one for one in snapshot.passages_of(place.path) if group_of(one) in groups]
        where = cite_passages(passages) if place.document.records else place.path
    passages = _texts(passages)
    title = passages[0].title if len({one.title for one in passages}) == 1 else place.document.title
    subject = Subject(request.what, where, title, len(passages))
    return Compared(subject, tuple(passages), stored_vectors(snapshot, passages))


def _passages_of(snapshot: Index, place: Place) -> Iterator[StoredPassage]:
    if place.passages:
        yield from place.passages
        return
    for passage in snapshot.passages_of(place.path):
        if place.lines is not None:
            own = passage.lines
            if own is not None and own[0] <= place.lines[1] and place.lines[0] <= own[1]:
                yield passage
        elif place.page is None or passage.page == place.page:
            yield passage


def _texts(passages: list[StoredPassage]) -> list[StoredPassage]:
    """Passages without front matter, which is alike in all notes, unless there is nothing else."""
    return [one for one in passages if not one.is_front_matter] or passages


def _of_text(encoder: Encoder, text: str) -> Compared:
    """A text as it would be indexed: cut where it is longer than what the model reads."""
    if not text.strip():
        raise UsageError("there is nothing to compare: give a place, a file or a text.")
    if looks_like_path(text):
        raise UsageError(f"{text} is not in the collection. Give a path, path:line, a passage id, or a text.")
    if len(text) > _LONGEST:
        raise UsageError(f"the text has {len(text):,} characters; {_LONGEST:,} at most. Index it as a file.")
    block = Block(BlockKind.PARAGRAPH, 0, len(text))
    document = Document(text, "", (block,), path="", sha256="")
    cut = split(document, count_tokens=encoder.count_tokens, max_tokens=encoder.max_tokens)
    vectors = encoder.encode_passages([passage.text for passage in cut])
    return Compared(Subject(text, None, "", 0), (), vectors)


def group_of(passage: StoredPassage) -> tuple[int, int | None, str | None]:
    """Return what tells documents and records apart: the file, and of a record its page and title."""
    if not passage.document.records:
        return passage.document.id, None, None
    return passage.document.id, passage.page, passage.record_title


def _all_words(passages: Sequence[StoredPassage]) -> frozenset[str]:
    return frozenset().union(*map(words_of, passages))


def stored_vectors(snapshot: Index, passages: Sequence[StoredPassage]) -> Vectors:
    """Return the vectors of passages: `(n, dim) float32`."""
    return snapshot.vectors([passage.vector for passage in passages]).astype(np.float32)


def unit_rows(vectors: Vectors) -> Vectors:
    """Return vectors with unit L2 norm; zeros stay."""
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    return unit


def unit_mean(vectors: Vectors) -> Vectors:
    """Return the mean of some vectors, scaled to unit L2 norm: `(dim,)`."""
    mean: Vectors = unit_rows(vectors.sum(axis=0, keepdims=True))[0]
    return mean


def cite_passages(passages: Sequence[StoredPassage]) -> str:
    """Return where passages of a document are together, as cited."""
    first, last = passages[0], passages[-1]
    lines = (first.lines[0], last.lines[1]) if first.lines and last.lines else None
    return cite(first.document.path, lines, first.page, first.heading)
