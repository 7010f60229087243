"""Answer from ranked passages: extract -> steps -> answer -> confidence -> supersede."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from index import STOP_WORDS, Index, Scope, StoredPassage, analyse
from qa.answer import confidence
from qa.answer.exact_answer import exact_answer
from qa.answer.extract import Extract, SpanScore, all_steps, extract, steps
from qa.answer.heading_answer import heading_answer, with_definition, with_other_fields
from qa.answer.results import Answer
from qa.answer.superseded import Quoted, replacements, with_replacements
from qa.answer.which_documents import titles_answer, with_title
from qa.questions.numbered import is_about_another, numbered_in
from qa.questions.said import is_by_another, says_all
from qa.questions.sibling import is_of_another
from qa.questions.steps import asks_for_way, is_of_another_way, is_opposite_way, parts_of_way
from qa.reader.tables import tables
from qa.retrieval.distinct import RankedPassage
from qa.retrieval.judge import PassageJudge
from qa.retrieval.late_interaction import overlap, term_shares
from qa.retrieval.query import Query
from qa.retrieval.rerank import RERANK_DEPTH, Judgement

if TYPE_CHECKING:
    from qa.tables.table_answer import RowsAnswer

# Two rows of a table with bars, or two lines with a field each.
_ROWS = re.compile(r"\|.*\n.*\||^[^\s:][^\n:]{0,39}:.*\n[^\s:][^\n:]{0,39}:", re.MULTILINE)
# Steps are not looked for in longer documents, as all their passages would be loaded.
_MAX_PASSAGES = 2000


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages that were ranked for a question.

    Attributes:
        passages: Best first; k or more.
        judge: What judged the top ones; None if none did.
        rows: The rows of a table that answer, if any.
    """

    passages: list[RankedPassage]
    judge: PassageJudge | None
    rows: RowsAnswer | None

    @property
    def judgements(self) -> dict[int, Judgement]:
        """The judgements on the top passages, by row number."""
        return {} if self.judge is None else self.judge.judgements


