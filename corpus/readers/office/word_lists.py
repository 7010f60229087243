"""The numbers of list items in Word documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element

from corpus.readers.assemble.document_builder import one_line
from corpus.readers.assemble.list_numbers import list_marker
from corpus.readers.office.xml_tree import find_all, value_at, whole_number

# By number format, the numerals of `list_marker`, "" for items without numbers; all other formats become digits.
_NUMERALS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I", "bullet": "", "none": ""}
_NUMBER = re.compile(r"%([1-9])")
# A number alone, as in "%1." and "(%1)", rather than with words or other numbers, as in "Article %1" and "%1.%2".
_ALONE = re.compile(r"[^\w%]*%([1-9])[^\w%]*")
_MAX_TEXT = 40
_MAX_LEVEL = 8


class Place(NamedTuple):
    """The list of an item, "0" for none, and its level, from 0."""

    list_id: str
    level: int


class _Level(NamedTuple):
    """How items are numbered; in `text`, "%1" is the number of the first level, and so on."""

    numerals: str
    first: int
    text: str
    style: str
    is_restarted: bool
    has_digits: bool


class _List(NamedTuple):
    """A list; those with the same definition continue each other, except at levels that begin `anew`."""

    definition: str
    levels: Mapping[int, _Level]
    anew: set[int]


class WordLists:
    """The lists of a document, as its numbering part defines them; counts their items."""

    def __init__(self, numbering: Element | None) -> None:
        definitions = {item.get("abstractNumId", ""): item for item in find_all(numbering, "abstractNum")}
        levels = {key: _read_levels(item) for key, item in definitions.items()}
        # A definition may only name the style of lists that another one defines.
        by_style = {style: key for key, item in definitions.items() if (style := value_at(item, "styleLink"))}
        links = {key: by_style.get(value_at(item, "numStyleLink"), key) for key, item in definitions.items()}
        self._lists: dict[str, _List] = {}
        for item in find_all(numbering, "num"):
            key = links.get(value_at(item, "abstractNumId"), "")
            self._lists[item.get("numId", "")] = _read_list(item, key, levels.get(key, {}))
        # By definition, the number of the last item at each level.
        self._numbers: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def place(self, element: Element) -> Place | None:
        """Return the place in a list that a paragraph or style itself sets; None if it sets none."""
        if element.find("pPr/numPr/numId") is None:
            return None
        list_id, style = value_at(element, "pPr/numPr/numId"), element.get("styleId")
        levels = self._lists[list_id].levels if list_id in self._lists else {}
        of_style = (number for number, level in levels.items() if level.style == style)
        level = next(of_style, whole_number(value_at(element, "pPr/numPr/ilvl")))
        return Place(list_id, min(level, _MAX_LEVEL))

    def marker(self, place: Place) -> str:
        """Count an item and return its marker, "-" if it has no number."""
        numbered = self._lists.get(place.list_id)
        level = numbered.levels.get(place.level) if numbered else None
        if numbered is None or level is None:
            return "-"
        numbers = self._numbers[numbered.definition]
        if place.level in numbered.anew:
            numbers.pop(place.level, None)
            numbered.anew.remove(place.level)
        numbers[place.level] = numbers.get(place.level, level.first - 1) + 1
        for deeper in range(place.level + 1, _MAX_LEVEL + 1):
            if deeper in numbered.levels and numbered.levels[deeper].is_restarted:
                numbers.pop(deeper, None)
        return _marker(level, numbered.levels, numbers)


def _read_levels(definition: Element) -> dict[int, _Level]:
    return {
        min(whole_number(item.get("ilvl", "")), _MAX_LEVEL): _Level(
            numerals=_NUMERALS.get(value_at(item, "numFmt"), "1"),
            first=whole_number(value_at(item, "start"), default=1),
            text=value_at(item, "lvlText")[:_MAX_TEXT],
            style=value_at(item, "pStyle"),
            is_restarted=value_at(item, "lvlRestart") != "0",
            has_digits=item.find("isLgl") is not None,
        )
        for item in find_all(definition, "lvl")
    }


def _read_list(item: Element, definition: str, levels: Mapping[int, _Level]) -> _List:
    """Return a list, whose levels may differ from those of its definition."""
    levels = {**levels, **_read_levels(item)}
    anew = set[int]()
    for override in find_all(item, "lvlOverride"):
        number = whole_number(override.get("ilvl", ""))
        if override.find("startOverride") is not None and number in levels:
            first = whole_number(value_at(override, "startOverride"), default=1)
            levels[number] = levels[number]._replace(first=first)
            anew.add(number)
    return _List(definition, levels, anew)


def _marker(level: _Level, levels: Mapping[int, _Level], numbers: Mapping[int, int]) -> str:
    """Return a marker as of all lists if its number is alone, else what the document shows."""

    def number(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        of = levels.get(at, level)
        return list_marker(numbers.get(at, of.first), "1" if level.has_digits else of.numerals or "1")

    if not level.numerals or not _NUMBER.search(level.text):
        return "-"
    alone = _ALONE.fullmatch(level.text)
    return number(alone) if alone else one_line(_NUMBER.sub(lambda match: number(match)[:-1], level.text))
