"""From a question to an answer over one generation: each stage in turn.

analyse -> retrieve -> fuse -> distinct -> rerank -> read -> resolved -> tables -> extract -> confidence -> cite
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.errors import ModelError, UsageError
from index import Among, CompileError, CrossEncoderModel, Encoder, Index, Scope, StoredPassage
from qa.answer import confidence
from qa.answer.citation import cited
from qa.answer.exact_answer import exact_answer
from qa.answer.extract import Extract, SpanScore, extract
from qa.answer.heading_answer import heading_answer
from qa.answer.lookup import Lookup
from qa.answer.results import MAX_HITS, Hit, IndexInfo, Mode, Result
from qa.answer.which_documents import titles_answer, with_title
from qa.filters import Filter, select
from qa.reader.reader import Reader, is_english
from qa.reader.reading import Reading
from qa.reader.support_article import resolving
from qa.retrieval.distinct import RankedPassage, distinct, one_a_document, with_final_scores
from qa.retrieval.hybrid import pools
from qa.retrieval.late_interaction import match_tokens
from qa.retrieval.query import Query, QueryTokens, analyse_question
from qa.retrieval.question_text import LONGEST_QUESTION, whole
from qa.retrieval.rerank import READ_DEPTH, RERANK_DEPTH, SCORED_DEPTH, SECOND_DEPTH, Judged, rerank, rerank_by_model
from qa.retrieval.stopwatch import Stopwatch
from qa.retrieval.word_overlap import overlap, term_shares

if TYPE_CHECKING:
    from qa.tables.table_answer import RowsAnswer

_log = logging.getLogger(__name__)

_MAX_SELECTED = 64
# Two lines of a table, with bars or with a field each.
_ROWS = re.compile(r"\|.*\n.*\||^[^\s:][^\n:]{0,39}:.*\n[^\s:][^\n:]{0,39}:", re.MULTILINE)
# Passages in which what is looked up may stand.
_LOOKUP_DEPTH = 50


@dataclass(slots=True)
class Models:
    """What is loaded once for all questions; one that turns out to be unusable is dropped.

    Attributes:
        encoder: The one that the index was built with.
        reader: Reads the first passages with each question; None without it.
        cross_encoder: Orders the first passages instead of late interaction; None without it.
        has_warned: Whether it was said that the encoder does not know a question's script.
    """

    encoder: Encoder
    reader: Reader | None = None
    cross_encoder: CrossEncoderModel | None = None
    has_warned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and how it is to be answered; see `Retriever.ask`."""

    question: str
    k: int = 5
    mode: Mode = Mode.HYBRID
    rerank: bool = True
    question_id: str | int | None = None

    def checked(self) -> Asked:
        """Return it with the question stripped and the mode as such; raises UsageError or TypeError."""
        for name, value, kind in (("question", self.question, str), ("k", self.k, int)):
            if not isinstance(value, kind):
                raise TypeError(f"{name} must be of type {kind.__name__}, not {type(value).__name__}")
        text = whole(self.question).strip()
        if not text:
            raise UsageError("the question is empty.")
        if len(text) > LONGEST_QUESTION:
            raise UsageError(f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} at most.")
        if not 1 <= self.k <= MAX_HITS:
            raise UsageError(f"k must be from 1 to {MAX_HITS:,}, not {self.k}.")
        try:
            return replace(self, question=text, mode=Mode(self.mode))
        except ValueError as error:
            raise UsageError(f"mode must be {', '.join(Mode)}, not {self.mode!r}.") from error


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages, over one generation; safe to use from several threads."""

    root: Path
    snapshot: Index
    models: Models
    # What filters let through: reading fields and times again would take longer than many a search.
    _selected: dict[Filter, Among] = field(default_factory=dict)

    def among(self, only: Filter) -> Among:
        """What passes a filter; raises UsageError where nothing does."""
        found = self._selected.get(only)
        if found is None and only:
            if len(self._selected) >= _MAX_SELECTED:
                self._selected.clear()
            found = self._selected[only] = select(self.snapshot, only)
        return found

    def search(self, asked: Asked, among: Among, clock: Stopwatch) -> tuple[Hit, ...]:
        """The passages that answer best, of those among which to choose."""
        # Late interaction orders hybrid rankings alone.
        query = self._analyse(replace(asked, rerank=asked.rerank and asked.mode is Mode.HYBRID), among, clock)
        ranked, _, _ = self._rank(query, asked, clock)
        return cited(self.root, self.snapshot, [(one.passage, one.score) for one in ranked[: asked.k]], {})

    def answer(self, asked: Asked, among: Among, clock: Stopwatch) -> tuple[Result, confidence.Features | None]:
        """The result, and what its confidence was computed from; None where there is nothing to show."""
        query = self._analyse(asked, among, clock)
        candidates, judged, rows = self._rank(query, asked, clock)
        ranked = candidates[: asked.k]
        passages = [one.passage for one in ranked]
        extracts = _extract(query, passages, judged) | ({} if rows is None else rows.extracts())
        readings = {number: one.reading for number, one in judged.items() if one.reading is not None}
        answer = None if rows is None else rows.answer(passages)
        if query.for_documents and query.lookup is not None:
            answer = titles_answer(query.lookup, [one.passage for one in candidates], len(passages))
        answer = answer or exact_answer(query.text, passages, extracts, readings)
        clock.lap("extract")
        sure, features = 0.0, None
        # Of "?" or a lone mark a passage may be the nearest, but nothing was asked.
        if ranked and any(map(str.isalnum, query.asked)):
            best = passages[0]
            reading = readings.get(best.id)
            features = confidence.features_of(
                query.asked,
                best,
                cosine=ranked[0].cosine,
                sentence=extracts[best.id].score,
                reading=reading,
            )
            fitted = confidence.READ if reading else confidence.RERANKED if judged else confidence.QUICK
            sure = round(confidence.probability(features, fitted), 4)
            if rows is not None:
                sure = confidence.of_lookup(sure, stands=True, is_nowhere=False)
            elif query.lookup is not None:
                nowhere = query.lookup.is_nowhere(one.passage for one in candidates)
                sure = confidence.of_lookup(sure, stands=query.lookup.match(best) is not None, is_nowhere=nowhere)
        hits = cited(self.root, self.snapshot, [(one.passage, one.score) for one in ranked], extracts)
        clock.lap("cite")
        info, model = self.snapshot.info, self.models.cross_encoder if asked.rerank else None
        result = Result(
            question=query.asked,
            id=asked.question_id,
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

    def _analyse(self, asked: Asked, among: Among, clock: Stopwatch) -> Query:
        models = self.models
        query = analyse_question(
            asked.question,
            self.snapshot,
            models.encoder,
            mode=asked.mode,
            documents=among,
            rerank=asked.rerank,
            clock=clock,
        )
        if query.in_unknown_script and not models.has_warned:
            models.has_warned = True
            _log.warning(
                "%s does not know this script, so only words are compared; a multilingual model compares meanings too.",
                models.encoder.name,
            )
        return query

    def _rank(
        self, query: Query, asked: Asked, clock: Stopwatch
    ) -> tuple[list[RankedPassage], dict[int, Judged], RowsAnswer | None]:
        """The first k passages or more, what is known of the first by row number, and rows that answer."""
        scored_by = self.models.cross_encoder if asked.rerank else None
        depth = SECOND_DEPTH if scored_by is None else SCORED_DEPTH
        candidates = pools(self.snapshot, query, clock)
        if query.lookup is None:
            ranked = distinct(self.snapshot, candidates, max(asked.k, depth))
        else:
            ranked = distinct(self.snapshot, candidates, max(asked.k, _LOOKUP_DEPTH), query.lookup)
            ranked = _looked_up_first(query.lookup, ranked)
            ranked = one_a_document(ranked) if query.for_documents else ranked
        clock.lap("passages")
        if scored_by is not None:
            ranked = rerank_by_model(query, ranked, scored_by)
            clock.lap("rerank")
        judged: dict[int, Judged] = {}
        if query.tokens is not None:
            judged = self._judged(query, query.tokens, ranked[:RERANK_DEPTH], {}, clock)
            if scored_by is None:
                first = rerank(query, ranked, judged)
                if len(ranked) > RERANK_DEPTH and _seems_unanswered(query, first[0], judged):
                    judged = self._judged(query, query.tokens, ranked[:SECOND_DEPTH], judged, clock)
                    first = rerank(query, ranked, judged)
                ranked, judged = self._resolved(query, first, judged)
                clock.lap("read")
        rows = self._rows(query, ranked) if judged and scored_by is None else None
        if rows is not None:
            ranked = _rows_first(rows, ranked)
        return with_final_scores(ranked), judged, rows

    def _judged(
        self,
        query: Query,
        tokens: QueryTokens,
        head: Sequence[RankedPassage],
        known: Mapping[int, Judged],
        clock: Stopwatch,
    ) -> dict[int, Judged]:
        """Match the tokens of passages and read the first few, but for what is known of them; by row number."""
        new = [one.passage for one in head if one.passage.id not in known]
        matches = {number: one.match for number, one in known.items()}
        matches |= zip((one.id for one in new), match_tokens(tokens, new, self.models.encoder), strict=True)
        judged = {one.passage.id: Judged(matches[one.passage.id]) for one in head}
        # A cross-encoder has ordered them already.
        by_tokens = head if self.models.cross_encoder else rerank(query, head, judged)
        clock.lap("rerank")
        to_read = [one.passage for one in by_tokens[:READ_DEPTH]]
        readings = {number: one.reading for number, one in known.items() if one.reading is not None}
        unread = [one for one in to_read if one.id not in readings]
        readings |= {one.id: found for one, found in zip(unread, self._read(query, unread), strict=True) if found}
        for one in to_read:
            judged[one.id] = replace(judged[one.id], reading=readings.get(one.id))
        clock.lap("read")
        return judged

    def _resolved(
        self, query: Query, ranked: list[RankedPassage], judged: dict[int, Judged]
    ) -> tuple[list[RankedPassage], dict[int, Judged]]:
        """Before a passage that states a problem, where it is the first, the one that resolves it."""
        first = ranked[0] if ranked else None
        stated = judged[first.passage.id].reading if first and first.passage.id in judged else None
        if first is None or stated is None or query.tokens is None or query.lookup is not None:
            return ranked, judged
        # A part of a document may end before what resolves it.
        several = () if isinstance(query.documents, Scope) else resolving(self.snapshot, query.text, first.passage)
        read = [(one, found) for one, found in zip(several, self._read(query, several), strict=True) if found]
        if not read:
            return ranked, judged
        passage, reading = max(read, key=lambda pair: pair[1].relevant)
        if stated.answered > reading.answered:
            # That it is the problem asked about is told by what states it.
            reading = replace(reading, answered=stated.answered, relevant=stated.relevant)
        (match,) = match_tokens(query.tokens, [passage], self.models.encoder)
        best = replace(first, passage=passage)
        rest = [one for one in ranked if one.passage.id != passage.id]
        return [best, *rest], judged | {passage.id: Judged(match, reading)}

    def _rows(self, query: Query, ranked: Sequence[RankedPassage]) -> RowsAnswer | None:
        """The rows of a whole table that answer; none of a part of a document, as the table may be more than that."""
        if query.mode is not Mode.HYBRID or query.for_documents or isinstance(query.documents, Scope):
            return None
        passages = [one.passage for one in ranked[:READ_DEPTH]]
        if not any(_ROWS.search(one.text) for one in passages):
            return None
        from qa.tables.table_answer import rows_answer  # noqa: PLC0415 - prose has no rows

        return rows_answer(self.snapshot, query.text, passages)

    def _read(self, query: Query, passages: Sequence[StoredPassage]) -> Sequence[Reading | None]:
        """What the reader tells of each passage; None without it, or where it does not know the language."""
        reader = self.models.reader
        try:
            if reader is not None and is_english(one.text[one.body :] for one in passages):
                return reader.read(query.text, [(_above(one), one.text) for one in passages])
        except (CompileError, ImportError, ModelError) as error:
            if self.models.reader is not None:  # which another thread may have said meanwhile
                _log.warning("Answers are whole sentences, as the reader cannot be used: %s", error)
            self.models.reader = None
        return [None] * len(passages)


def _seems_unanswered(query: Query, best: RankedPassage, judged: Mapping[int, Judged]) -> bool:
    """Whether the reader has read the first passage, and the answer would not count as found."""
    reading = judged[best.passage.id].reading if best.passage.id in judged else None
    if reading is None or query.mode is not Mode.HYBRID:
        return False
    features = confidence.features_of(query.asked, best.passage, cosine=best.cosine, sentence=0.0, reading=reading)
    return confidence.probability(features, confidence.READ) < confidence.THRESHOLD


def _above(passage: StoredPassage) -> str:
    """What the reader reads above a passage; the fields of a note mean nothing without its name."""
    return passage.context or (passage.title if passage.is_front_matter else "")


def _looked_up_first(lookup: Lookup, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Of the first passages those with what is looked up before all others; near-duplicates stay where they are."""
    head = [one if one.level else replace(one, level=-lookup.rank(one.passage)) for one in ranked[:_LOOKUP_DEPTH]]
    return [*sorted(head, key=lambda one: one.level), *ranked[_LOOKUP_DEPTH:]]


