"""BibTeX: an entry is a document under its title, its fields in plain words; lines keep the numbers they have."""

from __future__ import annotations

import re
from itertools import pairwise

from corpus.readers.assemble.line_builder import LineBuilder
from corpus.readers.tex.commands import plain_tex
from corpus.text.encodings import decode, require_few_lines
from corpus.types import BlockKind, Extracted

_ENTRY = re.compile(r"^\s*@(\w+)\s*[{(]\s*([^,\s{}()\"]*)\s*,?(.*)$")
_FIELD = re.compile(r"^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$")
_NAME = re.compile(r"\s*[A-Za-z][\w-]*\s*=")
_MARK = re.compile(r"[{}\",]")
_LEFT_OUT = frozenset({"comment", "string", "preamble"})


def read(path: str, data: bytes) -> Extracted:
    """Read a BibTeX file; see `corpus.readers`."""
    text, note = decode(data)
    require_few_lines(text)
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    starts = [i for i, line in enumerate(lines) if _ENTRY.match(line)]
    builder = LineBuilder()
    for line in lines[: starts[0] if starts else len(lines)]:
        builder.line(line.lstrip("% "))
    for start, end in pairwise([*starts, len(lines)]):
        _entry(builder, lines[start:end])
    return builder.build("text/x-bibtex", note=note)


def _entry(builder: LineBuilder, lines: list[str]) -> None:
    found = _ENTRY.match(lines[0])
    kind, key, rest = (found[1], found[2], found[3]) if found else ("", "", "")
    if kind.lower() in _LEFT_OUT:
        for _ in lines:
            builder.line("")
        return
    title = _title(" ".join([rest, *lines[1:]])) or key
    builder.begin(title)
    builder.under(1, title)
    builder.line("; ".join([f"{kind.lower()} {key}", *_fields_on(rest)]), BlockKind.TABLE)
    for line in lines[1:]:
        builder.line("; ".join(_fields_on(line)), BlockKind.TABLE)
    builder.end_block()


def _title(entry: str) -> str:
    found = re.search(r"(?:^|[\s,])title\s*=\s*", entry, re.IGNORECASE)
    if not found:
        return ""
    rest = entry[found.end() : found.end() + 1000]
    depth = 0
    for i, character in enumerate(rest):
        depth += (character == "{") - (character == "}")
        if depth < 0 or (i and not depth and character in '"},'):
            return _plain(rest[: i + 1])
    return _plain(rest)


def _fields_on(line: str) -> list[str]:
    """What a line says: its field by name, or the rest of one that began above."""
    found = []
    for part in _parts(line):
        field = _FIELD.match(part)
        words = f"{field[1].lower()}: {_plain(field[2])}" if field else _plain(part)
        if words:
            found.append(words)
    return found


def _parts(line: str) -> list[str]:
    """A line cut at the commas between fields."""
    parts = []
    start = depth = 0
    quoted = False
    for mark in _MARK.finditer(line):
        i, character = mark.start(), mark[0]
        depth += (character == "{") - (character == "}")
        quoted ^= character == '"' and depth <= 0
        if character == "," and depth <= 0 and not quoted and _NAME.match(line, i + 1):
            parts.append(line[start:i])
            start = i + 1
    return [*parts, line[start:]]


def _plain(value: str) -> str:
    return " ".join(plain_tex(value.replace("%", r"\%")).strip(" ,").strip('" ').split())
