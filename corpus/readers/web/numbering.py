"""The numbers of list items, as browsers show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from corpus.readers.assemble.list_numbers import list_marker

_STYLE = re.compile(r"\blist-style(?:-type)?\s*:[^;]*?\b(none|disc|circle|square|decimal|(lower|upper)-(\w)\w+)")
_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,9})")


class NumberedList:
    """Counts the items of an `ol` element."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.is_reversed = "reversed" in attributes
        self.items = 0
        self._numerals = _numerals(attributes, default="1")
        # The last number that the page states, if any, and the number of items since then.
        self._stated = _integer(attributes, "start")
        self._since = 0

    @property
    def ends_with_one(self) -> bool:
        """Whether the numbers depend on how many items follow."""
        return self.is_reversed and self._stated is None

    def number(self, attributes: Mapping[str, str]) -> Number | None:
        """Return the number of the next item, an `li` element; None if it has a bullet or nothing before it."""
        self.items += 1
        if (value := _integer(attributes, "value")) is not None:
            self._stated, self._since = value, 0
        numerals = _numerals(attributes, default=self._numerals)
        number = Number(self, numerals, self._stated, self._since) if numerals else None
        self._since += 1
        return number


@dataclass(frozen=True, slots=True)
class Number:
    """The number of a list item; `str` returns its marker, once all items of the list are read if it ends with one.

    Attributes:
        of: The list.
        numerals: What it is written in; see `list_marker`.
        stated: The last number that the page states, if any.
        since: How many items later this one is.
    """

    of: NumberedList
    numerals: str
    stated: int | None
    since: int

    def __str__(self) -> str:
        step, first = (-1, self.of.items) if self.of.is_reversed else (1, 1)
        return list_marker((first if self.stated is None else self.stated) + step * self.since, self.numerals)


def _numerals(attributes: Mapping[str, str], *, default: str) -> str:
    """Return the numerals of a list or an item, "" for a bullet or nothing."""
    style = _STYLE.search(attributes.get("style", "").lower()[:1000])
    if style is None:
        stated = attributes.get("type", "")
        return stated if stated in ("1", "a", "A", "i", "I") else default
    if style[2]:
        numerals = {"a": "a", "l": "a", "r": "i"}.get(style[3], "1")  # alpha, latin, roman
        return numerals.upper() if style[2] == "upper" else numerals
    return "1" if style[1] == "decimal" else ""


def _integer(attributes: Mapping[str, str], name: str) -> int | None:
    value = _INTEGER.match(attributes.get(name, ""))
    return int(value[1]) if value else None
