"""Choose the columns that a question about rows means: the one it asks for, and those that it measures or compares.

"Which boat under 500 kg is the fastest?" asks for the column of boats, compares weights, and measures speeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qa.tables.explained import Explanation, NotExplainedError
from qa.tables.measures import FIRST_YEAR, Amount, unit_in_name
from qa.tables.superlatives import AGE, ANY, OF_MONEY, OF_PROPERTIES, PRICE, Bound, Property, Superlative
from qa.tables.words import IDENTIFIERS, QuestionWord, head_of, words_of

AUXILIARIES = frozenset({
    "is", "are", "was", "were", "has", "have", "had", "do", "does", "did", "don", "doesn", "didn", "can", "could",
    "will", "would", "must", "should", "may",
})  # fmt: skip
PERSON_COLUMN = frozenset({
    "approver", "assignee", "author", "client", "coach", "colleague", "contact", "creator", "customer", "driver",
    "editor", "employee", "engineer", "lead", "leader", "manager", "member", "name", "owner", "participant", "patient",
    "person", "player", "reporter", "requester", "responsible", "reviewer", "speaker", "staff", "student", "supervisor",
    "teacher", "tenant", "who", "winner",
})  # fmt: skip
# Last words of the names of columns that only tell something about persons: "manager phone".
_OF_PERSONS = frozenset({"address", "email", "fax", "mail", "mobile", "phone", "since", "tel", "telephone", "until"})
# Superlatives that can be of any noun: "the highest price"; but "the heaviest boat" does not measure boats.
_OF_ANYTHING = frozenset({
    "most", "least", "fewest", "highest", "lowest", "largest", "biggest", "smallest", "greatest", "longest",
    "shortest", "maximum", "minimum",
})  # fmt: skip
# Columns of tables of persons, who do not age from when they joined, and of dates from which persons or things do.
_PEOPLE = frozenset({
    "colleague", "employee", "member", "name", "participant", "patient", "person", "player", "staff", "student",
})  # fmt: skip
_OF_BIRTH = frozenset({
    "age", "birth", "birthday", "born", "bought", "built", "founded", "installed", "opened", "published", "released",
})  # fmt: skip
NO = frozenset({"no", "n", "false", "0", "✗", "✘", "☐", "nein"})
YES = frozenset({"yes", "y", "true", "x", "✓", "✔", "☑", "ja"})


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """The parts of a question that the table need not explain.

    Attributes:
        head: The words for the things asked for: "servers" in "which servers have ...?"
        is_who: Whether the question asks for a person.
        is_when: Whether it asks for dates.
        top: The superlative, if there is one.
        limits: The bounds on amounts.
        negations: The ends of the negating words, in characters.
        verb: The property that a verb measures.
    """

    head: range
    is_who: bool
    is_when: bool
    top: Superlative | None
    limits: tuple[Bound, ...]
    negations: tuple[int, ...]
    verb: Property

    def measured(self, what: Property) -> Property:
        """Return the property that an adjective measures, or the verb's if the adjective can measure any."""
        return self.verb if what is ANY else what


def target_column(explained: Explanation, parts: QuestionParts) -> int:
    """Return the column that the question asks for, -1 for the measured one; raises NotExplainedError."""
    if parts.is_who:
        return _person_column(explained, parts)
    if parts.is_when:
        return _date_column(explained)
    head = parts.head
    # In "which high priority tickets are open?" the column "priority" is not asked for: the word is part of a value.
    of_values = {(value.column, at) for value in explained.values for at in (value.first, value.end)}
    mentions = (mention for mention in explained.mentions if mention.first in head and not mention.is_opposite)
    in_head = [it for it in mentions if of_values.isdisjoint({(it.column, it.first), (it.column, it.end)})]
    in_head.sort(key=lambda mention: mention.first)
    # In "which staff joined before 2016", the last column named is the verb, as no other verb follows.
    if in_head and in_head[-1].first > head.start and not _is_verb(explained.words, head.stop):
        in_head.pop()
    if len({mention.column for mention in in_head}) > 1:
        raise NotExplainedError
    if in_head:
        return in_head[0].column
    if len(parts.head):
        return explained.key()
    if parts.top is not None:
        return _top_column(explained, parts.top)
    # "What costs more than 20?" asks for things, not for prices.
    if parts.verb is ANY or parts.limits or parts.negations:
        raise NotExplainedError
    return with_property(explained, parts.verb)


