"""LaTeX source: sections as headings, in plain words on the lines that they have in the file."""

from __future__ import annotations

import re

from corpus.readers.assemble.line_builder import LineBuilder
from corpus.readers.tex.commands import plain_tex, without_comment
from corpus.text.encodings import decode_lines
from corpus.types import BlockKind, Extracted

_SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_SECTION = re.compile(rf"\s*\\({'|'.join(_SECTIONS)})\*?\s*(?:\[[^\]]{{0,500}}\])?\{{")
# An abstract is a heading of the level of sections.
_ABSTRACT_LEVEL = 3
_TITLE = re.compile(r"\\title\s*(?:\[[^\]]{0,500}\])?\{")
_BEGIN = re.compile(r"\\begin\{(\w+)\*?\}")
_END = re.compile(r"\\end\{(\w+)\*?\}")
_UNSEEN = re.compile(r"\\label\{[^}]*\}|\\nonumber")
_VERBATIM = frozenset({"verbatim", "lstlisting", "minted"})
_MATHS = frozenset({"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "alignat"})
_TABLES = frozenset({"tabular", "tabularx", "longtable"})
# An argument may go on for so many lines and characters.
_ARGUMENT_LINES, _MAX_ARGUMENT = 4, 1000


def read(path: str, data: bytes) -> Extracted:
    """Read a LaTeX file; see `corpus.readers`."""
    text, note = decode_lines(data)
    return _TexReader([line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]).read(note)


class _TexReader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._builder = LineBuilder()
        self._environment = ""

    def read(self, note: str) -> Extracted:
        bare = [without_comment(line) for line in self._lines]
        body = next((i for i, line in enumerate(bare) if r"\begin{document}" in line), -1)
        titles = ((i, found.end()) for i, line in enumerate(bare) if (found := _TITLE.search(line)))
        if title := next(titles, None):
            self._builder.title = " ".join(plain_tex(self._argument(*title)).split())
        for number, line in enumerate(self._lines):
            if number <= body:
                self._builder.line("")
            elif self._environment in _VERBATIM:
                self._add_verbatim(line)
            else:
                self._add_line(number, line, bare[number])
        return self._builder.build("text/x-tex", note=note)

    def _argument(self, number: int, start: int) -> str:
        """The text from behind an opening brace to its closing one."""
        lines = self._lines[number : number + _ARGUMENT_LINES]
        text = " ".join(map(without_comment, lines))[:_MAX_ARGUMENT]
        depth = 1
        for i in range(start, len(text)):
            depth += (text[i] == "{") - (text[i] == "}")
            if not depth:
                return text[start:i]
        return text[start:]

    def _add_verbatim(self, line: str) -> None:
        if _END.search(line):
            self._environment = ""
            self._builder.end_block()
            self._builder.line("")
        else:
            self._builder.line(line, BlockKind.CODE)

    def _add_line(self, number: int, line: str, bare: str) -> None:
        if "\\" not in bare and not self._environment:
            self._builder.line(plain_tex(line))
            return
        if found := _SECTION.match(bare):
            self._builder.heading(_SECTIONS.index(found[1]) + 1, plain_tex(self._argument(number, found.end())))
            return
        if _TITLE.search(bare):
            self._builder.line("")
            return
        if begin := _BEGIN.search(bare):
            if begin[1] == "abstract":
                self._builder.section(_ABSTRACT_LEVEL, "Abstract")
            elif begin[1] in _VERBATIM | _MATHS | _TABLES:
                self._environment = begin[1]
        if self._environment in _MATHS:
            text = _END.sub("", _BEGIN.sub("", _UNSEEN.sub("", bare.strip())))
        else:
            text = plain_tex(line)
        self._builder.line(text, self._kind(bare))
        end = _END.search(bare)
        if end and end[1] == "abstract":
            self._builder.section(_ABSTRACT_LEVEL, "")
        if end and end[1] in (self._environment, "abstract"):
            self._environment = ""

    def _kind(self, line: str) -> BlockKind:
        if line.lstrip().startswith(r"\item"):
            return BlockKind.ITEM
        return BlockKind.TABLE if self._environment in _TABLES else BlockKind.PARAGRAPH
