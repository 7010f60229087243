"""Questions about dates and long numbers, on collections made up for them.

    python -m tests.benchmarks.dated_and_numbered [--verbose]

Three series of twelve minutes, each of which announces the next meeting: a file each, named in two ways, or sections of
one file. Telephone numbers, accounts and invoices, with numbers in groups of several kinds. The prices of five years.
Prints for each kind of question how many are answered rightly, how many are found but wrong, and how many there are;
questions that nothing answers are right if they are not found.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from qa import Retriever, build_index

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_MEMBERS = ("Alder", "Birk", "Cho", "Dorn", "Eide", "Falk", "Gray", "Holm", "Ito", "Juhl", "Kim", "Lund")
_DECISIONS = (
    "the fence is painted green", "Nora orders 12 new chairs", "the summer party is held at the lake",
    "Lars asks two firms for offers", "the fee rises to 35 euros", "the website moves to another host",
    "nobody parks behind the gate any more", "the choir may use the hall on Fridays", "a second key is cut",
    "the old piano is sold for 200 euros", "the bins are moved to the side door", "the coffee machine is leased",
    "a working day is held on the first Saturday", "the trees at the road are pruned", "the insurance is cancelled",
)  # fmt: skip
_TOPICS = (
    "Anna reported on the heating, which ran without faults.", "The accounts were presented; 4,120 euros are left.",
    "There were complaints about noise from the yard.", "The window on the stairs is still broken.",
)  # fmt: skip
_PLACES = ("library", "town hall", "café Luna", "Room 7", "boathouse", "school gym")
_ITEMS = ("kayaks", "tents", "ladders", "bicycles", "trailers", "lamps", "projectors", "drums", "stoves", "saddles")
_FIRST = ("Ann", "Bob", "Cleo", "Dag", "Eva", "Finn", "Gro", "Hal", "Ida", "Jon")
_LAST = ("Abel", "Berg", "Castro", "Dahl", "Eide", "Falk", "Gran", "Holm", "Iversen", "Juhl")


class Question(NamedTuple):
    """A question, its kind, and text of the right answer; None if nothing answers it."""

    kind: str
    text: str
    answer: str | None


def write_minutes(folder: Path, form: int, random: Random) -> Iterator[Question]:
    """Write twelve minutes in one of three forms, and yield questions about them."""
    months = [(2025 + at // 12, at % 12) for at in range((2, 7, 0)[form], (2, 7, 0)[form] + 13)]
    days = [random.randrange(7, 26) for _ in months]
    names = [f"{day} {_MONTHS[month]} {year}" for day, (year, month) in zip(days, months, strict=True)]
    decided, places = random.sample(_DECISIONS, 12), [random.choice(_PLACES) for _ in months]
    present = [random.sample(_MEMBERS, 4) for _ in decided]
    sections = []
    for at, decision in enumerate(decided):
        (year, month), day = months[at], days[at]
        body = f"Present: {', '.join(present[at])}\n\n{random.choice(_TOPICS)}\n\nIt was decided that {decision}.\n\n"
        body += f"Next meeting: {names[at + 1]}, {places[at + 1]}\n"
        if form == 0:
            name, text = f"minutes-{year}-{month + 1:02}-{day:02}.md", f"# Minutes, {names[at]}\n\n{body}"
            (folder / name).write_text(text, encoding="utf-8")
        elif form == 1:
            name, text = f"{year}{month + 1:02}{day:02} meeting.txt", f"Meeting of {day}.{month + 1}.{year}\n\n{body}"
            (folder / name).write_text(text, encoding="utf-8")
        sections.append(f"## {names[at]}\n\n{body}")
    if form > 1:
        (folder / "log.md").write_text("\n".join(["# Meetings of the house\n", *sections]), encoding="utf-8")
    for at in random.sample(range(12), 6):
        day_and_month, month_name = names[at].rsplit(" ", 1)[0], _MONTHS[months[at][1]]
        yield Question("date", f"What was decided on {names[at]}?", decided[at])
        yield Question("date", f"who was there on {day_and_month}?", present[at][1])
        yield Question("date", f"what did they decide in {month_name}?", decided[at])
        yield Question("date", f"Who was present at the {month_name} meeting?", present[at][0])
    yield Question("last", "What was decided at the last meeting?", decided[-1])
    yield Question("last", "who was present at the latest meeting?", present[-1][0])
    yield Question("last", "Where is the next meeting?", places[12])
    yield Question("last", "What was decided at the first meeting?", decided[0])
    yield Question("last", "who was present at the first meeting?", present[0][0])
    other_day = days[5] + 1, names[5].split(" ", 1)[1]
    yield Question("date of no record", f"What was decided on {other_day[0]} {other_day[1]}?", None)
    yield Question("date of no record", f"what was decided in {_MONTHS[months[5][1]]} {months[5][0] + 3}?", None)


def write_editions(folder: Path, random: Random) -> Iterator[Question]:
    """Write the prices of five years, a file each, and yield questions about the present and about these years."""
    prices = {item: random.sample(range(11, 99), 5) for item in _ITEMS}
    for at, year in enumerate(range(2021, 2026)):
        lines = [f"{item.title()} cost {of_years[at]} euros a day." for item, of_years in prices.items()]
        text = f"# Prices {year}\n\nDear members, this is what you pay.\n\n" + "\n\n".join(lines) + "\n"
        (folder / f"prices {year}.md").write_text(text, encoding="utf-8")
    for item, of_years in prices.items():
        at = random.randrange(5)
        yield Question("edition", f"How much do {item} cost?", str(of_years[-1]))
        yield Question("edition of a year", f"How much did {item} cost in {2021 + at}?", str(of_years[at]))


def grouped(digits: str, form: int) -> str:
    """A telephone number in one of five forms."""
    pairs = " ".join(digits[at : at + 2] for at in range(0, len(digits), 2))
    by_fours = f"{digits[:3]} {digits[3:7]} {digits[7:]}", f"{digits[:4]}-{digits[4:7]}-{digits[7:]}"
    return (digits, *by_fours, pairs, f"{digits[:3]}/{digits[3:]}")[form]


def write_numbers(folder: Path, random: Random) -> Iterator[Question]:
    """Write lists of numbers, and yield questions with these numbers, mostly in other groups, and with others."""

    def digits(count: int) -> str:
        return "".join(random.choice("0123456789") for _ in range(count))

    def changed(number: str) -> str:
        at = random.randrange(len(number) - 4, len(number))
        return number[:at] + random.choice("0123456789".replace(number[at], "")) + number[at + 1 :]

    people = [f"{first} {last}" for first in _FIRST for last in _LAST]
    random.shuffle(people)
    phones = [(person, f"0{digits(9)}", random.randrange(5)) for person in people[:60]]
    lists = [phones[at : at + 10] for at in range(0, 60, 10)]
    parts = ["\n".join(f"- {person}: {grouped(number, form)}" for person, number, form in part) for part in lists]
    text = "\n\n".join(f"## {name}\n\n{part}" for name, part in zip(_PLACES, parts, strict=True))
    (folder / "phones.md").write_text(f"# Telephone list\n\n{text}\n", encoding="utf-8")
    accounts = [(person, f"NO{digits(20)}") for person in people[60:80]]
    lines = [f"{person}: {' '.join(number[at : at + 4] for at in range(0, 22, 4))}" for person, number in accounts]
    (folder / "accounts.txt").write_text("\n\n".join(lines), encoding="utf-8")
    invoices = [(f"2025{digits(4)}", person, str(random.randrange(20, 900))) for person in people[80:]]
    for number, person, total in invoices:
        text = f"INVOICE\n\nNumber: {number[:4]}-{number[4:]}\nCustomer: {person}\nTotal: {total} EUR\n"
        (folder / f"invoice for {person}.txt").write_text(text, encoding="utf-8")
    for person, number, form in random.sample(phones, 40):
        yield Question("number", f"whose number is {grouped(number, (form + random.randrange(5)) % 5)}?", person)
        yield Question("other number", f"whose number is {grouped(changed(number), form)}?", None)
    for person, number in random.sample(accounts, 10):
        yield Question("number", f"whose account is {number}?", person)
        yield Question("other number", f"whose account is {changed(number)}?", None)
    for number, _, total in random.sample(invoices, 10):
        yield Question("number", f"how much is invoice {number}?", total)
        yield Question("other number", f"how much is invoice {changed(number)}?", None)


def run(description: str, writers: Sequence[Callable[..., Iterator[Question]]]) -> None:
    """Have each of some functions write a collection, answer its questions, and print the counts of each kind.

    Args:
        description: Of the command line.
        writers: Functions that write a collection to a folder, with a `random`, and yield questions about it.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--verbose", action="store_true", help="print each question that is not answered rightly")
    verbose = parser.parse_args().verbose
    random = Random(1)  # noqa: S311 - not for secrets
    counts: dict[str, list[int]] = {}
    for write in writers:
        with TemporaryDirectory() as name:
            folder = Path(name)
            questions = list(write(folder, random=random))
            build_index(folder)
            with Retriever.open(folder) as retriever:
                for kind, text, answer in questions:
                    result = retriever.ask(text)
                    given = result.answer.text if result.answer and result.found else ""
                    is_right = not result.found if answer is None else answer in given
                    count = counts.setdefault(kind, [0, 0, 0])
                    for at, value in enumerate((is_right, result.found and not is_right, True)):
                        count[at] += value
                    if verbose and not is_right:
                        print(f"{kind} | {text} | {answer} | {given} | {result.confidence:.2f}")
    for kind, (right, wrong, total) in counts.items():
        print(f"{kind}: {right} right, {wrong} found but wrong, of {total}")


def main() -> None:
    """Run the command line."""
    minutes = (partial(write_minutes, form=form) for form in range(3))
    run(__doc__ or "", [*minutes, write_numbers, write_editions])


if __name__ == "__main__":
    main()
