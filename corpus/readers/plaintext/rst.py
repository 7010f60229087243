"""reStructuredText, as documentation of Python and the Linux kernel is written, as blocks with exact spans.

By rules of our own for what the grammar says of lines: docutils keeps no places in the text, knows none of Sphinx's
directives, and follows instructions in the text to read other files.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from corpus.readers.assemble.coverage import fill_gaps
from corpus.readers.plaintext.plain import read_plain
from corpus.text.encodings import decode, require_few_lines
from corpus.text.headings import LONGEST_HEADING
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
_TABLES = frozenset(["csv-table", "list-table"])
# What says how the text is set, and no more.
_SETTINGS = frozenset(
    ["toctree", "contents", "include", "index", "highlight", "currentmodule", "module", "default-role", "role", "meta"]
)
# What names a thing and describes it below, as a heading does; with a domain before it or without.
_THINGS = frozenset(
    [
        *("attribute", "class", "classmethod", "confval", "data", "decorator", "describe", "enum", "envvar"),
        *("exception", "function", "macro", "member", "method", "object", "option", "program", "property"),
        *("setting", "staticmethod", "struct", "type", "var", "variable"),
    ]
)
_DEEPEST = 8
_REFERENCE = re.compile(
    r":[\w:.+-]{1,60}:(?=`)|`([^`<]*?)\s*<[^`<>]*>`_{0,2}|`([^`]*)`_{0,2}|\*\*?(\S[^*]*)\*\*?|\|(\S[^|]*)\|_?"
)
_MARKS = 64


def read(path: str, data: bytes) -> Extracted:
    """Read a reStructuredText file; see `corpus.readers`."""
    text, note = decode(data)
    require_few_lines(text)
    title, blocks = read_rst(text)
    return Extracted(text, title, blocks, note=note)


def read_rst(text: str) -> tuple[str, tuple[Block, ...]]:
    """Take reStructuredText apart into its title ("" where it states none) and blocks.

    A file without one heading is read as plain text, whose headings are inferred.
    """
    found = _Reader(text)
    found.run()
    if not any(block.kind is BlockKind.HEADING for block in found.blocks):
        return read_plain(text)
    return found.title, fill_gaps(text, found.blocks)


class _Line:
    """A line: where it stands, how far in, and its text without the blanks around it."""

    __slots__ = ("end", "indent", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        whole = text[start:end].rstrip()
        self.text = whole.lstrip()
        self.indent = len(whole.expandtabs(8)) - len(whole.lstrip().expandtabs(8)) if self.text else 0
        self.start, self.end = start, end


class _Reader:
    """Goes through the lines once; each rule says how many lines it took, 0 where it does not hold."""

    def __init__(self, text: str) -> None:
        self.blocks: list[Block] = []
        self.title = ""
        self._lines: list[_Line] = []
        start = int(text.startswith("\ufeff"))
        while start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            self._lines.append(_Line(text, start, end))
            start = end + 1
        self._sections: list[tuple[int, str]] = []
        self._things: list[tuple[int, str]] = []
        self._styles: dict[str, int] = {}
        self._labels: list[int] = []
        self._rules: tuple[Callable[[int], int], ...] = (
            self._heading,
            self._directive,
            self._explicit,
            self._table,
            self._item,
            self._paragraph,
        )

    def run(self) -> None:
        """Make the blocks."""
        i = 0
        while i < len(self._lines):
            line = self._lines[i]
            if not line.text:
                i += 1
                continue
            while self._things and self._things[-1][0] >= line.indent:
                self._things.pop()
            i += next(filter(None, (rule(i) for rule in self._rules)))

    def _heading(self, i: int) -> int:
        """A line with a row of one mark below it, or above and below; each style is a level, by first use."""
        over = bool(_ADORNED.match(self._at(i))) and len(self._at(i)) >= 2
        at = i + 1 if over else i
        title, under = self._at(at), self._at(at + 1)
        if not title or not under or not _ADORNED.match(under) or self._lines[at + 1].indent:
            return 0
        if (
            (over and (self._lines[i].indent or self._at(i)[0] != under[0]))
            or _is_row(title)
            or len(title) > LONGEST_HEADING
        ):
            return 0
        if (not over and self._lines[i].indent) or (i and self._at(i - 1) and not self._behind_heading(i)):
            return 0
        if len(under) < min(len(title), 4):
            return 0
        words = _words(title)
        level = self._styles.setdefault(under[0] + "o" * over, len(self._styles) + 1)
        while self._sections and self._sections[-1][0] >= level:
            self._sections.pop()
        self._things.clear()
        self._sections.append((level, words))
        self.title = self.title or words
        self._add(BlockKind.HEADING, self._labels_above(i), at + 2)
        return at + 2 - i

    def _labels_above(self, i: int) -> int:
        """The first line of the link targets right above a heading, which are names of it; no blocks of their own."""
        while self._labels and self.blocks and self.blocks[-1].start == self._lines[self._labels[-1]].start:
            self.blocks.pop()
            i = self._labels.pop()
        return i

    def _behind_heading(self, i: int) -> bool:
        return (
            bool(self.blocks)
            and self.blocks[-1].kind is BlockKind.HEADING
            and self.blocks[-1].end == self._lines[i - 1].end
        )

    def _directive(self, i: int) -> int:
        found = _DIRECTIVE.match(self._at(i))
        if not found:
            return 0
        name = found["name"].lower()
        kind = name.rpartition(":")[2]
        words = found["words"] or ""
        head = self._head_of(i)
        if kind in _THINGS and len(self._things) < _DEEPEST and 0 < len(words) <= LONGEST_HEADING:
            self._things.append((self._lines[i].indent, _words(words)))
            self._add(BlockKind.HEADING, i, i + 1)
            self._add(BlockKind.META, i + 1, head)
            return head - i
        if name in _CODE or name in _TABLES:
            end = self._below(head, self._lines[i].indent)
            self._add(BlockKind.META, i, head)
            self._add(BlockKind.CODE if name in _CODE else BlockKind.TABLE, head, end)
            return end - i
        if name in _SETTINGS:
            return self._add(BlockKind.META, i, self._below(head, self._lines[i].indent))
        # Words behind the name may begin a paragraph that goes on below.
        end = self._run(i, self._lines[i].indent) if words and head == i + 1 else i + 1
        self._add(BlockKind.PARAGRAPH, i, end)
        self._add(BlockKind.META, end, head)
        return max(end, head) - i

    def _head_of(self, i: int) -> int:
        """One past the last line of a directive's options."""
        indent = self._lines[i].indent
        end = i + 1
        while self._at(end) and self._lines[end].indent > indent and _OPTION.match(self._at(end)):
            inner = self._lines[end].indent
            end += 1
            while self._at(end) and self._lines[end].indent > inner:
                end += 1
        return end

    def _explicit(self, i: int) -> int:
        """A footnote, a link's target, or a comment with all that stands further in."""
        text, indent = self._at(i), self._lines[i].indent
        if text != ".." and not text.startswith(".. ") and not _TARGET.match(text):
            return 0
        if _NOTE.match(text):
            return self._add(BlockKind.ITEM, i, self._run(i, indent))
        if _TARGET.match(text):
            self._labels.append(i)
            return self._add(BlockKind.META, i, self._run(i, indent))
        # A lone ".." with a blank line below ends there, and comments on nothing.
        end = i + 1 if text == ".." and not self._at(i + 1) else self._below(i + 1, indent)
        return self._add(BlockKind.META, i, end)

    def _table(self, i: int) -> int:
        end = i + 1
        if _GRID.match(self._at(i)):
            while self._at(end).startswith(("+", "|")):
                end += 1
        elif _COLUMNS.match(self._at(i)):
            while end < len(self._lines) and not (_is_border(self._at(end - 1)) and not self._at(end) and end > i + 2):
                if not self._at(end) and not self._at(end - 1):
                    break
                end += 1
        else:
            return 0
        return self._add(BlockKind.TABLE, i, end)

    def _item(self, i: int) -> int:
        """An item of a list, of fields or of options, or a term with its definition."""
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
        used = self._add(BlockKind.ITEM, i, end, indent)
        return used + self._literal(end, indent)

    def _paragraph(self, i: int) -> int:
        indent = self._lines[i].indent
        if self._at(i).startswith(">>> "):
            end = i + 1
            while self._at(end):
                end += 1
            return self._add(BlockKind.CODE, i, end)
        end = i + 1
        while self._at(end) and self._lines[end].indent == indent and not self._at(end - 1).endswith("::"):
            end += 1
        used = self._add(BlockKind.PARAGRAPH, i, end)
        return used + self._literal(end, indent)

    def _literal(self, i: int, indent: int) -> int:
        """What stands further in below "::": code as it is."""
        if not self._at(i - 1).endswith("::"):
            return 0
        end = self._below(i, indent)
        return self._add(BlockKind.CODE, i, end)

    def _run(self, i: int, indent: int) -> int:
        """One past the last of the lines that stand further in than `indent`, up to a blank one or a new item."""
        end = i + 1
        while self._at(end) and self._lines[end].indent > indent and not _ITEM.match(self._at(end)):
            if _FIELD.match(self._at(end)) or self._at(end).startswith(".. "):
                break
            end += 1
        return end

    def _below(self, i: int, indent: int) -> int:
        """One past the last line, blank ones among them, that stands further in than `indent`."""
        end = last = i
        while end < len(self._lines) and (not self._at(end) or self._lines[end].indent > indent):
            end += 1
            last = end if self._at(end - 1) else last
        return last

    def _at(self, i: int) -> str:
        return self._lines[i].text if 0 <= i < len(self._lines) else ""

    def _add(self, kind: BlockKind, i: int, end: int, depth: int = 0) -> int:
        """Make a block of the lines from `i` on; how many they are."""
        if end > i:
            path = tuple(words for _, words in (*self._sections, *self._things) if words)
            self.blocks.append(Block(kind, self._lines[i].start, self._lines[end - 1].end, path, depth))
        return end - i


def _is_row(text: str) -> bool:
    return bool(_ADORNED.match(text))


def _is_border(text: str) -> bool:
    return bool(_COLUMNS.match(text))


def _words(text: str) -> str:
    """A heading's words without their markup."""
    if sum(map(text.count, "`*|")) <= _MARKS:
        text = _REFERENCE.sub(lambda found: next(filter(None, found.groups()), ""), text.replace("``", "`"))
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())
