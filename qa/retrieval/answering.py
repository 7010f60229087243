"""Answer from ranked passages: extract -> steps -> answer -> confidence -> supersede.

For "when is the rent due?", pick the sentence of the best passage that says so, reduce it to "the 3rd", rate that, and
if a later document changes the day, answer with the new one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from corpus.formats import RECORDS
from index import STOP_WORDS, Index, StoredPassage, analyse
from qa.answer import confidence
from qa.answer.exact_answer import exact_answer, may_answer
from qa.answer.extract import Extract, extract, extract_steps
from qa.answer.heading_answer import (
    heading_answer,
    lacks_expansion,
    prefer_definition,
    prefer_expansion,
    prefer_other_fields,
)
from qa.answer.later_values import find_later_value, statements_of
from qa.answer.line_answer import LineAnswer
from qa.answer.results import Answer, answer_from_parts
from qa.answer.superseded import NewValue, QuotedValue, answer_with_new_value, find_new_values
from qa.answer.which_documents import highlight_title, titles_answer, titles_of_entries
from qa.language.question_kinds import AUXILIARY, QUESTION_WORD, asks_for_person
from qa.language.spans import Span
from qa.language.values import lacks_number, lacks_statistic
from qa.questions.answering_sentence import states_what_is_asked
from qa.questions.log_entries import is_of_other_time
from qa.questions.long_numbers import owned_numbers, plain_numbers
from qa.questions.numbered import is_about_other_item, numbered_items_in
from qa.questions.sender import covers_topic_of_sender, is_by_other_sender
from qa.questions.sibling import is_line_of_other, names_sibling, namesake_of_variant
from qa.questions.steps import (
    asks_how_to,
    headings_name_topic,
    is_open_task,
    is_opposite_procedure,
    is_step_of_other_procedure,
    procedure_parts,
)
from qa.reader.reading import Reading
from qa.retrieval.distinct import RankedPassage
from qa.retrieval.judge import PassageJudge
from qa.retrieval.late_interaction import overlap, term_shares
from qa.retrieval.query import Query
from qa.retrieval.rerank import RERANK_DEPTH, SECOND_DEPTH, Judgement, is_updated_by, put_first, reading_of
from qa.structure.candidate_spans import SpanScore
from qa.structure.tables import tables

if TYPE_CHECKING:
    from qa.tables.blocks import BlockAnswer
    from qa.tables.table_answer import RowsAnswer

_log = logging.getLogger(__name__)

# Two rows of a table with bars, or two lines with a field each.
_ROWS = re.compile(r"\|.*\n.*\||^[^\s:][^\n:]{0,39}:.*\n[^\s:][^\n:]{0,39}:", re.MULTILINE)
_ASKS = re.compile(rf"{QUESTION_WORD}|\A\W*(?:{AUXILIARY}|list|explain|describe|show)\b", re.IGNORECASE)
# Stop words that are names or nouns: "where is the will?", "who is Will?".
_STOP_WORD_AS_NAME = r"\b(?:the|an?|his|her|my|our|your|their) will\b|(?<=\w )(?:Will|May)\b"
# Longer documents are not searched for steps, as that would load all their passages.
_MAX_PASSAGES = 2000


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages that were ranked for a question.

    Attributes:
        hits: Best first; k or more.
        judge: What judged the top passages; None if nothing did.
        rows: The rows of a table, or the blocks, that answer, if any.
        line_answer: The field, setting, dated entry, hours, number or reply that answers, if any.
    """

    hits: list[RankedPassage]
    judge: PassageJudge | None
    rows: RowsAnswer | BlockAnswer | None
    line_answer: LineAnswer | None = None

    @property
    def judgements(self) -> dict[int, Judgement]:
        """The judgements on the top passages, by row number."""
        return {} if self.judge is None else self.judge.judgements


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of a result.

    Attributes:
        hits: The passages to show, best first.
        extracts: Their answering sentences, by row number.
        answer: The answer, if there is one.
    """

    hits: list[RankedPassage]
    extracts: dict[int, Extract]
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers one question from its ranking."""

    snapshot: Index
    query: Query
    ranking: Ranking

    def draft(self, k: int) -> Draft:
        """Answer from the k best passages, or with all steps of the procedure that the question asks for."""
        query, rows = self.query, self.ranking.rows
        ranked = self.ranking.hits[:k]
        extracts = _extract(query, [hit.passage for hit in ranked], self.ranking.judgements)
        if rows is not None:
            extracts |= rows.extracts()
        if (line := self.ranking.line_answer) is not None:
            extracts[line.passage.id] = line.extract
        parts = self._procedure_parts(ranked, extracts)
        if parts:
            ranked = _parts_first(parts, ranked)[:k]
            extracts |= _steps(query.text, parts, extracts)
        passages = [hit.passage for hit in ranked]
        answer = None if rows is None else rows.answer(passages)
        if query.for_documents and query.lookup is not None:
            hits, read = [hit.passage for hit in self.ranking.hits], self.snapshot.passages_of
            entries_of = partial(titles_of_entries, query.original, query.lookup, passages_of=read)
            answer = titles_answer(query.lookup, hits, len(passages), entries_of)
        steps = [(part, text) for part in parts if (text := extracts[part.id].answer)]
        answer = answer or answer_from_parts(steps, passages)
        return Draft(ranked, extracts, answer or self._exact_answer(passages, extracts))

    def _exact_answer(
        self, passages: Sequence[StoredPassage], extracts: Mapping[int, Extract], question: str = ""
    ) -> Answer | None:
        judgements = self.ranking.judgements
        readings = {row_id: judged.reading for row_id, judged in judgements.items() if judged.reading is not None}
        judge, question = self.ranking.judge, question or self.query.text
        said = {} if judge is None or not asks_for_person(question) else judge.said
        return exact_answer(question, passages, extracts, readings, said)

    def probability(self, extracts: Mapping[int, Extract]) -> tuple[float, confidence.Features | None]:
        """Return the probability that the best passage answers, and its features; None if there are none."""
        query, ranked, judgements = self.query, self.ranking.hits, self.ranking.judgements
        if not ranked or not _names_something(query):
            return 0.0, None
        best = ranked[0].passage
        reading = reading_of(judgements, best)
        features = confidence.features_of(
            query.original,
            best,
            cosine=ranked[0].cosine,
            sentence=extracts[best.id].score,
            matched=ranked[0].matched,
            reading=reading,
        )
        model = confidence.model_for(query.original, is_read=reading is not None, is_reranked=bool(judgements))
        probability = round(confidence.probability(features, model), 4)
        is_sure, is_nowhere = self._is_sure(best, extracts[best.id]), False
        if query.lookup is not None and not is_sure:
            is_sure = query.lookup.match(best) is not None
            is_nowhere = query.lookup.is_nowhere(hit.passage for hit in ranked)
        probability = confidence.adjust_for_lookup(probability, is_found=is_sure, is_nowhere=is_nowhere)
        objection = self._objection(best, extracts[best.id].answer_span, reading, is_sure=is_sure)
        if objection:
            _log.debug("Not an answer: %s", objection)
            probability = min(probability, confidence.OTHER_SUBJECT)
        return probability, features

    def _is_sure(self, best: StoredPassage, extracted: Extract) -> bool:
        """Whether the first passage surely is about what the question asks, whatever the models say."""
        numbers, is_record = owned_numbers(self.query.question), best.document.media_type in RECORDS
        line = best.text if is_record else best.text[slice(*extracted.answer_span)]
        return (
            self.ranking.rows is not None
            or extracted.is_certain
            # "Dentist: 020 7946 0958" says whose number it is, and all of a record does.
            or not numbers.isdisjoint(plain_numbers(line))
            or covers_topic_of_sender(self.query.question, best)
            or states_what_is_asked(self.query.question, line)
        )

    def _objection(self, best: StoredPassage, span: Span, reading: Reading | None, *, is_sure: bool) -> str:
        """Return why the first passage does not answer, although the models may say that it does; "" if it may."""
        query, snapshot, question = self.query, self.snapshot, self.query.original
        is_lookup, has_rows = query.lookup is not None, self.ranking.rows is not None
        line, sentence = self.ranking.line_answer, best.text[slice(*span)]
        objections: tuple[tuple[str, Callable[[], bool]], ...] = (
            ("an entry of another time", lambda: not is_lookup and is_of_other_time(question, best, span)),
            # Those below are not about rows, which are chosen by all words of the question.
            ("", lambda: has_rows),
            # Front matter has words about everything: "number" in a title is no telephone number.
            ("front matter", lambda: best.is_front_matter and is_lookup and not is_sure),
            ("no such words", lambda: not is_lookup and not may_answer(query.text, best.text, span, reading)),
            ("an unknown number", lambda: query.number_is_unknown),
            ("hours of other days", lambda: line is not None and line.is_of_other_day),
            ("another item", lambda: is_about_other_item(numbered_items_in(query.question), best, span)),
            ("the opposite procedure", lambda: is_opposite_procedure(query.text, best)),
            ("a task instead of how to do it", lambda: asks_how_to(query.text) and is_open_task(sentence)),
            ("no number", lambda: lacks_number(query.question, sentence)),
            ("another statistic", lambda: lacks_statistic(query.question, sentence, best.text)),
            ("no expansion", lambda: lacks_expansion(question, best)),
            ("a line of another", lambda: not is_lookup and is_line_of_other(question, best, span)),
            ("a sibling", lambda: names_sibling(snapshot, question, best)),
            ("a variant", lambda: namesake_of_variant(snapshot, question, best) is not None),
            ("another sender", lambda: is_by_other_sender(query.question, best)),
            ("another row", lambda: _is_other_row(snapshot, question, best, span)),
            ("another procedure", lambda: _is_step_of_other_procedure(snapshot, question, best, span)),
        )
        return next((objection for objection, holds in objections if holds()), "")

    def supersede(self, draft: Draft) -> Draft:
        """Replace an exact answer by a current document's, or the newest value if a passage says that it changed."""
        query, judge, answer = self.query, self.ranking.judge, draft.answer
        is_lookup = query.for_documents or (query.lookup is not None and not query.lookup.is_of_words)
        if answer is None or judge is None or is_lookup or self.ranking.rows is not None:
            return draft
        if answer.text != answer.sentence:
            return self._supersede_value(draft, answer, judge)
        # A question without a question word gets a sentence, "current code of the door", which may have a value.
        if _ASKS.search(query.text):
            return draft
        value = self._exact_answer([hit.passage for hit in draft.hits], draft.extracts, f"what is {query.text}")
        if value is None or value.text == value.sentence:
            return draft
        superseded = self._supersede_value(draft, value, judge)
        return draft if superseded.answer == value else superseded

    def _supersede_value(self, draft: Draft, answer: Answer, judge: PassageJudge) -> Draft:
        """Answer as a current document does, or with the newest value; else give a draft this exact answer."""
        query, passages = self.query, [hit.passage for hit in draft.hits]
        quoted = passages[answer.citations[0] - 1]
        later = [draft.hits[it.citations[0] - 1] for it in answer.alternatives if it.time == "later"]
        if later and is_updated_by(query.text, quoted, later[0].passage):
            hits = put_first(later[0], draft.hits)
            current = self._exact_answer([hit.passage for hit in hits], draft.extracts)
            return self.supersede(Draft(hits, draft.extracts, current))
        old = QuotedValue(query.text, answer.text, quoted, draft.extracts[quoted.id].answer_span)
        chain = find_new_values(
            self.snapshot,
            old,
            documents=query.documents,
            rarity=query.rarity,
            read=lambda passage: judge.reading_of(passage) or judge.read([passage])[0],
        )
        if not chain and (new := self._later_value(old, judge)) is not None:
            chain = [new]
        if not chain:
            return replace(draft, answer=answer)
        ordered, answer = answer_with_new_value(query.text, answer, passages, chain)
        quoted_ids = {quoted.id, *(new_value.passage.id for new_value in chain)}
        other_hits = {hit.passage.id: hit for hit in draft.hits if hit.passage.id not in quoted_ids}
        ranked = [other_hits.get(passage.id) or replace(draft.hits[0], passage=passage) for passage in ordered]
        return Draft(ranked, draft.extracts | {new_value.passage.id: new_value.extract for new_value in chain}, answer)

    def _later_value(self, old: QuotedValue, judge: PassageJudge) -> NewValue | None:
        """Return the value that a later message, or later minutes, give instead of a quoted one."""
        openings = self.snapshot.openings([old.passage])
        statements = list(statements_of(old.question, old.passage, openings.get(old.passage.id, old.passage).text))
        if not any(statement.has(old) for statement in statements):
            return None
        others = [hit.passage for hit in self.ranking.hits[:SECOND_DEPTH] if hit.passage.id != old.passage.id]
        openings = self.snapshot.openings(others)
        for passage in others:
            statements += statements_of(old.question, passage, openings.get(passage.id, passage).text)
        return find_later_value(old, statements, lambda passages: judge.read(passages, alone=True))

    def _procedure_parts(
        self, ranked: Sequence[RankedPassage], extracts: Mapping[int, Extract]
    ) -> Sequence[StoredPassage]:
        """Return the passages with the steps of the procedure asked for; none if the first passage has all of them."""
        query, first = self.query, ranked[0].passage if ranked else None
        if first is None or first.id not in extracts or self.ranking.rows is not None:
            return ()
        if not asks_how_to(query.text) or query.lookup is not None or query.is_scoped:
            return ()
        if first.document.passages > _MAX_PASSAGES:
            return ()
        passages = self.snapshot.passages_of(first.document.path)
        return procedure_parts(query.text, passages, first, extracts[first.id].answer_span)


