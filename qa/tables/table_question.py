"""Answer questions from rows of a table: "which server has the most memory?", "which rooms have no lift?" and such.

A table answers only if it explains every content word of the question: as the name of a column, a value, a measured
property, or the subject of its rows. So no part of the question is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from index import Index, StoredPassage
from qa.answer.values import meet
from qa.tables.explained import Explained, Mention, NotExplainedError, QuestionWord, stems_of, words_of
from qa.tables.measures import Amount, is_empty, kind_of_unit, unit_in_name
from qa.tables.superlatives import ANY, OF_MONEY, PRICE, VERBS, Bound, Property, Superlative, bounds, superlatives
from qa.tables.table_answer import RowsAnswer
from qa.tables.whole_table import WholeTable, whole_tables

_ASKS = re.compile(
    r"\W*(?:please )?(?:(?:in|on|at|of|for|and) )?(?P<word>which|what|who|list|show|name|find)\b"
    r"(?: (?:are|is|was|were)(?= the\b))?(?: (?:all|of|the|our|my|me|every|each)\b)*",
    re.IGNORECASE,
)
# Words of questions that rows cannot answer.
_ASKS_MORE = re.compile(r"\b(?:or|how|why|when|where|either|neither|nor|same|both|only)\b", re.IGNORECASE)
_AUXILIARIES = frozenset({
    "is", "are", "was", "were", "has", "have", "had", "do", "does", "did", "don", "doesn", "didn", "can", "could",
    "will", "would", "must", "should", "may",
})  # fmt: skip
# Words that end the head of a question: "which servers | in hall 2 have ...?"
_ENDS = _AUXILIARIES | frozenset({
    "with", "without", "in", "on", "at", "by", "from", "of", "for", "that", "which", "who", "where", "whose",
    "not", "no", "and", "than", "to", "the", "a", "an",
})  # fmt: skip
_NEGATION = re.compile(r"\b(?:no|not|without|lack(?:s|ing)?|never|except)\b|\b\w+n['’]t\b", re.IGNORECASE)
_PERSON = frozenset({
    "person", "people", "employee", "employees", "colleague", "colleagues", "member", "members", "staff", "player",
    "players", "student", "students", "team", "participant", "participants", "patient", "patients",
})  # fmt: skip
_PERSON_COLUMN = frozenset({
    "approver", "assignee", "author", "client", "coach", "colleague", "contact", "creator", "customer", "driver",
    "editor", "employee", "engineer", "lead", "leader", "manager", "member", "name", "owner", "participant", "patient",
    "person", "player", "reporter", "requester", "responsible", "reviewer", "speaker", "staff", "student", "supervisor",
    "teacher", "tenant", "who", "winner",
})  # fmt: skip
# Superlatives that can be of any noun: "the highest price"; but "the heaviest boat" does not measure boats.
_OF_ANYTHING = frozenset({
    "most", "least", "fewest", "highest", "lowest", "largest", "biggest", "smallest", "greatest", "longest",
    "shortest", "maximum", "minimum",
})  # fmt: skip
# Stems of words for the rows of any table.
_OF_ANY_ROW = frozenset(stems_of("case entry issue item line one order problem record request row task"))
# What ends the head of a column name: "Volume (l)", "depth in m".
_BEHIND_HEAD = re.compile(r"(?<=\w)\s*[(\[,]|(?<=\w)\s+(?:per|of|in|on|at|for|by|above|below|from|to)\b", re.IGNORECASE)
_NO = frozenset({"no", "n", "false", "0", "✗", "✘", "☐", "nein"})
_YES = frozenset({"yes", "y", "true", "x", "✓", "✔", "☑", "ja"})


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a question that the table need not explain.

    Attributes:
        head: The words that say what is asked for: "servers" in "which servers have ...?"
        is_who: Whether the question asks for a person.
        top: The superlative, if there is one.
        limits: The bounds on amounts.
        negations: The ends of the negating words, in characters.
        verb: The property that a verb measures.
    """

    head: range
    is_who: bool
    top: Superlative | None
    limits: tuple[Bound, ...]
    negations: tuple[int, ...]
    verb: Property

    def measured(self, what: Property) -> Property:
        """Return the property that an adjective measures, or the verb's if the adjective can measure any."""
        return self.verb if what is ANY else what


