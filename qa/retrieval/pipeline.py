"""Answer a question from one generation of the index, stage by stage.

analyse -> retrieve -> fuse -> distinct -> rerank -> read -> resolve -> tables -> extract -> confidence -> cite
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import is_code, path_words
from corpus.errors import ModelError, UsageError
from index import STOP_WORDS, Among, CompileError, CrossEncoderModel, Encoder, Index, Scope, StoredPassage, analyse
from qa.answer import confidence
from qa.answer.citation import cited
from qa.answer.dates import WrittenDate, dates_in
from qa.answer.exact_answer import exact_answer
from qa.answer.extract import Extract, SpanScore, extract
from qa.answer.heading_answer import heading_answer, with_definition
from qa.answer.lookup import Lookup
from qa.answer.numbered import is_about_another, numbered_in
from qa.answer.results import DEFAULT_K, MAX_HITS, Hit, IndexInfo, Mode, Result
from qa.answer.which_documents import titles_answer, with_title
from qa.filters import Filter, select
from qa.reader.reader import Reader, is_english
from qa.reader.reading import Reading
from qa.reader.support_article import resolving
from qa.require import require_member, require_type
from qa.retrieval.distinct import RankedPassage, distinct, one_per_document, with_final_scores
from qa.retrieval.hybrid import pools
from qa.retrieval.late_interaction import match_tokens
from qa.retrieval.query import Query, QueryTokens, analyse_question
from qa.retrieval.question_text import LONGEST_QUESTION, without_surrogates
from qa.retrieval.rerank import READ_DEPTH, RERANK_DEPTH, SCORED_DEPTH, SECOND_DEPTH, Judgement, rerank, rerank_by_model
from qa.retrieval.stopwatch import Stopwatch
from qa.retrieval.word_overlap import overlap, term_shares

if TYPE_CHECKING:
    from qa.tables.table_answer import RowsAnswer

_log = logging.getLogger(__name__)

_MAX_SELECTED = 64
# Two rows of a table with bars, or two lines with a field each.
_ROWS = re.compile(r"\|.*\n.*\||^[^\s:][^\n:]{0,39}:.*\n[^\s:][^\n:]{0,39}:", re.MULTILINE)
# How many passages are searched for the terms of a lookup.
_LOOKUP_DEPTH = 50


@dataclass(slots=True)
class Models:
    """The models, loaded once for all questions; a reader that turns out to be unusable is dropped.

    Attributes:
        encoder: The one that the index was built with.
        reader: Reads the top passages with each question; None to do without.
        cross_encoder: Orders the top passages instead of late interaction; None to do without.
        has_warned: Whether the user was warned that the encoder does not know a question's script.
    """

    encoder: Encoder
    reader: Reader | None = None
    cross_encoder: CrossEncoderModel | None = None
    has_warned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A valid question and how to answer it; see `Retriever.ask`."""

    question: str
    k: int
    mode: Mode
    rerank: bool
    question_id: str | int | None

    @classmethod
    def of(
        cls,
        question: str,
        *,
        k: int = DEFAULT_K,
        mode: Mode | str = Mode.HYBRID,
        rerank: bool = True,
        question_id: str | int | None = None,
    ) -> AskRequest:
        """Check a caller's arguments, and strip the question; raises UsageError or TypeError."""
        require_type("question", question, str)
        if question_id is not None:
            require_type("question_id", question_id, str, int)
        text = without_surrogates(question).strip()
        if not text:
            raise UsageError("the question is empty.")
        if len(text) > LONGEST_QUESTION:
            raise UsageError(f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} at most.")
        k, mode = checked_k(k), require_member("mode", mode, Mode)
        return cls(question=text, k=k, mode=mode, rerank=rerank, question_id=question_id)