def has_rows(passage: StoredPassage) -> bool:
    """Whether a passage has a table with bars or aligned cells, or a record."""
    return bool(_ROWS.search(passage.text) or tables(passage.text, passage.context))


def _is_other_row(snapshot: Index, question: str, passage: StoredPassage, answer_span: Span) -> bool:
    if not has_rows(passage):
        return False
    from qa.tables.other_row import is_other_row  # noqa: PLC0415 - prose has no rows

    return is_other_row(snapshot, question, passage, answer_span)


def _is_step_of_other_procedure(snapshot: Index, question: str, passage: StoredPassage, answer_span: Span) -> bool:
    if not asks_how_to(question) or passage.document.passages > _MAX_PASSAGES:
        return False
    return is_step_of_other_procedure(question, snapshot.passages_of(passage.document.path), passage, answer_span)


def _names_something(query: Query) -> bool:
    """Whether a question has a content word, unlike "?" and "who did it?"; words in capitals count: "what is IT?"."""
    parts = [part for word in analyse(query.original).words for part in (word.parts or (word,))]
    words = {query.original[part.start : part.end] for part in parts}
    is_shouted = query.original.isupper()
    is_named = query.lookup is not None or any(
        word.lower() not in STOP_WORDS or (word.isupper() and len(word) > 1 and not is_shouted) for word in words
    )
    return is_named or re.search(_STOP_WORD_AS_NAME, query.original) is not None