@dataclass(frozen=True, slots=True)
class Draft:
    """What a result shows.

    Attributes:
        ranked: The passages.
        extracts: Their answering sentences, by row number.
        answer: The answer, if there is one.
    """

    ranked: list[RankedPassage]
    extracts: dict[int, Extract]
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers one question from its ranking."""

    snapshot: Index
    query: Query
    ranking: Ranking

    def draft(self, k: int) -> Draft:
        """Return the answer from the k best passages, or from all parts of the steps that are asked for."""
        query, rows, judgements = self.query, self.ranking.rows, self.ranking.judgements
        ranked = self.ranking.passages[:k]
        extracts = _extract(query, [one.passage for one in ranked], judgements)
        if rows is not None:
            extracts |= rows.extracts()
        parts = self._parts_of_way(ranked, extracts)
        if parts:
            ranked = _parts_first(parts, ranked)[:k]
            extracts |= _steps(parts, extracts)
        passages = [one.passage for one in ranked]
        answer = None if rows is None else rows.answer(passages)
        if query.for_documents and query.lookup is not None:
            answer = titles_answer(query.lookup, [one.passage for one in self.ranking.passages], len(passages))
        readings = {number: one.reading for number, one in judgements.items() if one.reading is not None}
        answer = answer or all_steps(parts, passages, extracts)
        return Draft(ranked, extracts, answer or exact_answer(query.text, passages, extracts, readings))

    def probability(self, extracts: Mapping[int, Extract]) -> tuple[float, confidence.Features | None]:
        """Return how probable it is that the best passage answers, and the features that say so; None without any."""
        query, ranked, judgements = self.query, self.ranking.passages, self.ranking.judgements
        if not ranked or not _names_something(query):
            return 0.0, None
        best = ranked[0].passage
        reading = judgements[best.id].reading if best.id in judgements else None
        features = confidence.features_of(
            query.asked,
            best,
            cosine=ranked[0].cosine,
            sentence=extracts[best.id].score,
            matched=ranked[0].matched,
            reading=reading,
        )
        model = confidence.model_for(query.asked, is_read=reading is not None, is_reranked=bool(judgements))
        probability = round(confidence.probability(features, model), 4)
        if self.ranking.rows is not None or extracts[best.id].names_question or says_all(query.question, best):
            probability = confidence.of_lookup(probability, is_found=True, is_nowhere=False)
        elif query.lookup is not None:
            is_found = query.lookup.match(best) is not None
            is_nowhere = query.lookup.is_nowhere(one.passage for one in ranked)
            probability = confidence.of_lookup(probability, is_found=is_found, is_nowhere=is_nowhere)
        lead = extracts[best.id].lead
        if self.ranking.rows is None and (
            is_about_another(numbered_in(query.asked), best, lead)
            or is_opposite_way(query.text, best)
            or is_of_another(self.snapshot, query.asked, best)
            or is_by_another(query.question, best)
            or _is_other_row(self.snapshot, query.asked, best, lead)
            or _is_other_way(self.snapshot, query.asked, best, lead)
        ):
            probability = min(probability, confidence.IS_ABOUT_ANOTHER)
        return probability, features

    def in_force(self, draft: Draft) -> Draft:
        """Answer with what replaces the value of an exact answer, if anything does."""
        query, judge, answer = self.query, self.ranking.judge, draft.answer
        if answer is None or judge is None or query.lookup is not None or answer.text == answer.sentence:
            return draft
        if self.ranking.rows is not None:
            return draft
        passages = [one.passage for one in draft.ranked]
        quoted = passages[answer.citations[0] - 1]
        chain = replacements(
            self.snapshot,
            Quoted(query.text, answer.text, quoted, draft.extracts[quoted.id].lead),
            documents=query.documents,
            rarity=query.rarity,
            read=lambda one: judge.reading_of(one) or judge.read([one])[0],
        )
        if not chain:
            return draft
        ordered, answer = with_replacements(query.text, answer, passages, chain)
        told = {quoted.id, *(one.passage.id for one in chain)}
        known = {one.passage.id: one for one in draft.ranked if one.passage.id not in told}
        ranked = [known.get(one.id) or replace(draft.ranked[0], passage=one) for one in ordered]
        return Draft(ranked, draft.extracts | {one.passage.id: one.extract for one in chain}, answer)

    def _parts_of_way(
        self, ranked: Sequence[RankedPassage], extracts: Mapping[int, Extract]
    ) -> Sequence[StoredPassage]:
        """Return the passages with all steps of what is asked, if that is not just the first passage; else none."""
        query, first = self.query, ranked[0].passage if ranked else None
        if first is None or first.id not in extracts or self.ranking.rows is not None:
            return ()
        if not asks_for_way(query.text) or query.lookup is not None or isinstance(query.documents, Scope):
            return ()
        if first.document.passages > _MAX_PASSAGES:
            return ()
        return parts_of_way(query.text, self.snapshot.passages_of(first.document.path), first, extracts[first.id].lead)


def has_rows(passage: StoredPassage) -> bool:
    """Whether a passage has a table with bars or aligned cells, or a record."""
    return bool(_ROWS.search(passage.text) or tables(passage.text, passage.context))


def _is_other_row(snapshot: Index, question: str, passage: StoredPassage, lead: tuple[int, int]) -> bool:
    if not has_rows(passage):
        return False
    from qa.tables.other_row import is_other_row  # noqa: PLC0415 - prose has no rows

    return is_other_row(snapshot, question, passage, lead)


def _is_other_way(snapshot: Index, question: str, passage: StoredPassage, lead: tuple[int, int]) -> bool:
    if not asks_for_way(question) or passage.document.passages > _MAX_PASSAGES:
        return False
    return is_of_another_way(question, snapshot.passages_of(passage.document.path), passage, lead)


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
