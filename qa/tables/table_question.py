"""Questions that rows of a table answer: "which server has the most memory?", "which rooms have no lift?" and such.

A table answers only where it explains every word of the question that means something: as the name of a column, a value
of one, what is measured, or what its rows are. So nothing is left out of what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from index import word_terms
from qa.tables.explained import Explained, Mention, NotExplainedError, QuestionWord, words_of
from qa.tables.measures import Amount, is_empty, unit_in_name
from qa.tables.superlatives import ANY, VERBS, Bound, Property, Superlative, bounds, superlatives
from qa.tables.whole_table import Row, WholeTable

_ASKS = re.compile(
    r"\W*(?:please )?(?:(?:in|on|at|of|for|and) )?(?P<word>which|what|who|list|show|name|find)\b"
    r"(?: (?:are|is|was|were)(?= the\b))?(?: (?:all|of|the|our|my|me|every|each)\b)*",
    re.IGNORECASE,
)
# What no row tells.
_ASKS_MORE = re.compile(r"\b(?:or|how|why|when|where|either|neither|nor|same|both|only)\b", re.IGNORECASE)
_AUXILIARIES = frozenset({
    "is", "are", "was", "were", "has", "have", "had", "do", "does", "did", "don", "doesn", "didn", "can", "could",
    "will", "would", "must", "should", "may",
})  # fmt: skip
# Words that end what is asked for: "which servers | in hall 2 have ...?"
_ENDS = _AUXILIARIES | frozenset({
    "with", "without", "in", "on", "at", "by", "from", "of", "for", "that", "which", "who", "where", "whose",
    "not", "no", "and", "than", "to", "the", "a", "an",
})  # fmt: skip
_NEGATION = re.compile(r"\b(?:no|not|without|lack(?:s|ing)?|never|except)\b|\b\w+n['’]t\b", re.IGNORECASE)
_PERSON = frozenset({
    "person", "people", "employee", "employees", "colleague", "colleagues", "member", "members", "staff", "player",
    "players", "student", "students", "team", "participant", "participants",
})  # fmt: skip
_PERSON_COLUMN = frozenset({
    "author", "coach", "colleague", "contact", "customer", "driver", "employee", "engineer", "lead", "leader",
    "manager", "member", "name", "owner", "participant", "patient", "person", "player", "staff", "student",
    "teacher", "tenant", "who", "winner",
})  # fmt: skip
# Superlatives that go with any noun: "the highest price"; of "the heaviest boat" the boat is not measured.
_OF_ANYTHING = frozenset({
    "most", "least", "fewest", "highest", "lowest", "largest", "biggest", "smallest", "greatest", "longest",
    "shortest", "maximum", "minimum",
})  # fmt: skip
# What rows of any table may be called, without endings.
_OF_ANY_ROW = frozenset(
    next(iter(word_terms(word)), word)
    for word in (
        "case",
        "entry",
        "issue",
        "item",
        "line",
        "one",
        "order",
        "problem",
        "record",
        "request",
        "row",
        "task",
    )
)
_NO = frozenset({"no", "n", "false", "0", "✗", "✘", "☐", "nein"})
_YES = frozenset({"yes", "y", "true", "x", "✓", "✔", "☑", "ja"})


class RowSelection(NamedTuple):
    """The rows that answer.

    Attributes:
        rows: In the order of the table; all that have as much as the best.
        column: The number of the column whose cells are asked for.
    """

    rows: tuple[Row, ...]
    column: int


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a question that no table need explain.

    Attributes:
        head: Words that say what is asked for: "servers" of "which servers have ...?"
        is_who: Whether a person is asked for.
        top: The most or least of something.
        limits: More or less than amounts.
        negations: Characters behind which something is denied.
        verb: What a verb says is measured.
    """

    head: range
    is_who: bool
    top: Superlative | None
    limits: tuple[Bound, ...]
    negations: tuple[int, ...]
    verb: Property

    def measured(self, what: Property) -> Property:
        """What an adjective measures, or if it goes with all, the verb."""
        return self.verb if what is ANY else what


def asks_for_rows(question: str) -> bool:
    """Whether a question may ask for rows of a table."""
    asks = _ASKS.match(question)
    return asks is not None and not _ASKS_MORE.search(question, asks.end("word"))


def select_rows(question: str, table: WholeTable) -> RowSelection | None:
    """The rows that a question asks for; None where the table does not explain it, or has none."""
    asks = _ASKS.match(question) if asks_for_rows(question) else None
    if asks is None:
        return None
    try:
        found = Explained(question, table)
        return _selected(found, _explained(found, asks))
    except NotExplainedError:
        return None


