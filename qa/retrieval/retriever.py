"""Ask an index: candidates, re-ranking, duplicates, answering sentences, checked citations."""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from types import TracebackType

import numpy as np

from corpus import INDEX_FOLDER
from corpus.errors import UsageError
from index import Encoder, Hint, Snapshot, StoredPassage, Vectors, load_encoder, require_same_encoder
from qa.answer import confidence
from qa.answer.citation import file_state, place_of, source_of
from qa.answer.extract import Marked, SpanScore, compose, mark
from qa.answer.results import MAX_HITS, Hit, IndexInfo, Mode, Result, State
from qa.locate import find_index, root_of
from qa.retrieval.hybrid import DEPTH, Candidates, Floats, gather, spread
from qa.retrieval.late_interaction import read_passages, read_question, span_score
from qa.retrieval.near_duplicates import is_nearly, words_of
from qa.retrieval.query import LONGEST_QUESTION, whole
from qa.retrieval.spelling import spell
from qa.retrieval.word_overlap import Shares, overlap, read_terms

_log = logging.getLogger(__name__)

# Passages that late interaction looks at, and its share in their score.
RERANK_DEPTH = 10
LATE_SHARE = 0.4
# A question of which the model does not read more than this share of the letters is answered by words alone.
UNREAD_MOST = 1 / 3
# Past so many candidates a page may be filled with what says nearly the same.
_DEEPEST = 1600


@dataclass(frozen=True, slots=True)
class _Found:
    """Candidates, and the best few of them, one of each text: their places among the candidates, and themselves.

    Those behind the first `fresh` say nearly what another of their document says.
    """

    candidates: Candidates
    places: tuple[int, ...]
    passages: tuple[StoredPassage, ...]
    fresh: int

    def ranked(self, scores: Floats) -> Floats:
        """Scores of the passages, in which what says nearly the same again comes after all others."""
        scores = scores.copy()
        scores[self.fresh :] *= scores[: self.fresh].min(initial=1.0)
        rounded: Floats = np.round(scores, 6)
        return rounded


@dataclass(frozen=True, slots=True)
class _Ranking:
    """The passages to show, best first, without duplicates; `spans` scores sentences of the first few."""

    passages: tuple[StoredPassage, ...]
    scores: tuple[float, ...]
    cosines: tuple[float, ...]
    spans: tuple[SpanScore, ...]


