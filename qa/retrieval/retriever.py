"""Ask an index: each stage of an answer in turn.

analyse -> retrieve -> fuse -> distinct -> rerank -> extract -> confidence -> cite
"""

# ruff: noqa: PLC0415 - no question needs what explores a collection

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from corpus import INDEX_FOLDER
from corpus.errors import ModelError, UsageError
from index import (
    Among,
    CompileError,
    CrossEncoderModel,
    Device,
    Encoder,
    Hint,
    Index,
    StoredPassage,
    load_cross_encoder,
    load_encoder,
    open_index,
    require_same_encoder,
)
from qa.answer import confidence
from qa.answer.citation import cited
from qa.answer.exact import exact_answer
from qa.answer.extract import Extract, SpanScore, extract
from qa.answer.results import MAX_HITS, Hit, IndexInfo, Mode, Result
from qa.locate import find_index, root_of
from qa.places import documents_at
from qa.reader.reader import Reader, is_english, shared_reader
from qa.reader.reading import Reading
from qa.retrieval.distinct import RankedPassage, distinct, with_final_scores
from qa.retrieval.hybrid import pools
from qa.retrieval.late_interaction import match_tokens
from qa.retrieval.query import Query, analyse_question
from qa.retrieval.question_text import LONGEST_QUESTION, whole
from qa.retrieval.rerank import READ_DEPTH, RERANK_DEPTH, SCORED_DEPTH, Judged, rerank, rerank_by_model
from qa.retrieval.stopwatch import Stopwatch
from qa.retrieval.word_overlap import overlap, term_shares

if TYPE_CHECKING:
    from qa.explore.map import CollectionMap
    from qa.explore.results import Similar, Topics

_log = logging.getLogger(__name__)

Unit = Literal["passages", "documents"]
# Patterns of the paths that are meant; None for all.
Paths = str | Sequence[str] | None