def _explained(found: Explained, asks: re.Match[str]) -> _Parts:
    """The parts of a question, all of whose words are explained; raises NotExplainedError."""
    question = found.question
    limits = bounds(question)
    tops = [one for one in superlatives(question) if not any(_meet(one.span, limit.span) for limit in limits)]
    negations = [one.span() for one in _NEGATION.finditer(question)]
    if len(tops) > 1:
        raise NotExplainedError
    is_who = asks["word"].lower() == "who"
    stop = min((*(top.span[0] for top in tops), *(limit.span[0] for limit in limits)), default=len(question))
    head = _head(found.words, asks.end(), stop, is_who=is_who)
    for span in (asks.span(), *(top.span for top in tops), *(limit.span for limit in limits), *negations):
        found.explain(*span)
    found.name_columns()
    found.name_values()
    found.name_subject()
    verbs = [VERBS[word.stem] for word in found.words if word.stem in VERBS and not word.is_explained]
    before = ""
    for number, word in enumerate(found.words):
        is_person = word.text in _PERSON and (number in head or before in {"most", "fewest"})
        is_who |= is_person and number in head and not word.is_explained
        is_row = word.stem in _OF_ANY_ROW and number in head
        if not (word.is_explained or is_person or is_row or word.is_plain or word.stem in VERBS):
            raise NotExplainedError
        before = word.text
    top = tops[0] if tops else None
    return _Parts(head, is_who, top, tuple(limits), tuple(end for _, end in negations), verbs[0] if verbs else ANY)


def _head(words: Sequence[QuestionWord], start: int, stop: int, *, is_who: bool) -> range:
    """What is asked for, from one character up to another at most."""
    first = next((i for i, word in enumerate(words) if word.start >= start), len(words))
    if first < len(words) and not is_who:
        words[first].is_noun = True
    end = first
    while end < len(words) and words[end].start < stop and not (words[end].text in _ENDS or words[end].is_verb):
        end += 1
    return range(first, end)


def _selected(found: Explained, parts: _Parts) -> RowSelection | None:
    table, top = found.table, parts.top
    asked = _asked(found, parts)
    rows = set(range(len(table.rows)))
    used = {asked}
    for limit in parts.limits:
        column, amount = _bounded(found, parts, limit, asked)
        used.add(column)
        rows &= {i for i, one in enumerate(found.measures(column) or ()) if replace(limit, amount=amount).is_met(one)}
    measured, sign = (asked, 0) if top is None else _measured(found, parts, top, asked)
    used.add(measured)
    negated = [found.first_named(end) for end in parts.negations]
    for value in found.values:
        used.add(value.column)
        rows = rows - value.rows if value in negated else rows & value.rows
    filters = len(found.values) + len(parts.limits)
    for mention in found.mentions:
        is_negated = mention in negated
        if is_negated or mention.column not in used:
            if not is_negated and _is_other_form(found, mention):
                return None
            having = _having(table.column(mention.column), yes_or_no=asked != found.key())
            rows = rows - having if is_negated else rows & having
            filters += 1
    if asked < 0:
        asked = measured
    if top is not None:
        rows = _best(found, rows, measured, sign)
        # Of "which supplier has the most stock?" the rows of each would have to be added up.
        cells = table.column(asked)
        if top.what is ANY and asked != measured and len(set(cells)) < len(cells) and not found.has_subject:
            return None
    elif not filters:
        return None
    chosen = tuple(table.rows[i] for i in sorted(rows) if not is_empty(table.rows[i].cells[asked]))
    return RowSelection(chosen, asked) if chosen else None


def _best(found: Explained, rows: set[int], column: int, sign: int) -> set[int]:
    """The rows that have the most of a column, or the least."""
    measures = found.measures(column) or []
    values = {i: sign * one.value for i in rows if (one := measures[i]) is not None}
    return {i for i, value in values.items() if value == max(values.values())}


def _having(cells: Sequence[str], *, yes_or_no: bool) -> set[int]:
    """The rows whose cells say that they have something; raises NotExplainedError where they say what instead.

    Args:
        cells: Of a column.
        yes_or_no: Whether no cell may say more; one that all rows have never may.
    """
    having = {i for i, cell in enumerate(cells) if not is_empty(cell) and cell.strip().lower() not in _NO}
    if (yes_or_no or len(having) == len(cells)) and not {cells[i].strip().lower() for i in having} <= _YES:
        raise NotExplainedError
    return having


def _is_other_form(found: Explained, mention: Mention) -> bool:
    """Whether a word names a column in another form than the plural: who pays the rent need not have paid it."""
    names = words_of(found.table.columns[mention.column])
    words = (word.text for word in found.words[mention.first : mention.end] if not word.is_plain)
    return not all(
        word in names or word.removesuffix("s") in names or word.removesuffix("es") in names for word in words
    )


