"""BibTeX: each entry is a document with its title, as plain text on the same lines as in the file."""

from __future__ import annotations

import re
from itertools import pairwise

from corpus.readers.assemble.line_builder import LineBuilder
from corpus.readers.tex.commands import plain_tex
from corpus.text.encodings import file_lines
from corpus.types import BlockKind, Extracted

_ENTRY = re.compile(r"^\s*@(\w+)\s*[{(]\s*([^,\s{}()\"]*)\s*,?(.*)$")
_FIELD = re.compile(r"^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$")
_NAME = re.compile(r"\s*[A-Za-z][\w-]*\s*=")
_TITLE = re.compile(r"(?:^|[\s,])title\s*=\s*", re.IGNORECASE)
_MARK = re.compile(r"[{}\",]")
_LEFT_OUT = frozenset({"comment", "string", "preamble"})
_MAX_TITLE = 1000


def read(path: str, data: bytes) -> Extracted:
    """Read a BibTeX file; see `corpus.readers`."""
    lines, note = file_lines(data)
    starts = [i for i, line in enumerate(lines) if _ENTRY.match(line)]
    builder = LineBuilder()
    for line in lines[: starts[0] if starts else len(lines)]:
        builder.line(line.lstrip("% "))
    for start, end in pairwise([*starts, len(lines)]):
        _add_entry(builder, lines[start:end])
    return builder.build("text/x-bibtex", note=note)


def _add_entry(builder: LineBuilder, lines: list[str]) -> None:
    match = _ENTRY.match(lines[0])
    kind, key, first_fields = match.groups() if match else ("", "", "")
    if kind.lower() in _LEFT_OUT:
        for _ in lines:
            builder.line("")
        return
    title = _title(" ".join([first_fields, *lines[1:]])) or key
    builder.begin_record(title)
    builder.section(1, title)
    builder.line("; ".join([f"{kind.lower()} {key}", *_fields(first_fields)]), BlockKind.TABLE)
    for line in lines[1:]:
        builder.line("; ".join(_fields(line)), BlockKind.TABLE)
    builder.end_block()


def _title(entry: str) -> str:
    match = _TITLE.search(entry)
    if not match:
        return ""
    value = entry[match.end() : match.end() + _MAX_TITLE]
    ends = '"' if value.startswith('"') else "},"
    depth = 0
    for i, character in enumerate(value):
        depth += (character == "{") - (character == "}")
        if depth < 0 or (i and not depth and character in ends):
            return _plain_value(value[: i + 1])
    return _plain_value(value)


def _fields(line: str) -> list[str]:
    """Return the fields on a line as plain text; the first may continue a field that began above."""
    fields = []
    for part in _split_fields(line):
        field = _FIELD.match(part)
        words = f"{field[1].lower()}: {_plain_value(field[2])}" if field else _plain_value(part)
        if words:
            fields.append(words)
    return fields


def _split_fields(line: str) -> list[str]:
    """Split a line at the commas between fields."""
    parts = []
    start = depth = 0
    quoted = False
    for mark in _MARK.finditer(line):
        depth += (mark[0] == "{") - (mark[0] == "}")
        quoted ^= mark[0] == '"' and depth <= 0
        if mark[0] == "," and depth <= 0 and not quoted and _NAME.match(line, mark.end()):
            parts.append(line[start : mark.start()])
            start = mark.end()
    return [*parts, line[start:]]


def _plain_value(value: str) -> str:
    return " ".join(plain_tex(value).strip(" ,").strip('" ').split())
