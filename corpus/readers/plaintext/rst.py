"""reStructuredText, as blocks with exact spans.

Parsed by rules of our own: docutils keeps no character offsets, knows none of Sphinx's directives, and follows
instructions in the text to read other files.
"""

from __future__ import annotations

import re

from corpus.readers.assemble.gaps import fill_gaps
from corpus.readers.plaintext.plain import read_plain
from corpus.text.encodings import decode_lines
from corpus.text.headings import MAX_HEADING, HeadingStack, TopHeading
from corpus.text.lines import line_spans
from corpus.types import Block, BlockKind, Extracted

_ADORNED = re.compile(r"""([!-/:-@[-`{-~])\1*$""")
_DIRECTIVE = re.compile(r"\.\.[ ]+(?:\|[^|]{1,200}\|[ ]+)?(?P<name>\w[\w:.+-]*?)[ ]?::(?:[ ]+(?P<words>\S.*))?$")
_NOTE = re.compile(r"\.\.[ ]+\[[^\]]{1,200}\](?:[ ]|$)")
_TARGET = re.compile(r"\.\.[ ]+_|__[ ]")
_OPTION = re.compile(r":[\w-]+:(?:[ ]|$)")
_FIELD = re.compile(r":(?![: ])[^:\n]{1,200}:(?:[ ]+|$)")
_ITEM = re.compile(
    r"(?P<bullet>[-*+•‣⁃])[ ]+(?=\S)|\(?(?:\d{1,4}|[A-Za-z]|[ivxlcIVXLC]{2,8}|\#)[.)][ ]+(?=\S)"
    r"|--?\w[\w-]*(?:[ =]<?[\w-]{1,40}>?)?(?:,[ ]--?\w[\w-]*(?:[ =]<?[\w-]{1,40}>?)?){0,4}[ ]{2,}(?=\S)"
)
_GRID = re.compile(r"\+(?:[-=]+\+)+$")
_COLUMNS = re.compile(r"={2,}(?:[ ]+={2,})+$")
_CODE = frozenset(
    ["code", "code-block", "sourcecode", "parsed-literal", "math", "raw", "graphviz", "doctest", "testcode"]
)
# Directives about layout, without text of their own.
_SETTINGS = frozenset(
    ["toctree", "contents", "include", "index", "highlight", "currentmodule", "module", "default-role", "role", "meta"]
)
# Directives that name an object and describe it below, as a heading does; with or without a domain.
_OBJECTS = frozenset(
    [
        *("attribute", "class", "classmethod", "confval", "data", "decorator", "describe", "enum", "envvar"),
        *("exception", "function", "macro", "member", "method", "object", "option", "program", "property"),
        *("setting", "staticmethod", "struct", "type", "var", "variable"),
    ]
)
_MAX_DEPTH = 8
_REFERENCE = re.compile(
    r":[\w:.+-]{1,60}:(?=`)|`([^`<]*?)\s*<[^`<>]*>`_{0,2}|`([^`]*)`_{0,2}|\*\*?(\S[^*]*)\*\*?|\|(\S[^|]*)\|_?"
)
_MAX_MARKS = 64


def read(path: str, data: bytes) -> Extracted:
    """Read a reStructuredText file; see `corpus.readers`."""
    text, note = decode_lines(data)
    title, blocks = read_rst(text)
    return Extracted(text, title, blocks, note=note)


def read_rst(text: str) -> tuple[str, tuple[Block, ...]]:
    """Return the title of a reStructuredText file ("" if it states none) and its blocks.

    A text without headings is read as plain text, whose headings are inferred.
    """
    parser = _Parser(text)
    parser.run()
    if not any(block.kind is BlockKind.HEADING for block in parser.blocks):
        return read_plain(text)
    return parser.titles.title, fill_gaps(text, parser.blocks)


