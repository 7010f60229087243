"""Generated notes, lists, policies and abstracts of made-up facts, with their questions.

A page states some attributes of some subjects. A question about a subject and an attribute that it mentions, but not
together, is a near miss of a kind that is common in people's own folders.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .words import MONTHS

Value = Callable[[Random], str]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of subjects: a generator of values, statements with `{s}` and `{v}`, questions with `{s}`."""

    label: str
    value: Value
    statements: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """Pages of one kind: titles, headings, subjects and their attributes."""

    titles: tuple[str, ...]
    headings: tuple[str, ...]
    subjects: tuple[str, ...]
    attributes: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question on a page; `start` is -1 if the page does not answer it."""

    question: str
    context: str
    text: str
    start: int
    end: int


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


def _choice_of(text: str) -> Value:
    options = _split(text)
    return lambda random: random.choice(options)


def _number(low: int, high: int, form: str = "{}") -> Value:
    return lambda random: form.format(f"{random.randint(low, high):,}")


def _date(random: Random) -> str:
    day, month, year = random.randint(1, 28), random.choice(MONTHS), random.randint(1995, 2026)
    return random.choice((f"{day} {month} {year}", f"{month} {day}, {year}", f"{month} {year}", f"{day} {month}"))


def _clock(random: Random) -> str:
    hour, minute = random.randint(7, 21), random.choice(("00", "15", "30", "45"))
    return random.choice((f"{hour}:{minute}", f"{(hour - 1) % 12 + 1}:{minute} {'am' if hour < 12 else 'pm'}"))


_person = _choice_of(
    "Ada Novak | Tomas Berg | Priya Raman | Jun Okada | Leila Haddad | Marco Ruiz | Ingrid Sol | Peter Achterberg | "
    "Chidi Obi | Hannah Wolff | Yusuf Demir | Clara Jensen | Mei Tan | Olga Petrova | Sam Whitfield | Rosa Delgado | "
    "Emil Lindqvist | Farah Aziz | Noah Becker | Lucia Conti"
)
_place = _choice_of(
    "room 204 | the east wing | the main hall | building C | the second floor | the library annex | Lisbon | Oslo | "
    "Gdansk | Porto | Kyoto | Tallinn | the harbour office | the old gymnasium | the canteen | Leeds | Utrecht"
)


_NAMED: dict[str, Value] = {"date": _date, "clock": _clock, "person": _person, "place": _place}


def _value(text: str) -> Value:
    """The generator described by a value in `notes.toml`: "of a | b", "number 1 9 {} years", or a name."""
    kind, _, arguments = text.partition(" ")
    if kind == "number":
        low, high, form = arguments.split(" ", 2)
        return _number(int(low), int(high), form)
    return _choice_of(arguments) if kind == "of" else _NAMED[kind]


def _read_domains() -> tuple[Domain, ...]:
    domains = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["domains"]
    return tuple(
        Domain(
            _split(domain["titles"]),
            _split(domain["headings"]),
            _split(domain["subjects"]),
            tuple(
                Attribute(label, _value(value), _split(statements), _split(questions))
                for label, value, statements, questions in domain["attributes"]
            ),
        )
        for domain in domains
    )


DOMAINS = _read_domains()
# The share of pages with a heading that states a fact; of others that have a heading; and of these that begin with it.
_STATED_BY_HEADING = 0.25
_HEADED = 0.6
_BEGINS_WITH_HEADING = 0.7
# Markup in front of a heading, and between it and its text.
_HEADING_MARKS = ("## ", "## ", "### ", "# ", "")
_BELOW_HEADING = ("\n\n", "\n\n", "\n")
# Share of the groups whose passages are a name with its value below, as in lists of terms, and forms of these names.
_TERMS = 0.15
_TERM_NAMES = ("{s}: {l}", "{l} of {s}", "{l} ({s})", "{s} – {l}")


@dataclass(frozen=True, slots=True)
class _Fact:
    subject: str
    attribute: Attribute
    value: str


def _page(domain: Domain, facts: list[_Fact], random: Random) -> tuple[str, str, list[tuple[int, int]]]:
    """Context, text, and the place of each fact's value in the text; a heading may state the first fact."""
    context, text = random.choice(domain.titles), ""
    style = random.choice(("list", "list", "prose", "lines"))
    spans: list[tuple[int, int]] = []
    mark, below = random.choice(_HEADING_MARKS), random.choice(_BELOW_HEADING)
    if random.random() < _STATED_BY_HEADING:
        heading, at = _statement(facts[0], random)
        spans.append((len(mark) + at, len(mark) + at + len(facts[0].value)))
        context, text = f"{context} › {heading}", mark + heading + below
    elif random.random() < _HEADED:
        heading = random.choice(domain.headings)
        context = f"{context} › {heading}"
        # A passage that continues another one has the heading only in its context.
        text = mark + heading + below if random.random() < _BEGINS_WITH_HEADING else ""
    for fact in facts[len(spans) :]:
        line, at = _statement(fact, random)
        if style == "list":
            line, at = "- " + line, at + 2
        spans.append((len(text) + at, len(text) + at + len(fact.value)))
        text += line + {"list": "\n", "lines": "\n", "prose": ". "}[style]
    return context, text.rstrip(), spans


