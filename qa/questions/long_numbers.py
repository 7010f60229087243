"""Telephone, account, parcel and other numbers of seven digits or more: 02079460958, or in groups "020 7946 0958".

Those of a question are found in the collection however they are grouped there. If it asks for somebody's telephone
number, the line of an address list with that name has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from corpus import lazy_pattern
from index import Index, StoredPassage, word_terms
from qa.language.dates import dates_in
from qa.language.spans import Span, lines_of, spans_overlap
from qa.language.terms import terms
from qa.questions.lookup import QUOTED

# What may be between the groups of a number.
_MARKS = "[ ./()\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}‐‑–-]"
_BETWEEN_GROUPS = lazy_pattern(f"{_MARKS}{{1,3}}")
# Digits of the shortest number, and characters of the longest.
_LEAST, _LONGEST = 7, 50
_GROUP = r"[A-Z]*\d[A-Z\d]*"
# Four letters may be the bank in an account number.
_GROUPS = rf"{_GROUP}(?:{_MARKS}{{1,3}}(?:{_GROUP}|[A-Z]{{4}}))*"
_NUMBER = lazy_pattern(rf"(?<!\w)(?<!\d[.,:])(?:(?:[A-Za-z]*\d){{{_LEAST}}}[A-Za-z\d]*|{_GROUPS})(?!\w|[.,:]\d)")
# Amounts, years, and decimals or times with another mark between them: "10.30-11.30".
_AMOUNT = lazy_pattern(r"(?:(?:\d+000|[1-9]\d{0,2}(?:\W\d{3})+|\d{1,3}\.\d+)(?:[–-]|\Z))+")
_YEARS = lazy_pattern(r"(?=.*(?:19|20)\d\d(?!\d))(?:(?:(?:19|20)\d\d|\d\d)(?:\W{1,3}|\Z))+")
_DECIMALS = lazy_pattern(r".*\d\.\d.*[^\w.].*|.*[^\w.].*\d\.\d.*")
_PERIOD, _LAST_YEAR = lazy_pattern(r"([1-9]\d{2,3})[–-]([1-9]\d{2,3})"), 2100
# A fraction after another number: "cifar-100 8/255"; but a prefix is longer, or begins with 0: "0151/555 0123".
_FRACTION = lazy_pattern(r".*(?<!\d)[1-9]\d?/[1-9]\d{0,2}(?!\d).*")
_NOT_NUMBERS = (_AMOUNT, _YEARS, _DECIMALS, _FRACTION)
_ASKS_FOR_OWNER = lazy_pattern(r"\b(?:who|whose|whom|(?:what|which) (?:company|firm|number|shop))\b", re.IGNORECASE)
# Other words of a question for whose a number is: "missed a call from 020 7946 0958 just now, whose number is that?".
_OF_OWNER = terms(
    "account belong call caller call company contact dial find firm get got just know line message miss mobile name now"
    " number own owner person phone please plz pls reach ring rang shop someone telephone tel text this today under use"
    " yesterday"
)
# Sizes of groups, and how many passages with some of a number's groups are searched for the number.
_SIZES = range(2, 7)
_MAX_PASSAGES = 20
# At most this many numbers of a question are looked for.
_MAX_NUMBERS = 5
# In a question with more words, such as a problem with its log, a number may be of no importance.
_MAX_WORDS = 20
# Digits of the shortest telephone number without the country's code.
_LOCAL_DIGITS = 7

# Questions for a telephone number, and others with such words.
_LABELS = {
    "mobile": lazy_pattern(r"\b(?:mobile|mob)\b", re.IGNORECASE),
    "home": lazy_pattern(r"\b(?:home|landline)\b", re.IGNORECASE),
    "work": lazy_pattern(r"\b(?:work|office|surgery)\b", re.IGNORECASE),
}
_ASKS_FOR_PHONE = lazy_pattern(
    r"\b(?:(?:tele)?phone|mobile|landline|number|tel)\b|\bhow (?:do|can|could) (?:i|we|you|one)"
    r" (?:call\b|(?:reach|ring) (?-i:[A-Z]))",
    re.IGNORECASE,
)
_OTHER = r"account|acct|iban|card|policy|member\w*|ref\w*|order|invoice|customer|id|fax|licen[cs]e|serial|plate"
_ASKS_FOR_OTHER = lazy_pattern(
    r"\b(?:who|whom|whose|when|where|why|how (?:many|much|long|old|often)|(?:total|average) number"
    rf"|number of (?:(?:the|an?|my|our|your|his|her|their) )?(?:\w+ )?(?:{_OTHER}|door|room|house|flat|page|bus)"
    rf"|(?:{_OTHER}) number"
    r"|(?:phone|mobile) (?!numbers?\b|phone\b)\w+ (?:of|for|in|at)"
    r"|(?:phone|mobile) (?:bill|contract|company|model|case|charger))\b",
    re.IGNORECASE,
)
_OF_PHONE = terms(
    "what which phone telephone mobile landline number tel call reach ring contact new current home work office give"
    " get find need please have tell show"
)
_PHONE = lazy_pattern(r"[+(]?[\d][\d ./()\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}‐‑–-]*\d")
_MOST_DIGITS = 15
# What may be between a name and its number, and words before another number, or before one that no longer counts.
_BETWEEN = lazy_pattern(
    r"[\s,:;()|=–-]*(?:(?:on )?(?:tel|tele|phone|telephone|mobile|mob|home|work|office)\b[.: ]*)?\Z"
)
_OTHER_NUMBER = lazy_pattern(rf"\b(?:{_OTHER})\b[^,;|]{{0,15}}\Z", re.IGNORECASE)
_FORMER = lazy_pattern(r"\b(?:old|former|formerly|previous(?:ly)?|was)\b[^,;|]{0,15}\Z", re.IGNORECASE)
_ALIGNED = lazy_pattern(r"\S(?: {2,}|\t)\S")
_CELL = lazy_pattern(r",|  |\t|:| [–-] ")
_LONGEST_LINE = 300


class NumberedQuestion(NamedTuple):
    """A question with its long numbers written as in the collection.

    Attributes:
        text: "who has 020 7946 0958?" for "who has 02079460958?".
        changed: The numbers that are written otherwise there: how the question has them, and how the collection.
        is_unknown: Whether no passage has one of the numbers of a short question.
    """

    text: str
    changed: tuple[tuple[str, str], ...]
    is_unknown: bool


def long_numbers(text: str) -> list[re.Match[str]]:
    """Return the long numbers in a text, but no dates or amounts."""
    found = (it for it in _NUMBER.finditer(text) if it.end() - it.start() <= _LONGEST)
    found = (it for it in found if sum(map(str.isdigit, it[0])) >= _LEAST)
    numbers = [it for it in found if not any(kind.fullmatch(it[0]) for kind in _NOT_NUMBERS) and not _is_period(it[0])]
    dates = [date.span for date in dates_in(text)] if numbers else []
    return [it for it in numbers if not any(spans_overlap(date, it.span()) for date in dates)]


def plain_numbers(text: str) -> set[str]:
    """Return the long numbers in a text, each without what is between its groups."""
    return {without_marks(number[0]) for number in long_numbers(text)}


def asked_numbers(question: str) -> set[str]:
    """Return the long numbers in a short question, without marks."""
    return plain_numbers(question) if len(question.split()) <= _MAX_WORDS else set()


def owned_numbers(question: str) -> set[str]:
    """Return the numbers of which a question only asks whose they are, without marks: "who has 020 7946 0958?"."""
    numbers = asked_numbers(question)
    if not numbers or not _ASKS_FOR_OWNER.search(question):
        return set()
    rest = question
    for number in long_numbers(question):
        rest = rest.replace(number[0], " ")
    return set() if terms(rest) - _OF_OWNER else numbers


def phone_number_of(question: str, passages: Sequence[StoredPassage]) -> tuple[StoredPassage, Span] | None:
    """Return the telephone number that a question asks for, in a line with the name; None if there are several."""
    if not _ASKS_FOR_PHONE.search(question) or _ASKS_FOR_OTHER.search(question):
        return None
    name = terms(question) - _OF_PHONE
    found = [(passage, span) for passage in passages if name for span in _numbers_of(question, name, passage)]
    numbers = {without_marks(passage.text[slice(*span)]).lstrip("(") for passage, span in found}
    return found[0] if len(numbers) == 1 else None


def _numbers_of(question: str, name: set[str], passage: StoredPassage) -> Iterator[Span]:
    """Yield the telephone numbers in lines of a passage that have all terms of a name."""
    for start, end in lines_of(passage.text, passage.body):
        line = passage.text[start:end]
        if len(line) > _LONGEST_LINE or sum(map(str.isdigit, line)) < _LEAST or not name <= terms(line):
            continue
        numbers = [it for it in long_numbers(line) if _is_phone(line, it)]
        labelled = [label for label in _LABELS.values() if label.search(question)]
        with_label = [it for it in numbers if any(label.search(_label(line, it)) for label in labelled)]
        numbers = with_label or numbers
        if len(numbers) > 1:
            plain = (it for it in numbers if not any(label.search(_label(line, it)) for label in _LABELS.values()))
            numbers = [it for it in plain if _is_after(name, line[: it.start()])]
        if len(numbers) == 1 and _is_theirs(name, line, numbers[0].span()):
            first, last = numbers[0].span()
            is_open = line[:first].endswith("+") or (line[:first].endswith("(") and ")" in numbers[0][0])
            yield start + first - is_open, start + last


def _is_theirs(name: set[str], line: str, number: Span) -> bool:
    """Whether a number is that of a name in its line: right after it, or in a list, but not in prose."""
    before, after = line[: number[0]], line[number[1] :]
    if _is_after(name, before):
        return True
    is_list = bool(_ALIGNED.search(line)) or "|" in line or not name.isdisjoint(terms(_CELL.split(line, maxsplit=1)[0]))
    is_whole = name <= terms(before) or not any(map(str.isdigit, after))
    return is_list and is_whole and line.rstrip()[-1] not in ".!?"


def _is_phone(line: str, number: re.Match[str]) -> bool:
    before = line[: number.start()]
    is_other = _OTHER_NUMBER.search(before) or _FORMER.search(before)
    return not is_other and _PHONE.fullmatch(number[0]) is not None and sum(map(str.isdigit, number[0])) <= _MOST_DIGITS


def _label(line: str, number: re.Match[str]) -> str:
    """Return the words right before a number."""
    return re.split(r"\d| {3,}|[,;|]", line[: number.start()].rstrip(" :.,"))[-1]


def _is_after(name: set[str], before: str) -> bool:
    """Whether a line up to a number ends in a name, or in one and what it is: "Ann Lee, tel."."""
    between = _BETWEEN.search(before)
    # "Ann + Bo" is not one name.
    last = re.split(r"[+&/]", before[: between.start()] if between else before)[-1]
    words = re.findall(r"[\w'’-]+", last)[-len(name) - 1 :]
    return bool(words) and name <= terms(" ".join(words)) and (bool(terms(words[-1]) & name) or words[-1][0].isupper())


def _is_period(number: str) -> bool:
    """Whether a number is two years, such as 973–1048."""
    years = _PERIOD.fullmatch(number)
    return years is not None and int(years[1]) < int(years[2]) <= _LAST_YEAR


def without_marks(number: str) -> str:
    """Return a number without what is between its groups."""
    return _BETWEEN_GROUPS.sub("", number)


def write_numbers_as_in(snapshot: Index, question: str) -> NumberedQuestion:
    """Write each long number of a question, unless it is quoted, as a passage does that has it."""
    pieces, at, is_unknown = [], 0, False
    changed: dict[tuple[str, str], None] = {}
    is_short = len(question.split()) <= _MAX_WORDS
    quoted = [match.span() for match in QUOTED.finditer(question)]
    numbers = [it for it in long_numbers(question) if not any(start < it.start() < end for start, end in quoted)]
    for number in numbers[:_MAX_NUMBERS]:
        written = _written(snapshot, number[0])
        is_unknown |= written is None
        if written is not None and written != number[0]:
            pieces += [question[at : number.start()], written]
            at = number.end()
            changed[number[0], written] = None
    return NumberedQuestion("".join([*pieces, question[at:]]), tuple(changed), is_unknown and is_short)


def _written(snapshot: Index, number: str) -> str | None:
    """Return a number as a passage writes it, preferably as it is; None if no passage has it."""
    joined = without_marks(number.lower())
    pieces = [joined[at : at + size] for size in _SIZES for at in range(len(joined) - size + 1)]
    terms = {word: word_terms(word) for word in (joined, *pieces)}
    frequency = snapshot.frequencies([term for several in terms.values() for term in several])
    weights = {term: 1.0 for several in terms.values() for term in several if frequency[term]}
    hits = snapshot.keyword(weights, _MAX_PASSAGES)
    passages = snapshot.passages([hit.passage for hit in hits])
    texts = [f"{passage.document.path}\n{passage.context}\n{passage.text}" for passage in passages]
    pattern = re.compile(rf"(?<!\w){f'{_MARKS}{{0,3}}'.join(joined)}(?!\w)", re.IGNORECASE)
    forms = [found[0] for text in texts for found in pattern.finditer(text)]
    if forms:
        return number if number in forms else forms[0]
    return number if any(_is_same_line(number, other[0]) for text in texts for other in long_numbers(text)) else None


def _is_same_line(number: str, other: str) -> bool:
    """Whether two telephone numbers are the same, but for the country's code: "+47 22 33 44 55" and "22 33 44 55"."""
    shorter, longer = sorted((without_marks(it).lstrip("0") for it in (number, other)), key=len)
    return len(shorter) >= _LOCAL_DIGITS and longer.isdecimal() and longer.endswith(shorter)
