"""Entries with a date, as in a diary or a log: "3 Feb  skip delivered", or a section below "3 February".

"When was the skip delivered?" is answered with the date of the entry that has the words of the question, and "when was
the tank last cleaned?" with the date of the latest one. The date may also be at the end of each line, or in a column of
a table. A question with a month, "who cleaned the tank in May?", is answered from an entry of that month or not at all.
"When did Ann write about the tank?" is answered with the date of her message about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from corpus import lazy_pattern, path_words, sentence_spans
from corpus.formats import RECORDS
from index import StoredPassage
from qa.questions.dates import Period, asked_time, dates_in, periods_in, without_time
from qa.questions.steps import terms
from qa.questions.values import MONTH, Span
from qa.reader.speakers import MOST_PASSAGES, Said, speakers
from qa.reader.tables import tables

_WEEKDAY = r"(?i:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)[a-zäöüß]*\.?,?[ \t]+"
_DATE = (
    rf"(?:{_WEEKDAY})?(?:\d{{1,4}}(?P<mark>[./-])\d{{1,2}}(?P=mark)(?:\d{{1,4}})?(?!\w)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?[ \t]+{MONTH}\.?(?:,?[ \t]+\d{{4}}\b)?"
    rf"|{MONTH}\.?[ \t]+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?[ \t]+\d{{4}}\b)?)"
)
_ENTRY = lazy_pattern(rf"^[ \t]*(?:[-*•+][ \t]+)?[\[(*_<]*(?P<date>{_DATE})", re.MULTILINE)
# A date at the end of a line, in brackets or after a comma, a dash, a wide gap or "on".
_ENTRY_BEFORE_DATE = lazy_pattern(
    rf"(?:[,;:(\[–—-][ \t]*|[ \t]{{2,9}}|\t|\b(?:on|am)[ \t]+)[*_]{{0,3}}(?P<date>{_DATE})[)\]*_]{{0,4}}"
    r"(?:[ \t]{1,3}\([^()\n]{1,40}\))?\.?[ \t]*$"
)
_LONGEST_LINE = 200
_SLASHED = lazy_pattern(r"(?<![\d/])(\d\d?)/(\d\d?)/\d{2,4}(?![\d/])")
_MONTHS = 12
_OTHER_DATE = lazy_pattern(rf"(?<!\d)(?:19|20)\d\d(?!\d)|\b{MONTH}|\d[./]\d{{1,2}}[./]")
_YEAR = lazy_pattern(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_FIELD = lazy_pattern(r"^[^\s:][^\n:]{0,39}:[ \t]+(?P<value>\S.*)$", re.MULTILINE)
_ASKS_WHEN = lazy_pattern(
    r"\W*(?:when|(?:on )?(?:what|which) (?:day|date)|(?:what|when) was the last time|(?:the )?last time)\b",
    re.IGNORECASE,
)
# Not "may", as that is a month.
_PRESENT_TENSE = lazy_pattern(r"\b(?:am|are|can|do|does|is|must|shall|should|will)\b|['’](?:ll|re)\b", re.IGNORECASE)
_PAST_TENSE = lazy_pattern(r"\b(?:did|had|has|have|was|were)\b", re.IGNORECASE)
_ASKS_MORE = lazy_pattern(r"\b(?:how|what|where|which|who|why)\b", re.IGNORECASE)
_ASKS_FOR_LAST = lazy_pattern(r"\b(?:last|latest|most recent(?:ly)?)\b", re.IGNORECASE)
_ASKS_FOR_FIRST = lazy_pattern(r"\bfirst\b|\bearliest\b", re.IGNORECASE)
# Terms that say that a date is asked for.
_OF_QUESTION = {
    "",  # of "the cat's"
    *terms("when what which date day time last latest recent recently most first earliest ever again happen"),
}
# Those that an entry with an amount lacks: "how much did the new vessel cost?"
_OF_AMOUNT = terms("cost costs many much new paid pay price")
# Other forms of a verb, by stem: "fed" for "feed".
_IRREGULAR = [
    set(forms.split())
    for forms in (
        "break broke broken", "bring brought", "bui bought", "catch caught", "come came", "drive drove driven",
        "eat at eaten", "fall fell fallen", "feed fed", "find found", "fly flew flown", "get got gotten",
        "give gave given", "go went gone", "grow grew grown", "leav left", "lend lent", "lose lost", "make made",
        "meet met", "pai paid", "ride rode ridden", "ring rang rung", "see saw seen", "sell sold", "send sent",
        "shoot shot", "sow sown", "speak spoke spoken", "steal stole stolen", "swim swam swum", "take took taken",
        "teach taught", "tear tore torn", "write wrote written",
    )
]  # fmt: skip

# Questions for when somebody did something, and words that say no more than that they wrote of it.
_ASKS_WHEN_DID = lazy_pattern(r"\W*(?:when|(?:on )?(?:what|which) (?:day|date)) did\b", re.IGNORECASE)
_WRITE = terms(
    "write say tell mention announce ask offer promise suggest propose agree accept answer reply send report complain"
    " warn confirm admit thank message mail email letter us me them him her first"
) | {""}
# Words by which a sentence has a time of its own, other than that of the message.
_OTHER_TIME = lazy_pattern(
    r"\b(?:yesterday|tomorrow|tonight|ago|last|next|will|going to|shall|would|might|when|after|since|before|easter"
    r"|christmas|new year|(?:in|this|that) (?:the )?(?:spring|summer|autumn|fall|winter|week|month|year)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|['’](?:ll|d)\b|\?",
    re.IGNORECASE,
)
_NEGATED = lazy_pattern(r"\b[^\W\d_]{2,6}n['’]t\b")
_WORD = lazy_pattern(r"\w+")
_PERFECT = lazy_pattern(r"\bI(?:['’]ve| have)\b(?! to\b)")
_DAY_LINE = lazy_pattern(rf"^[ \t]*[-–—=*#_ ]{{0,9}}(?P<date>{_DATE})[-–—=*#_ ]{{0,9}}$", re.MULTILINE)
_SENTENCE = lazy_pattern(r"[^.!?\n]{1,400}(?:[.!?]|(?=\n|\Z))(?:\n(?=[a-z])[^.!?\n]{1,400}[.!?]?)?")


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


# Where a paragraph, an item of a list or a line with a date begins.
_BLOCK = lazy_pattern(
    r"\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-*•+]|\d{1,2}[.)])[ \t])"
    rf"|\n(?=[ \t]*[\[(*_<]*{_DATE.replace('mark', 'sign')})"
)


class LogEntry(NamedTuple):
    """An entry with a date.

    Attributes:
        date: Its date; the year is 0 if the entry does not give it.
        stamp: The date's characters in the passage's text.
        span: The entry's characters, without the date.
    """

    date: Period
    stamp: Span
    span: Span


class EntryAnswer(NamedTuple):
    """The entry that answers.

    Attributes:
        passage: Its passage.
        entry: The entry.
        is_sure: Whether it, its headings, title and path have all words of the question.
    """

    passage: StoredPassage
    entry: LogEntry
    is_sure: bool


class _Match(NamedTuple):
    missing: int
    own: int
    passage: StoredPassage
    entry: LogEntry


def asks_when(question: str) -> bool:
    """Whether a question asks when something was, and names no date."""
    asks = _ASKS_WHEN.match(question)
    if asks is None or any(periods_in(question)) or _ASKS_MORE.search(question, asks.end()):
        return False
    return bool(_PAST_TENSE.search(question) or _ASKS_FOR_LAST.search(question))


def answering_entry(
    question: str, passages: Sequence[StoredPassage], asked: Period | None = None
) -> EntryAnswer | None:
    """Return the entry that tells when something was; None if none has most words of the question, or several have.

    Of several, the last or the first one answers a question for that.

    Args:
        question: A question that asks when, or what was at some time, without that time.
        passages: The passages to search, those of a document in order.
        asked: The time that the entry must be of; None for any.
    """
    topic = terms(question) - _OF_QUESTION - (set() if asked is None else _OF_AMOUNT)
    matches = [match for passage in passages for match in _matches(topic, passage)]
    if not matches:
        return None
    month_first = {path for path in {it.passage.document.path for it in matches} if _is_month_first(path, passages)}
    matches = [
        it._replace(entry=it.entry._replace(date=_swapped(it.passage, it.entry)))
        if it.passage.document.path in month_first
        else it
        for it in matches
    ]
    least = min((match.missing, -match.own) for match in matches)
    best = [match for match in matches if (match.missing, -match.own) == least]
    if asked is not None:
        of_time = [match for match in matches if match.entry.date.overlaps(asked)]
        best = [it for it in of_time if it in best] or [it for it in of_time if not it.missing]
        if not best:
            return None
    if _ASKS_FOR_LAST.search(question):
        # Those with all the words may be older than one with most: "fed syrup" after "fed the bees".
        best = [_latest(best, passages)]
    elif _ASKS_FOR_FIRST.search(question):
        best = [_latest(best, passages, first=True)]
    if len({match.entry.date for match in best}) > 1:
        return None
    # Without the time, the reader would be too sure of what lacks a word of the question, or has it elsewhere.
    if asked is not None and not asks_when(question) and (best[0].missing or not _is_one_sentence(best[0])):
        return None
    return EntryAnswer(best[0].passage, best[0].entry, not best[0].missing)


def asks_for_last_or_first(question: str) -> bool:
    """Whether a question asks when something was the last or the first time."""
    return asks_when(question) and bool(_ASKS_FOR_LAST.search(question) or _ASKS_FOR_FIRST.search(question))


def has_entries(passage: StoredPassage) -> bool:
    """Whether a passage has entries with a date."""
    return bool(_entries(passage))


def is_of_other_time(question: str, passage: StoredPassage, answer_span: Span) -> bool:
    """Whether the answer to what was in some month, day or year is part of an entry of another one.

    Not if the entry names that, too, or if its date is above prose that lacks words of the question. An entry of the
    time does not answer, either, if it lacks words of the question, all of which are in one of another time.
    """
    asked = asked_time(question)
    if asked is None or _PRESENT_TENSE.search(question):
        return False
    text, topic = passage.text, terms(without_time(question)) - _OF_QUESTION
    around = _around(passage)
    for entry in map(partial(_with_year, passage), _entries(passage)):
        start, end = min(entry.stamp[0], entry.span[0]), max(entry.stamp[1], entry.span[1])
        if not (start <= answer_span[0] and answer_span[1] <= max(end, start + 1)):
            continue
        rest = _without_stamp(text, entry)
        is_named = str(asked.year) in rest if not asked.month else any(map(asked.overlaps, periods_in(rest)))
        missing = topic - terms(rest) - around
        if is_named or (entry.stamp[0] < passage.body and 2 * len(missing) > len(topic)):
            return False
        others = [entry]
        if missing and not entry.date.excludes(asked):
            sure = [match.entry for match in _matches(topic, passage) if not match.missing]
            others = others if not sure or entry in sure else sure
        # The first number of a date may be the month.
        return all(it.date.excludes(asked) and _swapped(passage, it).excludes(asked) for it in others)
    return False


def message_date(question: str, passages: Sequence[StoredPassage]) -> MessageDate | None:
    """Return when somebody wrote what a question asks: a message by them with all its words; None if several have.

    What they did or saw must be without a time of its own: "I lost it on Monday".

    Args:
        question: A question that asks when.
        passages: The passages to search, with all of a document that may be a letter.
    """
    if not _ASKS_WHEN_DID.match(question):
        return None
    asked, words_of_question = terms(_NEGATED.sub(" ", question)) - _OF_QUESTION, set(_WORD.findall(question.lower()))
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
    return best[0] if best and best[0].date and len({_date(it.date) for it in best}) == 1 else None


def entry_starts(text: str, start: int, end: int) -> list[int]:
    """Return where lines with a date begin, in part of a text; none if only one has one, as in wrapped prose."""
    starts = [entry.start() for entry in _ENTRY.finditer(text, start, end)]
    return starts if len(starts) > 1 else [entry.span[0] for entry in _lines_before_dates(text[:end], start)]


def _date_of(said: Said, passage: StoredPassage, above: str) -> str:
    """Return the date of a message, or of the last heading of a day above it in a chat; "" if it is not known."""
    dates = [date.text for date in dates_in(said.head)]
    if dates:
        return dates[-1]
    if stamp := re.search(r"(?<!\d)\d{1,2}[./-]\d{1,2}[./-](?:\d\d(?:\d\d)?)?(?!\d)", said.head):
        return stamp[0]
    text = f"{above}\n{passage.text[: said.span[0]]}"
    days = [match["date"] for match in _DAY_LINE.finditer(text)]
    headings = [match[0] for heading in passage.heading[-1:] if (match := re.fullmatch(_DATE, heading))]
    return next((it for it in (*reversed(days), *headings) if _date(it)), "")


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
    start = span[0] + len(text[slice(*span)]) - len(text[slice(*span)].lstrip())
    sentence = text[start : span[1]]
    # "I have lost it" is never told with the time at which it was.
    has_time = not _PERFECT.search(sentence) and (_OTHER_TIME.search(sentence) or _OTHER_DATE.search(sentence))
    return None if has_time and not is_told else (start, span[1])


def _matches(topic: set[str], passage: StoredPassage) -> Iterator[_Match]:
    """Yield the entries of a passage that have at least half of a topic's words."""
    text, around = passage.text, _around(passage)
    for entry in map(partial(_with_year, passage), _entries(passage)):
        entry_terms = terms(text[slice(*entry.span)])
        own = {term for term in topic if has_form_of(term, entry_terms)}
        missing = len(topic - own - around)
        # Below a heading there may be much else, and an entry may tell when something else was.
        is_likely = not missing or (entry.stamp[0] >= passage.body and own - around and 2 * missing <= len(topic))
        if own and is_likely and not _OTHER_DATE.search(_without_stamp(text, entry)):
            yield _Match(missing, len(own), passage, entry)