def rows_answer(snapshot: Index, question: str, ranked: Sequence[StoredPassage]) -> RowsAnswer | None:
    """Return the rows that a question asks for, from a table that explains it in the documents of some passages.

    None if two tables answer differently, as the question may mean either.
    """
    if _asks_for_rows(question) is None:
        return None
    found = [rows for table in whole_tables(snapshot, ranked) if (rows := select_rows(question, table)) is not None]
    return found[0] if found and all(one.cells == found[0].cells for one in found) else None


def select_rows(question: str, table: WholeTable) -> RowsAnswer | None:
    """Return the rows that a question asks for; None if the table does not explain it, or no row answers."""
    asks = _asks_for_rows(question)
    if asks is None:
        return None
    try:
        explained = Explained(question, table)
        return _select(explained, _explain(explained, asks))
    except NotExplainedError:
        return None


def _asks_for_rows(question: str) -> re.Match[str] | None:
    """Match the beginning of a question that may ask for rows of a table."""
    asks = _ASKS.match(question)
    return None if asks is None or _ASKS_MORE.search(question, asks.end("word")) else asks


def _explain(explained: Explained, asks: re.Match[str]) -> _Parts:
    """Explain all words of a question, and return its other parts; raises NotExplainedError."""
    question = explained.question
    has_dates = any(explained.kind(i) == "date" for i in range(len(explained.table.columns)))
    limits = [one for one in bounds(question) if has_dates or not one.is_period]
    tops = [one for one in superlatives(question) if not any(meet(one.span, limit.span) for limit in limits)]
    negations = [one.span() for one in _NEGATION.finditer(question)]
    if len(tops) > 1:
        raise NotExplainedError
    is_who = asks["word"].lower() == "who"
    stop = min((*(top.span[0] for top in tops), *(limit.span[0] for limit in limits)), default=len(question))
    head = _head(explained.words, asks.end(), stop, is_who=is_who)
    for span in (asks.span(), *(top.span for top in tops), *(limit.span for limit in limits), *negations):
        explained.explain(*span)
    explained.name_states()
    explained.name_columns()
    explained.name_things()
    explained.name_values()
    explained.name_subject()
    verbs = [VERBS[word.stem] for word in explained.words if word.stem in VERBS and not word.is_explained]
    previous = ""
    for number, word in enumerate(explained.words):
        is_person = word.text in _PERSON and (number in head or previous in {"most", "fewest"})
        is_who |= is_person and number in head and not word.is_explained
        is_row = word.stem in _OF_ANY_ROW and number in head
        if not (word.is_explained or is_person or is_row or word.is_plain or word.stem in VERBS):
            raise NotExplainedError
        previous = word.text
    top = tops[0] if tops else None
    ends = tuple(end for _, end in negations)
    return _Parts(head, is_who, top, tuple(limits), ends, verbs[0] if verbs else ANY)


def _head(words: Sequence[QuestionWord], start: int, stop: int, *, is_who: bool) -> range:
    """Return the range of words that say what is asked for, between two characters."""
    first = next((i for i, word in enumerate(words) if word.start >= start), len(words))
    if first < len(words) and not is_who:
        words[first].is_noun = True
    end = first
    while end < len(words) and words[end].start < stop and not (words[end].text in _ENDS or words[end].is_verb):
        end += 1
    if end > first:
        words[end - 1].is_head = True
    return range(first, end)


def _select(explained: Explained, parts: _Parts) -> RowsAnswer | None:
    table, top = explained.table, parts.top
    target = _target_column(explained, parts)
    rows = set(range(len(table.rows)))
    # Every row has a key: "who has open tickets?"
    used = {target, explained.key()}
    for limit in parts.limits:
        column, amount = _bounded(explained, parts, limit, target)
        used.add(column)
        bound = replace(limit, amount=amount)
        rows &= {i for i, one in enumerate(explained.measures(column) or ()) if bound.is_met(one)}
    measured, sign = (target, 0) if top is None else _measured(explained, parts, top, target)
    used.add(measured)
    negated = [explained.first_named(end) for end in parts.negations]
    for value in explained.values:
        used.add(value.column)
        rows = rows - value.rows if value in negated else rows & value.rows
    filters = len(explained.values) + len(parts.limits)
    for mention in explained.mentions:
        is_negated = mention in negated
        if is_negated or mention.column not in used:
            if not is_negated and _is_other_form(explained, mention):
                return None
            having = _having(table.column(mention.column), yes_or_no=target != explained.key())
            rows = rows - having if is_negated else rows & having
            filters += 1
    if target < 0:
        target = measured
    if top is not None:
        rows = _best(explained, rows, measured, sign)
        # For "which supplier has the most stock?", the rows of each supplier would have to be added up.
        cells = table.column(target)
        if top.what is ANY and target != measured and len(set(cells)) < len(cells) and not explained.has_subject:
            return None
    elif not filters:
        return None
    chosen = tuple(table.rows[i] for i in sorted(rows) if not is_empty(table.rows[i].cells[target]))
    # Cells that only repeat the question, as in "what was the primary outcome?", do not answer it.
    asked = set(words_of(explained.question))
    is_new = any(not asked.issuperset(words_of(row.cells[target])) for row in chosen)
    return RowsAnswer(chosen, target) if is_new else None


