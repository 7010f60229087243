"""Front matter: YAML above a text, with its title, author, date, tags and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from corpus.text.headings import MAX_HEADING

# Must begin with a key, otherwise the dashes are a horizontal rule.
_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<body>(?=\s*[\"']?\w[^\n:]*:).*?)^(?:---|\.\.\.)[ \t]*\r?$",
    re.DOTALL | re.MULTILINE,
)
_FIELD = re.compile(r"^(?P<name>\w[\w -]{0,60}?)[ \t]*:[ \t]*(?P<value>\S.*)", re.MULTILINE)
# Limits on characters, nesting, values and characters per value: more is text, or an attack.
_MAX_SIZE, _MAX_DEPTH, _MAX_FIELDS, _MAX_VALUE = 16 * 1024, 4, 100, 1000

Fields = tuple[tuple[str, str], ...]


class FrontMatter(NamedTuple):
    """The span of front matter, and its fields, with names in lower case and values as written."""

    start: int
    end: int
    fields: Fields

    @property
    def title(self) -> str:
        """The stated title, or ""."""
        title = next((value for name, value in self.fields if name == "title"), "")
        return title if len(title) <= MAX_HEADING else ""


def find_front_matter(text: str) -> FrontMatter | None:
    """Return the front matter of a text, or None."""
    match = _FRONT_MATTER.match(text)
    if match is None or match.end() > _MAX_SIZE:
        return None
    fields = tuple(_parse_fields(match["body"]))[:_MAX_FIELDS]
    return FrontMatter(match.start(), match.end(), tuple((name.lower(), value[:_MAX_VALUE]) for name, value in fields))


def _parse_fields(body: str) -> Iterator[tuple[str, str]]:
    import yaml  # noqa: PLC0415 - few files have any

    try:
        # Values stay as written: a date is text, as is "no".
        yield from _flatten("", yaml.load(body, yaml.BaseLoader), 0)  # noqa: S506 - makes text, lists and dicts only
    except (yaml.YAMLError, RecursionError, ValueError):
        # Invalid YAML, but common: "title: Boats: a guide".
        for field in _FIELD.finditer(body):
            yield field["name"], field["value"].strip(" \t\r\"'")


def _flatten(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Yield names and values; the name of a list is repeated, and `author: {name: Ida}` is "Ida" as `author`."""
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for key, inner in value.items():
            path = f"{name}.{key}" if name and key != "name" else name or str(key)
            yield from _flatten(path, inner, depth + 1)
    elif isinstance(value, list) and depth < _MAX_DEPTH:
        for inner in value:
            yield from _flatten(name, inner, depth + 1)
    elif isinstance(value, str) and name and (words := " ".join(value.split())):
        yield _join_surrogates(name), _join_surrogates(words)


def _join_surrogates(text: str) -> str:
    r"""Make one character of each pair of escapes, as in "\ud83d\ude80": YAML made by a JSON encoder has them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
