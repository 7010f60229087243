"""Find blocks of code in prose: between fences in Markdown, AsciiDoc or Org, or indented in reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from corpus import lazy_pattern
from qa.language.spans import Span, line_start, lines_of

_FENCE = lazy_pattern(r"[ \t]*(?P<mark>`{3,}|~{3,})(?P<info>[^`\n]*)")
_ORG = lazy_pattern(r"[ \t]*#\+begin_(?P<kind>src|example)\b.*", re.IGNORECASE)
_LISTING = lazy_pattern(r"(?P<mark>-{4,}|\.{4,})[ \t]*")
# A line that only says what kind of listing follows.
_ATTRIBUTES = lazy_pattern(r"\[[^\]\n]*\]\s*\Z")
_DIRECTIVE = lazy_pattern(r"(?P<indent>[ \t]*)\.\. (?:code-block|code|sourcecode)::.*")
_LITERAL = lazy_pattern(r"(?P<indent>[ \t]*)(?!\.\.\s)(?:\S.*)?::[ \t]*")
_OPTION = lazy_pattern(r"\s+:[\w-]+:.*")
_INDENTED = lazy_pattern(r"(?: {4}|\t)\s*\S")
_ITEM = lazy_pattern(r"(?:[*+-]|\d{1,3}[.)])\s")
_PROMPT = lazy_pattern(r"\$ +(?=\S)")


class CodeBlock(NamedTuple):
    """A block of code; spans are characters of the text.

    Attributes:
        span: The block with its fences.
        lines: Its lines without indentation and prompt; those that end in a backslash with the next one.
        commands: The lines that have a prompt; all, if none has.
        text: The commands, one a line; the whole code, if none has a prompt.
    """

    span: Span
    lines: tuple[Span, ...]
    commands: tuple[Span, ...]
    text: str


class _Line(NamedTuple):
    """A line: its text, and its first character."""

    text: str
    start: int

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def code_blocks(text: str, body: int, media_type: str) -> list[CodeBlock]:
    """Return the blocks of code in a text from character `body` on, in order; one without an end ends with the text."""
    lines = [_Line(text[slice(*line)], line[0]) for line in lines_of(text, body)]
    blocks, number = [], 0
    while number < len(lines):
        first, code, after = _block_at(lines, number, media_type) or (number, range(0), number + 1)
        if any(lines[i].text.strip() for i in code):
            span = lines[first].start, lines[after - 1].end
            blocks.append(_block(text, span, [lines[i] for i in code]))
        number = after
    return blocks


def without_fences(text: str, span: Span, blocks: Sequence[CodeBlock]) -> str:
    """Return part of a text without the lines that open or close a block of code."""
    at, end = span
    parts = []
    for block in blocks:
        first = line_start(text, block.lines[0][0])
        for cut in ((block.span[0], first), (block.lines[-1][1], block.span[1])):
            if at <= cut[0] < end:
                parts.append(text[at : cut[0]])
                at = min(cut[1], end)
    return "".join((*parts, text[at:end]))


def _block_at(lines: list[_Line], at: int, media_type: str) -> tuple[int, range, int] | None:
    """Return the first line of a block that begins at a line, its lines of code, and the line after it."""
    line = lines[at].text
    if end := _closing(line, media_type):
        last = next((i for i in range(at + 1, len(lines)) if end.fullmatch(lines[i].text)), len(lines))
        has_attributes = media_type == "text/asciidoc" and at > 0 and _ATTRIBUTES.match(lines[at - 1].text)
        return at - bool(has_attributes), range(at + 1, last), min(last + 1, len(lines))
    if media_type == "text/x-rst" and (directive := _DIRECTIVE.fullmatch(line)):
        return _indented(lines, at, at + 1, len(directive["indent"]))
    if media_type == "text/x-rst" and (literal := _LITERAL.fullmatch(line)):
        return _indented(lines, at + 1, at + 1, len(literal["indent"]))
    if media_type == "text/markdown" and _INDENTED.match(line) and at > 1 and not lines[at - 1].text.strip():
        above = next((it.text for it in reversed(lines[:at]) if it.text.strip()), "")
        return _indented(lines, at, at, 3) if above[:1].strip() and not _ITEM.match(above) else None
    return None


def _closing(line: str, media_type: str) -> re.Pattern[str] | None:
    """Return a pattern for the line that closes the block that a line opens; None if it opens none."""
    if fence := _FENCE.fullmatch(line):
        return re.compile(rf"[ \t]*{fence['mark']}+[ \t]*")
    if media_type == "text/x-org" and (org := _ORG.fullmatch(line)):
        return re.compile(rf"[ \t]*#\+end_{org['kind']}\b.*", re.IGNORECASE)
    if media_type == "text/asciidoc" and (mark := _LISTING.fullmatch(line)):
        return re.compile(re.escape(mark["mark"]) + r"[ \t]*")
    return None


def _indented(lines: list[_Line], first: int, at: int, indent: int) -> tuple[int, range, int] | None:
    """Return the block of the lines from `at` on that are indented by more; None if there is none."""
    while at < len(lines) and (_OPTION.fullmatch(lines[at].text) or not lines[at].text.strip()):
        at += 1
    last = after = at
    while after < len(lines) and (not lines[after].text.strip() or lines[after].indent > indent):
        last = after + 1 if lines[after].text.strip() else last
        after += 1
    return (first, range(at, last), last) if last > at else None


def _block(text: str, span: Span, lines: list[_Line]) -> CodeBlock:
    """Return a block with these lines; blank ones are left out."""
    spans: list[Span] = []
    prompted: set[int] = set()
    for line in lines:
        start, end = line.start + line.indent, line.start + len(line.text.rstrip())
        if not line.text.strip():
            continue
        if spans and text[spans[-1][1] - 1] == "\\":
            spans[-1] = spans[-1][0], end
        elif prompt := _PROMPT.match(text, start, end):
            spans.append((prompt.end(), end))
            prompted.add(prompt.end())
        else:
            spans.append((start, end))
    commands = tuple(it for it in spans if it[0] in prompted) or tuple(spans)
    whole = "\n".join(text[slice(*it)] for it in commands) if prompted else text[spans[0][0] : spans[-1][1]]
    return CodeBlock(span, tuple(spans), commands, whole)
