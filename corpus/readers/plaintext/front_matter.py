"""Front matter: YAML above a text that states its title, author, date, tags and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from corpus.text.headings import MAX_HEADING

# A key must follow, otherwise the dashes are a horizontal rule.
_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<body>(?=\s*[\"']?\w[^\n:]*:).*?)^(?:---|\.\.\.)[ \t]*\r?$",
    re.DOTALL | re.MULTILINE,
)
_FIELD = re.compile(r"^(?P<name>\w[\w -]{0,60}?)[ \t]*:[ \t]*(?P<value>\S.*)", re.MULTILINE)
# Limits on its characters, nesting, values and characters per value: more is a text, or an attack.
_MAX_SIZE, _MAX_DEPTH, _MAX_FIELDS, _MAX_VALUE = 16 * 1024, 4, 100, 1000

Fields = tuple[tuple[str, str], ...]


class FrontMatter(NamedTuple):
    """Its span, and its fields with their names in lower case and their values as written."""

    start: int
    end: int
    fields: Fields

    @property
    def title(self) -> str:
        """The title that it states, or ""."""
        title = next((value for name, value in self.fields if name == "title"), "")
        return title if len(title) <= MAX_HEADING else ""


def find_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a text, or None."""
    found = _FRONT_MATTER.match(text)
    if found is None or found.end() > _MAX_SIZE:
        return None
    fields = tuple(_parse(found["body"]))[:_MAX_FIELDS]
    return FrontMatter(found.start(), found.end(), tuple((name.lower(), value[:_MAX_VALUE]) for name, value in fields))


def _parse(body: str) -> Iterator[tuple[str, str]]:
    import yaml  # noqa: PLC0415 - few files have any

    try:
        # Values stay as they are written: a date is text, and so is "no".
        yield from _flat("", yaml.load(body, yaml.BaseLoader), 0)  # noqa: S506 - makes text, lists and dicts only
    except (yaml.YAMLError, RecursionError, ValueError):
        # Invalid, but people write it: "title: Boats: a guide".
        for field in _FIELD.finditer(body):
            yield field["name"], field["value"].strip(" \t\r\"'")


def _flat(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield names and values; a list repeats its name, and `author: {name: Ida}` gives "Ida" as `author`."""
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for key, inner in value.items():
            own = f"{name}.{key}" if name and key != "name" else name or str(key)
            yield from _flat(own, inner, depth + 1)
    elif isinstance(value, list) and depth < _MAX_DEPTH:
        for inner in value:
            yield from _flat(name, inner, depth + 1)
    elif isinstance(value, str) and name and (words := " ".join(value.split())):
        yield name, words
