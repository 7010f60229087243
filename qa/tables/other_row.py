"""Tell whether a row that answers is not the one asked for, or lacks the value asked for.

The row above or below looks much like the right one: the same columns, and often all but one word of the question.
"""

from __future__ import annotations

import re

from index import STOP_WORDS, Index, StoredPassage
from qa.answer.confidence import asks_yes_or_no
from qa.questions.dates import dates_in
from qa.tables.columns import PERSON_COLUMN
from qa.tables.explained import stems_of, words_of
from qa.tables.measures import is_empty, unit_in_name
from qa.tables.superlatives import VERBS
from qa.tables.whole_table import Row, WholeTable, whole_tables

# Questions about other rows than those that they name, and for rows without a value.
_COMPARES = re.compile(
    r"\b(?:than|before|after|since|until|till|by|except|besides|instead|replaced?s?|other|next|previous|no|not|without"
    r"|missing|lacks?)\b|n['’]t\b",
    re.IGNORECASE,
)
_NAME = r"[A-Z][^\W\d_]+(?:[-'’][A-Z][^\W\d_]+)?"
# The name of a person that is not just where or for whom: "the phone number of Ian Prowse", not "at Ian Prowse".
_PERSON_ASKED = re.compile(
    rf"(?<!\bat )(?<!\bin )(?<!\bby )(?<!\bto )(?<!\bfor )(?<!\bfrom )(?<!\bwith )\b{_NAME}(?: {_NAME})+"
)
_PERSON = re.compile(rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\b\.? )?{_NAME}(?: {_NAME})+")
_ASKS_WHO = re.compile(r"\b(?:who|whom|whose|which|name)\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_LEAST_DIGITS = 3
_OF_DATES = frozenset({"date", "day"})


def is_other_row(snapshot: Index, question: str, passage: StoredPassage, lead: tuple[int, int]) -> bool:
    """Whether the row of a table, or the record, with the answering sentence is another one than the question names.

    So it is if another row has a name, code or date of the question that this one lacks, and all of its words that this
    one has; if this row is about another person or date; or if its cell in the column that the question names is empty.
    """
    for table in whole_tables(snapshot, [passage]):
        for row in table.rows:
            if row.passage.id == passage.id and row.span[0] <= lead[0] and lead[1] <= max(row.span[1], lead[0] + 1):
                return not _COMPARES.search(question) and (
                    _lacks_value(question, table, row)
                    or _is_of_another_date(question, table, row)
                    or _is_of_another_person(question, table, row)
                    or any(_is_asked_instead(question, other, row) for other in table.rows if other is not row)
                )
    return False


def _lacks_value(question: str, table: WholeTable, row: Row) -> bool:
    """Whether all columns that the question names are empty, other than those with a value that it names."""
    asked = stems_of(question)
    properties = {name for stem in asked if stem in VERBS for name in VERBS[stem].names}
    named = [
        cell
        for name, cell in zip(table.columns, row.cells, strict=True)
        if ((bare := _content(_without_unit(name))) and bare <= set(asked)) or not properties.isdisjoint(words_of(name))
        if is_empty(cell) or not _is_within(stems_of(cell), asked)
    ]
    return bool(named) and not asks_yes_or_no(question) and all(is_empty(one) and one != "none" for one in named)


def _without_unit(name: str) -> str:
    """Return the name of a column without a unit in brackets: "Amount (EUR)"."""
    return name if unit_in_name(name) is None else _IN_BRACKETS.sub("", name)


def _is_of_another_date(question: str, table: WholeTable, row: Row) -> bool:
    """Whether a question with a date is answered by a row with another one, of a table that has a row for each date."""
    asked = list(dates_in(question))
    own = [
        date
        for name, cell in zip(table.columns, row.cells, strict=True)
        if _OF_DATES & set(words_of(name))
        for date in dates_in(cell)
    ]
    return len(asked) == len(own) == 1 and not asked[0].is_day_of(own[0])


def _is_of_another_person(question: str, table: WholeTable, row: Row) -> bool:
    """Whether a question about a person by full name is answered by a row with another one."""
    people = [cell for name, cell in zip(table.columns, row.cells, strict=True) if PERSON_COLUMN & set(words_of(name))]
    passage = row.passage
    text = passage.text[: row.span[0]].rpartition("\n\n")[0] if row.span[0] else ""
    around = {*stems_of(f"{_above(row)} {text} {' '.join(row.cells)}")}
    names = [] if _ASKS_WHO.search(question) else [_content(one[0]) for one in _PERSON_ASKED.finditer(question)]
    return any(not name & around for name in names) and any(map(_PERSON.fullmatch, people))


def _is_asked_instead(question: str, other: Row, row: Row) -> bool:
    """Whether another row has all words of the question that a row has, and a name, code or date that it lacks."""
    asked = _content(question)
    own = set(stems_of(" ".join(row.cells)))
    if not asked & own <= set(stems_of(" ".join(other.cells))):
        return False
    known = own | set(stems_of(_above(row)))
    return any(
        bool(mine.strip()) and not is_empty(theirs) and _names(question, theirs) and not set(stems_of(theirs)) <= known
        for mine, theirs in zip(row.cells, other.cells, strict=True)
        if not any(a.is_day_of(b) for a in dates_in(mine) for b in dates_in(theirs))
    )


def _names(question: str, cell: str) -> bool:
    """Whether a question names the date of a cell, all of its several words, or all of the cell by a name or code."""
    if any(a.is_day_of(b) for a in dates_in(cell) for b in dates_in(question)):
        return True
    if len(content := _content(cell)) > 1 and content <= _content(question):
        return True
    at = re.search(rf"(?<=\S\s)(?<!\w){re.escape(cell.strip())}(?:['’]s)?(?!\w)", question)
    is_code = sum(map(str.isdecimal, cell)) >= _LEAST_DIGITS or bool(re.search(r"[^\W\d_]\d|\d[^\W\d_]", cell))
    return at is not None and (cell.strip()[:1].isupper() or is_code)


def _above(row: Row) -> str:
    return f"{re.sub(r'[/_-]+', ' ', row.passage.document.path)} {row.passage.title} {row.passage.context}"


def _content(text: str) -> set[str]:
    return {stem for word in words_of(text) if word not in STOP_WORDS for stem in stems_of(word)}


def _is_within(part: list[str], whole: list[str]) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))