def _date_column(explained: Explanation) -> int:
    """Return the one column of dates in a table without times; raises NotExplainedError."""
    kinds = [explained.kind(i) for i in range(len(explained.table.columns))]
    if kinds.count("date") != 1 or "time" in kinds:
        raise NotExplainedError
    return kinds.index("date")


def _person_column(explained: Explanation, parts: QuestionParts) -> int:
    names = [words_of(name) for name in explained.table.columns]
    people = [i for i, name in enumerate(names) if PERSON_COLUMN & set(name) or name[-1:] == ["by"]]
    people = [i for i in people if names[i][-1] not in _OF_PERSONS]
    people = [i for i in people if names[i][-1] not in IDENTIFIERS] or people
    # For "who cooks on Monday?" it is the column of cooks, if its cells say who.
    verb = next((mention.column for mention in explained.mentions if mention.first == 1), -1)
    if not people and verb >= 0 and explained.measures(verb) is None:
        cells = {cell.strip().lower() for cell in explained.table.column(verb)}
        people = [] if cells & (YES | NO) else [verb]
    mentioned = {mention.column for mention in explained.mentions if mention.column in people}
    named, key = mentioned or set(people), explained.key()
    if len(named) == 1:
        return named.pop()
    # The rows of staff with their managers are about the staff.
    is_about_first = not mentioned and people[:1] == [key]
    if not is_about_first and (named or parts.top is None):
        raise NotExplainedError
    return key


def _is_verb(words: Sequence[QuestionWord], at: int) -> bool:
    """Whether the word at a position is a verb."""
    return at < len(words) and (words[at].text in AUXILIARIES or words[at].is_verb)


def _top_column(explained: Explanation, top: Superlative) -> int:
    """Return the price column for "the price of the heaviest boat"; for "the highest price" -1, the measured one."""
    before = [mention.column for mention in explained.mentions if explained.words[mention.first].start < top.span[0]]
    if len(before) > 1:
        raise NotExplainedError
    if before:
        return before[0]
    after = next((i for i, word in enumerate(explained.words) if word.start >= top.span[1]), len(explained.words))
    key = named = explained.key()
    # In "the cheapest removal company", the last noun is the one asked for.
    for mention in sorted(explained.mentions, key=lambda mention: mention.first):
        if mention.first == after:
            named, after = mention.column, mention.end
    # "The cheapest vegan dish" is a dish.
    if {cell.strip().lower() for cell in explained.table.column(named)} & (YES | NO):
        named = key
    return -1 if named != key and _can_rank(explained, top, named) else named


def _can_rank(explained: Explanation, top: Superlative, column: int) -> bool:
    """Whether a superlative can apply to the values of a column."""
    names = set(words_of(explained.table.columns[column]))
    holds_it = not names.isdisjoint(top.what.names | top.what.reverse)
    fits = holds_it or explained.question[slice(*top.span)].lower() in _OF_ANYTHING
    # The longest warranty is not the one that ends last.
    is_date = explained.kind(column) == "date"
    return fits and explained.measures(column) is not None and not (is_date and "date" not in top.what.names)


def measured_column(explained: Explanation, parts: QuestionParts, top: Superlative, target: int) -> tuple[int, int]:
    """Return the column that a superlative measures, and 1 for its highest amount or -1; raises NotExplainedError."""
    key, what = explained.key(), parts.measured(top.what)
    if (subject := _subject_of(explained, top)) not in {None, target, key}:
        return subject, -top.sign if _is_reverse(explained, what, subject) else top.sign
    mentions = [mention for mention in explained.mentions if mention.column not in {target, key}]
    named = [mention for mention in mentions if explained.measures(mention.column) is not None]
    after = [mention.column for mention in named if explained.words[mention.first].start >= top.span[1]]
    columns = {column for column in after if _can_rank(explained, top, column)}
    if not columns and what is ANY:
        columns = {mention.column for mention in named}
    if len(columns) > 1 or (not columns and target < 0):
        raise NotExplainedError
    measured = columns.pop() if columns else with_property(explained, what)
    return measured, -top.sign if _is_reverse(explained, what, measured) else top.sign