class Retriever:
    """Answers questions from one generation of an index, unaffected by later changes to it.

    Open it as a context manager, or close it. It is safe to ask many questions; each citation is
    checked against the file as it is at that moment.
    """

    def __init__(self, root: Path, snapshot: Snapshot, encoder: Encoder) -> None:
        self.root = root
        self.snapshot = snapshot
        self._encoder = encoder
        self._closed = False
        self._told_unread = False
        self._process = os.getpid()

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, encoder: Encoder | None = None) -> Retriever:
        """Open the index of a folder.

        Args:
            path: The corpus root, a folder below it, or its `.qa` folder; the working directory by default.
            encoder: Use this one instead of loading the model the index was built with.

        Raises:
            NoIndexError: There is no index at or above the path.
            DamagedIndexError: The index does not hold what was written to it.
            IncompatibleError: Written by another format version, or with another model than `encoder`.
        """
        root = find_index(None if path is None else root_of(Path(path)))
        snapshot = Snapshot(root / INDEX_FOLDER)
        try:
            encoder = encoder or load_encoder(snapshot.info.model, ahead=True, hint=Hint.LATENCY)
            require_same_encoder(snapshot.info, encoder)
            snapshot.load()  # while the encoder loads
            return cls(root, snapshot, encoder)
        except BaseException:
            snapshot.close()
            raise

    def __enter__(self) -> Retriever:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._closed = True
        self.snapshot.close()

    def search(
        self,
        question: str,
        *,
        k: int = 5,
        mode: Mode = Mode.HYBRID,
        path: str | None = None,
        rerank: bool = True,
    ) -> tuple[Hit, ...]:
        """The passages that answer best; see `ask`."""
        return self.ask(question, k=k, mode=mode, path=path, rerank=rerank).passages

    def ask(
        self,
        question: str,
        *,
        k: int = 5,
        mode: Mode = Mode.HYBRID,
        path: str | None = None,
        rerank: bool = True,
        question_id: str | int | None = None,
    ) -> Result:
        """Answer one question.

        Args:
            question: In plain language; 10,000 characters at most.
            k: How many passages to give, 1 to 1,000.
            mode: Which candidates to answer from. Of a question in writing that the model does not know, words alone.
            path: Only documents whose paths match this pattern, in the syntax of .gitignore.
            rerank: Let late interaction read the first passages, if the model knows the question's writing. Without
                it a question takes a few milliseconds: the first passages come as words and meaning rank them, and
                sentences are chosen by their words.
            question_id: Handed back in the result.

        Raises:
            UsageError: The question is empty or too long, k out of range, or the retriever closed or opened before
                a fork.
            DamagedIndexError: What is to be shown does not hold what was written.
        """
        return self._answer(question, k=k, mode=mode, path=path, rerank=rerank, question_id=question_id)[0]

    def _answer(
        self,
        question: str,
        *,
        k: int,
        mode: Mode,
        path: str | None,
        rerank: bool,
        question_id: str | int | None,
    ) -> tuple[Result, confidence.Features | None]:
        begun = perf_counter()
        if self._closed:
            raise UsageError("this retriever is closed; open another with Retriever.open.")
        if os.getpid() != self._process:
            # Neither the locks that hold its generation nor FAISS's threads come along with a fork.
            raise UsageError("this retriever was opened by another process; open one here with Retriever.open.")
        asked = _checked(question, k)
        documents = None if path is None else self.snapshot.match_paths(path)
        spelled = spell(asked, self.snapshot, self._encoder)
        text = spelled.text
        if self._encoder.unknown_token_ratio(text) > UNREAD_MOST:
            self._tell_unread()
            mode, rerank = Mode.KEYWORD if mode is Mode.HYBRID else mode, False
        checked = perf_counter()
        vector = self._encoder.encode_query(text)
        embedded = perf_counter()
        wanted = max(k, RERANK_DEPTH) if rerank else k
        found = self._find(text, vector, wanted=wanted, mode=mode, documents=documents)
        gathered = perf_counter()
        ranking = self._reranked(text, vector, found, mode) if rerank else self._as_found(text, found)
        ranked = perf_counter()
        marked = [mark(*pair) for pair in zip(ranking.passages[:k], ranking.spans, strict=False)]
        hits = self._hits(ranking, marked, k)
        features = _features(text, ranking, marked)
        model = confidence.RERANKED if rerank else confidence.QUICK
        sure = 0.0 if features is None else round(confidence.probability(features, model), 4)
        info = self.snapshot.info
        done = perf_counter()
        result = Result(
            question=asked,
            id=question_id,
            found=sure >= confidence.THRESHOLD,
            confidence=sure,
            answer=compose(marked),
            passages=hits,
            index=IndexInfo(info.documents, info.passages, info.model, info.generation),
            timings_ms={
                "spell": _ms(begun, checked),
                "embed": _ms(checked, embedded),
                **found.candidates.timings_ms,
                "passages": round(_ms(embedded, gathered) - sum(found.candidates.timings_ms.values()), 3),
                "rerank": _ms(gathered, ranked),
                "cite": _ms(ranked, done),
                "total": _ms(begun, done),
            },
            corrections=spelled.corrections,
        )
        return result, features

    def _tell_unread(self) -> None:
        if not self._told_unread:
            _log.warning(
                "%s does not know this writing: words alone are compared. A multilingual model compares meanings too: "
                "`qa index --model`.",
                self._encoder.name,
            )
        self._told_unread = True

    def _find(self, text: str, vector: Vectors, *, wanted: int, mode: Mode, documents: frozenset[int] | None) -> _Found:
        """Gather candidates until so many say something new, or there are no more, or very many were looked at."""
        depth = max(DEPTH, wanted)
        while True:
            candidates = gather(self.snapshot, text, vector, mode=mode, documents=documents, depth=depth)
            found = self._distinct(candidates, wanted)
            enough = found.fresh == wanted or (depth >= _DEEPEST and len(found.places) == wanted)
            if enough or len(candidates.ids) < depth:
                return found
            depth *= 4

    def _distinct(self, candidates: Candidates, wanted: int) -> _Found:
        """The best few candidates: of passages with the same text the first, of nearly the same in a document too.

        What is nearly the same comes after all others, so that nobody fills the page by saying one thing often.
        """
        first: dict[bytes, tuple[int, StoredPassage]] = {}
        again: dict[bytes, tuple[int, StoredPassage]] = {}
        words: defaultdict[int, list[frozenset[str]]] = defaultdict(list)
        for at in range(0, len(candidates.ids), wanted):
            for i, passage in enumerate(self.snapshot.passages(candidates.ids[at : at + wanted]), start=at):
                if passage.text_digest in first or passage.text_digest in again:
                    continue
                said, known = words_of(passage), words[passage.document.id]
                if any(is_nearly(said, other) for other in known):
                    again[passage.text_digest] = (i, passage)
                else:
                    known.append(said)
                    first[passage.text_digest] = (i, passage)
            if len(first) >= wanted:
                break
        chosen = [*first.values(), *again.values()][:wanted]
        passages = tuple(passage for _, passage in chosen)
        return _Found(candidates, tuple(i for i, _ in chosen), passages, min(len(first), wanted))

    def _reranked(self, text: str, vector: Vectors, found: _Found, mode: Mode) -> _Ranking:
        """Let late interaction order the first of what was found."""
        asked = read_question(text, self._encoder, self.snapshot)
        candidates, shown, passages = found.candidates, list(found.places), found.passages
        readings = read_passages(asked, passages[:RERANK_DEPTH], self._encoder)
        scores = candidates.scores[shown]
        if mode is Mode.HYBRID and readings:
            late = spread(np.array([reading.score for reading in readings]))
            scores = (1 - LATE_SHARE) * scores
            scores[: len(readings)] += LATE_SHARE * late
        scores = found.ranked(scores)
        order = sorted(range(len(shown)), key=lambda i: (i >= found.fresh, -scores[i], passages[i].key))
        query = vector.astype(np.float64)
        return _Ranking(
            passages=tuple(passages[i] for i in order),
            scores=tuple(float(scores[i]) for i in order),
            cosines=tuple(float(candidates.cosines[shown[i]]) for i in order),
            spans=tuple(partial(span_score, asked, query, readings[i]) for i in order if i < len(readings)),
        )

    def _as_found(self, text: str, found: _Found) -> _Ranking:
        """Leave the order as words and meaning have it."""
        shares = read_terms(text, self.snapshot)
        shown = list(found.places)
        return _Ranking(
            passages=found.passages,
            scores=tuple(found.ranked(found.candidates.scores[shown]).tolist()),
            cosines=tuple(found.candidates.cosines[shown].tolist()),
            spans=tuple(_by_words(shares, passage) for passage in found.passages[:RERANK_DEPTH]),
        )

    def _hits(self, ranking: _Ranking, marked: Sequence[Marked], k: int) -> tuple[Hit, ...]:
        highlights = [found.highlights for found in marked]
        duplicates = self.snapshot.duplicates(ranking.passages[:k])
        states: dict[str, State] = {}
        hits = []
        for rank, (passage, score) in enumerate(zip(ranking.passages[:k], ranking.scores, strict=False), start=1):
            path, sha256 = passage.document.path, passage.document.sha256
            if path not in states:
                states[path] = file_state(self.root, path, sha256)
            hits.append(
                Hit(
                    rank=rank,
                    id=passage.key,
                    score=score,
                    text=passage.text,
                    title=passage.title,
                    heading=passage.heading,
                    source=source_of(passage, states[path]),
                    highlights=highlights[rank - 1] if rank <= len(highlights) else (),
                    also_in=tuple(place_of(twin) for twin in duplicates[passage.id]),
                )
            )
        return tuple(hits)


def _by_words(shares: Shares, passage: StoredPassage) -> SpanScore:
    body = passage.text[passage.body :]
    return lambda start, end: overlap(shares, body[start:end])


def _features(text: str, ranking: _Ranking, marked: Sequence[Marked]) -> confidence.Features | None:
    """What the confidence rests on; None where there is nothing to show."""
    if not marked:
        return None
    return confidence.features_of(text, ranking.passages[0], cosine=ranking.cosines[0], sentence=marked[0].score)


def _checked(question: str, k: int) -> str:
    text = whole(question).strip()
    if not text:
        raise UsageError('the question is empty: ask something, such as `qa ask "who won?"`.')
    if len(text) > LONGEST_QUESTION:
        raise UsageError(f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} at most.")
    if not 1 <= k <= MAX_HITS:
        raise UsageError(f"cannot give {k} passages: -k takes 1 to {MAX_HITS:,}.")
    return text


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