class Retriever:
    """Answers questions from one generation of an index, unaffected by later changes to it.

    Open it as a context manager, or close it. Each citation is checked against its file as it is when the question is
    asked.
    """

    def __init__(
        self,
        root: Path,
        snapshot: Index,
        encoder: Encoder,
        *,
        reader: Reader | None = None,
        cross_encoder: CrossEncoderModel | None = None,
    ) -> None:
        self.root = root
        self.snapshot = snapshot
        self._encoder = encoder
        self._reader = reader
        self._cross_encoder = cross_encoder
        self._closed = False
        self._has_warned = False
        self._process = os.getpid()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        encoder: Encoder | None = None,
        reader: bool = True,
        rerank_model: str | None = None,
        device: Device = Device.AUTO,
        ahead: bool = True,
    ) -> Retriever:
        """Open the index of a folder.

        Args:
            path: The corpus root, a folder below it, or its `.qa` folder; the working directory by default.
            encoder: Use this one instead of loading the model that the index was built with.
            reader: Whether the reader reads the first passages with each question. Without it answers are sentences,
                and whether there is one is told less well.
            rerank_model: A sentence-transformers cross-encoder, by its name or folder: the first 30 passages are
                ordered by its score alone.
            device: Where that model runs; `auto` is a GPU if there is one.
            ahead: Whether to load at once what questions need. Topics and maps need neither model nor FAISS files.

        Raises:
            NoIndexError: There is no index at or above the path.
            DamagedIndexError: The index is damaged.
            IncompatibleError: It was written by another format version, or with another model than `encoder`.
            ModelError: A model cannot be found, or is refused.
        """
        root = find_index(None if path is None else root_of(Path(path)))
        snapshot = open_index(root / INDEX_FOLDER)
        try:
            encoder = encoder or load_encoder(snapshot.info.model, ahead=ahead, hint=Hint.LATENCY)
            require_same_encoder(snapshot.info, encoder)
            reads = shared_reader() if reader else None
            if ahead:
                snapshot.load()  # while the models load
            scores = None if rerank_model is None else load_cross_encoder(rerank_model, device)
            return cls(root, snapshot, encoder, reader=reads, cross_encoder=scores)
        except BaseException:
            snapshot.close()
            raise

    def reopened(self, encoder: Encoder) -> Retriever:
        """Close this one; another on the newest generation of the index, with the same other models."""
        self.close()
        snapshot = open_index(self.root / INDEX_FOLDER)
        snapshot.load()
        return Retriever(self.root, snapshot, encoder, reader=self._reader, cross_encoder=self._cross_encoder)

    def __enter__(self) -> Retriever:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; closing twice is fine."""
        self._closed = True
        self.snapshot.close()

    def search(
        self,
        question: str,
        *,
        k: int = 5,
        mode: Mode = Mode.HYBRID,
        path: Paths = None,
        rerank: bool = True,
    ) -> tuple[Hit, ...]:
        """The passages that answer best, without highlights, answer or confidence; see `ask`."""
        clock = Stopwatch()
        # Late interaction orders hybrid rankings alone.
        query = self._analyse(question, k, mode, path, rerank=rerank and _mode(mode) is Mode.HYBRID, clock=clock)
        ranked, _ = self._rank(query, k, clock, scored_by=self._cross_encoder if rerank else None)
        return cited(self.root, self.snapshot, [(one.passage, one.score) for one in ranked], {})

    def ask(
        self,
        question: str,
        *,
        k: int = 5,
        mode: Mode = Mode.HYBRID,
        path: Paths = None,
        rerank: bool = True,
        topic: str | None = None,
        question_id: str | int | None = None,
    ) -> Result:
        """Answer one question.

        Args:
            question: In plain language; 10,000 characters at most.
            k: How many passages to return, 1 to 1,000. Fewer are always the first of more.
            mode: Which halves of the index to search. A question in a script that the model does not know is searched
                by keywords instead of both.
            path: Only documents whose paths match this pattern, or one of these, in the syntax of .gitignore.
            rerank: Let late interaction and the reader re-rank the first passages and choose sentences, if the model
                knows the question's script. Without it a question takes a few milliseconds, and sentences are chosen by
                the words they share with it. A model that was opened for it orders the passages instead, in any mode.
            topic: Only passages of this topic, by its id; see `topics`.
            question_id: Returned in the result.

        Raises:
            UsageError: The question is empty or too long, k out of range, `path` matches no document, or the retriever
                is closed or was opened before a fork.
            DamagedIndexError: What would be shown is damaged.
            TypeError: The question is no str, or k no int.
        """
        return self._answer(question, k=k, mode=mode, path=path, rerank=rerank, question_id=question_id, topic=topic)[0]

    def similar(
        self, what: str, *, k: int = 5, unit: Unit = "passages", path: Paths = None,
        here: Path | None = None, keep_all: bool = False,
    ) -> Similar:  # fmt: skip
        """Return what is most like something, by meaning; what is indexed is not embedded again.

        Args:
            what: A place as cited, a passage id, a path, or a text.
            k: How many to return, 1 to 1,000.
            unit: Whether to rank passages, or whole documents and records.
            path: Only documents whose paths match this pattern.
            here: A folder that paths in `what` are relative to before the root.
            keep_all: Keep the thing itself, its duplicates and its near-duplicates.

        Raises:
            UsageError: There is no such place, it has no passages, or k is out of range.
        """
        from qa.explore import similar

        self._require_open()
        find = similar.similar_documents if unit == "documents" else similar.similar_passages
        return find(self.root, self.snapshot, self._encoder, similar.SimilarRequest(what, k, path, here, keep_all))

    def topics(self, *, n: int | None = None, unit: Unit = "passages", path: Paths = None) -> Topics:
        """Return what the collection is about; topics of the whole of it are saved with the index.

        Args:
            n: How many topics, 1 to 200; as many as the data suggest by default.
            unit: Whether to group passages, or whole documents and records.
            path: Only documents whose paths match this pattern.

        Raises:
            UsageError: n is out of range.
        """
        from qa.explore import topics

        self._require_open()
        found = topics.find_topics(self.snapshot, unit=unit, wanted=n, path=path)
        return topics.topics_of(self.root, self.snapshot, found)

    def map_html(self, *, n: int | None = None, unit: Unit = "passages", path: Paths = None) -> str:
        """Return a map of the collection as a page that needs no network; arguments are those of `topics`."""
        from qa.explore.map import as_html

        return as_html(self._map(n, unit, path))

    def map_svg(self, *, n: int | None = None, unit: Unit = "passages", path: Paths = None) -> str:
        """Return a map of the collection as a picture, SVG; arguments are those of `topics`."""
        from qa.explore.map import as_svg

        return as_svg(self._map(n, unit, path))

    def _map(self, n: int | None, unit: Unit, path: Paths) -> CollectionMap:
        from qa.explore.map import make_map
        from qa.explore.topics import find_topics

        self._require_open()
        found = find_topics(self.snapshot, unit=unit, wanted=n, path=path)
        return make_map(self.snapshot, self.root.name or str(self.root), found, path)

    def _answer(
        self, question: str, *, k: int, mode: Mode, path: Paths, rerank: bool, question_id: str | int | None,
        topic: str | None = None,
    ) -> tuple[Result, confidence.Features | None]:  # fmt: skip
        """The result, and what its confidence was computed from; None where there is nothing to show."""
        clock = Stopwatch()
        query = self._analyse(question, k, mode, path, rerank=rerank, clock=clock, topic=topic)
        model = self._cross_encoder if rerank else None
        ranked, judged = self._rank(query, k, clock, scored_by=model)
        passages = [one.passage for one in ranked]
        extracts = _extract(query, passages, judged)
        readings = {number: one.reading for number, one in judged.items() if one.reading is not None}
        answer = exact_answer(query.text, passages, extracts, readings)
        clock.lap("extract")
        sure, features = 0.0, None
        if ranked:
            best = passages[0]
            features = confidence.features_of(
                query.text,
                best,
                cosine=ranked[0].cosine,
                sentence=extracts[best.id].score,
                reading=readings.get(best.id),
            )
            fitted = confidence.RERANKED if judged else confidence.QUICK
            sure = round(confidence.probability(features, confidence.READ if readings else fitted), 4)
        hits = cited(self.root, self.snapshot, [(one.passage, one.score) for one in ranked], extracts)
        clock.lap("cite")
        info = self.snapshot.info
        result = Result(
            question=query.asked,
            id=question_id,
            found=sure >= confidence.THRESHOLD,
            confidence=sure,
            answer=answer,
            passages=hits,
            index=IndexInfo(info.documents, info.passages, info.model, info.generation),
            timings_ms=clock.timings_ms(),
            corrections=query.corrections,
            rerank_model=None if model is None else model.name,
        )
        return result, features

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("this retriever is closed; open another with Retriever.open.")
        if os.getpid() != self._process:
            # Neither the locks that hold its generation nor FAISS's threads survive a fork.
            raise UsageError("this retriever was opened by another process; open one here with Retriever.open.")

    def _analyse(
        self, question: str, k: int, mode: Mode, path: Paths, *, rerank: bool, clock: Stopwatch,
        topic: str | None = None,
    ) -> Query:  # fmt: skip
        """Check what is asked for, and analyse the question."""
        self._require_open()
        asked, mode = _checked(question, k), _mode(mode)
        documents: Among = documents_at(self.snapshot, path)
        if topic is not None:
            from qa.explore.topics import scope_of

            documents = scope_of(self.snapshot, topic, path)
        query = analyse_question(
            asked, self.snapshot, self._encoder, mode=mode, documents=documents, rerank=rerank, clock=clock
        )
        if query.in_unknown_script and not self._has_warned:
            _log.warning(
                "%s does not know this script, so only words are compared; a multilingual model compares meanings too.",
                self._encoder.name,
            )
            self._has_warned = True
        return query

    def _rank(
        self, query: Query, k: int, clock: Stopwatch, *, scored_by: CrossEncoderModel | None
    ) -> tuple[list[RankedPassage], dict[int, Judged]]:
        """The first k passages, and by row number what is known of those that are read with the question."""
        depth = RERANK_DEPTH if scored_by is None else SCORED_DEPTH
        ranked = distinct(self.snapshot, pools(self.snapshot, query, clock), max(k, depth))
        clock.lap("passages")
        if scored_by is not None:
            ranked = rerank_by_model(query, ranked, scored_by)
            clock.lap("rerank")
        judged: dict[int, Judged] = {}
        if query.tokens is not None:
            head = [one.passage for one in ranked[:RERANK_DEPTH]]
            matches = match_tokens(query.tokens, head, self._encoder)
            judged = {one.id: Judged(match) for one, match in zip(head, matches, strict=True)}
            by_tokens = ranked if scored_by is not None else rerank(query, ranked, judged)
            clock.lap("rerank")
            to_read = [one.passage for one in by_tokens[:READ_DEPTH]]
            for one, reading in zip(to_read, self._read(query, to_read), strict=True):
                judged[one.id] = replace(judged[one.id], reading=reading)
            if scored_by is None:
                ranked = rerank(query, ranked, judged)
        clock.lap("read")
        return with_final_scores(ranked)[:k], judged

    def _read(self, query: Query, passages: Sequence[StoredPassage]) -> Sequence[Reading | None]:
        """What the reader tells of each passage; None without it, or where it does not know the language."""
        parts = [(one.context, one.text[one.body :]) for one in passages]
        try:
            if self._reader is not None and is_english(text for _, text in parts):
                return self._reader.read(query.text, parts)
        except (CompileError, ImportError, ModelError) as error:
            _log.warning("Answers are whole sentences, as the reader cannot be used: %s", error)
            self._reader = None
        return [None] * len(passages)


def _mode(mode: Mode | str) -> Mode:
    try:
        return Mode(mode)
    except ValueError as error:
        raise UsageError(f"mode must be {', '.join(Mode)}, not {mode!r}.") from error


def _extract(query: Query, passages: Sequence[StoredPassage], judged: dict[int, Judged]) -> dict[int, Extract]:
    """The answering sentences of the first passages, by row number."""
    shares = term_shares(query)
    scores: dict[int, SpanScore] = {}
    for passage in passages[:RERANK_DEPTH] if query.tokens is None else ():
        scores[passage.id] = partial(overlap, shares, passage.text[passage.body :])
    for number, one in judged.items():
        scores[number] = partial(one.span_score, query)
    return {passage.id: extract(passage, scores[passage.id]) for passage in passages if passage.id in scores}


def _checked(question: str, k: int) -> str:
    for name, value, kind in (("question", question, str), ("k", k, int)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be of type {kind.__name__}, not {type(value).__name__}")
    text = whole(question).strip()
    if not text:
        raise UsageError("the question is empty.")
    if len(text) > LONGEST_QUESTION:
        raise UsageError(f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} at most.")
    if not 1 <= k <= MAX_HITS:
        raise UsageError(f"k must be from 1 to {MAX_HITS:,}, not {k}.")
    return text