def _parts_first(parts: Sequence[StoredPassage], ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Put the passages of a list before all others, beginning with the best passage if it is one of them."""
    first, part_ids = ranked[0], {part.id for part in parts}
    part_hits = (replace(first, passage=part) for part in sorted(parts, key=lambda part: part.id != first.passage.id))
    return [*part_hits, *(hit for hit in ranked if hit.passage.id not in part_ids)]


def _steps(question: str, parts: Sequence[StoredPassage], extracts: Mapping[int, Extract]) -> dict[int, Extract]:
    """Extract the steps of each passage of a list; passages that already have an extract keep its score."""
    steps_by_id = {part.id: extract_steps(part, is_first=part is parts[0]) for part in parts}
    is_sure = headings_name_topic(question, parts[0], steps_by_id[parts[0].id].answer_span[0])
    return {
        row_id: replace(
            extracts.get(row_id, steps), highlights=steps.highlights, answer=steps.answer, is_certain=is_sure
        )
        for row_id, steps in steps_by_id.items()
        if steps.highlights or row_id not in extracts
    }


def _extract(query: Query, passages: Sequence[StoredPassage], judgements: dict[int, Judgement]) -> dict[int, Extract]:
    """Extract the answering sentences of the top passages, by row number."""
    shares = term_shares(query)
    scores: dict[int, SpanScore] = {}
    for passage in passages[:RERANK_DEPTH] if query.tokens is None else ():
        scores[passage.id] = partial(overlap, shares, passage.text)
    for row_id, judged in judgements.items():
        scores[row_id] = partial(judged.span_score, query)
    extracts = {}
    for passage in passages:
        if passage.id not in scores:
            continue
        match = None if query.lookup is None else query.lookup.match(passage)
        reading = reading_of(judgements, passage) if match is None else None
        from_heading = None if reading is None else heading_answer(query.text, passage, reading)
        extracted = from_heading or extract(
            passage,
            scores[passage.id],
            query.text,
            looked_up=None if match is None else match.at,
            share=reading.share if reading is not None else lambda *_: 1.0,
        )
        if match is not None and match.at is not None and query.lookup is not None and query.lookup.is_date:
            extracted = prefer_other_fields(passage, extracted)

        defined = prefer_definition(query.text, passage, extracted)
        extracts[passage.id] = prefer_expansion(query.original, passage, defined)
        if query.for_documents and query.lookup is not None:
            extracts[passage.id] = highlight_title(query.lookup, passage, extracts[passage.id])
    return extracts
