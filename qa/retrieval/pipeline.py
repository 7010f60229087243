"""Answer a question from one generation of the index, stage by stage.

analyse -> retrieve -> fuse -> distinct -> rerank -> read -> resolve -> tables -> extract -> confidence ->
supersede -> cite
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

from index import STOP_WORDS, Among, Index, Scope, StoredPassage, analyse
from qa.answer import confidence
from qa.answer.citation import cited
from qa.answer.exact_answer import exact_answer
from qa.answer.extract import Extract, SpanScore, all_steps, extract, steps
from qa.answer.heading_answer import heading_answer, with_definition, with_other_fields
from qa.answer.lookup import Lookup
from qa.answer.numbered import is_about_another, numbered_in
from qa.answer.results import Answer, Hit, IndexInfo, Mode, Result
from qa.answer.superseded import Quoted, replacements, with_replacements
from qa.filters import Filter, select
from qa.reader.said import says_all
from qa.reader.sibling import is_of_another
from qa.reader.steps import asks_for_way, parts_of_way
from qa.reader.support_article import resolving
from qa.reader.tables import tables
from qa.retrieval.distinct import RankedPassage, distinct, one_per_document, originals_first, with_final_scores
from qa.retrieval.hybrid import pools
from qa.retrieval.judge import Models, PassageJudge
from qa.retrieval.late_interaction import overlap, term_shares
from qa.retrieval.query import Query, analyse_question
from qa.retrieval.question_text import AskRequest
from qa.retrieval.rerank import READ_DEPTH, RERANK_DEPTH, SCORED_DEPTH, SECOND_DEPTH, Judgement, rerank_by_model
from qa.retrieval.which_documents import is_of_asked_kind, titles_answer, with_title
from qa.stopwatch import Stopwatch

if TYPE_CHECKING:
    from qa.tables.table_answer import RowsAnswer

_log = logging.getLogger(__name__)

_MAX_SELECTED = 64
# Two rows of a table with bars, or two lines with a field each.
_ROWS = re.compile(r"\|.*\n.*\||^[^\s:][^\n:]{0,39}:.*\n[^\s:][^\n:]{0,39}:", re.MULTILINE)
# How many passages are searched for the terms of a lookup.
_LOOKUP_DEPTH = 50
# Steps are not looked for in longer documents, as all their passages would be loaded.
_MAX_PASSAGES = 2000


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
        parts = self._parts_of_way(query, passages, extracts) if rows is None else ()
        if parts:
            ranked = _parts_first(parts, ranked)[: request.k]
            passages = [one.passage for one in ranked]
            extracts |= _steps(parts, extracts)
        readings = {number: one.reading for number, one in judgements.items() if one.reading is not None}
        answer = None if rows is None else rows.answer(passages)
        if query.for_documents and query.lookup is not None:
            answer = titles_answer(query.lookup, [one.passage for one in candidates], len(passages))
        answer = (
            answer or all_steps(parts, passages, extracts) or exact_answer(query.text, passages, extracts, readings)
        )
        clock.lap("extract")
        probability, features = _confidence(
            self.snapshot, query, candidates, extracts, judgements, has_rows=rows is not None
        )
        if answer is not None and rows is None and query.lookup is None and probability >= confidence.THRESHOLD:
            ranked, extracts, answer = self._with_replacements(query, ranked, extracts, answer, judgements)
        clock.lap("extract")
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

    def _with_replacements(
        self,
        query: Query,
        ranked: list[RankedPassage],
        extracts: dict[int, Extract],
        answer: Answer,
        judgements: dict[int, Judgement],
    ) -> tuple[list[RankedPassage], dict[int, Extract], Answer]:
        """Answer with what replaces the value of an exact answer, if anything does; else return all as it is."""
        passages = [one.passage for one in ranked]
        quoted = passages[answer.citations[0] - 1]
        if answer.text == answer.sentence or query.tokens is None:
            return ranked, extracts, answer
        judge = PassageJudge(query, query.tokens, self.models, Stopwatch(), judgements)
        chain = replacements(
            self.snapshot,
            Quoted(query.text, answer.text, quoted, extracts[quoted.id].lead),
            documents=query.documents,
            rarity=query.rarity,
            read=lambda one: judge.reading_of(one) or judge.read([one])[0],
        )
        if not chain:
            return ranked, extracts, answer
        ordered, answer = with_replacements(query.text, answer, passages, chain)
        told = {quoted.id, *(one.passage.id for one in chain)}
        known = {one.passage.id: one for one in ranked if one.passage.id not in told}
        ranked = [known.get(one.id) or replace(ranked[0], passage=one) for one in ordered]
        return ranked, extracts | {one.passage.id: one.extract for one in chain}, answer

    def _parts_of_way(
        self, query: Query, passages: Sequence[StoredPassage], extracts: Mapping[int, Extract]
    ) -> Sequence[StoredPassage]:
        """Return the passages with all steps of what is asked, if that is not just the first passage; else none."""
        if not passages or passages[0].id not in extracts or query.lookup or isinstance(query.documents, Scope):
            return ()
        first = passages[0]
        if not asks_for_way(query.text) or first.document.passages > _MAX_PASSAGES:
            return ()
        return parts_of_way(query.text, self.snapshot.passages_of(first.document.path), first, extracts[first.id].lead)

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
        ranked = self._candidates(query, max(request.k, SECOND_DEPTH if cross_encoder is None else SCORED_DEPTH), clock)
        if cross_encoder is not None:
            ranked = rerank_by_model(query, ranked, cross_encoder)
            clock.lap("rerank")
        judgements: dict[int, Judgement] = {}
        if query.tokens is not None:
            judge = PassageJudge(query, query.tokens, self.models, clock, judgements)
            if cross_encoder is None:
                ranked = judge.reranked(ranked)
                if not query.for_documents:  # a message that quotes the words has them, too
                    ranked = originals_first(ranked, len(judgements))
                ranked = self._resolution_first(judge, ranked)
                clock.lap("read")
            else:
                judge.judge(ranked[:RERANK_DEPTH])
        rows = self._find_rows(query, ranked) if judgements and cross_encoder is None else None
        if rows is not None:
            ranked = _rows_first(rows, ranked)
        return with_final_scores(ranked), judgements, rows

    def _candidates(self, query: Query, wanted: int, clock: Stopwatch) -> list[RankedPassage]:
        """Retrieve and fuse distinct passages; those that match a lookup first."""
        candidates = pools(self.snapshot, query, clock)
        if query.lookup is None:
            ranked = distinct(self.snapshot, candidates, wanted)
        else:
            ranked = distinct(self.snapshot, candidates, max(wanted, _LOOKUP_DEPTH), query.lookup)
            ranked = _matches_first(query.lookup, ranked)
            ranked = _of_asked_kind(query, query.lookup, one_per_document(ranked)) if query.for_documents else ranked
        clock.lap("passages")
        return ranked

    def _resolution_first(self, judge: PassageJudge, ranked: list[RankedPassage]) -> list[RankedPassage]:
        """If the first passage states a problem, put the passage that resolves it before it."""
        query, first = judge.query, ranked[0] if ranked else None
        problem = None if first is None else judge.reading_of(first.passage)
        # A scope may end within a document, before the sections that resolve the problem.
        if first is None or problem is None or query.lookup is not None or isinstance(query.documents, Scope):
            return ranked
        passages = resolving(self.snapshot, query.text, first.passage)
        read = [(one, reading) for one, reading in zip(passages, judge.read(passages), strict=True) if reading]
        if not read:
            return ranked
        passage, reading = max(read, key=lambda pair: pair[1].relevant)
        if problem.answered > reading.answered:
            # Only the statement of the problem shows that it is the one the question is about.
            reading = replace(reading, answered=problem.answered, relevant=problem.relevant)
        judge.put(passage, reading)
        return [replace(first, passage=passage), *(one for one in ranked if one.passage.id != passage.id)]

    def _find_rows(self, query: Query, ranked: Sequence[RankedPassage]) -> RowsAnswer | None:
        """Return the rows of a whole table that answer; None for a scope, which may cut the table off."""
        if query.mode is not Mode.HYBRID or query.for_documents or isinstance(query.documents, Scope):
            return None
        passages = [one.passage for one in ranked[:READ_DEPTH]]
        if not any(_ROWS.search(one.text) for one in passages):
            return None
        from qa.tables.table_question import rows_answer  # noqa: PLC0415 - prose has no rows

        return rows_answer(self.snapshot, query.text, passages)


def _confidence(
    snapshot: Index,
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
    if has_rows or extracts[best.id].is_named_list or says_all(query.question, best):
        probability = confidence.of_lookup(probability, is_found=True, is_nowhere=False)
    elif query.lookup is not None:
        is_found = query.lookup.match(best) is not None
        is_nowhere = query.lookup.is_nowhere(one.passage for one in ranked)
        probability = confidence.of_lookup(probability, is_found=is_found, is_nowhere=is_nowhere)
    lead = extracts[best.id].lead
    if not has_rows and (
        is_about_another(numbered_in(query.asked), best, lead)
        or is_of_another(snapshot, query.asked, best)
        or _is_other_row(snapshot, query.asked, best, lead)
    ):
        probability = min(probability, confidence.IS_ABOUT_ANOTHER)
    return probability, features


def _is_other_row(snapshot: Index, question: str, passage: StoredPassage, lead: tuple[int, int]) -> bool:
    if not (tables(passage.text, passage.context) or _ROWS.search(passage.text)):
        return False
    from qa.tables.other_row import is_other_row  # noqa: PLC0415 - prose has no rows

    return is_other_row(snapshot, question, passage, lead)


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


def _matches_first(lookup: Lookup, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put lookup matches among the top passages before all others; near-duplicates keep their level."""
    head = [one if one.level else replace(one, level=-lookup.rank(one.passage)) for one in ranked[:_LOOKUP_DEPTH]]
    return [*sorted(head, key=lambda one: one.level), *ranked[_LOOKUP_DEPTH:]]