def checked_k(k: int) -> int:
    """Return how many passages are wanted if that is valid; raises UsageError or TypeError."""
    require_type("k", k, int)
    if not 1 <= k <= MAX_HITS:
        raise UsageError(f"k must be from 1 to {MAX_HITS:,}, not {k}.")
    return k


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages of answering over one generation; safe to use from several threads."""

    root: Path
    snapshot: Index
    models: Models
    # Documents by filter: reading their fields and times again would take longer than many searches.
    _selected: dict[Filter, Among] = field(default_factory=dict)

    def among(self, only: Filter) -> Among:
        """Return the documents that pass a filter; raises UsageError if none does."""
        with suppress(KeyError):  # another thread may clear it
            return self._selected[only]
        if len(self._selected) >= _MAX_SELECTED:
            self._selected.clear()
        documents = self._selected[only] = select(self.snapshot, only)
        return documents

    def search(self, request: AskRequest, among: Among, clock: Stopwatch) -> tuple[Hit, ...]:
        """Return the k best passages among the given documents."""
        # Late interaction re-ranks hybrid searches only.
        query = self._analyse(replace(request, rerank=request.rerank and request.mode is Mode.HYBRID), among, clock)
        ranked, _, _ = self._rank(query, request, clock)
        return cited(self.root, self.snapshot, [(one.passage, one.score) for one in ranked[: request.k]], {})

    def answer(self, request: AskRequest, among: Among, clock: Stopwatch) -> tuple[Result, confidence.Features | None]:
        """Return the result, and the features behind its confidence; None if it has no passages or asks nothing."""
        query = self._analyse(request, among, clock)
        candidates, judgements, rows = self._rank(query, request, clock)
        ranked = candidates[: request.k]
        passages = [one.passage for one in ranked]
        extracts = _extract(query, passages, judgements) | ({} if rows is None else rows.extracts())
        readings = {number: one.reading for number, one in judgements.items() if one.reading is not None}
        answer = None if rows is None else rows.answer(passages)
        if query.for_documents and query.lookup is not None:
            answer = titles_answer(query.lookup, [one.passage for one in candidates], len(passages))
        answer = answer or exact_answer(query.text, passages, extracts, readings)
        clock.lap("extract")
        probability, features = _confidence(query, candidates, extracts, judgements, has_rows=rows is not None)
        hits = cited(self.root, self.snapshot, [(one.passage, one.score) for one in ranked], extracts)
        clock.lap("cite")
        info, cross_encoder = self.snapshot.info, self.models.cross_encoder if request.rerank else None
        result = Result(
            question=query.asked,
            id=request.question_id,
            found=probability >= confidence.THRESHOLD,
            confidence=probability,
            answer=answer,
            passages=hits,
            index=IndexInfo.of(info),
            timings_ms=clock.timings_ms(),
            corrections=query.corrections,
            rerank_model=None if cross_encoder is None else cross_encoder.name,
        )
        return result, features

    def _analyse(self, request: AskRequest, among: Among, clock: Stopwatch) -> Query:
        models = self.models
        query = analyse_question(
            request.question,
            self.snapshot,
            models.encoder,
            mode=request.mode,
            documents=among,
            rerank=request.rerank,
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
        self, query: Query, request: AskRequest, clock: Stopwatch
    ) -> tuple[list[RankedPassage], dict[int, Judgement], RowsAnswer | None]:
        """Rank k passages or more; also return the judgements on the top ones, and any table rows that answer."""
        cross_encoder = self.models.cross_encoder if request.rerank else None
        depth = SECOND_DEPTH if cross_encoder is None else SCORED_DEPTH
        candidates = pools(self.snapshot, query, clock)
        if query.lookup is None:
            ranked = distinct(self.snapshot, candidates, max(request.k, depth))
        else:
            ranked = distinct(self.snapshot, candidates, max(request.k, _LOOKUP_DEPTH), query.lookup)
            ranked = _matches_first(query.lookup, ranked)
            ranked = one_per_document(ranked) if query.for_documents else ranked
        clock.lap("passages")
        if cross_encoder is not None:
            ranked = rerank_by_model(query, ranked, cross_encoder)
            clock.lap("rerank")
        judgements: dict[int, Judgement] = {}
        if query.tokens is not None:
            judgements = self._judge(query, query.tokens, ranked[:RERANK_DEPTH], {}, clock)
            if cross_encoder is None:
                reranked = rerank(query, ranked, judgements)
                if len(ranked) > RERANK_DEPTH and _seems_unanswered(query, reranked[0], judgements):
                    judgements = self._judge(query, query.tokens, ranked[:SECOND_DEPTH], judgements, clock)
                    reranked = rerank(query, ranked, judgements)
                reranked, judgements = self._asked_day_first(query, reranked, judgements)
                ranked, judgements = self._resolution_first(query, reranked, judgements)
                clock.lap("read")
        rows = self._find_rows(query, ranked) if judgements and cross_encoder is None else None
        if rows is not None:
            ranked = _rows_first(rows, ranked)
        return with_final_scores(ranked), judgements, rows

    def _judge(
        self,
        query: Query,
        tokens: QueryTokens,
        head: Sequence[RankedPassage],
        known: Mapping[int, Judgement],
        clock: Stopwatch,
    ) -> dict[int, Judgement]:
        """Match the tokens of passages and read the first few, reusing known judgements; by row number."""
        new = [one.passage for one in head if one.passage.id not in known]
        matches = {number: one.match for number, one in known.items()}
        matches |= zip((one.id for one in new), match_tokens(tokens, new, self.models.encoder), strict=True)
        judgements = {one.passage.id: Judgement(matches[one.passage.id]) for one in head}
        # A cross-encoder has ordered them already.
        by_tokens = head if self.models.cross_encoder else rerank(query, head, judgements)
        clock.lap("rerank")
        to_read = [one.passage for one in by_tokens[:READ_DEPTH]]
        readings = {number: one.reading for number, one in known.items() if one.reading is not None}
        unread = [one for one in to_read if one.id not in readings]
        readings |= {one.id: reading for one, reading in zip(unread, self._read(query, unread), strict=True) if reading}
        for one in to_read:
            judgements[one.id] = replace(judgements[one.id], reading=readings.get(one.id))
        clock.lap("read")
        return judgements

    def _asked_day_first(
        self, query: Query, ranked: list[RankedPassage], judgements: dict[int, Judgement]
    ) -> tuple[list[RankedPassage], dict[int, Judgement]]:
        """If the first passage is about another day than the one asked for, put those about this day before it."""
        of_day = _of_asked_day(query, ranked)
        if not of_day or query.tokens is None:
            return ranked, judgements
        best = of_day[0].passage
        if best.id not in judgements or judgements[best.id].reading is None:
            (match,) = match_tokens(query.tokens, [best], self.models.encoder)
            judgements = judgements | {best.id: Judgement(match, self._read(query, [best])[0])}
        first = {one.passage.id for one in of_day}
        return [*of_day, *(one for one in ranked if one.passage.id not in first)], judgements

    def _resolution_first(
        self, query: Query, ranked: list[RankedPassage], judgements: dict[int, Judgement]
    ) -> tuple[list[RankedPassage], dict[int, Judgement]]:
        """If the first passage states a problem, put the passage that resolves it before it."""
        first = ranked[0] if ranked else None
        problem = judgements[first.passage.id].reading if first and first.passage.id in judgements else None
        if first is None or problem is None or query.tokens is None or query.lookup is not None:
            return ranked, judgements
        # A scope may end within a document, before the sections that resolve the problem.
        passages = () if isinstance(query.documents, Scope) else resolving(self.snapshot, query.text, first.passage)
        read = [(one, reading) for one, reading in zip(passages, self._read(query, passages), strict=True) if reading]
        if not read:
            return ranked, judgements
        passage, reading = max(read, key=lambda pair: pair[1].relevant)
        if problem.answered > reading.answered:
            # Only the statement of the problem shows that it is the one the question is about.
            reading = replace(reading, answered=problem.answered, relevant=problem.relevant)
        (match,) = match_tokens(query.tokens, [passage], self.models.encoder)
        best = replace(first, passage=passage)
        rest = [one for one in ranked if one.passage.id != passage.id]
        return [best, *rest], judgements | {passage.id: Judgement(match, reading)}

    def _find_rows(self, query: Query, ranked: Sequence[RankedPassage]) -> RowsAnswer | None:
        """Return the rows of a whole table that answer; None for a scope, which may cut the table off."""
        if query.mode is not Mode.HYBRID or query.for_documents or isinstance(query.documents, Scope):
            return None
        passages = [one.passage for one in ranked[:READ_DEPTH]]
        if not any(_ROWS.search(one.text) for one in passages):
            return None
        from qa.tables.table_answer import rows_answer  # noqa: PLC0415 - prose has no rows

        return rows_answer(self.snapshot, query.text, passages)

    def _read(self, query: Query, passages: Sequence[StoredPassage]) -> Sequence[Reading | None]:
        """Read each passage with the question; all None without the reader, or if it does not know the language.

        Code and settings have none.
        """
        reader = self.models.reader
        try:
            if reader is not None and is_english(
                one.text[one.body :] for one in passages if not is_code(one.document.path, one.text)
            ):
                return reader.read(query.text, [(_reader_context(one), one.text) for one in passages])
        except (CompileError, ImportError, ModelError) as error:
            if self.models.reader is not None:  # else another thread has already warned
                _log.warning("Answers are whole sentences, as the reader cannot be used: %s", error)
            self.models.reader = None
        return [None] * len(passages)


def _confidence(
    query: Query,
    ranked: Sequence[RankedPassage],
    extracts: Mapping[int, Extract],
    judgements: Mapping[int, Judgement],
    *,
    has_rows: bool,
) -> tuple[float, confidence.Features | None]:
    """Return how probable it is that the best passage answers, and the features that say so; None if nothing does."""
    if not ranked or not _names_something(query):
        return 0.0, None
    best = ranked[0].passage
    reading = judgements[best.id].reading if best.id in judgements else None
    features = confidence.features_of(
        query.asked, best, cosine=ranked[0].cosine, sentence=extracts[best.id].score, reading=reading
    )
    model = confidence.model_for(query.asked, is_read=reading is not None, is_reranked=bool(judgements))
    probability = round(confidence.probability(features, model), 4)
    if has_rows:
        probability = confidence.of_lookup(probability, is_found=True, is_nowhere=False)
    elif query.lookup is not None:
        is_found = query.lookup.match(best) is not None
        is_nowhere = query.lookup.is_nowhere(one.passage for one in ranked)
        probability = confidence.of_lookup(probability, is_found=is_found, is_nowhere=is_nowhere)
    if not has_rows and is_about_another(numbered_in(query.asked), best, extracts[best.id].lead):
        probability = min(probability, confidence.IS_ABOUT_ANOTHER)
    return probability, features


def _seems_unanswered(query: Query, best: RankedPassage, judgements: Mapping[int, Judgement]) -> bool:
    """Whether the reader has read the first passage, and its answer would not count as found."""
    reading = judgements[best.passage.id].reading if best.passage.id in judgements else None
    if reading is None or query.mode is not Mode.HYBRID:
        return False
    features = confidence.features_of(query.asked, best.passage, cosine=best.cosine, sentence=0.0, reading=reading)
    model = confidence.model_for(query.asked, is_read=True, is_reranked=True)
    return confidence.probability(features, model) < confidence.THRESHOLD


def _names_something(query: Query) -> bool:
    """Whether a question says what it is about: "?" and "who did it?" have nearest passages too, but ask nothing.

    Words in capitals may be names: "what is IT?"
    """
    words = [word for part in analyse(query.asked).words for word in (part.parts or (part,))]
    shown = {query.asked[one.start : one.end] for one in words}
    is_shouted = query.asked.isupper()
    return query.lookup is not None or any(
        one.lower() not in STOP_WORDS or (one.isupper() and len(one) > 1 and not is_shouted) for one in shown
    )


def _of_asked_day(query: Query, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Return the passages about the day in a question, if the first passage is about another day and does not name it.

    The day that a passage is about is in its path, title or headings.
    """
    asked = list(dates_in(query.asked))
    if len(asked) != 1 or not ranked or query.lookup is not None or query.mode is not Mode.HYBRID:
        return []
    first = ranked[0]
    days = _days_above(first.passage)
    if not days or any(map(asked[0].is_day_of, [*days, *dates_in(first.passage.text)])):
        return []
    found = [one for one in ranked[:SECOND_DEPTH] if any(map(asked[0].is_day_of, _days_above(one.passage)))]
    return [replace(one, score=max(one.score, first.score), level=first.level) for one in found]


