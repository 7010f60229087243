"""Transpose tables that compare things in their columns, and answer with one of their cells.

The lines `| | Heron | Loon |`, `| Weight | 7 kg | 31 kg |` and `| Price | €640 | €980 |` have a row for each property;
transposed, they have one for each boat, so that "which boat is the lightest?" can be answered.
"""

from __future__ import annotations

import re
from itertools import pairwise

from qa.language.values import MONTH
from qa.tables.columns import with_property
from qa.tables.explained import Explanation, NotExplainedError
from qa.tables.measures import comparable_amounts, is_empty, unit_in_name
from qa.tables.superlatives import ANY, VERBS, bounds, property_of, superlatives
from qa.tables.table_answer import RowsAnswer
from qa.tables.whole_table import Row, WholeTable
from qa.tables.words import words_of

# Names of first columns that hold the names of properties.
_PROPERTIES = frozenset({
    "", "aspect", "attribute", "criteria", "criterion", "eigenschaft", "feature", "features", "kriterium", "merkmal",
    "property", "spec", "specification", "specs",
})  # fmt: skip
# Any row is an item; see `qa.tables.table_question`.
ITEM = "item"
_PERIODS = {"year": re.compile(r"(?:19|20)\d\d\b.*"), "month": re.compile(rf"{MONTH}\.?(?: \d{{4}})?")}
_LEAST_ITEMS, _LEAST_KINDS = 2, 2
_ASKS = re.compile(r"\W*(?:how (?P<adjective>[a-z]+)|what|which|when)\b", re.IGNORECASE)
# Words of questions that a cell cannot answer.
_ASKS_MORE = re.compile(r"\b(?:or|not?|why|if|without|other|than|total|more|less)\b|n['’]t\b", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "of", "the"})
_LIGHT_VERBS = frozenset({"measure", "measures", "pay", "pays", "take", "takes"})


def transposed(table: WholeTable) -> WholeTable | None:
    """Return a table with a row for each column but the first, and a column for each row.

    None unless the columns are years or months, or the rows hold amounts of different kinds, as those of no table with
    a row for each thing do.
    """
    first, *items = table.columns
    names = [row.cells[0] for row in table.rows]
    if len(items) < _LEAST_ITEMS or not (_are_names(items) and _are_names(names)):
        return None
    key = next((period for period, form in _PERIODS.items() if all(map(form.fullmatch, items))), ITEM)
    if key == ITEM:
        kinds = {_kind(row) for row in table.rows} - {None}
        if first.strip().lower() not in _PROPERTIES or len(kinds) < _LEAST_KINDS:
            return None
    line = table.rows[0]
    above = line.passage.text[: line.span[0]]
    columns = zip(items, *(row.cells[1:] for row in table.rows), strict=True)
    at = [(above.rfind(name), name) for name in items]
    spans = [(start, start + len(name)) if start >= 0 else line.span for start, name in at]
    rows = tuple(Row(cells, line.passage, span) for cells, span in zip(columns, spans, strict=True))
    return WholeTable((key, *names), rows, (line, *table.rows))


def _are_names(cells: list[str]) -> bool:
    return len(set(cells)) == len(cells) and all(map(str.strip, cells))


def _kind(row: Row) -> str | None:
    """Return the kind of the amounts in a row, "" for bare numbers; None if it has other cells."""
    amounts = comparable_amounts(row.cells[1:])
    if amounts is None:
        return None
    unit = unit_in_name(row.cells[0])
    return next((amount.kind for amount in amounts if amount is not None), "") or (unit[0] if unit else "")


def may_ask_for_cell(question: str) -> bool:
    """Whether a question may ask for one cell, without comparing any."""
    return bool(_ASKS.match(question)) and not (
        _ASKS_MORE.search(question) or superlatives(question) or bounds(question)
    )


def select_cell(question: str, table: WholeTable) -> RowsAnswer | None:
    """Return the cell of a transposed table that a question asks for: "how heavy is the Loon?".

    None if the question has a word that is neither for the item, nor for the property, nor for what is compared.
    """
    asks = _ASKS.match(question)
    if asks is None or not may_ask_for_cell(question):
        return None
    explained = Explanation(question, table)
    explained.explain(*asks.span())
    try:
        explained.find_columns()
        explained.find_values()
        explained.find_subject()
        target = _property_asked(explained, (asks["adjective"] or "").lower())
    except NotExplainedError:
        return None
    rows = set[int]().union(*(value.rows or () for value in explained.values))
    if len(rows) != 1 or any(value.column for value in explained.values):
        return None
    row = table.rows[rows.pop()]
    return None if is_empty(row.cells[target]) else RowsAnswer((table.cited(row, target),), target)


def _property_asked(explained: Explanation, adjective: str) -> int:
    """Return the column that a question names, or that its adjective or verb measures; raises NotExplainedError."""
    words, what, verb = explained.words, property_of(adjective), ANY
    for before, word in pairwise(words):
        if not (word.is_explained or word.is_plain or word.text in _LIGHT_VERBS):
            if word.stem not in VERBS or verb is not ANY or before.text in _ARTICLES:
                raise NotExplainedError
            verb = VERBS[word.stem]
    if verb is not ANY and what is not ANY and verb.kinds.isdisjoint(what.kinds):
        raise NotExplainedError
    what = what if verb is ANY else verb
    columns = {mention.column for mention in explained.mentions}
    if not columns and what is not ANY:
        return with_property(explained, what)
    if len(columns) != 1:
        raise NotExplainedError
    (column,) = columns
    # "How heavy is the case?" does not ask for its colour.
    is_named = not what.names.isdisjoint(words_of(explained.table.columns[column]))
    if property_of(adjective) is ANY or is_named or explained.kind(column).split(" ")[0] in what.kinds:
        return column
    raise NotExplainedError
