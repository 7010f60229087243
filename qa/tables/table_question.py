"""Answer questions from rows of a table: "which server has the most memory?", "which rooms have no lift?".

A table answers only if it explains every content word of the question: as the name of a column, a value, a measured
property, or the subject of its rows. So no part of the question is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from index import Index, StoredPassage
from qa.language.spans import spans_overlap
from qa.tables.columns import AUXILIARIES, NO, YES, QuestionParts, bounded_column, measured_column, target_column
from qa.tables.explained import Explanation, Mention, NotExplainedError
from qa.tables.measures import UNKNOWN, is_empty
from qa.tables.superlatives import ANY, PRICE, VERBS, Bound, bounds, is_superlative_noun, superlatives
from qa.tables.table_answer import RowsAnswer
from qa.tables.transposed import ITEM, may_ask_for_cell, select_cell, transposed
from qa.tables.whole_table import WholeTable, whole_tables
from qa.tables.words import DAYS, QuestionWord, is_same_word, stems_of, words_of

_ASKS = re.compile(
    r"\W*(?:please )?(?:(?:in|on|at|of|for|and) )?(?P<word>which|what|whose|who|when|list|show|name|find)\b"
    r"(?:(?:['’]s| are| is| was| were)(?= the\b))?(?: (?:all|of|the|our|my|me|every|each)\b)*",
    re.IGNORECASE,
)
# The beginning of a noun with a superlative: "the cheapest room", "room with the most seats".
_NOUN = re.compile(r"\W*(?P<word>)(?:the\b)?")
# Rooms that come without a lift.
_COME = re.compile(r"\bcomes?(?= with(?:out)?\b)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
# Words of questions that rows cannot answer.
_ASKS_MORE = re.compile(r"\b(?:or|how|why|when|where|either|neither|nor|same|both|only)\b", re.IGNORECASE)
# Words that end the head of a question: "which servers | in hall 2 have ...?"
_ENDS = AUXILIARIES | frozenset({
    "with", "without", "in", "on", "at", "by", "from", "of", "for", "that", "which", "who", "where", "whose",
    "not", "no", "and", "than", "to", "the", "a", "an",
})  # fmt: skip
# "Staff no 7" is a number, but "have no 4 wheel drive" is none.
_NEGATION = re.compile(
    r"\b(?:(?:(?<=have )|(?<=has )|(?<=with ))no|no(?!\. ?\w| \d+\b)|not|without|lack(?:s|ing)?|never|except"
    r"|out of(?! \d))\b"
    r"|\b\w+n['’]t\b",
    re.IGNORECASE,
)
_PERSON = frozenset({
    "person", "people", "employee", "employees", "colleague", "colleagues", "member", "members", "staff", "player",
    "players", "student", "students", "team", "participant", "participants", "patient", "patients",
})  # fmt: skip
# Words that compare with what follows them, always or if that is a number or day.
_COMPARES = frozenset({
    "above", "after", "before", "below", "between", "more", "other", "over", "than", "under", "until",
})  # fmt: skip
_COMPARES_DAYS = frozenset({"by", "from", "through", "to"})
_TOTAL = re.compile(r"\W*(?:(?:grand |sub-?)?totals?|sum|average|mean|median|gesamt|summe)\W*", re.IGNORECASE)
# The columns of a table of properties.
_WITH_NAME_AND_VALUE = 2
# Stems of words for the rows of any table.
_OF_ANY_ROW = frozenset(stems_of("case entry issue item line one order problem record request row task"))


def rows_answer(snapshot: Index, question: str, ranked: Sequence[StoredPassage]) -> RowsAnswer | None:
    """Return the rows that a question asks for, from a table that explains it in the documents of some passages.

    None if two tables answer differently, as the question may mean either.
    """
    if _asks_for_rows(question) is None and not may_ask_for_cell(question):
        return None
    tables = whole_tables(snapshot, ranked)
    answers = [rows for table in tables if (rows := _from_table(question, table)) is not None]
    return answers[0] if answers and all(answer.cells == answers[0].cells for answer in answers) else None


def _from_table(question: str, table: WholeTable) -> RowsAnswer | None:
    turned = transposed(table)
    if turned is None:
        return select_rows(question, table)
    rows = select_cell(question, turned) or select_rows(question, turned)
    # A table with a column for each year may be read both ways.
    return rows or (None if turned.columns[0] == ITEM else select_rows(question, table))


def select_rows(question: str, table: WholeTable) -> RowsAnswer | None:
    """Return the rows that a question asks for; None if the table does not explain it, or no row answers."""
    question = _COME.sub("are", question)
    asks = _asks_for_rows(question)
    if asks is None:
        return None
    try:
        explained = Explanation(question, _without_totals(question, table))
        return _select(explained, _explain(explained, asks))
    except NotExplainedError:
        return None


def _without_totals(question: str, table: WholeTable) -> WholeTable:
    """Return a table without its rows of totals and averages, unless the question asks for one of them."""
    rows = tuple(row for row in table.rows if not _TOTAL.fullmatch(next(filter(None, row.cells), "")))
    words = set(words_of(question)).difference(words_of(" ".join(table.columns)))
    is_total = any(map(_TOTAL.fullmatch, words)) and not (superlatives(question) or bounds(question))
    return table if is_total or not rows else replace(table, rows=rows)


def _asks_for_rows(question: str) -> re.Match[str] | None:
    """Match the beginning of a question that may ask for rows of a table."""
    asks = _NOUN.match(question) if is_superlative_noun(question) else _ASKS.match(question)
    return None if asks is None or _ASKS_MORE.search(question, asks.end("word")) else asks


def _explain(explained: Explanation, asks: re.Match[str]) -> QuestionParts:
    """Explain all words of a question, and return its other parts; raises NotExplainedError."""
    question = explained.question
    has_dates = any(explained.kind(i) == "date" for i in range(len(explained.table.columns)))
    limits = [bound for bound in bounds(question) if has_dates or not bound.is_period]
    # "Up to 2 kg" may be the name of a column.
    names = [words_of(name) for name in explained.table.columns]
    named = [limit.span for limit in limits if words_of(question[slice(*limit.span)]) in names]
    limits = [limit for limit in limits if limit.span not in named]
    tops = [top for top in superlatives(question) if not any(spans_overlap(top.span, it.span) for it in limits)]
    negations = [match.span() for match in _NEGATION.finditer(question)]
    possessives = [match.span() for match in _POSSESSIVE.finditer(question, asks.end())]
    asked = asks["word"].lower()
    if len(tops) > 1 or (asked == "whose" and not tops):
        raise NotExplainedError
    is_who, is_when = asked in {"who", "whose"}, asked == "when"
    ends_of_head = (*(top.span for top in tops), *(limit.span for limit in limits), *possessives)
    stop = min((start for start, _ in ends_of_head), default=len(question))
    head = range(0) if is_when else _head(explained.words, asks.end(), stop, is_who=is_who)
    for span in (asks.span(), *ends_of_head, *negations):
        explained.explain(*span)
    explained.find_states()
    explained.find_columns()
    for span in named:
        explained.explain(*span)
    explained.find_described_subject()
    explained.find_values()
    explained.find_opposites()
    explained.find_subject()
    for word in explained.words:
        if tops and not word.is_explained and word.start == tops[0].span[1] + 1 and word.text in {"price", "cost"}:
            tops, word.is_explained = [replace(tops[0], what=PRICE)], True
    explained.find_homes()
    measuring = (word for word in explained.words if word.is_name or not word.is_explained)
    verbs = [VERBS[word.stem] for word in measuring if word.stem in VERBS]
    previous = ""
    for number, word in enumerate(explained.words):
        is_person = word.text in _PERSON and (number in head or previous in {"most", "fewest"})
        is_who |= is_person and number in head and not word.is_explained
        is_row = word.stem in _OF_ANY_ROW and number in head
        if not (word.is_explained or is_person or is_row or word.is_plain or word.stem in VERBS):
            raise NotExplainedError
        is_named = any(start <= word.start < end for start, end in named)
        is_day = not is_named and (word.stem in DAYS or word.text.isdecimal())
        compares = word.text in _COMPARES and not word.is_explained
        if compares or (is_day and previous in _COMPARES_DAYS):
            raise NotExplainedError
        previous = word.text
    if any(word.is_plain and not word.is_explained and explained.may_be_value(word) for word in explained.words):
        raise NotExplainedError
    top = tops[0] if tops else None
    ends = tuple(end for _, end in negations)
    return QuestionParts(head, is_who, is_when, top, tuple(limits), ends, verbs[0] if verbs else ANY)


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


def _select(explained: Explanation, parts: QuestionParts) -> RowsAnswer | None:
    """Filter the rows by all that the question says, and take those with the most or least of what it measures."""
    table, top = explained.table, parts.top
    target = target_column(explained, parts)
    limits = [bounded_column(explained, parts, limit, target) for limit in parts.limits]
    measured, sign = (target, 0) if top is None else measured_column(explained, parts, top, target)
    # An item that is "free", in words, may be the cheapest.
    for column in (*(column for column, _ in limits), *((measured,) if top else ())):
        measures = explained.measures(column) or [None] * len(table.rows)
        if any(it is None and not is_empty(cell) for cell, it in zip(table.column(column), measures, strict=True)):
            raise NotExplainedError
    # Every row has a key: "who has open tickets?"
    used = {target, explained.key(), measured, *(column for column, _ in limits)}
    rows, is_filtered = _filtered(explained, parts, limits, used, target)
    if target < 0:
        target = measured
    if top is not None:
        rows = _best(explained, rows, measured, sign)
        # For "which supplier has the most stock?", the rows of each supplier would have to be added up.
        cells = table.column(target)
        if top.what is ANY and target != measured and len(set(cells)) < len(cells) and not explained.has_subject:
            return None
    elif not is_filtered:
        return None
    chosen = tuple(table.rows[i] for i in sorted(rows) if not is_empty(table.rows[i].cells[target]))
    # Cells that only repeat the question, as in "what was the primary outcome?", do not answer it: the one beside may.
    # Nor do those that the question names in part.
    question_words = set(words_of(explained.question))
    is_named = top is None and not limits and {value.column for value in explained.values} == {target}
    is_new = not is_named and any(not question_words.issuperset(words_of(row.cells[target])) for row in chosen)
    if not is_new and len(chosen) == 1 and len(table.columns) == _WITH_NAME_AND_VALUE:
        target = 1 - target
        is_new = not is_empty(chosen[0].cells[target])
    if not is_new:
        return None
    named = (*(column for column, _ in limits), *(it.column for it in (*explained.values, *explained.mentions)))
    shown = next((column for column in (target, measured, *named) if column != explained.key()), target)
    cited = tuple(table.cited(row, shown) for row in chosen)
    names = tuple(row for row, line in zip(chosen, cited, strict=True) if row.passage.id != line.passage.id)
    return RowsAnswer(cited, target, names)


def _filtered(
    explained: Explanation,
    parts: QuestionParts,
    limits: Sequence[tuple[int, Bound]],
    used: set[int],
    target: int,
) -> tuple[set[int], bool]:
    """Return the rows with all that the question names, and whether it names anything; raises NotExplainedError.

    Args:
        explained: The question.
        parts: Its parts.
        limits: Its bounds, each with its column.
        used: Columns whose names do not ask for rows that have something in them.
        target: The column that the question asks for, -1 for the measured one.
    """
    negated = {explained.first_mention_after(end) for end in parts.negations}
    denied = negated.union(mention for mention in explained.mentions if mention.is_opposite)
    if any(cell.strip().lower() in UNKNOWN for mention in denied for cell in explained.table.column(mention.column)):
        raise NotExplainedError
    is_of_key = target == explained.key()
    filters: list[tuple[Collection[int], bool]] = []
    for column, bound in limits:
        measures = explained.measures(column) or ()
        filters.append(({i for i, amount in enumerate(measures) if bound.is_met(amount)}, False))
    filters += [(value.rows or (), value in negated) for value in explained.values]
    for mention in explained.mentions:
        if mention in denied or mention.column not in used.union(value.column for value in explained.values):
            if mention not in denied and _is_other_form(explained, mention):
                raise NotExplainedError
            # Rows that have something must say "yes" if it is not the rows that are asked for.
            yes_or_no = mention.is_opposite or not is_of_key
            having = _having(explained.table.column(mention.column), yes_or_no=yes_or_no)
            filters.append((having, (mention in negated) != mention.is_opposite))
    all_rows = set(range(len(explained.table.rows)))
    rows = all_rows.intersection(*(having for having, is_negated in filters if not is_negated))
    excluded = rows.intersection(i for having, is_negated in filters if is_negated for i in having)
    kept = rows - excluded
    return kept if is_of_key or target < 0 else _without_any(explained, parts, target, kept, excluded), bool(filters)


def _without_any(
    explained: Explanation, parts: QuestionParts, target: int, rows: set[int], excluded: set[int]
) -> set[int]:
    """Return the rows whose cell in the target column is in no excluded row; raises NotExplainedError if unclear.

    "Who has no open tasks?" means that, but "which floors have rooms without a lift?" may mean any such room.
    """
    cells = explained.table.column(target)
    excluded_cells = {cells[i] for i in excluded}
    chosen = {i for i in rows if cells[i] not in excluded_cells}
    verb = parts.head.stop
    if chosen != rows and [word.text for word in explained.words[verb : verb + 2]] not in (
        ["has", "no"],
        ["have", "no"],
    ):
        raise NotExplainedError
    return chosen


def _best(explained: Explanation, rows: set[int], column: int, sign: int) -> set[int]:
    """Return the rows with the highest (sign 1) or lowest (-1) amount in a column."""
    measures = explained.measures(column) or []
    values = {i: sign * measure.value for i in rows if (measure := measures[i]) is not None}
    highest = max(values.values(), default=0.0)
    return {i for i, value in values.items() if value == highest}


def _having(cells: Sequence[str], *, yes_or_no: bool) -> set[int]:
    """Return the rows whose cells say that they have something; raises NotExplainedError if cells say what they have.

    Args:
        cells: The cells of a column.
        yes_or_no: Whether cells must be "yes" or "no", as they always must if all rows have something, or one says so.
    """
    having = {i for i, cell in enumerate(cells) if not is_empty(cell) and cell.strip().lower() not in NO}
    said = {cells[i].strip().lower() for i in having}
    is_unclear = not said.isdisjoint(YES) or any(map(_NEGATION.search, said))
    if (yes_or_no or is_unclear or len(having) == len(cells)) and not said <= YES:
        raise NotExplainedError
    return having


def _is_other_form(explained: Explanation, mention: Mention) -> bool:
    """Whether a word names a column in a form other than the plural: who pays the rent need not have paid it."""
    names = words_of(explained.table.columns[mention.column])
    words = (word.text for word in explained.words[mention.first : mention.end] if not word.is_plain)
    return not all(any(is_same_word(word, name) for name in names) for word in words)