def _best(explained: Explained, rows: set[int], column: int, sign: int) -> set[int]:
    """Return the rows with the highest (sign 1) or lowest (-1) amount in a column."""
    measures = explained.measures(column) or []
    values = {i: sign * one.value for i in rows if (one := measures[i]) is not None}
    highest = max(values.values(), default=0.0)
    return {i for i, value in values.items() if value == highest}


def _having(cells: Sequence[str], *, yes_or_no: bool) -> set[int]:
    """Return the rows whose cells say that they have something; raises NotExplainedError if cells say what they have.

    Args:
        cells: The cells of a column.
        yes_or_no: Whether cells must be "yes" or "no", as they always must if all rows have something.
    """
    having = {i for i, cell in enumerate(cells) if not is_empty(cell) and cell.strip().lower() not in _NO}
    if (yes_or_no or len(having) == len(cells)) and not {cells[i].strip().lower() for i in having} <= _YES:
        raise NotExplainedError
    return having


def _is_other_form(explained: Explained, mention: Mention) -> bool:
    """Whether a word names a column in a form other than the plural: who pays the rent need not have paid it."""
    names = words_of(explained.table.columns[mention.column])
    words = (word.text for word in explained.words[mention.first : mention.end] if not word.is_plain)
    return not all(
        word in names or word.removesuffix("s") in names or word.removesuffix("es") in names for word in words
    )


def _target_column(explained: Explained, parts: _Parts) -> int:
    """Return the column that the question asks for, -1 for the measured one; raises NotExplainedError."""
    if parts.is_who:
        return _person_column(explained, parts)
    head = parts.head
    # In "which high priority tickets are open?" the priority is no column that is asked for, but part of a value.
    of_values = {(one.column, at) for one in explained.values for at in (one.first, one.end)}
    mentions = [one for one in explained.mentions if not {(one.column, one.first), (one.column, one.end)} & of_values]
    in_head = sorted((one for one in mentions if one.first in head), key=lambda one: one.first)
    # In "which staff joined before 2016" and "which room seats the most people" the last one is the verb: none follows.
    if in_head and in_head[-1].first > head.start and not _is_verb(explained.words, head.stop):
        in_head.pop()
    if len({one.column for one in in_head}) > 1:
        raise NotExplainedError
    if in_head:
        return in_head[0].column
    if len(parts.head):
        return explained.key()
    if parts.top is None:
        raise NotExplainedError
    return _top_column(explained, parts.top)


def _person_column(explained: Explained, parts: _Parts) -> int:
    names = [words_of(name) for name in explained.table.columns]
    people = [i for i, name in enumerate(names) if _PERSON_COLUMN & set(name) or name[-1:] == ["by"]]
    # For "who cooks on Monday?" it is the column of cooks, if its cells say who.
    verb = next((one.column for one in explained.mentions if one.first == 1), -1)
    if not people and verb >= 0 and explained.measures(verb) is None:
        cells = {cell.strip().lower() for cell in explained.table.column(verb)}
        people = [] if cells & (_YES | _NO) else [verb]
    named = {one.column for one in explained.mentions if one.column in people} or set(people)
    if len(named) == 1:
        return named.pop()
    if named or parts.top is None:
        raise NotExplainedError
    return explained.key()


def _is_verb(words: Sequence[QuestionWord], at: int) -> bool:
    """Whether the word at a position is a verb."""
    return at < len(words) and (words[at].text in _AUXILIARIES or words[at].is_verb)


