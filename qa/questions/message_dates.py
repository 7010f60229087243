"""When somebody wrote: "when did Ann write about the tank?" is answered with the date of her message about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from corpus import lazy_pattern
from index import StoredPassage
from qa.language.dates import dates_in
from qa.language.question_kinds import ASKS_WHEN_DID
from qa.language.spans import Span, trimmed
from qa.language.terms import has_form_of, terms
from qa.language.values import WEEKDAY_NAME
from qa.questions.log_entries import OF_QUESTION, OTHER_DATE
from qa.structure.dated_entries import DATE, parse_date
from qa.structure.speakers import MOST_PASSAGES, Said, speakers

# Words that say no more than that somebody wrote of what they did.
_WRITE = terms(
    "write say tell mention announce ask offer promise suggest propose agree accept answer reply send report complain"
    " warn confirm admit thank message mail email letter us me them him her first"
)
# Words by which a sentence has a time of its own, other than that of the message.
_OTHER_TIME = lazy_pattern(
    r"\b(?:yesterday|tomorrow|tonight|ago|last|next|will|going to|shall|would|might|when|after|since|before|easter"
    r"|christmas|new year|(?:in|this|that) (?:the )?(?:spring|summer|autumn|fall|winter|week|month|year)"
    rf"|{WEEKDAY_NAME})\b"
    r"|['’](?:ll|d)\b|\?",
    re.IGNORECASE,
)
_NEGATED = lazy_pattern(r"\b[^\W\d_]{2,6}n['’]t\b")
_WORD = lazy_pattern(r"\w+")
# What somebody did themselves: "I sold", "we have just sold".
_DID = lazy_pattern(r"\b(?:I|we|We)\b(?:['’]\w+)?(?:\W+\w+){1,3}|\A\W*\w+")
_PERFECT = lazy_pattern(r"\bI(?:['’]ve| have)\b(?! to\b)")
_SENTENCE = lazy_pattern(r"[^.!?\n]{1,400}(?:[.!?]|(?=\n|\Z))(?:\n(?=[a-z])[^.!?\n]{1,400}[.!?]?)?")
_DAY_LINE = lazy_pattern(rf"^[ \t]*[-–—=*#_ ]{{0,9}}(?P<date>{DATE})[-–—=*#_ ]{{0,9}}$", re.MULTILINE)


class MessageDate(NamedTuple):
    """The date of a message that answers.

    Attributes:
        passage: Its passage.
        span: The sentence that tells what is asked.
        date: The date as it is written.
    """

    passage: StoredPassage
    span: Span
    date: str


def message_date(question: str, passages: Sequence[StoredPassage]) -> MessageDate | None:
    """Return when somebody wrote what a question asks: a message by them with all its words; None if several have.

    What they did or saw must be their own doing, and without a time of its own: "I lost it on Monday".

    Args:
        question: A question that asks when.
        passages: The passages to search, with all of a document that may be a letter.
    """
    if not ASKS_WHEN_DID.match(question):
        return None
    asked, words_of_question = terms(_NEGATED.sub(" ", question)) - OF_QUESTION, set(_WORD.findall(question.lower()))
    documents: dict[int, list[StoredPassage]] = {}
    for passage in sorted(passages, key=lambda passage: passage.start):
        documents.setdefault(passage.document.id, []).append(passage)
    found = []
    for passage in passages:
        document = documents[passage.document.id]
        is_whole = len(document) == passage.document.passages <= MOST_PASSAGES
        for said in speakers(passage, document if is_whole else ()):
            topic = asked - terms(said.speaker)
            span = _telling(topic, said, passage) if topic != asked else None
            above = [it.text for it in document if it.start < passage.start] if is_whole else []
            if span is not None:
                # Words such as "off" tell one message from another, too.
                shared = words_of_question & set(_WORD.findall(passage.text[slice(*span)].lower()))
                date = _date_of(said, passage, "\n".join(above))
                found.append((len(shared), MessageDate(passage, span, date)))
    most = max((shared for shared, _ in found), default=0)
    best = [it for shared, it in found if shared == most]
    return best[0] if best and best[0].date and len({parse_date(it.date) for it in best}) == 1 else None


def _date_of(said: Said, passage: StoredPassage, above: str) -> str:
    """Return the date of a message, or of the last heading of a day above it in a chat; "" if it is not known."""
    dates = [date.text for date in dates_in(said.head)]
    if dates:
        return dates[-1]
    if stamp := re.search(r"(?<!\d)\d{1,2}[./-]\d{1,2}[./-](?:\d\d(?:\d\d)?)?(?!\d)", said.head):
        return stamp[0]
    text = f"{above}\n{passage.text[: said.span[0]]}"
    days = [match["date"] for match in _DAY_LINE.finditer(text)]
    headings = [match[0] for heading in passage.heading[-1:] if (match := re.fullmatch(DATE, heading))]
    return next((it for it in (*reversed(days), *headings) if parse_date(it)), "")


def _telling(topic: set[str], said: Said, passage: StoredPassage) -> Span | None:
    """Return the sentence of a message that has most terms of a topic, if the message has all of them."""
    text, what = passage.text, topic - _WRITE
    if not what:
        return None
    is_told = what != topic
    sentences = [match.span() for match in _SENTENCE.finditer(text, *said.span) if match[0].strip()]
    own = [(sum(has_form_of(term, terms(text[slice(*it)])) for term in what), it) for it in sentences]
    most, span = max(own, key=lambda it: it[0], default=(0, (0, 0)))
    message = terms(f"{passage.title if passage.is_mail else ''} {text[slice(*said.span)]}")
    if not most or 2 * most < len(what) or not all(has_form_of(term, message) for term in what):
        return None
    start = trimmed(text, span)[0]
    sentence = text[start : span[1]]
    # "I have lost it" is never told with the time at which it was.
    has_time = not _PERFECT.search(sentence) and (_OTHER_TIME.search(sentence) or OTHER_DATE.search(sentence))
    did = (word for match in _DID.finditer(sentence) for word in terms(match[0]))
    is_theirs = is_told or any(has_form_of(word, what) for word in did)
    return None if not is_theirs or (has_time and not is_told) else (start, span[1])
