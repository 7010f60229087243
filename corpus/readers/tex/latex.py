"""LaTeX source: sections as headings, commands stripped; its lines keep the numbers that they have in the file."""

from __future__ import annotations

import re

from corpus.readers.assemble.line_builder import LineBuilder
from corpus.readers.tex.commands import plain_tex, without_comment
from corpus.text.encodings import decode, require_few_lines
from corpus.types import BlockKind, Extracted

_LEVELS = {
    "part": 1,
    "chapter": 2,
    "section": 3,
    "subsection": 4,
    "subsubsection": 5,
    "paragraph": 6,
    "subparagraph": 7,
}
_SECTION = re.compile(rf"\s*\\({'|'.join(_LEVELS)})\*?\s*(?:\[[^\]]{{0,500}}\])?\{{")
_TITLE = re.compile(r"\\title\s*(?:\[[^\]]{0,500}\])?\{")
_BEGIN = re.compile(r"\\begin\{(\w+)\*?\}")
_END = re.compile(r"\\end\{(\w+)\*?\}")
_VERBATIM = frozenset({"verbatim", "lstlisting", "minted"})
_MATHS = frozenset({"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "alignat"})
_TABLES = frozenset({"tabular", "tabularx", "longtable"})
_LONGEST_ARGUMENT = 1000


def read(path: str, data: bytes) -> Extracted:
    """Read a LaTeX file; see `corpus.readers`."""
    text, note = decode(data)
    require_few_lines(text)
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    return _Source(lines).read(note)


class _Source:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._builder = LineBuilder()
        self._inside = ""

    def read(self, note: str) -> Extracted:
        begins = next((i for i, line in enumerate(self._lines) if r"\begin{document}" in without_comment(line)), -1)
        self._builder.title = self._title()
        for number, line in enumerate(self._lines):
            if number <= begins:
                self._builder.line("")
            elif self._inside in _VERBATIM:
                self._verbatim(line)
            else:
                self._line(number, line)
        return self._builder.build("text/x-tex", note=note)

    def _title(self) -> str:
        for number, line in enumerate(self._lines):
            if found := _TITLE.search(without_comment(line)):
                return " ".join(plain_tex(self._argument(number, found.end())).split())
        return ""

    def _argument(self, number: int, start: int) -> str:
        """What stands between a brace that opens before `start` and the one that closes it."""
        text = " ".join(map(without_comment, self._lines[number : number + 4]))[:_LONGEST_ARGUMENT]
        depth = 1
        for i in range(start, len(text)):
            depth += (text[i] == "{") - (text[i] == "}")
            if not depth:
                return text[start:i]
        return text[start:]

    def _verbatim(self, line: str) -> None:
        if _END.search(line):
            self._inside = ""
            self._builder.end_block()
            self._builder.line("")
        else:
            self._builder.line(line, BlockKind.CODE)

    def _line(self, number: int, line: str) -> None:
        bare = without_comment(line)
        if "\\" not in bare and not self._inside:
            self._builder.line(plain_tex(line))
            return
        if found := _SECTION.match(bare):
            self._builder.heading(_LEVELS[found[1]], plain_tex(self._argument(number, found.end())))
            return
        if _TITLE.search(bare):
            self._builder.line("")
            return
        if begin := _BEGIN.search(bare):
            self._begin(begin[1])
        text = bare.strip() if self._inside in _MATHS else plain_tex(line)
        if self._inside in _MATHS:
            text = _END.sub("", _BEGIN.sub("", re.sub(r"\\label\{[^}]*\}|\\nonumber", "", text)))
        self._builder.line(text, self._kind(bare))
        if (end := _END.search(bare)) and end[1] in (self._inside, "abstract"):
            self._inside = ""
            if end[1] == "abstract":
                self._builder.under(3, "")

    def _begin(self, name: str) -> None:
        if name == "abstract":
            self._builder.under(3, "Abstract")
        elif name in _VERBATIM | _MATHS | _TABLES:
            self._inside = name

    def _kind(self, line: str) -> BlockKind:
        if line.lstrip().startswith(r"\item"):
            return BlockKind.ITEM
        return BlockKind.TABLE if self._inside in _TABLES else BlockKind.PARAGRAPH
