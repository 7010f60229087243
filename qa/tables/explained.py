"""Explain the words of a question by a table: which name columns, which name values, and which name its rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from qa.tables.measures import Amount, comparable_amounts, is_empty, unit_in_name
from qa.tables.superlatives import OF_MONEY
from qa.tables.whole_table import WholeTable
from qa.tables.words import (
    ADVERBS,
    IDENTIFIERS,
    LEAST_STEM,
    WORD,
    QuestionWord,
    head_of,
    is_among,
    is_same_word,
    stem_of,
    stems_of,
    words_of,
)

# Columns that say what a thing is for, or runs: a row without "server" in its role is a server, too.
_DESCRIBES = frozenset({"function", "os", "platform", "purpose", "role", "software", "system", "usage", "use"})
# First columns that name persons, of whom not all are engineers if the role of one is "senior engineer".
_NAMES = frozenset({"colleague", "employee", "member", "name", "person", "staff"})
# Names of columns that number the rows.
_COUNTS = frozenset({"", "#", "no", "no.", "nr", "nr.", "pos", "pos.", "rank", "row", "index"})
# Last words of column names that say little about what the column holds: "phone number".
_OF_ANYTHING = frozenset({"code", "date", "id", "name", "no", "nr", "number", "time", "title"})
# Names of columns of what a thing is without: part of "gluten-free" or "non-smoking" names the opposite.
_WITHOUT = re.compile(r"\b(?:free|non|not|without|no(?= (?!of\b)\w))\b", re.IGNORECASE)
# Words before a value that negate or weaken it.
_NEGATES = frozenset({
    "almost", "half", "nearly", "never", "no", "non", "not", "part", "partial", "partially", "partly", "without",
})  # fmt: skip
# Columns that say where somebody lives, unlike "works in".
_HOMES = frozenset({"address", "city", "country", "home", "place", "residence", "town", "village"})
# The most words in a name or value.
_LONGEST = 6
_DIGITS_OF_YEAR = 4


class NotExplainedError(Exception):
    """The table does not explain the question, or does so in two ways."""


class Mention(NamedTuple):
    """A column, or a value in it, that the question names.

    Attributes:
        column: The column.
        first: The first word that names it.
        end: One past the last.
        rows: The rows with the value; None if only the column is named.
        is_opposite: Whether it is the opposite that is named: "unpaid" for "paid".
    """

    column: int
    first: int
    end: int
    rows: frozenset[int] | None = None
    is_opposite: bool = False


@dataclass(slots=True)
class Explanation:
    """A question and what a table explains of it so far.

    Attributes:
        question: The question.
        table: The table.
        words: The words of the question.
        mentions: The columns that the question names.
        values: The values that it names.
        has_subject: Whether it names the subject of the rows.
    """

    question: str
    table: WholeTable
    words: list[QuestionWord] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    values: list[Mention] = field(default_factory=list)
    has_subject: bool = False
    _measures: dict[int, list[Amount | None] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words = (match for match in WORD.finditer(self.question.lower()) if match[0] not in ADVERBS)
        self.words = [QuestionWord(word[0], stem_of(word[0]), *word.span()) for word in words]

    def explain(self, start: int, end: int) -> None:
        """Mark the words between two characters as explained."""
        for word in self.words:
            word.is_explained |= start <= word.start < end

    def find_states(self) -> None:
        """Find recurring values that resemble the name of a column: "open", beside a column "opened"."""
        columns_by_state: dict[tuple[str, ...], set[int]] = {}
        for i in range(len(self.table.columns)):
            cells = self.table.column(i)
            for cell in cells if len(set(cells)) < len(cells) else ():
                columns_by_state.setdefault(tuple(words_of(cell)), set()).add(i)
        names = {tuple(words_of(name)) for name in self.table.columns}
        stems = [stem for name in self.table.columns for stem in stems_of(name)]
        for state in sorted(columns_by_state.keys() - names - {()}, key=lambda words: (-len(words), words)):
            columns = columns_by_state[state]
            for first in range(len(self.words) - len(state) + 1):
                inside = self.words[first : first + len(state)]
                is_state = state == tuple(word.text for word in inside)
                is_state = is_state and not any(word.is_explained for word in inside)
                if is_state and len(columns) == 1 and any(is_among(word.stem, stems) for word in inside):
                    (column,) = columns
                    cells_asked = enumerate(map(words_of, self.table.column(column)))
                    rows = frozenset(row for row, cell in cells_asked if _affirms(cell, state))
                    self._add(Mention(column, first, first + len(state), rows))

    def find_columns(self) -> None:
        """Find the columns that the question names, longest names first; raises NotExplainedError.

        Part of a name suffices: "customer" for "customer name". But if other columns have the same last word, the noun
        for the things asked for must be that: beside a "night doctor", "which day" does not mean the "day doctor".
        """
        heads = [set(head_of(name)) for name in self.table.columns]
        shared = {word for word, count in Counter(word for head in heads for word in head).items() if count > 1}
        heads = [head & shared - _OF_ANYTHING for head in heads]
        names = [stems_of(name) for name in self.table.columns]
        values = {cell.strip().lower() for column in range(len(names)) for cell in self.table.column(column)}
        for word in self.words:
            # A verb that elsewhere means nothing names a column or a value here: assigned, assignee.
            word.is_name = word.is_verb and (
                any(len(name) == 1 and is_among(word.stem, name) for name in names) or word.text in values
            )
        for first, end in self._stretches():
            stems = [word.stem for word in self.words[first:end] if not word.is_plain]
            partial = [
                i
                for i, name in enumerate(names)
                if all(is_among(stem, name) for stem in stems)
                if len(stems) == len(name) or not _WITHOUT.search(self.table.columns[i])
            ]
            is_thing = any(word.is_head for word in self.words[first:end])
            columns = [i for i in partial if len(names[i]) == len(stems)] or [
                i
                for i in partial
                if not (heads[i] and is_thing) or any(is_among(stem, stems_of(*heads[i])) for stem in stems)
            ]
            if len(columns) > 1:
                raise NotExplainedError
            if columns:
                self.mentions.append(Mention(columns[0], first, end))
                self.explain(self.words[first].start, self.words[end - 1].end)

    def find_described_subject(self) -> None:
        """Explain the noun of "which Debian servers ...?" if cells have it only within a description: "mail server"."""
        names = [words_of(name) for name in self.table.columns]
        if not names or not _NAMES.isdisjoint(names[0]):
            return
        for word in self.words:
            cells = self._cells_with(word.stem) if word.is_head and not (word.is_explained or word.is_plain) else []
            with_word = [(names[i], cell) for i, _, cell in cells if _affirms(cell, [word.text])]
            if with_word and all(name[-1:] and name[-1] in _DESCRIBES and len(cell) > 1 for name, cell in with_word):
                word.is_explained = self.has_subject = True

    def may_be_value(self, word: QuestionWord) -> bool:
        """Whether a word that need not be explained is a cell, or a name in one: us, up, US, May."""
        written = self.question[word.start : word.end]
        is_name = written[:1].isupper() or word.text == "may"
        return any(
            cell == written
            or (len(written) > 1 and cell.lower() == word.text)
            or (is_name and written.title() in {part.title() for part in WORD.findall(cell) if part[0].isupper()})
            for row in self.table.rows
            for cell in map(str.strip, row.cells)
        )

    def find_values(self) -> None:
        """Find the values that the question names, longest names first; raises NotExplainedError."""
        subject = self._subject()
        cells = {
            word.stem: self._cells_with(word.stem) for word in self.words if not (word.is_explained or word.is_plain)
        }
        for first, end in self._stretches():
            words, stem = [word.text for word in self.words[first:end]], self.words[first].stem
            having = {(i, row): len(cell) for i, row, cell in cells[stem] if _affirms(cell, words)}
            # A year may be part of a date, but no other number is part of anything.
            is_number = all(word.isdecimal() for word in words) and len("".join(words)) != _DIGITS_OF_YEAR
            exact = {at for at, length in having.items() if length == len(words)}
            may_be_part = not is_number and (exact or len(words) > 1 or stem not in subject)
            matching = set(having) if may_be_part else set()
            columns = _without_copies({i for i, _ in exact or matching}, exact | matching)
            if len(columns) > 1:
                columns &= self._named_beside(first, end)
            # "Box 123" does not mean the row with the shelf 123.
            before = {mention.column for mention in self.mentions if mention.end == first} if is_number else columns
            if (exact or matching) and (len(columns) != 1 or (before and before != columns)):
                raise NotExplainedError
            if columns:
                rows = frozenset(row for i, row in exact | matching if i in columns)
                column = columns.pop()
                # A cake that is "free from" nuts does not contain them.
                if _WITHOUT.search(self.table.columns[column]) and not _WITHOUT.search(self.question):
                    raise NotExplainedError
                self._add(Mention(column, first, end, rows))

    def find_homes(self) -> None:
        """Mark "lives" if a value that the question names is where somebody does."""
        if any(_HOMES.intersection(words_of(self.table.columns[value.column])) for value in self.values):
            for word in self.words:
                word.is_explained |= word.text in {"live", "lives"}

    def find_opposites(self) -> None:
        """Find columns whose opposite the question names: "gluten" or "unpaid", beside "gluten-free" or "paid"."""
        for first, end in self._stretches():
            stems, text = [word.stem for word in self.words[first:end]], self.words[first].text
            for i, name in enumerate(map(str.lower, self.table.columns)):
                is_free = name.endswith("-free") and stems_of(name) == [*stems, "free"]
                if is_free or (len(stems) == 1 and text == f"un{name}"):
                    self.mentions.append(Mention(i, first, end, is_opposite=True))
                    self.explain(self.words[first].start, self.words[end - 1].end)

    def find_subject(self) -> None:
        """Mark the words for the subject of the rows, by the title, the headings and the file name."""
        for word in self.words:
            is_price = word.is_head and word.text in OF_MONEY  # a file of prices need not have any
            if not (word.is_explained or word.is_plain or is_price) and is_among(word.stem, self._subject()):
                word.is_explained = self.has_subject = True

    def first_mention_after(self, start: int) -> Mention:
        """Return the first column or value that is mentioned after a character; raises NotExplainedError."""
        positions = (at for at, word in enumerate(self.words) if word.start >= start)
        named = (mention for at in positions for mention in (*self.values, *self.mentions) if mention.first == at)
        mention = next(named, None)
        if mention is None:
            raise NotExplainedError
        # In "not assigned to Ana", it is the value that is denied.
        values = [value for value in self.values if value.first > mention.first and value.column == mention.column]
        return values[0] if values and mention.rows is None else mention

    def measures(self, column: int) -> list[Amount | None] | None:
        """Return the amounts in a column's cells; None if they cannot be compared."""
        if column not in self._measures:
            self._measures[column] = comparable_amounts(self.table.column(column))
        return self._measures[column]

    def kind(self, column: int) -> str:
        """Return the kind of amount in a column, by its cells or its name; "" for bare numbers and other text."""
        measures = self.measures(column)
        if measures is None:
            return ""
        unit = unit_in_name(self.table.columns[column])
        return next((amount.kind for amount in measures if amount is not None), "") or (unit[0] if unit else "")

    def key(self) -> int:
        """Return the column that identifies rows: the first with distinct values, if possible not of dates."""
        columns = range(len(self.table.columns))
        distinct = [i for i in columns if self._is_distinct(i)]
        # A number behind the first column identifies rows only if it is named so: salaries may be distinct by chance.
        names = [i for i in distinct if not self.kind(i) and (not i or self.measures(i) is None or self._is_number(i))]
        keys = names or [i for i in distinct if self.kind(i) == "date"]
        return next(iter(keys or [i for i in columns if self.measures(i) is None]), 0)

    def is_about(self, names: Iterable[str]) -> bool:
        """Whether the title, the headings or the file name have one of some words."""
        return not set(stems_of(" ".join(names))).isdisjoint(self._subject())

    def _subject(self) -> list[str]:
        return stems_of(f"{self.table.about} {self.table.file_name}")

    def _add(self, value: Mention) -> None:
        self.values.append(value)
        self.explain(self.words[value.first].start, self.words[value.end - 1].end)

    def _named_beside(self, first: int, end: int) -> set[int]:
        """Return the columns named nearest to a range of words, with nothing but plain words between."""
        by_distance: dict[int, set[int]] = {}
        for mention in self.mentions:
            between = self.words[min(mention.end, end) : max(mention.first, first)]
            if all(word.is_plain for word in between):
                by_distance.setdefault(len(between), set()).add(mention.column)
        return by_distance[min(by_distance)] if by_distance else set()

    def _is_number(self, column: int) -> bool:
        return not IDENTIFIERS.isdisjoint(head_of(self.table.columns[column]))

    def _is_distinct(self, column: int) -> bool:
        """Whether the values of a column are distinct and not empty, and not row numbers."""
        cells = self.table.column(column)
        is_count = self.table.columns[column].strip().lower() in _COUNTS
        return not is_count and len(set(cells)) == len(cells) and not any(map(is_empty, cells))

    def _cells_with(self, stem: str) -> list[tuple[int, int, list[str]]]:
        """Return the cells that may contain a word: column, row and words of each."""
        prefix = stem[: max(LEAST_STEM, len(stem) - 1)]
        return [
            (i, number, words_of(cell))
            for number, row in enumerate(self.table.rows)
            for i, cell in enumerate(row.cells)
            if prefix in cell.lower()
        ]

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of unexplained words that begin and end with a content word, the longest first."""
        for size in range(_LONGEST, 0, -1):
            for first in range(len(self.words) - size + 1):
                inside = self.words[first : first + size]
                if not any(word.is_explained for word in inside) and not inside[0].is_plain and not inside[-1].is_plain:
                    yield first, first + size


def _without_copies(columns: set[int], cells: set[tuple[int, int]]) -> set[int]:
    """Return the columns of some cells, or only the first if each has its cells in the same rows."""
    rows = {frozenset(row for i, row in cells if i == column) for column in columns}
    return {min(columns)} if len(rows) == 1 else columns


def _affirms(cell: Sequence[str], value: Sequence[str]) -> bool:
    """Whether a cell has a value, without a word beside it that negates or weakens it: not open, partly paid.

    Only the number of its words may differ: the head of development is no developer.
    """
    size = len(value)
    places = [at for at in range(len(cell) - size + 1) if all(map(is_same_word, cell[at : at + size], value))]
    return any(
        (not at or cell[at - 1] not in _NEGATES) and list(cell[at + size : at + size + 1]) != ["free"] for at in places
    )
