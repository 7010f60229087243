"""Telephone, account, parcel and other numbers of seven digits or more: 02079460958, or in groups "020 7946 0958".

Those of a question are found in the collection however they are grouped there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from index import Index, word_terms
from qa.questions.dates import dates_in
from qa.questions.lookup import QUOTED

# What may be between the groups of a number.
_MARKS = "[ ./()\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}‐‑–-]"
_BETWEEN_GROUPS = re.compile(f"{_MARKS}{{1,3}}")
# Digits of the shortest number, and characters of the longest.
_LEAST, _LONGEST = 7, 50
_GROUP = r"[A-Z]*\d[A-Z\d]*"
# Four letters may be the bank in an account number.
_GROUPS = rf"{_GROUP}(?:{_MARKS}{{1,3}}(?:{_GROUP}|[A-Z]{{4}}))*"
_NUMBER = re.compile(rf"(?<!\w)(?<!\d[.,:])(?:(?:[A-Za-z]*\d){{{_LEAST}}}[A-Za-z\d]*|{_GROUPS})(?!\w|[.,:]\d)")
# Amounts, years, and decimals or times with another mark between them: "10.30-11.30".
_AMOUNT = re.compile(r"(?:(?:\d+000|[1-9]\d{0,2}(?:\W\d{3})+|\d{1,3}\.\d+)(?:[–-]|\Z))+")
_YEARS = re.compile(r"(?=.*(?:19|20)\d\d(?!\d))(?:(?:(?:19|20)\d\d|\d\d)(?:\W{1,3}|\Z))+")
_DECIMALS = re.compile(r".*\d\.\d.*[^\w.].*|.*[^\w.].*\d\.\d.*")
_PERIOD, _LAST_YEAR = re.compile(r"([1-9]\d{2,3})[–-]([1-9]\d{2,3})"), 2100
_NOT_NUMBERS = (_AMOUNT, _YEARS, _DECIMALS)
_ASKS_FOR_OWNER = re.compile(r"\W*(?:whose|who(?:['’]s| is| has| owns| uses))\b", re.IGNORECASE)
# Sizes of groups, and how many passages with some of a number's groups are searched for the number.
_SIZES = range(2, 7)
_MAX_PASSAGES = 20
# At most this many numbers of a question are looked for.
_MAX_NUMBERS = 5
# In a question with more words, such as a problem with its log, a number may be of no importance.
_MAX_WORDS = 20
# Digits of the shortest telephone number without the country's code.
_LOCAL_DIGITS = 7


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
    dates = [(date.end - len(date.text), date.end) for date in dates_in(text)] if numbers else []
    return [it for it in numbers if not any(start < it.end() and it.start() < end for start, end in dates)]


def plain_numbers(text: str) -> set[str]:
    """Return the long numbers in a text, each without what is between its groups."""
    return {without_marks(number[0]) for number in long_numbers(text)}


def owned_numbers(question: str) -> set[str]:
    """Return the numbers of which a question asks whose they are, without marks: "who has 020 7946 0958?"."""
    return plain_numbers(question) if _ASKS_FOR_OWNER.match(question) else set()


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
