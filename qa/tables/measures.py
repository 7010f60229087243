"""Parse the amounts in table cells, such as numbers with units, dates and times, so that they can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile

from qa.language.dates import dates_in
from qa.language.values import CURRENCIES, LONGEST_WEEKDAY, UNITS, normalise_values

# Units by kind, each with its value in the base unit.
_UNITS: dict[str, dict[str, float]] = {
    "bytes": {
        "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
    },
    "mass": {"kg": 1, "g": 1e-3, "mg": 1e-6, "t": 1e3, "tonne": 1e3, "ton": 1e3, "lb": 0.45359237, "oz": 0.0283495},
    "length": {"m": 1, "km": 1e3, "cm": 1e-2, "mm": 1e-3, "mi": 1609.344, "mile": 1609.344, "ft": 0.3048, "in": 0.0254},
    "area": {"m²": 1, "m2": 1, "sqm": 1, "km²": 1e6, "km2": 1e6, "ha": 1e4},
    "volume": {"l": 1, "litre": 1, "liter": 1, "ml": 1e-3, "cl": 1e-2, "m³": 1e3, "m3": 1e3},
    "time": {
        "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600, "ms": 1e-3,
        "d": 86400, "day": 86400, "week": 604800, "month": 2629800, "year": 31557600, "yr": 31557600,
    },
    "power": {"w": 1, "kw": 1e3, "mw": 1e6},
    "speed": {"km/h": 1, "kmh": 1, "kph": 1, "m/s": 3.6, "mph": 1.609344, "kn": 1.852, "knot": 1.852},
    "frequency": {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    "temperature": {"°c": 1},
}  # fmt: skip
_KINDS = {unit: (kind, factor) for kind, units in _UNITS.items() for unit, factor in units.items()}
# Cells that mean "no value", or that it is not known.
UNKNOWN = frozenset({"?", "unknown", "tbd", "tba"})
_EMPTY = UNKNOWN | {"", "-", "–", "—", "n/a", "na", "none", "..."}
_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(?:\s?h)?")
_YEAR_MONTH = re.compile(r"(\d{4})-(\d\d)")
# Dates whose day and month could be either way round.
_UNCLEAR_DATE = re.compile(r"(?:0?\d|1[0-2])[/-](?:0?\d|1[0-2])[/-]\d{4}")
_NAME_PART = re.compile(r"[^\s()\[\],;:_]+")
_MINUS = re.compile(r"[-−–]\s?[€$£]?\s?\d")
# A loss in brackets, and a rating such as 4.2/5.
_NEGATIVE = re.compile(r"\((?=[€$£]?\d)([^()]*[.,]\d\d)\)")
_RATING = re.compile(r"(\d+(?:[.,]\d+)?)\s?(/\s?\d+)")
_MONTHS, _DAYS = 12, 31
# Dates before it lack the year.
FIRST_YEAR = 1000
# At least this many cells must be comparable, and at most this share of all may be neither that nor empty.
_LEAST, _MOST_OTHERS = 2, 0.2


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount in a cell.

    Attributes:
        value: In the base unit of its kind; dates are in years.
        kind: `mass`, `time`, ...; `money eur`, `date`, `/5`; an unknown unit as written; "" for a bare number.
    """

    value: float
    kind: str = ""

    def fits(self, other: Amount) -> bool:
        """Whether two amounts can be compared: bare numbers with anything, as the column name may have the unit."""
        return self.kind == other.kind or not (self.kind and other.kind)


def kind_of_unit(unit: str) -> tuple[str, float] | None:
    """Return the kind of a unit and its value in the base unit; None for an unknown unit."""
    small = unit.lower().rstrip(".")
    currency = UNITS.get(small.removesuffix("s"), small).upper()
    if currency in CURRENCIES:
        return f"money {currency.lower()}", 1.0
    return _KINDS.get(small) or (_KINDS.get(small.removesuffix("s")) if len(small) > 2 else None)