def _top_column(explained: Explained, top: Superlative) -> int:
    """Return the price column for "the price of the heaviest boat"; for "the highest price" -1, the measured one."""
    before = [one.column for one in explained.mentions if explained.words[one.first].start < top.span[0]]
    if len(before) > 1:
        raise NotExplainedError
    if before:
        return before[0]
    after = next((i for i, word in enumerate(explained.words) if word.start >= top.span[1]), len(explained.words))
    key = explained.key()
    named = next((one.column for one in explained.mentions if one.first == after), key)
    return -1 if named != key and _can_rank(explained, top, named) else named


def _can_rank(explained: Explained, top: Superlative, column: int) -> bool:
    """Whether a superlative can apply to the values of a column."""
    names = set(words_of(explained.table.columns[column]))
    fits = explained.question[slice(*top.span)].lower() in _OF_ANYTHING or not names.isdisjoint(top.what.all_names)
    return fits and explained.measures(column) is not None


def _measured(explained: Explained, parts: _Parts, top: Superlative, target: int) -> tuple[int, int]:
    """Return the column that a superlative measures, and 1 for its highest amount or -1; raises NotExplainedError."""
    key, what = explained.key(), parts.measured(top.what)
    others = [one for one in explained.mentions if one.column not in {target, key}]
    named = [one for one in others if explained.measures(one.column) is not None]
    after = [one.column for one in named if explained.words[one.first].start >= top.span[1]]
    columns = {column for column in after if _can_rank(explained, top, column)}
    if not columns and what is ANY:
        columns = {one.column for one in named}
    if len(columns) > 1 or (not columns and target < 0):
        raise NotExplainedError
    measured = columns.pop() if columns else _with_property(explained, what)
    is_reverse = not what.reverse.isdisjoint(words_of(explained.table.columns[measured]))
    return measured, -top.sign if is_reverse else top.sign


def _with_property(explained: Explained, what: Property) -> int:
    """Return the one column that holds a property, by its name or else by its units; raises NotExplainedError."""
    columns = [i for i in range(len(explained.table.columns)) if i != explained.key()]
    chosen: list[int] = []
    for names in (what.names, what.reverse):
        named = [i for i in columns if not names.isdisjoint(_head_of(explained.table.columns[i]))]
        chosen = chosen or [i for i in named if explained.measures(i) is not None]
    if not chosen and what.kinds:
        chosen = [i for i in columns if explained.kind(i).split(" ")[0] in what.kinds]
    if len(chosen) != 1:
        raise NotExplainedError
    return chosen[0]


def _head_of(name: str) -> list[str]:
    """Return what a column holds: the last word of its name before its unit, a bracket, a comma or a preposition."""
    words = words_of(_BEHIND_HEAD.split(name, maxsplit=1)[0])
    while len(words) > 1 and (kind_of_unit(words[-1]) is not None or words[-1].isdecimal()):
        words.pop()
    return words[-1:]


def _bounded(explained: Explained, parts: _Parts, limit: Bound, target: int) -> tuple[int, Amount]:
    """Return the column to compare with an amount, and the amount in its unit; raises NotExplainedError."""
    start, end = limit.span
    by_distance = {
        min(abs(explained.words[one.first].start - end), abs(start - explained.words[one.end - 1].end)): one.column
        for one in explained.mentions
        if one.column != target and explained.measures(one.column) is not None
    }
    amount, what = limit.amount, parts.measured(limit.what)
    if what is ANY and amount.kind:
        kind = amount.kind.split(" ")[0]
        kinds = {explained.kind(i).split(" ")[0] for i in range(len(explained.table.columns))}
        what = PRICE if kind == "money" and kind not in kinds else Property(kinds=frozenset({kind}))
    column = by_distance[min(by_distance)] if by_distance else _with_property(explained, what)
    column_kind = next((one.kind for one in explained.measures(column) or () if one is not None), "")
    name = explained.table.columns[column]
    unit = unit_in_name(name)
    if amount.kind and not column_kind and unit is not None and unit[0] == amount.kind:
        return column, Amount(amount.value / unit[1])
    if amount.kind.startswith("money") and not column_kind and not unit and not OF_MONEY.isdisjoint(words_of(name)):
        return column, Amount(amount.value)
    is_bare = not amount.kind and (column_kind == "date" or column_kind.startswith("money"))
    if column_kind != amount.kind and not is_bare:
        raise NotExplainedError
    return column, amount