class _IndentedLine:
    """A line: its text without blanks around it, its indent in columns, and its span."""

    __slots__ = ("end", "indent", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        whole = text[start:end].rstrip()
        self.text = whole.lstrip()
        self.indent = len(whole.expandtabs(8)) - len(self.text.expandtabs(8)) if self.text else 0
        self.start, self.end = start, end


class _Parser:
    """Goes through the lines once; each rule returns how many lines it took, 0 if it does not apply."""

    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self.titles = TopHeading()
        self._lines = [_IndentedLine(text, start, end) for start, end in line_spans(text)]
        self._sections = HeadingStack()
        self._objects = HeadingStack()
        self._styles: dict[str, int] = {}
        self._labels: list[int] = []

    def run(self) -> None:
        """Collect the blocks."""
        rules = (self._heading, self._directive, self._explicit, self._table, self._item, self._paragraph)
        i = 0
        while i < len(self._lines):
            if not self._at(i):
                i += 1
                continue
            self._objects.push(self._lines[i].indent, "")
            i += next(filter(None, (rule(i) for rule in rules)))

    def _heading(self, i: int) -> int:
        """Take a title with a row of one mark below, maybe above too; each style is a level, in order of first use."""
        over = len(self._at(i)) >= 2 and _ADORNED.match(self._at(i)) is not None
        at = i + 1 if over else i
        title, under = self._at(at), self._at(at + 1)
        if not title or not _ADORNED.match(under) or self._lines[at + 1].indent or len(under) < min(len(title), 4):
            return 0
        if _ADORNED.match(title) or len(title) > MAX_HEADING or (over and self._at(i)[0] != under[0]):
            return 0
        if self._lines[i].indent or (self._at(i - 1) and not self._is_below_heading(i)):
            return 0
        words = _words(title)
        level = self._styles.setdefault(under[0] + "o" * over, len(self._styles) + 1)
        self._objects.push(0, "")
        self._sections.push(level, words)
        self.titles.add(level, words)
        self._add(BlockKind.HEADING, self._take_labels_above(i), at + 2)
        return at + 2 - i

    def _take_labels_above(self, i: int) -> int:
        """Make the link targets directly above a heading part of it; return its first line."""
        while self._labels and self.blocks[-1].start == self._lines[self._labels[-1]].start:
            self.blocks.pop()
            i = self._labels.pop()
        return i

    def _is_below_heading(self, i: int) -> bool:
        last = self.blocks[-1] if self.blocks else None
        return last is not None and last.kind is BlockKind.HEADING and last.end == self._lines[i - 1].end

    def _directive(self, i: int) -> int:
        found = _DIRECTIVE.match(self._at(i))
        if not found:
            return 0
        name = found["name"].lower()
        words = found["words"] or ""
        indent, head = self._lines[i].indent, self._end_of_options(i)
        is_object = name.rpartition(":")[2] in _OBJECTS and len(self._objects.path) < _MAX_DEPTH
        if is_object and 0 < len(words) <= MAX_HEADING:
            self._objects.push(indent, _words(words))
            return self._add(BlockKind.HEADING, i, i + 1) + self._add(BlockKind.META, i + 1, head)
        if name in _CODE:
            return self._add(BlockKind.META, i, head) + self._add(BlockKind.CODE, head, self._below(head, indent))
        if name in _SETTINGS:
            return self._add(BlockKind.META, i, self._below(head, indent))
        # Words after the name may begin a paragraph that continues below.
        end = self._run(i, indent) if words and head == i + 1 else i + 1
        return self._add(BlockKind.PARAGRAPH, i, end) + self._add(BlockKind.META, end, head)

    def _end_of_options(self, i: int) -> int:
        """Return the line after a directive's options."""
        indent = self._lines[i].indent
        end = i + 1
        while self._at(end) and self._lines[end].indent > indent and _OPTION.match(self._at(end)):
            inner = self._lines[end].indent
            end += 1
            while self._at(end) and self._lines[end].indent > inner:
                end += 1
        return end

    def _explicit(self, i: int) -> int:
        """Take a footnote, a link target, or a comment with everything indented below it."""
        text, indent = self._at(i), self._lines[i].indent
        if text != ".." and not text.startswith(".. ") and not _TARGET.match(text):
            return 0
        if _NOTE.match(text):
            return self._add(BlockKind.ITEM, i, self._run(i, indent))
        if _TARGET.match(text):
            self._labels.append(i)
            return self._add(BlockKind.META, i, self._run(i, indent))
        # ".." followed by a blank line is an empty comment.
        end = i + 1 if text == ".." and not self._at(i + 1) else self._below(i + 1, indent)
        return self._add(BlockKind.META, i, end)

    def _table(self, i: int) -> int:
        end = i + 1
        if _GRID.match(self._at(i)):
            while self._at(end).startswith(("+", "|")):
                end += 1
        elif _COLUMNS.match(self._at(i)):
            # Ends with a border and a blank line, or with two blank lines.
            while end < len(self._lines) and (
                self._at(end) or (self._at(end - 1) and not (end > i + 2 and _COLUMNS.match(self._at(end - 1))))
            ):
                end += 1
        else:
            return 0
        return self._add(BlockKind.TABLE, i, end)

    def _item(self, i: int) -> int:
        """Take an item of a list, of fields or of options, or a term with its definition."""
        text, indent = self._at(i), self._lines[i].indent
        if _FIELD.match(text):
            first = all(block.kind in (BlockKind.HEADING, BlockKind.META) for block in self.blocks)
            return self._add(BlockKind.META if first else BlockKind.ITEM, i, self._run(i, indent))
        found = _ITEM.match(text)
        below = self._lines[i + 1] if self._at(i + 1) else None
        hangs = below is not None and below.indent > indent
        item = found and (found["bullet"] or below is None or hangs or _ITEM.match(below.text))
        if not item and not (found is None and hangs and not text.endswith("::")):
            return 0
        end = self._run(i, indent)
        return self._add(BlockKind.ITEM, i, end, indent) + self._literal(end, indent)

    def _paragraph(self, i: int) -> int:
        indent = self._lines[i].indent
        end = i + 1
        if self._at(i).startswith(">>> "):
            while self._at(end):
                end += 1
            return self._add(BlockKind.CODE, i, end)
        while self._at(end) and self._lines[end].indent == indent and not self._at(end - 1).endswith("::"):
            end += 1
        return self._add(BlockKind.PARAGRAPH, i, end) + self._literal(end, indent)

    def _literal(self, i: int, indent: int) -> int:
        """Take code, indented below "::"."""
        return self._add(BlockKind.CODE, i, self._below(i, indent)) if self._at(i - 1).endswith("::") else 0

    def _run(self, i: int, indent: int) -> int:
        """Return the line after those indented further than `indent`, up to a blank line or a new item."""
        end = i + 1
        while self._at(end) and self._lines[end].indent > indent and not _ITEM.match(self._at(end)):
            if _FIELD.match(self._at(end)) or self._at(end).startswith(".. "):
                break
            end += 1
        return end

    def _below(self, i: int, indent: int) -> int:
        """Return the line after those indented further than `indent`, with blank lines among them."""
        end = last = i
        while end < len(self._lines) and (not self._at(end) or self._lines[end].indent > indent):
            end += 1
            last = end if self._at(end - 1) else last
        return last

    def _at(self, i: int) -> str:
        return self._lines[i].text if 0 <= i < len(self._lines) else ""

    def _add(self, kind: BlockKind, i: int, end: int, depth: int = 0) -> int:
        """Add a block of lines `i` to `end` (exclusive), if there are any, and return their number."""
        if end > i:
            path = self._sections.path + self._objects.path
            self.blocks.append(Block(kind, self._lines[i].start, self._lines[end - 1].end, path, depth))
        return max(0, end - i)


def _words(text: str) -> str:
    """Return a heading's words without their markup."""
    if sum(map(text.count, "`*|")) <= _MAX_MARKS:
        text = _REFERENCE.sub(lambda found: next(filter(None, found.groups()), ""), text.replace("``", "`"))
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())