def _statement(fact: _Fact, random: Random) -> tuple[str, int]:
    """A line that states a fact, and the place of its value."""
    form = random.choice(fact.attribute.statements)
    before, after = (part.replace("{s}", fact.subject) for part in form.split("{v}"))
    line = before + fact.value + after
    return (line[0].upper() + line[1:] if before else line), len(before)


def pages(count: int, random: Random) -> list[list[Question]]:
    """Groups of questions: one that its page answers, then near misses: the same with another page, or another."""
    return [_group(random.choice(DOMAINS), random) for _ in range(count)]


def _group(domain: Domain, random: Random) -> list[Question]:
    subjects = random.sample(domain.subjects, k=random.randint(2, 5))
    pairs = [(subject, attribute) for subject in subjects for attribute in domain.attributes]
    random.shuffle(pairs)
    cut = random.randint(4, 9)
    facts = [_Fact(subject, attribute, attribute.value(random)) for subject, attribute in pairs[:cut]]
    order = facts[:]
    if random.random() < 0.6:
        order.sort(key=lambda fact: fact.subject)
    context, text, spans = _page(domain, order, random)
    number = random.randrange(len(order))
    fact = order[number]
    question = random.choice(fact.attribute.questions).format(s=fact.subject)
    if random.random() < _TERMS:
        return _terms(domain, question, [fact, *facts], random)
    group = [Question(question, context, text, *spans[number])]
    other_facts = [other for other in order if other is not fact]
    context2, text2, _ = _page(domain, other_facts, random)
    group.append(Question(question, context2, text2, -1, -1))
    unstated = [pair for pair in pairs[cut:] if random.random() < 0.9]
    if unstated:
        subject, attribute = random.choice(unstated)
        group.append(Question(random.choice(attribute.questions).format(s=subject), context, text, -1, -1))
    return group


def _terms(domain: Domain, question: str, facts: list[_Fact], random: Random) -> list[Question]:
    """A question with a passage of a name and its value below, and with up to two passages with other values."""
    title, name, below = random.choice(domain.titles), random.choice(_TERM_NAMES), random.choice(_BELOW_HEADING)
    # Alternatively the attribute is a common heading, and each name is a subject.
    is_table = random.random() < 0.4
    first, *others = dict.fromkeys(facts)
    group = []
    for fact in [first, *random.sample(others, k=min(2, len(others)))]:
        label = fact.attribute.label
        term = fact.subject if is_table else name.format(s=fact.subject, l=label)
        term = term[0].upper() + term[1:]
        headings = (title, label.capitalize(), term) if is_table else (title, term)
        start = len(term + below)
        span = (start, start + len(fact.value)) if fact is first else (-1, -1)
        group.append(Question(question, " › ".join(headings), term + below + fact.value, *span))
    return group
