"""Judge the top passages together with the question: by late interaction, and the first few by the reader, too."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from corpus import is_code, path_words
from corpus.errors import ModelError
from index import STOP_WORDS, CompileError, CrossEncoderModel, Encoder, Index, StoredPassage
from qa.answer import confidence
from qa.answer.dated_records import own_period
from qa.answer.results import Mode
from qa.language.dates import (
    asked_period,
    dates_in,
    periods_in,
    spell_out_dates,
    without_periods,
)
from qa.language.terms import terms
from qa.questions.bands import write_as_bands
from qa.questions.sender import may_name_person, said_of_topic, topic_of_sender
from qa.reader.reader import LARGEST_GAP, Reader, with_preceding
from qa.reader.reading import Reading
from qa.reader.third_person import in_third_person, of_original, says_i
from qa.retrieval.distinct import RankedPassage
from qa.retrieval.late_interaction import TokenMatch, match_tokens
from qa.retrieval.query import Query, QueryTokens
from qa.retrieval.rerank import READ_DEPTH, RERANK_DEPTH, SECOND_DEPTH, Judgement, reading_of, rerank
from qa.stopwatch import Stopwatch
from qa.structure.speakers import MOST_PASSAGES, Said, speakers

_log = logging.getLogger(__name__)

# The beginning of a document names it, where no title does: its first two lines are its title and authors. Late
# interaction is also given the names that follow, as of the parties of a contract; the reader would take them for more.
_TITLE_LINES, _LONGEST_TITLE, _LONGEST_OPENING = 2, 250, 400
# "Who was there on 4 March?" is too little to read without the date.
_FEWEST_TERMS = 2
_ACRONYM = re.compile(r"\b[A-Z]{3,}(?:-?\d+)?\b")
_WORD = re.compile(r"[^\W\d_]{3,}|(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")


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


@dataclass(frozen=True, slots=True)
class PassageJudge:
    """Judges passages together with one question.

    Attributes:
        snapshot: The index that the passages are from.
        query: The question.
        tokens: Its tokens.
        models: The models.
        clock: Records the time of each step.
        judgements: Those made so far, by row number.
        names: The question's names for the documents of passages, by row number, as late interaction is given them:
            see `_find_names`.
        titles: The same, as the reader is given them.
        said: Whose words the parts of passages are, if that matters to the question, by row number.
    """

    snapshot: Index
    query: Query
    tokens: QueryTokens
    models: Models
    clock: Stopwatch
    judgements: dict[int, Judgement] = field(default_factory=dict)
    names: dict[int, tuple[str, ...]] = field(default_factory=dict)
    titles: dict[int, tuple[str, ...]] = field(default_factory=dict)
    said: dict[int, list[Said]] = field(default_factory=dict)

    def reranked(self, ranked: list[RankedPassage]) -> list[RankedPassage]:
        """Re-rank a ranking by its first ten, and by ten more if these seem not to answer."""
        self.judge(ranked[:RERANK_DEPTH])
        reranked = rerank(self.query, ranked, self.judgements)
        if len(ranked) > RERANK_DEPTH and self._seems_unanswered(reranked[0]):
            self.judge(ranked[:SECOND_DEPTH])
            reranked = rerank(self.query, ranked, self.judgements)
        return reranked

    def judge(self, head: Sequence[RankedPassage]) -> None:
        """Match the tokens of the top passages and read the first few; earlier judgements are reused."""
        new = [hit.passage for hit in head if hit.passage.id not in self.judgements]
        matches = {row_id: judged.match for row_id, judged in self.judgements.items()}
        matches |= zip((passage.id for passage in new), self._match(new), strict=True)
        matched = {hit.passage.id: Judgement(matches[hit.passage.id]) for hit in head}
        # A cross-encoder has ordered them already.
        by_tokens = head if self.models.cross_encoder else rerank(self.query, head, matched)
        self.clock.lap("rerank")
        readings = {row_id: judged.reading for row_id, judged in self.judgements.items() if judged.reading is not None}
        to_read = [hit.passage for hit in by_tokens[:READ_DEPTH]]
        unread = [passage for passage in to_read if passage.id not in readings]
        readings |= {passage.id: reading for passage, reading in zip(unread, self.read(unread), strict=True) if reading}
        self.judgements.update(matched)
        for passage in to_read:
            self.judgements[passage.id] = replace(matched[passage.id], reading=readings.get(passage.id))
        self.clock.lap("read")

    def put(self, passage: StoredPassage, reading: Reading) -> None:
        """Add a judgement on a passage that has been read."""
        (match,) = self._match([passage])
        self.judgements[passage.id] = Judgement(match, reading)

    def reading_of(self, passage: StoredPassage) -> Reading | None:
        """Return the reader's result for a passage, if it was read."""
        return reading_of(self.judgements, passage)

    def asking(self, question: str) -> PassageJudge:
        """Return a judge that reads with another question; the two share their `judgements`."""
        return replace(self, query=replace(self.query, question=question, text=question))

    def reread(self, passage: StoredPassage) -> None:
        """Read a passage that was read with the sentence before it without that, too, and take the mean.

        The sentence helps to choose among passages and to see that none answers, but distracts from exact words.
        """
        reading = self.reading_of(passage)
        if reading is None or not self._preceding([passage]):
            return
        (alone,) = self.read([passage], alone=True)
        if alone is not None:
            judged = self.judgements[passage.id]
            self.judgements[passage.id] = replace(judged, reading=reading.mean_with(alone))
        self.clock.lap("read")

    def read(self, passages: Sequence[StoredPassage], *, alone: bool = False) -> Sequence[Reading | None]:
        """Read passages with the question; all None without the reader, or if their prose is not in its language.

        Args:
            passages: The passages.
            alone: Without the sentence before each.
        """
        reader = self.models.reader
        try:
            if reader is not None and reader.is_english(
                passage.text[passage.body :] for passage in passages if not is_code(passage.document.path, passage.text)
            ):
                before = {} if alone else self._preceding(passages)
                rewritten = [in_third_person(passage.text, self._said(passage)) for passage in passages]
                inputs = [
                    (*self._reader_input(passage, before.get(passage.id)), new.text)
                    for passage, new in zip(passages, rewritten, strict=True)
                ]
                return list(map(of_original, reader.read(inputs), rewritten))
        except (CompileError, ImportError, ModelError) as error:
            if self.models.reader is not None:  # else another thread has already warned
                _log.warning("The reader is unavailable, so answers are whole sentences: %s", error)
            self.models.reader = None
        return [None] * len(passages)

    def _reader_input(self, passage: StoredPassage, before: StoredPassage | None) -> tuple[str, str]:
        """Return the question and the context for the reader, if the question has a date with dates in words.

        The context ends with the sentence before the passage, if there is one.
        """
        query = self.query
        context = self._reader_context(passage)
        if periods_in(query.question):
            context = spell_out_dates(context)
        if topic := topic_of_sender(query.question, passage):
            question = f"What about {topic}?"
        else:
            question = write_as_bands(passage, spell_out_dates(query.question))
            undated = without_periods(question)
            if len(terms(undated)) >= _FEWEST_TERMS and _has_date_above(query.original, passage):
                question = undated
        if before is not None:
            context = with_preceding(context, before.text[before.body :])
        return question, context

    def _said(self, passage: StoredPassage) -> list[Said]:
        """Return whose words the parts of a passage are, if the question asks for a person or names the speaker."""
        question, document = self.query.original, passage.document
        if passage.id not in self.said:
            said: list[Said] = []
            if may_name_person(question) and says_i(passage.text):
                is_short = not passage.is_mail and document.passages <= MOST_PASSAGES
                said = speakers(passage, self.snapshot.passages_of(document.path) if is_short else ())
            self.said[passage.id] = said_of_topic(question, passage.text, said)
        return self.said[passage.id]

    def _reader_context(self, passage: StoredPassage) -> str:
        """Return a passage's context, preceded by the question's names for its document, and by its title if needed.

        The title is needed for front matter, which means nothing without it, and if it has a date.
        """
        title, context = passage.title, passage.context
        if title not in context and (passage.is_front_matter or any(dates_in(title))):
            context = " › ".join(filter(None, (title, context)))
        return " › ".join(filter(None, (" ".join(self.titles.get(passage.id, ())), context)))

    def _match(self, passages: Sequence[StoredPassage]) -> list[TokenMatch]:
        """Match the tokens of passages, each after the question's names for its document."""
        self._find_names(passages)
        return match_tokens(self.tokens, passages, self.models.encoder, list(map(self._matched_names, passages)))

    def _matched_names(self, passage: StoredPassage) -> str:
        """Return the names for a passage's document; acronyms only, unless in English, as others may be nouns."""
        names = self.names.get(passage.id, ())
        reader = self.models.reader
        if not all(map(str.isupper, names)) and not (reader and reader.is_english([passage.text[passage.body :]])):
            names = tuple(filter(str.isupper, names))
        return " ".join(names)

    def _find_names(self, passages: Sequence[StoredPassage]) -> None:
        """Find the question's names and years that only a passage's path or author, or its document's opening, has.

        Such as "Keller 2020" of a paper, or an acronym in its title.
        """
        question = self.query.question
        acronyms = () if question.isupper() else _ACRONYM.findall(question)
        asked = {*_names_and_years(question), *acronyms}
        if not asked:
            return
        openings = self.snapshot.openings(passages)
        for passage in passages:
            stated = "" if passage.title in passage.context else passage.title
            words = _WORD.findall(f"{passage.context} {stated} {passage.text}")
            present = {word.lower() for word in words} | STOP_WORDS
            authors = (value for name, value in passage.document.fields if name.lower() == "author")
            path = " ".join([path_words(passage.document.path), *authors])
            opening = openings[passage.id].text[:_LONGEST_OPENING] if passage.id in openings else ""
            lines = [line for line in opening.split("\n") if line.strip()]
            title = "\n".join(lines[:_TITLE_LINES])[:_LONGEST_TITLE]
            for names, part in ((self.titles, title), (self.names, opening)):
                origin = [*_names_and_years(f"{path} {part}"), *_ACRONYM.findall(part)]
                found = (word for word in origin if word in asked and word.lower() not in present)
                names[passage.id] = tuple(dict.fromkeys(found))

    def _preceding(self, passages: Sequence[StoredPassage]) -> dict[int, StoredPassage]:
        """Return the passage right before each that has one, unless it is front matter, by row number."""
        before = self.snapshot.preceding(passages, LARGEST_GAP)
        return {row_id: passage for row_id, passage in before.items() if not passage.is_front_matter}

    def _seems_unanswered(self, best: RankedPassage) -> bool:
        """Whether the reader has read the first passage, and its answer would not count as found."""
        reading = self.reading_of(best.passage)
        if reading is None or self.query.mode is not Mode.HYBRID:
            return False
        question = self.query.original
        features = confidence.features_of(
            question, best.passage, cosine=best.cosine, sentence=0.0, matched=best.matched, reading=reading
        )
        model = confidence.model_for(question, is_read=True, is_reranked=True)
        return confidence.probability(features, model) < confidence.THRESHOLD


def _has_date_above(question: str, passage: StoredPassage) -> bool:
    """Whether a passage is part of a record of the day or month that a question names, without naming that itself.

    The reader takes "what caused the outage of 22 January?" for unanswered below the heading with that date.
    """
    asked = asked_period(question)
    own = None if asked is None else own_period(passage)
    if asked is None or own is None or not own.overlaps(asked) or (asked.day and not own.day):
        return False
    return not any(asked.overlaps(period) for period in periods_in(passage.text[passage.body :]))


def _names_and_years(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word.isdecimal() or (word[0].isupper() and not word.isupper())]