def _asked(found: Explained, parts: _Parts) -> int:
    """The column whose cells are asked for, -1 for the one that is measured; raises NotExplainedError."""
    if parts.is_who:
        return _asked_person(found, parts)
    head = parts.head
    in_head = sorted((one for one in found.mentions if one.first in head), key=lambda one: one.first)
    # Of "which staff joined before 2016" and "which room seats the most people" the last is the verb: none follows.
    if in_head and in_head[-1].first > head.start and not _is_verb(found.words, head.stop):
        in_head.pop()
    if len({one.column for one in in_head}) > 1:
        raise NotExplainedError
    if in_head:
        return in_head[0].column
    if len(parts.head):
        return found.key()
    if parts.top is None:
        raise NotExplainedError
    return _asked_of_top(found, parts.top)


def _asked_person(found: Explained, parts: _Parts) -> int:
    names = [words_of(name) for name in found.table.columns]
    people = [i for i, name in enumerate(names) if _PERSON_COLUMN & set(name) or name[-1:] == ["by"]]
    # Of "who cooks on Monday?" it is the cook, where cells say who.
    verb = next((one.column for one in found.mentions if one.first == 1), -1)
    if not people and verb >= 0 and found.measures(verb) is None:
        cells = {cell.strip().lower() for cell in found.table.column(verb)}
        people = [] if cells & (_YES | _NO) else [verb]
    named = {one.column for one in found.mentions if one.column in people} or set(people)
    if len(named) == 1:
        return named.pop()
    if named or parts.top is None:
        raise NotExplainedError
    return found.key()


def _is_verb(words: Sequence[QuestionWord], at: int) -> bool:
    """Whether the words have a verb at a place."""
    return at < len(words) and (words[at].text in _AUXILIARIES or words[at].is_verb)


def _asked_of_top(found: Explained, top: Superlative) -> int:
    """Of "what is the price of the heaviest boat" the price, of "what is the highest price" what is measured."""
    before = [one.column for one in found.mentions if found.words[one.first].start < top.span[0]]
    if len(before) > 1:
        raise NotExplainedError
    if before:
        return before[0]
    behind = next((i for i, word in enumerate(found.words) if word.start >= top.span[1]), len(found.words))
    key = found.key()
    named = next((one.column for one in found.mentions if one.first == behind), key)
    return -1 if named != key and _goes_with(found, top, named) else named


def _goes_with(found: Explained, top: Superlative, column: int) -> bool:
    """Whether a superlative can be of the values of a column."""
    names = set(words_of(found.table.columns[column]))
    is_of = found.question[slice(*top.span)].lower() in _OF_ANYTHING or not names.isdisjoint(top.what.all_names)
    return is_of and found.measures(column) is not None


def _measured(found: Explained, parts: _Parts, top: Superlative, asked: int) -> tuple[int, int]:
    """The column of which there is the most or least, and whether most is: 1 or -1; raises NotExplainedError."""
    key, what = found.key(), parts.measured(top.what)
    named = [one for one in found.mentions if one.column not in {asked, key} and found.measures(one.column) is not None]
    behind = [one.column for one in named if found.words[one.first].start >= top.span[1]]
    columns = {one for one in behind if _goes_with(found, top, one)}
    if not columns and what is ANY:
        columns = {one.column for one in named}
    if len(columns) > 1 or (not columns and asked < 0):
        raise NotExplainedError
    number = columns.pop() if columns else _with_property(found, what)
    is_reverse = not what.reverse.isdisjoint(words_of(found.table.columns[number]))
    return number, -top.sign if is_reverse else top.sign


def _with_property(found: Explained, what: Property) -> int:
    """The one column that holds what an adjective or verb measures, by its name or else by its units."""
    columns = [i for i in range(len(found.table.columns)) if i != found.key()]
    chosen: list[int] = []
    for names in (what.names, what.reverse):
        named = [i for i in columns if not names.isdisjoint(words_of(found.table.columns[i]))]
        chosen = chosen or [i for i in named if found.measures(i) is not None]
    if not chosen and what.kinds:
        chosen = [i for i in columns if found.kind(i).split(" ")[0] in what.kinds]
    if len(chosen) != 1:
        raise NotExplainedError
    return chosen[0]


def _bounded(found: Explained, parts: _Parts, limit: Bound, asked: int) -> tuple[int, Amount]:
    """The column that an amount is compared with, and the amount as its cells are written; raises NotExplainedError."""
    start, end = limit.span
    near = {
        min(abs(found.words[one.first].start - end), abs(start - found.words[one.end - 1].end)): one.column
        for one in found.mentions
        if one.column != asked and found.measures(one.column) is not None
    }
    amount, what = limit.amount, parts.measured(limit.what)
    if what is ANY and amount.kind:
        what = Property(kinds=frozenset({amount.kind.split(" ")[0]}))
    column = near[min(near)] if near else _with_property(found, what)
    own = next((one.kind for one in found.measures(column) or () if one is not None), "")
    unit = unit_in_name(found.table.columns[column])
    if amount.kind and not own and unit is not None and unit[0] == amount.kind:
        return column, Amount(amount.value / unit[1])
    is_bare = not amount.kind and (own == "date" or own.startswith("money"))
    if own != amount.kind and not is_bare:
        raise NotExplainedError
    return column, amount


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