def _rows_first(rows: RowsAnswer, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """The passages of the rows that answer before all others."""
    known = {one.passage.id: one for one in ranked}
    best = ranked[0]
    found = ((one, known.get(one.id, best)) for one in rows.passages)
    first = {one.id: replace(like, passage=one, score=1.0, level=-1) for one, like in found}
    return [*first.values(), *(one for one in ranked if one.passage.id not in first)]


def _extract(query: Query, passages: Sequence[StoredPassage], judged: dict[int, Judged]) -> dict[int, Extract]:
    """The answering sentences of the first passages, by row number."""
    shares = term_shares(query)
    scores: dict[int, SpanScore] = {}
    for passage in passages[:RERANK_DEPTH] if query.tokens is None else ():
        scores[passage.id] = partial(overlap, shares, passage.text)
    for number, one in judged.items():
        scores[number] = partial(one.span_score, query)
    found = {}
    for passage in passages:
        if passage.id not in scores:
            continue
        match = None if query.lookup is None else query.lookup.match(passage)
        reading = judged[passage.id].reading if passage.id in judged and match is None else None
        above = None if reading is None else heading_answer(query.text, passage, reading)
        found[passage.id] = above or extract(
            passage, scores[passage.id], query.text, looked_up=None if match is None else match.at
        )
        if query.for_documents and query.lookup is not None:
            found[passage.id] = with_title(query.lookup, passage, found[passage.id])
    return found