def _is_one_sentence(match: _Match) -> bool:
    """Whether an entry is a row, a record or a single sentence."""
    passage, (_, stamp, span) = match.passage, match.entry
    is_inside = span[0] <= stamp[0] and stamp[1] <= span[1]
    return is_inside or len(list(sentence_spans(passage.text, *span))) == 1


def _is_month_first(path: str, passages: Sequence[StoredPassage]) -> bool:
    """Whether the dates with slashes in a document are surely written as in 6/24/2024."""
    texts = (passage.text for passage in passages if passage.document.path == path)
    numbers = [(int(it[1]), int(it[2])) for text in texts for it in _SLASHED.finditer(text)]
    return any(month > _MONTHS for _, month in numbers) and not any(day > _MONTHS for day, _ in numbers)


def _swapped(passage: StoredPassage, entry: LogEntry) -> Period:
    """Return the date of an entry with day and month swapped, if they may be."""
    year, month, day = entry.date
    may_be = day <= _MONTHS and _SLASHED.search(passage.text, *entry.stamp)
    return Period(year, day, month) if may_be else entry.date


def _without_stamp(text: str, entry: LogEntry) -> str:
    return text[slice(*entry.span)].replace(text[slice(*entry.stamp)], "")


def _above(passage: StoredPassage) -> str:
    return f"{path_words(passage.document.path)} {passage.title} {passage.context}"