def _of_asked_kind(query: Query, lookup: Lookup, ranked: list[RankedPassage]) -> list[RankedPassage]:
    """Return the documents of the kind that is asked for, if any of these matches; else all."""
    of_kind = [one for one in ranked if is_of_asked_kind(query.asked, one.passage)]
    return of_kind if any(lookup.rank(one.passage) for one in of_kind) else ranked


def _rows_first(rows: RowsAnswer, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the passages of the answering rows before all others."""
    known = {one.passage.id: one for one in ranked}
    best = ranked[0]
    templates = ((one, known.get(one.id, best)) for one in rows.passages)
    first = {one.id: replace(template, passage=one, score=1.0, level=-1) for one, template in templates}
    return [*first.values(), *(one for one in ranked if one.passage.id not in first)]


def _parts_first(parts: Sequence[StoredPassage], ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the parts of a list before all other passages; the best passage first if it is one of them."""
    first, numbers = ranked[0], {one.id for one in parts}
    own = (replace(first, passage=one) for one in sorted(parts, key=lambda one: one.id != first.passage.id))
    return [*own, *(one for one in ranked if one.passage.id not in numbers)]


def _steps(parts: Sequence[StoredPassage], extracts: Mapping[int, Extract]) -> dict[int, Extract]:
    """Extract the steps of each part of a list; those of passages whose extracts are known keep their scores."""
    found = {one.id: steps(one, is_first=one is parts[0]) for one in parts}
    return {
        number: replace(extracts[number], highlights=one.highlights, answer=one.answer) if number in extracts else one
        for number, one in found.items()
        if one.highlights or number not in extracts
    }


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
        if match is not None and match.at is not None and query.lookup is not None and query.lookup.is_date:
            extracted = with_other_fields(passage, extracted)
        extracts[passage.id] = with_definition(query.text, passage, extracted)
        if query.for_documents and query.lookup is not None:
            extracts[passage.id] = with_title(query.lookup, passage, extracts[passage.id])
    return extracts