def _days_above(passage: StoredPassage) -> list[WrittenDate]:
    return list(dates_in("\n".join((path_words(passage.document.path), passage.title, *passage.heading))))


def _reader_context(passage: StoredPassage) -> str:
    """The context that the reader gets with a passage; the front matter of a note means nothing without its title."""
    return passage.context or (passage.title if passage.is_front_matter else "")


def _matches_first(lookup: Lookup, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put lookup matches among the top passages before all others; near-duplicates keep their level."""
    head = [one if one.level else replace(one, level=-lookup.rank(one.passage)) for one in ranked[:_LOOKUP_DEPTH]]
    return [*sorted(head, key=lambda one: one.level), *ranked[_LOOKUP_DEPTH:]]


def _rows_first(rows: RowsAnswer, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the passages of the answering rows before all others."""
    known = {one.passage.id: one for one in ranked}
    best = ranked[0]
    templates = ((one, known.get(one.id, best)) for one in rows.passages)
    first = {one.id: replace(template, passage=one, score=1.0, level=-1) for one, template in templates}
    return [*first.values(), *(one for one in ranked if one.passage.id not in first)]


def _extract(query: Query, passages: Sequence[StoredPassage], judgements: dict[int, Judgement]) -> dict[int, Extract]:
    """Extract the answering sentences of the top passages, by row number."""
    shares = term_shares(query)
    scores: dict[int, SpanScore] = {}
    for passage in passages[:RERANK_DEPTH] if query.tokens is None else ():
        scores[passage.id] = partial(overlap, shares, passage.text)
    for number, one in judgements.items():
        scores[number] = partial(one.span_score, query)
    extracts = {}
    for passage in passages:
        if passage.id not in scores:
            continue
        match = None if query.lookup is None else query.lookup.match(passage)
        reading = judgements[passage.id].reading if passage.id in judgements and match is None else None
        from_heading = None if reading is None else heading_answer(query.text, passage, reading)
        extracted = from_heading or extract(
            passage, scores[passage.id], query.text, looked_up=None if match is None else match.at
        )
        extracts[passage.id] = with_definition(query.text, passage, extracted)
        if query.for_documents and query.lookup is not None:
            extracts[passage.id] = with_title(query.lookup, passage, extracts[passage.id])
    return extracts
