"""Source code: functions and classes as headings, the text exactly as it is in the file.

Python by its own parser. Other languages by tree-sitter where the extra `qa[code]` is installed, else by what they
share: a line that begins at the margin of its block and looks like the head of a function or a class, and braces that
say how deep it stands.
"""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from corpus.formats import format_of
from corpus.readers.assemble.coverage import fill_gaps
from corpus.readers.source.grammars import Span, definitions
from corpus.text.encodings import decode, require_few_lines
from corpus.text.lines import LineMap
from corpus.types import Block, BlockKind, Extracted

_NAME = r"(?P<name>[A-Za-z_$][\w$]*)"
_HEADS = [
    re.compile(
        rf"\s*(?:[\w@]+\s+)*?(?:class|struct|interface|enum|trait|impl|namespace|module|object|record|protocol|extension)\s+(?:<[^>]*>\s*)?{_NAME}"
    ),
    re.compile(rf"\s*(?:[\w]+\s+)*?(?:func|fn|fun|function|def)\s*\*?\s+(?:\([^)]*\)\s*)?{_NAME}\s*[(<]"),
    re.compile(
        rf"\s*(?:export\s+)?(?:const|let|var)\s+{_NAME}\s*=\s*(?:async\s+)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|\w+\s*=>)"
    ),
    re.compile(rf"\s*(?:[\w:<>,\[\]*&~.]+\s+)+[*&]*(?:\w+::)*{_NAME}\s*\([^;]*$"),
]
_METHOD = re.compile(
    rf"\s+(?:(?:async|static|get|set|public|private|override)\s+)*\*?{_NAME}\s*\([^;{{}}()]*\)\s*(?::[^{{;]+)?\{{"
)
_NOT_NAMES = frozenset(
    [
        "if",
        "for",
        "while",
        "switch",
        "catch",
        "return",
        "else",
        "do",
        "new",
        "throw",
        "sizeof",
        "case",
        "when",
        "match",
        "using",
    ]
)
_LONGEST_HEAD = 300
_STRINGS = re.compile(r"//.*|/\*.*?\*/|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")


def read(path: str, data: bytes) -> Extracted:
    """Read a source file; see `corpus.readers`."""
    text, note = decode(data)
    require_few_lines(text)
    kind = format_of(path)
    media_type = kind.media_type if kind is not None else "text/plain"
    blocks = _blocks(text, list(_spans(path, text, media_type)))
    return Extracted(text, PurePosixPath(path).name, blocks, (), media_type, note)


def _spans(path: str, text: str, media_type: str) -> Iterable[Span]:
    if media_type == "text/x-python":
        return _python(text)
    # A header is of either language, and of C++ where it matters.
    found = definitions(text, "text/x-c++" if path.lower().endswith(".h") else media_type)
    return _braces(text) if found is None else found


def _blocks(text: str, spans: list[Span]) -> tuple[Block, ...]:
    """Each definition in blocks of its own, what stands between definitions in others; inner ones cut outer ones."""
    edges = sorted({0, len(text), *(edge for start, end, _ in spans for edge in (start, end))})
    blocks: list[Block] = []
    inside: list[Span] = []
    coming = sorted(spans, key=lambda span: (span[0], -span[1]))
    at = 0
    for start, end in itertools.pairwise(edges):
        while at < len(coming) and coming[at][0] <= start:
            inside.append(coming[at])
            at += 1
        while inside and inside[-1][1] <= start:
            inside.pop()
        heading = inside[-1][2] if inside else ()
        blocks.extend(Block(BlockKind.CODE, *piece, heading) for piece in _pieces(text, start, end))
    return fill_gaps(text, blocks)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A stretch of code, cut at blank lines."""
    begin = at = start
    while at < end:
        stop = text.find("\n", at, end) + 1 or end
        if text[at:stop].isspace():
            if begin < at:
                yield begin, at
            begin = stop
        at = stop
    if begin < end:
        yield begin, end


def _python(text: str) -> Iterator[Span]:
    lines = LineMap(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two of what is nested too deeply
        yield from _indented(text)
        return
    # The parser also ends a line at these, and counts none where a carriage return stands alone.
    if "\x0c" in text or "\r" in text.replace("\r\n", ""):
        yield from _indented(text)
        return
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while pending:
        node, above = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                last = child.end_lineno or child.lineno
                path = (*above, child.name)
                yield lines.span(first)[0], lines.span(min(last, len(lines)))[1], path
                pending.append((child, path))
            elif isinstance(child, ast.stmt):
                pending.append((child, above))


def _indented(text: str) -> Iterator[Span]:
    """Python that its parser refuses, such as that of version 2: a definition ends where the indent does."""
    lines = list(_lines(text))
    for i, (start, line) in enumerate(lines):
        found = re.match(r"([ \t]*)(?:async\s+)?(?:def|class)\s+(\w+)", line)
        if found and len(found[1]) <= 4:
            below = itertools.islice(lines, i + 1, None)
            end = next((at for at, other in below if other.strip() and _indent(other) <= len(found[1])), len(text))
            yield start, end, (found[2],)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1


def _braces(text: str) -> Iterator[Span]:
    depth = 0
    comment = False
    above: list[tuple[int, int, str]] = []
    waiting: tuple[int, str] | None = None
    lead: int | None = None
    for start, line in _lines(text):
        bare = _STRINGS.sub("", line[:_LONGEST_HEAD]) if len(line) <= _LONGEST_HEAD else ""
        is_comment = comment or not bare.strip() or bare.lstrip().startswith(("/*", "*", "#", "@"))
        comment = (comment or "/*" in bare) and "*/" not in line
        if is_comment:
            # A comment right above a definition belongs to it.
            lead = None if not line.strip() else start if lead is None else lead
            continue
        name = _head(bare) if len(above) < 3 else ""
        if name and waiting is None:
            waiting = (start if lead is None else lead, name)
        lead = None
        opens, closes = bare.count("{"), bare.count("}")
        if waiting is not None and opens:
            above.append((depth, *waiting))
            waiting = None
        elif waiting is not None and ";" in bare:
            waiting = None
        depth = max(0, depth + opens - closes)
        while above and closes and depth <= above[-1][0]:
            _, begin, _ = above[-1]
            yield begin, start + len(line), tuple(inner for _, _, inner in above)
            above.pop()
    for i in range(len(above), 0, -1):
        yield above[i - 1][1], len(text), tuple(inner for _, _, inner in above[:i])


def _head(line: str) -> str:
    for pattern in (*_HEADS, _METHOD):
        found = pattern.match(line)
        if found and found["name"] not in _NOT_NAMES and line.split(maxsplit=1)[0] not in _NOT_NAMES:
            return found["name"]
    return ""