def _subject_of(explained: Explanation, top: Superlative) -> int | None:
    """Return the column that a superlative is said of: "in which month was gas lowest?", "whose rent is lowest?"."""
    words = [word for word in explained.words if word.start < top.span[0] and word.text != "the"]
    for mention in explained.mentions:
        before = [word.text for word in words if word.end <= explained.words[mention.first].start][-1:]
        after = [word.text for word in words if word.start >= explained.words[mention.end - 1].end]
        is_subject = not after and not AUXILIARIES.isdisjoint(before)
        is_owned = len(after) == 1 and after[0] in AUXILIARIES and before in (["s"], ["whose"])
        if (is_subject or is_owned) and (
            _can_rank(explained, top, mention.column) or explained.kind(mention.column).split(" ")[0] in top.what.kinds
        ):
            return mention.column
    return None


def _is_reverse(explained: Explanation, what: Property, column: int) -> bool:
    """Whether a column holds the opposite of a property, such as the time that the fastest takes."""
    words = words_of(explained.table.columns[column])
    return not what.reverse.isdisjoint(words) and what.names.isdisjoint(words)


def with_property(explained: Explanation, what: Property) -> int:
    """Return the one column that holds a property, by its name or else by its units; raises NotExplainedError.

    In the table of a "price list", prices need no units. Of several columns, such as one per year, the question must
    name the one it means.
    """
    names = explained.table.columns
    columns = [i for i in range(len(names)) if i != explained.key()]
    if what is AGE and any(not _PEOPLE.isdisjoint(words_of(name)) for name in names):
        columns = [i for i in columns if not _OF_BIRTH.isdisjoint(words_of(names[i]))]
    chosen: list[int] = []
    for words in (what.reverse, what.names) if what is AGE else (what.names, what.reverse):
        chosen = chosen or [i for i in columns if not words.isdisjoint(head_of(names[i]))]
    if not chosen and what.kinds:
        chosen = [i for i in columns if explained.kind(i).split(" ")[0] in what.kinds and _may_hold(explained, what, i)]
    if not chosen and explained.is_about(what.names):
        chosen = [i for i in columns if explained.measures(i) is not None]
    if len(chosen) > 1:  # a flow rate in litres is no price
        of_kind = [i for i in chosen if explained.kind(i).split(" ")[0] in what.kinds]
        chosen = of_kind if len(of_kind) == 1 else chosen
    if len(chosen) > 1:
        chosen = [i for i in chosen if any(mention.column == i for mention in explained.mentions)]
    if len(chosen) != 1 or explained.measures(chosen[0]) is None:
        raise NotExplainedError
    return chosen[0]


def _may_hold(explained: Explanation, what: Property, column: int) -> bool:
    """Whether a column may hold a property by its unit: not if named for another one, or with times of day."""
    is_named = bool(what.names) and not OF_PROPERTIES.isdisjoint(head_of(explained.table.columns[column]))
    is_clock = explained.kind(column) == "time" and any(":" in cell for cell in explained.table.column(column))
    return not (is_named or is_clock)


def bounded_column(explained: Explanation, parts: QuestionParts, limit: Bound, target: int) -> tuple[int, Bound]:
    """Return the column that a bound limits, and the bound in its unit; raises NotExplainedError."""
    start, end = limit.span
    by_distance = {
        min(abs(explained.words[it.first].start - end), abs(start - explained.words[it.end - 1].end)): it.column
        for it in explained.mentions
        if it.column != target and explained.measures(it.column) is not None
    }
    amount, what = limit.amount, parts.measured(limit.what)
    if what is ANY and amount.kind:
        kind = amount.kind.split(" ")[0]
        kinds = {explained.kind(i).split(" ")[0] for i in range(len(explained.table.columns))}
        what = PRICE if kind == "money" and kind not in kinds else Property(kinds=frozenset({kind}))
    column = by_distance[min(by_distance)] if by_distance else with_property(explained, what)
    if _is_reverse(explained, what, column):
        limit = limit.reversed()
    measures = [measure for measure in explained.measures(column) or () if measure is not None]
    column_kind = measures[0].kind if measures else ""
    name = explained.table.columns[column]
    unit = unit_in_name(name)
    if amount.kind and not column_kind and unit is not None and unit[0] == amount.kind:
        amount = Amount(amount.value / unit[1])
    elif amount.kind.startswith("money") and not column_kind and not unit and not OF_MONEY.isdisjoint(words_of(name)):
        amount = Amount(amount.value)
    is_bare = not amount.kind and (column_kind == "date" or column_kind.startswith("money"))
    # "10" in "after 10 June" is no year, nor can days without a year be compared with one.
    lacks_year = column_kind == "date" and min(amount.value, measures[0].value) < FIRST_YEAR
    if lacks_year or (column_kind != amount.kind and not is_bare):
        raise NotExplainedError
    return column, replace(limit, amount=amount)