def _around(passage: StoredPassage) -> set[str]:
    return terms(_above(passage))


def _with_year(passage: StoredPassage, entry: LogEntry) -> LogEntry:
    """Return an entry with the only year in the headings, title and path, if it gives none itself."""
    years = set() if entry.date.year else set(_YEAR.findall(_above(passage)))
    return entry._replace(date=entry.date._replace(year=int(*years))) if len(years) == 1 else entry


def has_form_of(term: str, among: set[str]) -> bool:
    """Whether some terms have a form of another: "fed" of "feed"."""
    forms = next((forms for forms in _IRREGULAR if term in forms), {term})
    return not forms.isdisjoint(among)


def _entries(passage: StoredPassage) -> list[LogEntry]:
    """Return the entries of a passage: lines with a date, a dated record or row, or all below a dated heading."""
    text, body = passage.text, passage.body
    if passage.document.media_type in RECORDS:
        return _dated_record(text, body)
    if lines := _lines_after_dates(text, body) or _dated_rows(passage) or _lines_before_dates(text, body):
        return lines
    heading = passage.heading[-1] if passage.heading else ""
    at = text.rfind(heading, 0, body) if heading else -1
    stamp = re.search(_DATE, heading)
    date = _date(stamp[0]) if stamp else None
    if at < 0 or stamp is None or date is None:
        return []
    return [LogEntry(date, (at + stamp.start(), at + stamp.end()), (body, len(text)))]


