"""Detect answers from the wrong row of a table, and from a row without the value that is asked for.

The row above or below the right one has the same columns, and often all but one word of the question: for "what did the
pump cost in May?", the row of the pump in June must not answer. Nor may any one row answer "which pump is the oldest?".
"""

from __future__ import annotations

import re

from index import STOP_WORDS, Index, StoredPassage
from qa.language.dates import dates_in
from qa.language.question_kinds import asks_yes_or_no
from qa.language.spans import Span
from qa.tables.columns import PERSON_COLUMN
from qa.tables.measures import comparable_amounts, is_empty, parse_amount, unit_in_name
from qa.tables.superlatives import VERBS, bounds, is_superlative_noun, superlatives
from qa.tables.whole_table import Row, WholeTable, whole_tables
from qa.tables.words import WORD, stems_of, words_of

# Questions that name a row to ask about another one ("the talk after lunch"), and for rows without a value.
_COMPARES = re.compile(
    r"\b(?:than|before|after|since|until|till|by|except|besides|instead|replaced?s?|other|next|previous|no|not|without"
    r"|missing|lacks?)\b|n['’]t\b",
    re.IGNORECASE,
)
_NAME = r"[A-Z][^\W\d_]+(?:[-'’][A-Z][^\W\d_]+)?"
# A person whom the question is about: "the phone number of Ian Prowse", but not "the room for Ian Prowse".
_PERSON_IN_QUESTION = re.compile(
    rf"(?<!\bat )(?<!\bin )(?<!\bby )(?<!\bto )(?<!\bfor )(?<!\bfrom )(?<!\bwith )\b{_NAME}(?: {_NAME})+"
)
_PERSON = re.compile(rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\b\.? )?{_NAME}(?: {_NAME})+")
_ASKS_WHO = re.compile(r"\b(?:who|whom|whose|which|name)\b", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# Questions whose answer is a row, or a sum of rows; not "why is the oldest pump not used?"
_ASKS_FOR_ROWS = re.compile(r"\b(?:who|whom|whose|which|what|when|where|how (?:many|much))\b", re.IGNORECASE)
_ASKS_FOR_REASON = re.compile(r"\b(?:why|how come)\b", re.IGNORECASE)
_ADDS_UP = re.compile(r"\b(?:total|sum|average)\b", re.IGNORECASE)
# "Which models got lighter?", "what became more expensive?"
_CHANGED = re.compile(
    r"\b(?:gets?|got|gotten|becomes?|became|grew|grown) (?:(?:more|less) \w+|\w{2,}er)\b", re.IGNORECASE
)
_COUNTS = re.compile(r"\bhow many ([^\W_]+(?: [^\W_]+)?)", re.IGNORECASE)
_LEAST_DIGITS = 3
# Of fewer rows, one may well be the one with the most.
_LEAST_ROWS = 3
# The columns of a table of properties, unless they compare.
_WITH_NAME_AND_VALUE = 2
_OF_DATES = frozenset({"date", "day"})


def is_other_row(snapshot: Index, question: str, passage: StoredPassage, answer_span: Span) -> bool:
    """Whether the row or record with the answering sentence is another than the question names, or lacks the value.

    It is another if its date or person is, or if some row has all words of the question that this one has, and also a
    name, code or date of it. It lacks the value if its cell in the column that the question names is empty, or if the
    question compares rows, of which it names none.
    """
    for table in whole_tables(snapshot, [passage]):
        for row in table.rows:
            start, end = answer_span
            if row.passage.id == passage.id and row.span[0] <= start and end <= max(row.span[1], start + 1):
                if _needs_all_rows(question, table, row):
                    return True
                return not _COMPARES.search(question) and (
                    _lacks_value(question, table, row)
                    or _has_other_date(question, table, row)
                    or _has_other_person(question, table, row)
                    or any(_is_better_match(question, other, row) for other in table.rows if other is not row)
                )
    return False


def _needs_all_rows(question: str, table: WholeTable, row: Row) -> bool:
    """Whether a question ranks, limits, counts, compares or adds up rows by words that this row and its headings lack.

    Not if it names this row: by a word of the first cell, or one that no other row has.
    """
    spans = [limit.span for limit in bounds(question) if not limit.is_period]
    spans += [top.span for top in superlatives(question)]
    spans += [match.span() for pattern in (_ADDS_UP, _CHANGED) for match in pattern.finditer(question)]
    is_of_properties = len(table.columns) == _WITH_NAME_AND_VALUE and comparable_amounts(table.column(1)) is None
    asks = (_ASKS_FOR_ROWS.search(question) or is_superlative_noun(question)) and not _ASKS_FOR_REASON.search(question)
    if not asks or len(table.rows) < _LEAST_ROWS or is_of_properties:
        return False
    cells, others = " ".join(row.cells), " ".join(" ".join(other.cells) for other in table.rows if other is not row)
    words = (word for word in WORD.finditer(question) if not any(start <= word.start() < end for start, end in spans))
    named = _content(next(filter(None, row.cells), "")) | (_content(cells) - _content(others))
    if named & _content(" ".join(word[0] for word in words)):
        return False
    about = f"{_context_of(row)} {' '.join(table.columns)}"
    known = stems_of(f"{cells} {about}")
    asked = [stems_of(question[slice(*span)]) for span in spans]
    if any(not set(known).issuperset([stem for stem in stems if stem.isdecimal()] or stems) for stems in asked):
        return True
    fields = zip(table.columns[1:], row.cells[1:], strict=True)
    amounts = [f"{name} {cell}" for name, cell in fields if parse_amount(cell)]
    counted = [noun for match in _COUNTS.finditer(question) for noun in _content(match[1])]
    return any(noun in stems_of(about) and noun not in stems_of(" ".join(amounts)) for noun in counted)


def _lacks_value(question: str, table: WholeTable, row: Row) -> bool:
    """Whether a row has no value in the columns that the question names, those aside whose value it names, too."""
    stems = stems_of(question)
    properties = {name for stem in stems if stem in VERBS for name in VERBS[stem].names}
    cells = [
        cell
        for name, cell in zip(table.columns, row.cells, strict=True)
        if ((bare := _content(_without_unit(name))) and bare <= set(stems)) or not properties.isdisjoint(words_of(name))
        if is_empty(cell) or not _is_within(stems_of(cell), stems)
    ]
    return bool(cells) and not asks_yes_or_no(question) and all(is_empty(cell) and cell != "none" for cell in cells)


def _without_unit(name: str) -> str:
    """Return the name of a column without a unit in brackets: "Amount (EUR)"."""
    return name if unit_in_name(name) is None else _IN_BRACKETS.sub("", name)


def _has_other_date(question: str, table: WholeTable, row: Row) -> bool:
    """Whether the question has a date that the row lacks, and the row another one in its column of dates."""
    question_dates = list(dates_in(question))
    row_dates = [
        date
        for name, cell in zip(table.columns, row.cells, strict=True)
        if _OF_DATES & set(words_of(name))
        for date in dates_in(cell)
    ]
    is_one_each = len(question_dates) == len(row_dates) == 1
    return is_one_each and not any(question_dates[0].is_same_day(date) for cell in row.cells for date in dates_in(cell))


def _has_other_person(question: str, table: WholeTable, row: Row) -> bool:
    """Whether the question has the full name of a person, and the row that of another one."""
    people = [cell for name, cell in zip(table.columns, row.cells, strict=True) if PERSON_COLUMN & set(words_of(name))]
    passage = row.passage
    text = passage.text[: row.span[0]].rpartition("\n\n")[0] if row.span[0] else ""
    around = {*stems_of(f"{_context_of(row)} {text} {' '.join((*table.columns, *row.cells))}")}
    names = (
        [] if _ASKS_WHO.search(question) else [_content(match[0]) for match in _PERSON_IN_QUESTION.finditer(question)]
    )
    return any(not name & around for name in names) and any(map(_PERSON.fullmatch, people))


def _is_better_match(question: str, other: Row, row: Row) -> bool:
    """Whether another row has all words of the question that this row has, and also a name, code or date."""
    question_stems = _content(question)
    row_stems = set(stems_of(" ".join(row.cells)))
    if not question_stems & row_stems <= set(stems_of(" ".join(other.cells))):
        return False
    row_terms = row_stems | set(stems_of(_context_of(row)))
    return any(
        not is_empty(other_cell) and _names_cell(question, other_cell) and not set(stems_of(other_cell)) <= row_terms
        for cell, other_cell in zip(row.cells, other.cells, strict=True)
        if cell.strip() and not any(a.is_same_day(b) for a in dates_in(cell) for b in dates_in(other_cell))
    )


def _names_cell(question: str, cell: str) -> bool:
    """Whether a question has the date of a cell, its several content words, or its text if that is a name or code."""
    if any(a.is_same_day(b) for a in dates_in(cell) for b in dates_in(question)):
        return True
    if len(content := _content(cell)) > 1 and content <= _content(question):
        return True
    at = re.search(rf"(?<=\S\s)(?<!\w){re.escape(cell.strip())}(?:['’]s)?(?!\w)", question)
    is_code = sum(map(str.isdecimal, cell)) >= _LEAST_DIGITS or bool(re.search(r"[^\W\d_]\d|\d[^\W\d_]", cell))
    return at is not None and (cell.strip()[:1].isupper() or is_code)


def _context_of(row: Row) -> str:
    return f"{re.sub(r'[/_-]+', ' ', row.passage.document.path)} {row.passage.title} {row.passage.context}"


def _content(text: str) -> set[str]:
    return {stem for word in words_of(text) if word not in STOP_WORDS for stem in stems_of(word)}


def _is_within(part: list[str], whole: list[str]) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))
