"""reStructuredText, as blocks with exact spans.

Not parsed by docutils, which keeps no character offsets, does not know the directives of Sphinx, and reads other files
that the text includes.
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
# Directives that name an object, with or without a domain, and describe it below, like a heading.
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
    """A line: its text without surrounding blanks, its indent in columns, and its span."""

    __slots__ = ("end", "indent", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        line = text[start:end].rstrip()
        self.text = line.lstrip()
        self.indent = len(line.expandtabs(8)) - len(self.text.expandtabs(8)) if self.text else 0
        self.start, self.end = start, end


class _Parser:
    """Parses the lines in one pass; each rule returns the number of lines it took, or 0 if it does not apply."""

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
        rules = (self._heading, self._directive, self._footnote_or_comment, self._table, self._item, self._paragraph)
        i = 0
        while i < len(self._lines):
            if not self._at(i):
                i += 1
                continue
            self._objects.push(self._lines[i].indent, "")
            i += next(filter(None, (rule(i) for rule in rules)))

    def _heading(self, i: int) -> int:
        """Take a title with a row of marks below, maybe above too; each style is a level, in order of first use."""
        has_overline = len(self._at(i)) >= 2 and _ADORNED.match(self._at(i)) is not None
        title_at = i + 1 if has_overline else i
        title, row = self._at(title_at), self._at(title_at + 1)
        if not title or not _ADORNED.match(row) or self._lines[title_at + 1].indent or len(row) < min(len(title), 4):
            return 0
        if _ADORNED.match(title) or len(title) > MAX_HEADING or (has_overline and self._at(i)[0] != row[0]):
            return 0
        if self._lines[i].indent or (self._at(i - 1) and not self._is_below_heading(i)):
            return 0
        text = _heading_text(title)
        level = self._styles.setdefault(row[0] + "o" * has_overline, len(self._styles) + 1)
        self._objects.push(0, "")
        self._sections.push(level, text)
        self.titles.add(level, text)
        self._add(BlockKind.HEADING, self._take_labels_above(i), title_at + 2)
        return title_at + 2 - i

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
        match = _DIRECTIVE.match(self._at(i))
        if not match:
            return 0
        name = match["name"].lower()
        words = match["words"] or ""
        indent, head = self._lines[i].indent, self._end_of_options(i)
        is_object = name.rpartition(":")[2] in _OBJECTS and len(self._objects.path) < _MAX_DEPTH
        if is_object and 0 < len(words) <= MAX_HEADING:
            self._objects.push(indent, _heading_text(words))
            return self._add(BlockKind.HEADING, i, i + 1) + self._add(BlockKind.META, i + 1, head)
        if name in _CODE:
            return self._add(BlockKind.META, i, head) + self._add(BlockKind.CODE, head, self._end_below(head, indent))
        if name in _SETTINGS:
            return self._add(BlockKind.META, i, self._end_below(head, indent))
        # Words after the name may begin a paragraph that continues below.
        end = self._end_of_run(i, indent) if words and head == i + 1 else i + 1
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

    def _footnote_or_comment(self, i: int) -> int:
        """Take a footnote, a link target, or a comment with everything indented below it."""
        text, indent = self._at(i), self._lines[i].indent
        if text != ".." and not text.startswith(".. ") and not _TARGET.match(text):
            return 0
        if _NOTE.match(text):
            return self._add(BlockKind.ITEM, i, self._end_of_run(i, indent))
        if _TARGET.match(text):
            self._labels.append(i)
            return self._add(BlockKind.META, i, self._end_of_run(i, indent))
        # ".." followed by a blank line is an empty comment.
        end = i + 1 if text == ".." and not self._at(i + 1) else self._end_below(i + 1, indent)
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
            is_at_top = all(block.kind in (BlockKind.HEADING, BlockKind.META) for block in self.blocks)
            return self._add(BlockKind.META if is_at_top else BlockKind.ITEM, i, self._end_of_run(i, indent))
        match = _ITEM.match(text)
        next_line = self._lines[i + 1] if self._at(i + 1) else None
        hangs = next_line is not None and next_line.indent > indent
        is_item = match and (match["bullet"] or next_line is None or hangs or _ITEM.match(next_line.text))
        if not is_item and not (match is None and hangs and not text.endswith("::")):
            return 0
        end = self._end_of_run(i, indent)
        return self._add(BlockKind.ITEM, i, end, indent) + self._literal_block(end, indent)

    def _paragraph(self, i: int) -> int:
        indent = self._lines[i].indent
        end = i + 1
        if self._at(i).startswith(">>> "):
            while self._at(end):
                end += 1
            return self._add(BlockKind.CODE, i, end)
        while self._at(end) and self._lines[end].indent == indent and not self._at(end - 1).endswith("::"):
            end += 1
        return self._add(BlockKind.PARAGRAPH, i, end) + self._literal_block(end, indent)

    def _literal_block(self, i: int, indent: int) -> int:
        """Take code that is indented below "::"."""
        return self._add(BlockKind.CODE, i, self._end_below(i, indent)) if self._at(i - 1).endswith("::") else 0

    def _end_of_run(self, i: int, indent: int) -> int:
        """Return the line after the lines indented further than `indent`, up to a blank line or a new item."""
        end = i + 1
        while self._at(end) and self._lines[end].indent > indent and not _ITEM.match(self._at(end)):
            if _FIELD.match(self._at(end)) or self._at(end).startswith(".. "):
                break
            end += 1
        return end

    def _end_below(self, i: int, indent: int) -> int:
        """Return the line after the lines indented further than `indent`, with blank lines between them."""
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


def _heading_text(text: str) -> str:
    """Return the text of a heading without markup."""
    if sum(map(text.count, "`*|")) <= _MAX_MARKS:
        text = _REFERENCE.sub(lambda match: next(filter(None, match.groups()), ""), text.replace("``", "`"))
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())
