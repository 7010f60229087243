"""Made-up tables from `tables.toml`, with questions about their cells, and questions that they only seem to answer."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from .examples import UNKNOWN, Example, unanswered
from .wording import as_typed

_EMPTY = ("", "–", "n/a", "tbc", "?")
# Questions per table about cells, and about keys by a cell.
_CELLS, _KEYS = 4, 1


class _Question(NamedTuple):
    """A question, its row (-1: none), and the column with its answer (0: the key, -1: none)."""

    group: str
    text: str
    row: int
    column: int


@cache
def _domains() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class _Table:
    """A made-up table: its columns and rows, and a key and a column that it lacks."""

    def __init__(self, random: Random) -> None:
        domain = random.choice(_domains()["table"])
        keys = _domains()["lists"][domain["keys"]]
        count = min(random.randint(3, 9), len(keys) - 1)
        *self.keys, self.absent_key = random.sample(keys, count + 1)
        columns = domain["columns"]
        self.absent_column, *self.columns = random.sample(columns, min(random.randint(3, 6), len(columns)))
        self.title = random.choice(domain["title"])
        self.names = [random.choice(domain["key"]), *(random.choice(column["head"]) for column in self.columns)]
        generators = [_values(column["value"], random) for column in self.columns]
        self.rows = [[key, *(generate() for generate in generators)] for key in self.keys]
        self.empty = (random.randrange(count), random.randrange(len(self.columns)))
        if random.random() < 0.5:
            self.rows[self.empty[0]][self.empty[1] + 1] = random.choice(_EMPTY)


def _values(kind: str, random: Random) -> Callable[[], str]:
    """A generator of a column's values, all in one form."""
    name, _, options = kind.partition(":")
    form, number = random.randrange(3), random.randint
    if name in {"choice", *_domains()["lists"]}:
        choices = options.split("|") if name == "choice" else _domains()["lists"][name]
        return lambda: str(random.choice(choices))
    if name in {"int", "dec"}:
        low, high = map(int, options.split(":"))
        return lambda: str(number(low, high)) if name == "int" else f"{random.uniform(low, high):.1f}"
    generators: dict[str, Callable[[], str]] = {
        "bigint": lambda: f"{number(1000, 400000):,}" if form else str(number(1000, 400000)),
        "pct": lambda: f"{number(1, 98)} %" if form else f"{number(10, 980) / 10:.1f}%",
        "money": lambda: (f"EUR {number(5, 900)}", f"€ {number(200, 40000) / 100:.2f}", f"{number(5, 2000)}")[form],
        "time": lambda: f"{number(6, 22):02d}:{random.choice(('00', '15', '30', '45'))}",
        "ci": lambda: f"{number(30, 240) / 100:.2f} ({number(10, 90) / 100:.2f}-{number(100, 300) / 100:.2f})",
        "version": lambda: f"{number(1, 6)}.{number(0, 12)}",
        "duration": lambda: f"{number(2, 18)} {random.choice(('days', 'weeks', 'months'))}",
        "code": lambda: f"{random.choice('ABCDEF')}{number(1, 40)}",
        "date": lambda: _date(random, form),
        "shortdate": lambda: _date(random, form).rsplit(" ", 1)[0] if form else _date(random, form)[5:],
    }
    return generators[name]


def _date(random: Random, form: int) -> str:
    year, month, day = random.randint(2015, 2026), random.randint(1, 12), random.randint(1, 28)
    name = _domains()["lists"]["months"][month - 1]
    return (f"{year}-{month:02d}-{day:02d}", f"{day} {name} {year}", f"{name[:3]} {day} {year}")[form]


def table_groups(count: int, random: Random) -> Iterator[list[Example]]:
    """Questions on `count` tables, each with the passage that answers it or only seems to."""
    for number in range(count):
        table = _Table(random)
        layout = _records if random.random() < 0.3 else _one_text
        questions = [*_answered(table, random), *_unanswered(table, random)]
        for at, (question, row, column) in enumerate(questions):
            yield layout(table, _Question(f"table-{number}-{at}", as_typed(question, random), row, column), random)


