"""Superlatives ("the heaviest") and bounds ("over 5 kg") in a question, and the properties that they measure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from qa.language.spans import Span
from qa.language.values import MONTH
from qa.tables.measures import Amount, kind_of_unit, parse_amount


@dataclass(frozen=True, slots=True)
class Property:
    """The property that an adjective or verb measures.

    Attributes:
        names: Words in the names of columns that hold it.
        kinds: Kinds of amounts in such columns, if no name matches.
        reverse: Words in the names of columns that hold its opposite: the youngest has the lowest age.
    """

    names: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    reverse: frozenset[str] = frozenset()


def _property(names: str, kinds: str = "", reverse: str = "") -> Property:
    return Property(*(frozenset(words.split()) for words in (names, kinds, reverse)))


ANY = Property()
_WEIGHT = _property("weight mass load", "mass")
_LENGTH = _property("length distance duration", "length time")
_HEIGHT = _property("height elevation altitude", "length")
_SIZE = _property("size area capacity population volume", "area volume")
_DATE = _property(
    "date year since built founded born installed joined started bought opened published released created due hired"
    " registered", "date",
)  # fmt: skip
AGE = replace(_DATE, kinds=frozenset(), reverse=frozenset({"age"}))
PRICE = _property("price cost fee charge rate rent amount fare", "money")
_SPEED = _property("speed pace", "speed", "time duration")
_DEPTH = _property("depth", "length")
_WIDTH = _property("width beam", "length")
_HEAT = _property("temperature", "temperature")
# Verbs that name a property: "which boat weighs the most?"
VERBS = {
    "weigh": _WEIGHT,
    "cost": PRICE,
    "charg": PRICE,
    "last": _property("duration", "time"),
    "earn": _property("salary wage pay income", "money"),
}
# Words in the names of columns that hold money.
OF_MONEY = PRICE.names | VERBS["earn"].names
# Comparatives and superlatives that ask for more of a property, and those that ask for less.
_MORE = {
    "heavier heaviest": _WEIGHT, "longer longest": _LENGTH, "taller tallest higher highest": _HEIGHT,
    "larger largest bigger biggest greater greatest": _SIZE, "newer newest later latest": _DATE,
    "younger youngest": AGE, "faster fastest quicker quickest": _SPEED, "deeper deepest": _DEPTH,
    "wider widest": _WIDTH, "warmer warmest hotter hottest": _HEAT, "more most maximum": ANY,
}  # fmt: skip
_LESS = {
    "lighter lightest": _WEIGHT, "shorter shortest": _LENGTH, "lower lowest": _HEIGHT, "smaller smallest": _SIZE,
    "older oldest": AGE, "earlier earliest": _DATE, "cheaper cheapest": PRICE, "slower slowest": _SPEED,
    "shallower shallowest": _DEPTH, "narrower narrowest": _WIDTH, "colder coldest cooler coolest": _HEAT,
    "less least fewer fewest minimum": ANY,
}  # fmt: skip
# Words in the names of columns that hold some property: if a column has one, it does not hold another property.
OF_PROPERTIES = _property("balance budget deposit discount profit range revenue sales tax").names.union(
    *(what.names for what in (*_MORE.values(), *_LESS.values(), *VERBS.values()))
)
# At the end of a question: "who joined first?"
_AT_END = re.compile(r"\b(?:(?P<first>first)|last)(?=\W*$)", re.IGNORECASE)
# "The last reading" is the newest, unlike "last year", "the last two" and "the last name".
_LAST = re.compile(
    r"(?<=\bthe )last(?= \w)(?! (?:\d|century|day|decade|few|five|four|month|name|night|one|season|six|three|time|two"
    rf"|week|year|{MONTH}))",
    re.IGNORECASE,
)
# The beginning of a question or request.
_SENTENCE = re.compile(
    r"\W*(?:(?:in|on|at|of|for|to|by|from|with|and|please) )*(?:which|what|who|whom|whose|when|where|why|how|list|show"
    r"|name|find|i|we|you|is|are|was|were|has|have|had|do|does|did|can|could|will|would|must|should|may)\b",
    re.IGNORECASE,
)
_WORDS = {word: (what, 1) for words, what in _MORE.items() for word in words.split()}
_WORDS |= {word: (what, -1) for words, what in _LESS.items() for word in words.split()}
_EXPENSIVE, _RECENT = "expensive", "recent"
_SUPERLATIVE = re.compile(
    rf"\b(?P<word>{'|'.join(word for word in _WORDS if word.endswith(('st', 'mum')))})\b"
    rf"(?: (?P<of>{_EXPENSIVE}|{_RECENT})\b)?",
    re.IGNORECASE,
)
_AMOUNT = (
    rf"(?P<amount>\d{{4}}-\d\d(?:-\d\d)?\b|(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?{MONTH} \d{{4}}"
    r"|\d{1,2}:\d\d\b|[-−–]?(?:[€$£]\s?)?\d(?:[\d.,]*\d)?)(?P<unit>\s?[%€$£]|\s?[^\W\d_]+[²³23]?(?:/[a-z]+)?\b)?"
)
_BOUND = re.compile(
    rf"\b(?:(?P<word>{'|'.join(word for word in _WORDS if word.endswith('er') or word in {'more', 'less'})})"
    rf"(?P<expensive> {_EXPENSIVE})? than|(?P<sign>over|above|exceed(?:s|ing)?|after|under|below|before|at least|since"
    rf"|at most|up to|in|on))\s+{_AMOUNT}",
    re.IGNORECASE,
)
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "over": operator.gt, "above": operator.gt, "exceed": operator.gt, "after": operator.gt, "under": operator.lt,
    "below": operator.lt, "before": operator.lt, "at least": operator.ge, "since": operator.ge, "at most": operator.le,
    "up to": operator.le, "on": operator.eq,
    "in": lambda value, month: 0 <= value - month < 1 / 12 - 1e-6,
}  # fmt: skip
_OF_DATES = frozenset({"after", "before", "since", "in", "on"})


@dataclass(frozen=True, slots=True)
class Superlative:
    """The most or least of something.

    Attributes:
        what: The property; `ANY` if a noun or verb names it.
        sign: 1 for the most, -1 for the least.
        span: Characters of the question.
    """

    what: Property
    sign: int
    span: Span


@dataclass(frozen=True, slots=True)
class Bound:
    """More or less than an amount.

    Attributes:
        what: The property; `ANY` if a noun, a verb or the unit names it.
        holds: Compares a value with the amount.
        amount: The amount to compare with.
        span: Characters of the question.
        is_period: Whether it is a day or month that values must be in, which may also be part of a value as written.
    """

    what: Property
    holds: Callable[[float, float], bool]
    amount: Amount
    span: Span
    is_period: bool = False

    def is_met(self, measure: Amount | None) -> bool:
        """Whether a cell is within the bound; if that is a year, by the cell's year alone."""
        if measure is None or not measure.fits(self.amount):
            return False
        value = measure.value
        is_year = measure.kind == "date" and not self.amount.kind
        return self.holds(float(int(value)) if is_year else value, self.amount.value)

    def reversed(self) -> Bound:
        """Return the bound on the opposite property: at more than 20 km/h, a trip takes less time."""
        return replace(self, holds=operator.lt if self.holds is operator.gt else operator.gt)