def _lines_after_dates(text: str, body: int) -> list[LogEntry]:
    """Return the lines that begin with a date, each up to the next one or a blank line."""
    starts = [match for match in _ENTRY.finditer(text, body) if _date(match["date"]) is not None]
    ends = [*(match.start() for match in starts[1:]), len(text)]
    entries = []
    for match, end in zip(starts, ends, strict=bool(starts)):
        blank = text.find("\n\n", match.end(), end)
        date = _date(match["date"])
        if date is not None:
            entries.append(LogEntry(date, match.span("date"), (match.end("date"), end if blank < 0 else blank)))
    return entries


def _lines_before_dates(text: str, body: int) -> list[LogEntry]:
    """Return the lines that end with a date, if two or more follow one another: one may be wrapped prose."""
    runs: list[list[LogEntry]] = [[]]
    at = body
    for line in text[body:].split("\n"):
        start, at = at, at + len(line) + 1
        match = _ENTRY_BEFORE_DATE.search(line) if len(line) <= _LONGEST_LINE else None
        date = _date(match["date"]) if match else None
        if match is not None and date is not None and line[: match.start()].strip():
            stamp = start + match.start("date"), start + match.end("date")
            runs[-1].append(LogEntry(date, stamp, (start, start + len(line.rstrip()))))
        elif line.strip():
            runs.append([])
    return [entry for run in runs if len(run) > 1 for entry in run]