def _answered(table: _Table, random: Random) -> Iterator[tuple[str, int, int]]:
    for _ in range(_CELLS):
        row, at = random.randrange(len(table.rows)), random.randrange(len(table.columns))
        if table.rows[row][at + 1] not in _EMPTY:
            yield random.choice(table.columns[at]["ask"]).format(k=table.keys[row]), row, at + 1
    for _ in range(_KEYS):
        row, at = random.randrange(len(table.rows)), random.randrange(len(table.columns))
        value, forms = table.rows[row][at + 1], table.columns[at].get("which")
        if forms and value not in _EMPTY and [cells[at + 1] for cells in table.rows].count(value) == 1:
            yield random.choice(forms).format(v=value), row, 0


def _unanswered(table: _Table, random: Random) -> Iterator[tuple[str, int, int]]:
    """Questions about a missing row, a missing column and an empty cell."""
    row = random.randrange(len(table.rows))
    yield random.choice(random.choice(table.columns)["ask"]).format(k=table.absent_key), -1, -1
    yield random.choice(table.absent_column["ask"]).format(k=table.keys[row]), row, -1
    row, at = table.empty
    if table.rows[row][at + 1] in _EMPTY:
        yield random.choice(table.columns[at]["ask"]).format(k=table.keys[row]), row, -1
    else:
        yield random.choice(random.choice(table.columns)["ask"]).format(k=table.absent_key), -1, -1


def _example(question: _Question, context: str, text: str, start: int, end: int) -> Example:
    answered, relevant, kind = (True, 1, "table") if question.column >= 0 else (False, UNKNOWN, "table-miss")
    return Example(question.group, question.text, context, text, start, end, answered, relevant, kind)


def _one_text(table: _Table, question: _Question, random: Random) -> list[Example]:
    """The whole table in one passage, as a Markdown table or with bars only."""
    has_rule = random.random() < 0.75
    # A passage that continues another one has the column names in its context.
    continued = has_rule and random.random() < 0.2
    context = f"{table.title} › {' | '.join(table.names)}" if continued else table.title
    text = "" if continued else random.choice(("", "", f"{table.title}\n\n", "All figures as of last week.\n\n"))
    start = end = -1
    for number, cells in enumerate([table.names, *table.rows]):
        if continued and not number:
            continue
        if number == question.row + 1 and question.column >= 0:
            start = len(text) + 2 * has_rule + sum(len(cell) + 3 for cell in cells[: question.column])
            end = start + len(cells[question.column])
        line = " | ".join(cells)
        text += f"| {line} |\n" if has_rule else f"{line}\n"
        if has_rule and not number:
            text += "|" + "---|" * len(cells) + "\n"
    return [_example(question, context, text.rstrip("\n"), start, end)]


def _records(table: _Table, question: _Question, random: Random) -> list[Example]:
    """The passage of a row, as from a CSV file, and those of two other rows.

    If the key is the title of the row, it is in the context: as an answer, it has no span in the text.
    """
    subject = question.row if question.row >= 0 else random.randrange(len(table.rows))
    is_titled = random.random() < 0.5

    def record(number: int) -> tuple[str, str, int, int]:
        text, start, end = "", -1, -1
        for column, (name, cell) in enumerate(zip(table.names, table.rows[number], strict=True)):
            if not cell or (is_titled and not column):
                continue
            text += f"{name}: "
            if (number, column) == (question.row, question.column):
                start, end = len(text), len(text) + len(cell)
            text += f"{cell}\n"
        context = table.rows[number][0] if is_titled else random.choice(("", table.title))
        return context, text.rstrip("\n"), start, end

    first = _example(question, *record(subject))
    relevant = 0 if first.answered else UNKNOWN
    group = [first]
    for number in random.sample([number for number in range(len(table.rows)) if number != subject], 2):
        context, text, *_ = record(number)
        group.append(unanswered(first, {"context": context, "text": text}, relevant, "table-other"))
    return group
