"""Records with fields: rows of tables and sheets, settings below `[name]` or a key, and blocks of "name: value"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from corpus import lazy_pattern
from corpus.formats import RECORDS, format_of
from index import StoredPassage
from qa.language.spans import Span, lines_of
from qa.structure.tables import tables

_SECTION = lazy_pattern(r"\s*\[\[?(?P<name>[^\[\]]+)\]\]?\s*")
_SETTING = lazy_pattern(
    r"(?P<indent>[ \t]*)(?P<item>- +)?(?P<name>[^\s:=#;\[\]{}\"'-][^:=#\n]{0,60}?)[ \t]*"
    r"(?::(?=\s|$)|=)[ \t]*(?P<value>.*)"
)
# Not the item of a list. In the row of a sheet, a column may be named by a year.
_NAME_AND_VALUE = r"[^\n:|*]{0,39}?):[ \t]+(?P<value>\S.*)"
_FIELD = lazy_pattern(rf"(?P<name>[^\W\d_]{_NAME_AND_VALUE}")
_FIELD_OF_ROW = lazy_pattern(rf"(?P<name>\w{_NAME_AND_VALUE}")
# A comment after a value, and the quotation marks around it.
_COMMENT = lazy_pattern(r"\s+[#;].*\Z")
_QUOTED = lazy_pattern(r"([\"'])(?P<value>[^\"']*)\1")
# Fewer fields in a block of prose are no record.
_LEAST_FIELDS = 2


class Field(NamedTuple):
    """A field of a record; spans are characters of the passage's text.

    Attributes:
        name: Its name.
        value: Its value, as it is written.
        span: The field with its name, or the row of a table.
        value_span: The value.
    """

    name: str
    value: str
    span: Span
    value_span: Span


class Record(NamedTuple):
    """The fields of a record, and the names of the sections or keys that enclose it."""

    fields: list[Field]
    path: tuple[str, ...]


def records(passage: StoredPassage) -> Iterator[Record]:
    """Yield the records of a passage: rows of tables and sheets, sections of settings, blocks of lines with fields."""
    text, kind = passage.text, format_of(passage.document.path)
    for table in tables(text, passage.context):
        for row in table.rows:
            is_named = len(row) == len(table.columns)
            cells = [(name, cell) for name, cell in zip(table.columns, row, strict=is_named) if cell[0] < cell[1]]
            if is_named and cells:
                span = cells[0][1][0], cells[-1][1][1]
                yield Record([Field(name, text[slice(*cell)], span, cell) for name, cell in cells], ())
    if passage.document.media_type in RECORDS:
        yield from _blocks(text, passage.body, _FIELD_OF_ROW, 1)
    elif kind is not None and kind.reader == "source.code":
        yield from _settings(text, passage.body)
    else:
        yield from _blocks(text, passage.body, _FIELD, _LEAST_FIELDS)


def _blocks(text: str, body: int, form: re.Pattern[str], least: int) -> Iterator[Record]:
    """Yield the blocks of lines that are all fields."""
    for _, lines in groupby(lines_of(text, body), key=lambda line: line[0] == line[1]):
        matches = [form.fullmatch(text, *line) for line in lines]
        fields = [Field(it["name"], it["value"], it.span(), it.span("value")) for it in matches if it]
        if len(fields) == len(matches) >= least:
            yield Record(fields, ())


def _settings(text: str, body: int) -> Iterator[Record]:
    """Yield the sections of settings: below `[name]`, or indented below a key."""
    section: tuple[str, ...] = ()
    # The keys that enclose a line, each with its indentation and the record of its own settings.
    above: list[tuple[int, str]] = []
    found: dict[tuple[object, ...], Record] = {}
    items = 0
    for start, end in lines_of(text, body):
        line = text[start:end]
        if named := _SECTION.fullmatch(line):
            section, above = tuple(named["name"].split(".")), []
            continue
        match = _SETTING.fullmatch(line)
        if match is None:
            continue
        indent = match.end("item") if match["item"] else match.end("indent")
        above = [(depth, name) for depth, name in above if depth < indent]
        items += bool(match["item"])
        *outer, name = match["name"].strip("\"' ").split(".")
        path = (*section, *(key for _, key in above), *outer)
        value = _COMMENT.sub("", match["value"]).rstrip()
        quoted = _QUOTED.fullmatch(value)
        first = start + match.start("value") + (1 if quoted else 0)
        value = quoted["value"] if quoted else value
        if not value:
            above.append((indent, name))
            continue
        span = start + match.start("name"), start + len(line.rstrip())
        record = found.setdefault((path, items), Record([], path))
        record.fields.append(Field(name, value, span, (first, first + len(value))))
    yield from found.values()