def parse_amount(cell: str) -> Amount | None:
    """Parse a cell that is a number, perhaps with a unit, or a time or a date, and nothing else; else return None."""
    text = _NEGATIVE.sub(r"-\1", cell.strip().strip("*_`").strip())
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return Amount(hours * 3600.0 + minutes * 60 + seconds, "time")
    if rating := _RATING.fullmatch(text):
        return Amount(float(rating[1].replace(",", ".")), rating[2].replace(" ", ""))
    dates = list(dates_in(text))
    if _UNCLEAR_DATE.fullmatch(text) or len(dates) > 1:
        return None
    if dates:
        is_all = len(dates[0].text) + LONGEST_WEEKDAY >= len(text)
        return _date(dates[0].year, dates[0].month, dates[0].day) if is_all else None
    return _month(text) or _number(text)


def _month(text: str) -> Amount | None:
    """Parse a month with its year."""
    if match := _YEAR_MONTH.fullmatch(text):
        return _date(int(match[1]), int(match[2]))
    form, values = normalise_values(text)
    # "Sun 12" has the same form.
    is_month = form == "m #" and str(values[0]).isdecimal() and isinstance(values[1], Decimal)
    return _date(int(values[1]), int(values[0])) if is_month else None


def _number(text: str) -> Amount | None:
    """Parse a number, perhaps with a unit."""
    form, values = normalise_values(text)
    parts = form.lstrip("~≈±<>≤≥ ").removeprefix("-").removeprefix("−").removeprefix("–").split()
    numbers = [float(value) for value in values if isinstance(value, Decimal)]
    if not parts or parts[0] != "#" or len(numbers) < len(values):
        return None
    return _with_units(-1.0 if _MINUS.match(text) else 1.0, numbers, parts[1:])


def _date(year: int, month: int, day: int = 1) -> Amount | None:
    is_valid = 1 <= month <= _MONTHS and 1 <= day <= _DAYS
    return Amount(year + ((month - 1) * _DAYS + day - 1) / (_MONTHS * _DAYS), "date") if is_valid else None


def _with_units(sign: float, numbers: Sequence[float], rest: Sequence[str]) -> Amount | None:
    """Return the amount of a number with its unit, or of several of one kind: 2 h 30 min."""
    units = [part for part in rest if part != "#"]
    if not units:
        return Amount(sign * numbers[0]) if len(numbers) == 1 else None
    kinds = [kind_of_unit(unit) for unit in units]
    if len(numbers) == 1 and len(units) == 1:
        kind, factor = kinds[0] or (units[0].rstrip("s"), 1.0)
        return Amount(sign * numbers[0] * factor, kind)
    if None in kinds or len(units) != len(numbers) or len({kind[0] for kind in kinds if kind}) != 1:
        return None
    total = sum(number * kind[1] for number, kind in zip(numbers, kinds, strict=True) if kind)
    return Amount(sign * total, kinds[0][0] if kinds[0] else "")


def is_empty(cell: str) -> bool:
    """Whether a cell has no value."""
    return cell.strip().lower() in _EMPTY


def comparable_amounts(cells: Sequence[str]) -> list[Amount | None] | None:
    """Return the amounts in a column's cells, None for those without one; None if they cannot be compared."""
    amounts: list[Amount | None] = []
    unparsed = 0
    for cell in cells:
        amounts.append(None if is_empty(cell) else parse_amount(cell))
        unparsed += amounts[-1] is None and not is_empty(cell)
        if unparsed > _MOST_OTHERS * len(cells):
            return None
    parsed = [amount for amount in amounts if amount is not None]
    kinds = {(amount.kind, amount.kind == "date" and amount.value < FIRST_YEAR) for amount in parsed}
    return amounts if len(parsed) >= _LEAST and len(kinds) == 1 else None


def unit_in_name(name: str) -> tuple[str, float] | None:
    """Return the unit after the first word of a column name, such as "memory (GB)" or "amount_eur", if it has one.

    What follows "per" is no unit: a price per month is not a time.
    """
    parts = takewhile(lambda part: part.lower() != "per", _NAME_PART.findall(name)[1:])
    units = [unit for unit in map(kind_of_unit, parts) if unit is not None]
    return units[0] if len(units) == 1 else None