def superlatives(question: str) -> list[Superlative]:
    """Return the superlatives of a question, in order: not "at least", and "first" only at its end."""
    results = []
    for match in _SUPERLATIVE.finditer(question):
        what, sign = _WORDS[match["word"].lower()]
        if match["of"] and what is not ANY:
            continue
        if not question[: match.start()].lower().endswith("at "):
            what = {_EXPENSIVE: PRICE, _RECENT: _DATE}.get((match["of"] or "").lower(), what)
            results.append(Superlative(what, sign, match.span()))
    if not results and (last := _LAST.search(question)):
        results.append(Superlative(_DATE, 1, last.span()))
    if not results and (end := _AT_END.search(question)):
        results.append(Superlative(ANY, -1 if end["first"] else 1, end.span()))
    return results


def property_of(adjective: str) -> Property:
    """Return the property that an adjective in lower case measures, `ANY` for others: "heavy", "wide", "big"."""
    stems = (adjective, adjective[:-1], f"{adjective[:-1]}i", f"{adjective}{adjective[-1:]}")
    return next((_WORDS[f"{stem}er"][0] for stem in stems if f"{stem}er" in _WORDS), ANY)


def is_superlative_noun(question: str) -> bool:
    """Whether a question is a noun with a superlative, and no sentence: "room with the most seats"."""
    return "," not in question and _SENTENCE.match(question) is None and bool(superlatives(question))


def bounds(question: str) -> list[Bound]:
    """Return the bounds on amounts in a question, in order."""
    results = []
    for match in _BOUND.finditer(question):
        unit, end = match["unit"] or "", match.end()
        is_unit = not unit[-1:].isalnum() or kind_of_unit(unit.strip()) is not None
        amount = parse_amount(match["amount"] + (unit if is_unit else ""))
        is_period = (match["sign"] or "").lower() in {"in", "on"}
        # "In 2022" and "on 2" are values.
        if amount is None or (is_period and amount.kind != "date"):
            continue
        if match["word"]:
            what, sign = _WORDS[match["word"].lower()]
            what = PRICE if match["expensive"] else what
            holds = _SIGNS["over" if sign > 0 else "under"]
        else:
            name = match["sign"].lower()
            holds = _SIGNS["exceed" if name.startswith("exceed") else name]
            what = _DATE if name in _OF_DATES else ANY
        results.append(Bound(what, holds, amount, (match.start(), end if is_unit else end - len(unit)), is_period))
    return results
