"""The numbers of list items in Word documents (ECMA-376, part 1, 17.9)."""

from __future__ import annotations

from collections import defaultdict
from xml.etree.ElementTree import Element

from corpus.readers.assemble.list_numbers import list_marker
from corpus.readers.office.xml_tree import find_all

BULLET = "-"
# Formats as `list_marker` names them; other formats, such as bullets, have no number.
_NUMERALS = {
    "decimal": "1", "decimalZero": "1", "lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I",
}  # fmt: skip


class Numbering:
    """Counts the items of the lists that a document's part `numbering` defines."""

    def __init__(self, part: Element | None) -> None:
        self._levels = {
            definition.get("abstractNumId", ""): {level.get("ilvl", ""): level for level in find_all(definition, "lvl")}
            for definition in find_all(part, "abstractNum")
        }
        self._lists = {it.get("numId", ""): it for it in find_all(part, "num")}
        # By definition, as lists with the same one continue each other; by level.
        self._last: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._restarted: set[tuple[str, int]] = set()

    def marker(self, list_id: str, level: int) -> str:
        """Return the marker of the next item of a list, at a level from 0."""
        part = self._lists.get(list_id)
        definition = "" if part is None else val(part, "abstractNumId")
        form = self._levels.get(definition, {}).get(str(level))
        numerals = "" if form is None else _NUMERALS.get(val(form, "numFmt"), "")
        last = self._last[definition]
        for deeper in [it for it in last if it > level]:
            del last[deeper]
        if form is None or not numerals:
            return BULLET
        start = val(form, "start")
        if (restart := self._restart(list_id, level)) is not None:
            start = restart
            last.pop(level, None)
        last[level] = last[level] + 1 if level in last else int(start) if start.isdecimal() else 1
        return list_marker(last[level], numerals)

    def _restart(self, list_id: str, level: int) -> str | None:
        """Return the number with which a list starts again at its first item of a level, if it states one."""
        overrides = find_all(self._lists[list_id], "lvlOverride")
        starts = [val(it, "startOverride") for it in overrides if it.get("ilvl") == str(level)]
        if not any(starts) or (list_id, level) in self._restarted:
            return None
        self._restarted.add((list_id, level))
        return starts[0]


def val(element: Element, path: str) -> str:
    """Return the attribute `val` of a child element, "" for none."""
    target = element.find(path)
    return "" if target is None else target.get("val", "")
