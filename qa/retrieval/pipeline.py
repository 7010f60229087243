"""Answer a question from one generation of the index, stage by stage.

analyse -> retrieve -> fuse -> distinct -> rerank -> read -> resolve -> prefer what is current, a namesake, a record ->
rows or a line -> the stages of `answering` -> cite
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from index import Among, Index, StoredPassage
from qa.answer import confidence
from qa.answer.citation import cited
from qa.answer.dated_records import (
    Pick,
    asks_for_last,
    is_of_other_period,
    is_of_period,
    own_period,
    passages_of_record,
    without_record,
)
from qa.answer.exact_answer import asks_for_words
from qa.answer.line_answer import LineAnswer, dated_entry, day_hours, named_field, phone_number, reply, written_on
from qa.answer.results import Hit, IndexInfo, Mode, Result
from qa.answer.which_documents import is_of_requested_kind
from qa.filters import Filter, select
from qa.language.dates import Period, asked_period, asked_time, without_time
from qa.questions.answering_section import resolving_passages
from qa.questions.log_entries import asks_for_last_or_first, asks_when, has_entries
from qa.questions.long_numbers import asked_numbers, plain_numbers
from qa.questions.lookup import Lookup
from qa.questions.sender import is_cut_off
from qa.questions.sibling import namesake_of_variant
from qa.reader.reading import Reading
from qa.retrieval.answering import Answerer, Ranking, has_rows
from qa.retrieval.distinct import (
    RankedPassage,
    distinct,
    in_current_documents,
    one_per_document,
    originals_first,
    with_final_scores,
)
from qa.retrieval.hybrid import pools
from qa.retrieval.judge import Models, PassageJudge
from qa.retrieval.query import Query, analyse_question
from qa.retrieval.question_text import AskRequest
from qa.retrieval.rerank import (
    MOST_LESS_SURE,
    READ_DEPTH,
    RERANK_DEPTH,
    SCORED_DEPTH,
    SECOND_DEPTH,
    current_first,
    newest_edition_first,
    put_first,
    rerank_by_model,
)
from qa.stopwatch import Stopwatch
from qa.structure.speakers import MOST_PASSAGES
from qa.tables.blocks import BlockAnswer, block_answer

if TYPE_CHECKING:
    from qa.tables.table_answer import RowsAnswer

_log = logging.getLogger(__name__)

_MAX_SELECTED = 64
# Longer documents are not searched for the entries of a log, as that would load all their passages.
_MAX_PASSAGES = 1000
# How many passages are searched for the terms of a lookup.
_LOOKUP_DEPTH = 50
# Least logit that a passage of the record that is asked about answers.
_LEAST_ANSWERED = -1.0


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
        ranked = self._rank(query, request, clock, for_answer=False).hits[: request.k]
        return cited(self.root, self.snapshot, [(hit.passage, hit.score) for hit in ranked], {})

    def answer(self, request: AskRequest, among: Among, clock: Stopwatch) -> tuple[Result, confidence.Features | None]:
        """Return the result, and the features behind its confidence; None if it has no passages or asks nothing."""
        query = self._analyse(request, among, clock)
        answerer = Answerer(self.snapshot, query, self._rank(query, request, clock, for_answer=True))
        draft = answerer.draft(request.k)
        probability, features = answerer.probability(draft.extracts)
        if probability >= confidence.THRESHOLD:
            draft = answerer.supersede(draft)
        clock.lap("extract")
        hits = cited(self.root, self.snapshot, [(hit.passage, hit.score) for hit in draft.hits], draft.extracts)
        clock.lap("cite")
        info, cross_encoder = self.snapshot.info, self.models.cross_encoder if request.rerank else None
        result = Result(
            question=query.original,
            id=request.question_id,
            found=probability >= confidence.THRESHOLD,
            confidence=probability,
            answer=draft.answer,
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
                "%s does not support this script; searching by words only. A multilingual model compares meanings.",
                models.encoder.name,
            )
        return query

    def _rank(self, query: Query, request: AskRequest, clock: Stopwatch, *, for_answer: bool) -> Ranking:
        """Rank k passages or more; for an answer, read the first one again."""
        cross_encoder = self.models.cross_encoder if request.rerank else None
        ranked = self._candidates(query, max(request.k, SECOND_DEPTH if cross_encoder is None else SCORED_DEPTH), clock)
        if cross_encoder is not None:
            ranked = rerank_by_model(query, ranked, cross_encoder)
            clock.lap("rerank")
        judge = None if query.tokens is None else PassageJudge(self.snapshot, query, query.tokens, self.models, clock)
        if judge is not None:
            if cross_encoder is None:
                ranked = judge.reranked(ranked)
                if not query.for_documents:  # a message that quotes the words has them, too
                    ranked = originals_first(ranked, len(judge.judgements))
            else:
                judge.judge(ranked[:RERANK_DEPTH])
            if ranked and for_answer:
                judge.reread(ranked[0].passage)
            if ranked and cross_encoder is None:
                ranked = self._resolution_first(judge, ranked)
                ranked = current_first(query.text, ranked, judge.judgements)
                ranked = newest_edition_first(query.original, ranked, judge.judgements)
                ranked = self._namesake_first(judge, ranked)
                ranked = self._record_first(judge, ranked)
                clock.lap("read")
        rows, line = None, None
        if judge is not None and cross_encoder is None:
            rows, line = self._rows_or_line(judge, ranked)
        if rows is not None:
            ranked = _rows_first(rows, ranked)
        if line is not None:
            same = (hit for hit in ranked if hit.passage.id == line.passage.id)
            ranked = put_first(next(same, None) or replace(ranked[0], passage=line.passage), ranked)
        return Ranking(with_final_scores(ranked), judge, rows, line)

    def _candidates(self, query: Query, wanted: int, clock: Stopwatch) -> list[RankedPassage]:
        """Retrieve and fuse distinct passages; those first that match a lookup or have the number asked about."""
        candidates = pools(self.snapshot, query, clock)
        if query.lookup is not None:
            ranked = distinct(self.snapshot, candidates, max(wanted, _LOOKUP_DEPTH), query.question, query.lookup)
            ranked = _matches_first(query.lookup, ranked)
            ranked = _keep_kind(query, query.lookup, one_per_document(ranked)) if query.for_documents else ranked
        elif numbers := asked_numbers(query.question):
            ranked = distinct(self.snapshot, candidates, max(wanted, _LOOKUP_DEPTH), query.question)
            ranked = _with_number_first(numbers, ranked)
        else:
            ranked = distinct(self.snapshot, candidates, wanted, query.question)
        ranked = in_current_documents(self.snapshot, ranked, query.document_ids)
        clock.lap("passages")
        return ranked

    def _resolution_first(self, judge: PassageJudge, ranked: list[RankedPassage]) -> list[RankedPassage]:
        """If the first passage states a problem, put the passage that resolves it before it."""
        query, first, problem = judge.query, ranked[0], judge.reading_of(ranked[0].passage)
        # A scope may end within a document, before the sections that resolve the problem.
        if problem is None or query.lookup is not None or query.is_scoped:
            return ranked
        passages = resolving_passages(self.snapshot, query.text, first.passage)
        read = [(passage, reading) for passage, reading in zip(passages, judge.read(passages), strict=True) if reading]
        if not read:
            return ranked
        passage, reading = max(read, key=lambda pair: pair[1].relevant)
        if problem.answered > reading.answered:
            # Only the statement of the problem shows that it is the one the question is about.
            reading = replace(reading, answered=problem.answered, relevant=problem.relevant)
        judge.put(passage, reading)
        return [replace(first, passage=passage), *(hit for hit in ranked if hit.passage.id != passage.id)]

    def _namesake_first(self, judge: PassageJudge, ranked: list[RankedPassage]) -> list[RankedPassage]:
        """If the first passage is about a variant of what the question names, put the answer about that first."""
        namesake = namesake_of_variant(self.snapshot, judge.query.original, ranked[0].passage)
        hits = [hit for hit in ranked[:SECOND_DEPTH] if namesake is not None and namesake.has(hit.passage)]
        readings = zip(hits, judge.read([hit.passage for hit in hits]), strict=True) if hits else ()
        read = [(hit, reading) for hit, reading in readings if reading is not None]
        if not read:
            return ranked
        best, reading = max(read, key=lambda pair: pair[1].answered)
        of_variant = judge.reading_of(ranked[0].passage)
        if reading.answered < max(0.0, -math.inf if of_variant is None else of_variant.answered - MOST_LESS_SURE):
            return ranked
        judge.put(best.passage, reading)
        return put_first(best, ranked)

    def _record_first(self, judge: PassageJudge, ranked: list[RankedPassage]) -> list[RankedPassage]:
        """Put a passage of the dated record that the question is about before all others, if it may answer."""
        query, first, reading = judge.query, ranked[0], judge.reading_of(ranked[0].passage)
        asked, which = asked_period(query.original), asks_for_last(query.original)
        if reading is None or query.lookup is not None or query.is_scoped:
            return ranked
        passages = [hit.passage for hit in ranked[:SECOND_DEPTH]]
        if asked is not None:
            is_other = is_of_other_period(first.passage, reading, asked)
            of_period = [it for it in passages if is_other and is_of_period(it, asked)][:READ_DEPTH]
            answering = _read_for_record(judge, of_period, max(_LEAST_ANSWERED, reading.answered - MOST_LESS_SURE))
            answering = [it for it in answering if not is_of_other_period(it[0], it[1], asked)]
        elif which is not None:
            pick: Pick = max if which == "last" else min
            record = passages_of_record(self.snapshot, first.passage, pick=pick, documents=query.document_ids)
            dated = [it for it in passages[:READ_DEPTH] if record and own_period(it)]
            answering = _read_for_record(judge, [*record, *dated], _LEAST_ANSWERED)
            dates = [own_period(passage) or Period(0, 0) for passage, *_ in answering]
            answering = [it for it, date in zip(answering, dates, strict=True) if date == pick(dates)]
        else:
            answering = []
        if not answering:
            return ranked
        passage, new, reader = max(answering, key=lambda it: it[1].answered)
        judge.put(passage, new)
        reader.reread(passage)
        hit = next((it for it in ranked if it.passage.id == passage.id), replace(first, passage=passage))
        return put_first(hit, ranked)

    def _rows_or_line(
        self, judge: PassageJudge, ranked: Sequence[RankedPassage]
    ) -> tuple[RowsAnswer | BlockAnswer | None, LineAnswer | None]:
        """Return the rows or blocks that answer, or the line that does."""
        query = judge.query
        rows = self._find_rows(query, ranked) if judge.judgements else None
        if rows is not None and not asks_for_last_or_first(query.original):
            return rows, None
        line = self._line_answer(judge, ranked)
        # All rows of a series are no answer if one is surely the last.
        return (None, line) if rows is None or (line is not None and line.is_sure) else (rows, None)

    def _line_answer(self, judge: PassageJudge, ranked: Sequence[RankedPassage]) -> LineAnswer | None:
        """Return the field, the hours, the number, the reply, the message or the entry that answers."""
        query = judge.query
        if query.mode is not Mode.HYBRID or query.for_documents or query.number_is_unknown or not ranked:
            return None
        passages = [hit.passage for hit in ranked[:SECOND_DEPTH]]
        # Hours are fields, too: "Boatyard: Monday to Friday 8-16".
        found = day_hours(query.question, passages[:RERANK_DEPTH]) or named_field(query.question, passages)
        found = found or phone_number(query.question, passages)
        found = found or self._reply(query, passages[:RERANK_DEPTH])
        if found is None and asks_when(query.original):
            found = self._written(query, passages)
        if found is None:
            found, judge = self._dated_entry(judge, passages)
        if found is not None and (judge.query is not query or judge.reading_of(found.passage) is None):
            (reading,) = judge.read([found.passage])
            if reading is not None:
                judge.put(found.passage, reading)
            if judge.query is not query:
                judge.reread(found.passage)
        return found

    def _dated_entry(
        self, judge: PassageJudge, passages: Sequence[StoredPassage]
    ) -> tuple[LineAnswer | None, PassageJudge]:
        """Return the entry of a log that answers, and what judges it: without the time of a question that has one."""
        query, document = judge.query, passages[0].document
        asked = asked_time(query.original)
        about = query.question if asked is None else without_time(query.question)
        is_when = asks_when(query.original if asked is None else about)
        may_ask = is_when if asked is None else not asked.day if is_when else asks_for_words(about)
        if not may_ask or document.passages > _MAX_PASSAGES or not (is_when or any(map(has_entries, passages))):
            return None, judge
        whole = () if query.is_scoped else self.snapshot.passages_of(document.path)
        ids = {passage.id for passage in whole}
        found = dated_entry(about, [*whole, *(it for it in passages if it.id not in ids)], asked)
        # An entry without some words of the question may be about something else.
        if found is None or not (found.is_sure or found.passage.id == passages[0].id):
            return None, judge
        return found, judge if asked is None else judge.asking(about)

    def _written(self, query: Query, passages: Sequence[StoredPassage]) -> LineAnswer | None:
        """Return the message whose date answers when somebody wrote or did something."""
        paths = {it.document.path for it in passages[:READ_DEPTH] if not (it.is_mail or query.is_scoped)}
        short = {
            path for it in passages if (path := it.document.path) in paths and it.document.passages <= MOST_PASSAGES
        }
        parts = [it for path in sorted(short) for it in self.snapshot.passages_of(path)]
        return written_on(query.question, [*parts, *(it for it in passages if it.document.path not in short)])

    def _reply(self, query: Query, passages: Sequence[StoredPassage]) -> LineAnswer | None:
        """Return the reply to the same question in a chat."""
        cut_off = [passage for passage in passages[:READ_DEPTH] if is_cut_off(query.question, passage)]
        if cut_off and not query.is_scoped and cut_off[0].document.passages <= _MAX_PASSAGES:
            whole = self.snapshot.passages_of(cut_off[0].document.path)
            ids = {passage.id for passage in passages}
            passages = [*passages, *(it for before, it in pairwise(whole) if before.id in ids and it.id not in ids)]
        return reply(query.question, passages)

    def _find_rows(self, query: Query, ranked: Sequence[RankedPassage]) -> RowsAnswer | BlockAnswer | None:
        """Return the rows of a whole table, or the blocks, that answer; None for a scope, which may cut them off."""
        if query.mode is not Mode.HYBRID or query.for_documents or query.is_scoped:
            return None
        passages = [hit.passage for hit in ranked[:SECOND_DEPTH]]
        if any(has_rows(passage) for passage in passages[:READ_DEPTH]):
            from qa.tables.table_question import rows_answer  # noqa: PLC0415 - prose has no rows

            if rows := rows_answer(self.snapshot, query.text, passages[:READ_DEPTH]):
                # Of "Visit" and "Repeat visit", the field of the first alone is "the price of a visit".
                return None if len(rows.cells) > 1 and named_field(query.question, rows.passages) else rows
        return block_answer(self.snapshot, query.question, passages)


def _read_for_record(
    judge: PassageJudge, passages: Sequence[StoredPassage], least: float
) -> list[tuple[StoredPassage, Reading, PassageJudge]]:
    """Return passages that may answer, each with its reading and what read it."""
    # Without the date, as it must not matter where that is written, and with it.
    readers = (judge.asking(without_record(judge.query.question)), judge)
    read = ((it, new, reader) for reader in readers for it, new in zip(passages, reader.read(passages), strict=True))
    return [(passage, new, reader) for passage, new, reader in read if new is not None and new.answered >= least]


def _matches_first(lookup: Lookup, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put lookup matches among the top passages before all others; near-duplicates keep their level."""
    head = [hit if hit.level else replace(hit, level=-lookup.rank(hit.passage)) for hit in ranked[:_LOOKUP_DEPTH]]
    return [*sorted(head, key=lambda hit: hit.level), *ranked[_LOOKUP_DEPTH:]]


def _with_number_first(numbers: set[str], ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put passages that have one of some long numbers before all others."""
    has_none = [bool(hit.level) or numbers.isdisjoint(plain_numbers(hit.passage.text)) for hit in ranked]
    levels = [hit if none else replace(hit, level=-1) for hit, none in zip(ranked, has_none, strict=True)]
    return sorted(levels, key=lambda hit: hit.level)


def _keep_kind(query: Query, lookup: Lookup, ranked: list[RankedPassage]) -> list[RankedPassage]:
    """Return the documents of the kind that the question asks for ("papers"), if any of them matches; else all."""
    of_kind = [hit for hit in ranked if is_of_requested_kind(query.original, hit.passage)]
    return of_kind if any(lookup.rank(hit.passage) for hit in of_kind) else ranked


def _rows_first(rows: RowsAnswer | BlockAnswer, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the passages of the answering rows before all others."""
    hit_by_id = {hit.passage.id: hit for hit in ranked}
    best = ranked[0]
    templates = ((passage, hit_by_id.get(passage.id, best)) for passage in rows.passages)
    first = {passage.id: replace(template, passage=passage, score=1.0, level=-1) for passage, template in templates}
    return [*first.values(), *(hit for hit in ranked if hit.passage.id not in first)]