def _dated_rows(passage: StoredPassage) -> list[LogEntry]:
    """Return the rows of tables in which one column, and no other, has dates and nothing else."""
    text, entries = passage.text, []
    for table in tables(text, passage.context):
        cells = [(at, cell, row) for row in table.rows for at, cell in enumerate(row) if _is_date(text[slice(*cell)])]
        for _, cell, row in cells if len({at for at, *_ in cells}) == 1 else ():
            filled = [it for it in row if it[0] < it[1]]
            date = _date(text[slice(*cell)])
            if date is not None and len(filled) > 1 and cell[0] >= passage.body:
                entries.append(LogEntry(date, cell, (filled[0][0], filled[-1][1])))
    return entries


def _is_date(text: str) -> bool:
    """Whether a text is a date and nothing else."""
    return any(date.text == text for date in dates_in(text))


def _dated_record(text: str, body: int) -> list[LogEntry]:
    """Return a record as an entry, if one of its fields is a date and nothing else."""
    dates = [match for match in _FIELD.finditer(text, body) if _is_date(match["value"])]
    if len(dates) != 1:
        return []
    date = _date(dates[0]["value"])
    return [] if date is None else [LogEntry(date, dates[0].span("value"), (body, len(text)))]


def _date(text: str) -> Period | None:
    """Return a date; its year is 0 if it has none."""
    found = next(iter(dates_in(text.strip(". "))), None)
    if found is not None:
        return Period(found.year, found.month, found.day)
    short = re.search(r"(?<!\d)(\d{1,2})[./-](\d{1,2})[./-](\d\d)?(?!\d)", text)
    if short is None or not (0 < int(short[1]) <= 31 and 0 < int(short[2]) <= 12):
        return None
    return Period(2000 + int(short[3]) if short[3] else 0, int(short[2]), int(short[1]))


def _latest(matches: Sequence[_Match], passages: Sequence[StoredPassage], *, first: bool = False) -> _Match:
    """Return the match with the latest date, or the earliest; without years, by the order of the entries."""
    if all(match.entry.date.year for match in matches):
        return (min if first else max)(matches, key=lambda match: match.entry.date)
    path = matches[0].passage.document.path
    dates = [entry.date for passage in passages if passage.document.path == path for entry in _entries(passage)]
    rising = sum(later[1:] >= earlier[1:] for earlier, later in pairwise(dates))
    is_rising = 2 * rising >= len(dates) - 1
    return matches[0 if first is is_rising else -1]


def blocks_of(text: str, body: int) -> Iterator[Span]:
    """Yield the paragraphs, list items and dated lines of a text from its body on."""
    cuts = [body, *(match.end() for match in _BLOCK.finditer(text, body)), len(text)]
    for start, end in pairwise(cuts):
        block = text[start:end]
        if block.strip():
            yield start + len(block) - len(block.lstrip()), start + len(block.rstrip())


def dated_lines(text: str) -> list[tuple[int, Period]]:
    """Return where the lines of a chat or log that begin with a date begin, and their dates."""
    stamps = ((entry.start(), next(dates_in(entry["date"]), None)) for entry in _ENTRY.finditer(text))
    return [(start, Period(date.year, date.month, date.day)) for start, date in stamps if date is not None]
