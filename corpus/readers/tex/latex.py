"""LaTeX source: sections as headings, as plain text on the same lines as in the file."""

from __future__ import annotations

import re
from itertools import pairwise

from corpus.readers.assemble.document_builder import one_line, row_text
from corpus.readers.assemble.line_builder import LineBuilder
from corpus.readers.tex.commands import plain_formula, plain_tex, strip_comment
from corpus.readers.tex.macros import Macros, closing_brace
from corpus.text.encodings import file_lines
from corpus.types import BlockKind, Extracted

_SECTIONS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_COMMAND = rf"\\({'|'.join(_SECTIONS)})\*?\s*(?:\[[^\]]{{0,500}}\])?\{{"
_SECTION = re.compile(rf"\s*{_COMMAND}")
# A section within a line, but not after "\\\\", and code, which may only show such a command.
_LATER_SECTION = re.compile(rf"(?<=[^\s\\])\s*(?={_COMMAND})")
_CODE = re.compile(r"\\(?:verb|lstinline|mintinline)|\{(?:verbatim|lstlisting|minted)")
# An abstract is a heading at the level of sections.
_ABSTRACT_LEVEL = 3
_TITLE = re.compile(r"\\title\s*(?:\[[^\]]{0,500}\])?\{")
_TITLE_PAGE = re.compile(r"\\(?:title|author|date)\s*(?:\[[^\]]{0,500}\])?\{")
_AND = re.compile(r"[ \t]*\\and(?![A-Za-z])")
_DOCUMENT = r"\begin{document}"
_BEGIN = re.compile(r"\\begin\{(\w+)\*?\}")
_END = re.compile(r"\\end\{(\w+)\*?\}")
# What is never printed, unless there is another condition in it; `\iff` is none. Not with possessive quantifiers, which
# Python 3.11.2 gets wrong here.
_UNPRINTED = re.compile(
    r"^[ \t]*\\(?:begin\{comment\}(?:[^\\]|\\(?!(?:begin|end)\{comment\}))*\\end\{comment\}"
    r"|(?:iffalse\b|if ?0(?=\s))(?:[^\\]|\\(?!if(?!f\b)|else\b|fi\b))*\\(?:else|fi)\b)",
    re.MULTILINE,
)
_UNSEEN = re.compile(r"\\label\{[^}]*\}|\\nonumber")
_VERBATIM = frozenset({"verbatim", "lstlisting", "minted"})
_MATHS = frozenset({"equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "alignat"})
_TABLES = frozenset({"tabular", "tabularx", "longtable", "tabulary", "supertabular"})
_CELL_END = re.compile(r"(?<!\\)&")
# The end of a row, unless in braces or in a table inside a cell.
_ROW_END = re.compile(r"\\\\\*?(?:\[[^\]\n]{0,20}\])?|\\tabularnewline(?![A-Za-z])")
_IN_A_CELL = re.compile(r"\{[^{}\n]*\}|\\begin\{tabular\}[^\n]{0,500}?\\end\{tabular\}")
_MAX_ROW_LINES = 50
# Maximum length of a title, and of the names of authors.
_MAX_TITLE, _MAX_AUTHORS = 1000, 5000
_HEADING_LINES = 4


def read(path: str, data: bytes) -> Extracted:
    """Read a LaTeX file; see `corpus.readers`."""
    lines, note = file_lines(data)
    return _TexReader(lines).read(note)


class _TexReader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._builder = LineBuilder()
        self._environment = ""
        self._row: list[str] = []
        self._row_number = 0
        self._macros = Macros()
        text = "\n".join(map(strip_comment, lines))
        text = _UNPRINTED.sub(lambda match: "\n" * match[0].count("\n"), text)
        self._shown = _blank_preamble(self._macros.expand(text)).split("\n")
        if title := _TITLE.search(text):
            words = self._macros.expand_without_notes(_argument(text, title.end()))
            self._builder.title = " ".join(plain_tex(" ".join(words.split())).split())

    def read(self, note: str) -> Extracted:
        for number, line in enumerate(self._lines):
            if self._environment in _VERBATIM:
                self._add_verbatim(line)
            elif self._environment in _TABLES and not _SECTION.match(self._shown[number]):
                self._add_to_table(number, self._shown[number])
            else:
                shown = self._shown[number]
                starts = () if _CODE.search(shown) else (match.end() for match in _LATER_SECTION.finditer(shown))
                for start, end in pairwise((0, *starts, len(shown))):
                    self._builder.go_to(number + 1)
                    self._add_line(number, shown[start:end])
        self._add_row()
        return self._builder.build("text/x-tex", note=note)

    def _add_verbatim(self, line: str) -> None:
        if _END.search(line):
            self._environment = ""
            self._builder.end_block()
            self._builder.line("")
        else:
            self._builder.line(line, BlockKind.CODE)

    def _add_line(self, number: int, line: str) -> None:
        if "\\" not in line and not self._environment:
            self._builder.line(plain_tex(line))
            return
        if section := _SECTION.match(line):
            self._end_table(number)
            self._add_heading(number, section)
            return
        if title_page := _TITLE_PAGE.match(line):
            self._builder.end_block()
            line = line[title_page.end() :]
        begin = _BEGIN.search(line)
        if begin and begin[1] in _TABLES:
            self._begin_table(number, begin)
            return
        if begin and begin[1] == "abstract":
            self._builder.section(_ABSTRACT_LEVEL, "Abstract")
        elif begin and begin[1] in _VERBATIM | _MATHS:
            self._environment = begin[1]
        if self._environment in _MATHS:
            text = plain_formula(_END.sub("", _BEGIN.sub("", _UNSEEN.sub("", line.strip()))))
        else:
            text = plain_tex(line)
        self._builder.line(text, BlockKind.ITEM if line.lstrip().startswith(r"\item") else BlockKind.PARAGRAPH)
        end = _END.search(line)
        if end and end[1] == "abstract":
            self._builder.section(_ABSTRACT_LEVEL, "")
        if end and end[1] in (self._environment, "abstract"):
            self._environment = ""

    def _begin_table(self, number: int, begin: re.Match[str]) -> None:
        line = begin.string
        self._builder.line(plain_tex(line[: begin.start()]))
        self._builder.end_block()
        self._environment = begin[1]
        self._add_to_table(number, line[begin.end() :])

    def _add_to_table(self, number: int, line: str) -> None:
        """Add the rows that end on a line, and begin the next row with the text after them."""
        line = _IN_A_CELL.sub(lambda match: _ROW_END.sub(" ", _END.sub("", match[0])), line)
        end = next((match for match in _END.finditer(line) if match[1] == self._environment), None)
        *finished, unfinished = _ROW_END.split(line[: end.start()] if end else line)
        for text in finished:
            self._add_to_row(number, text)
            self._add_row()
        self._add_to_row(number, unfinished)
        if len(self._row) > _MAX_ROW_LINES:
            self._add_row()
        if end:
            self._end_table(number)
            self._builder.line(plain_tex(line[end.end() :]))

    def _add_to_row(self, number: int, text: str) -> None:
        if plain_tex(text).strip():
            self._row_number = self._row_number if self._row else number
            self._row.append(text)

    def _add_row(self) -> None:
        cells = [one_line(plain_tex(cell)) for cell in _CELL_END.split(" ".join(self._row))]
        if text := row_text(cells):
            self._builder.go_to(self._row_number + 1)
            self._builder.line(text, BlockKind.TABLE)
        self._row.clear()

    def _end_table(self, number: int) -> None:
        self._add_row()
        if self._environment in _TABLES:
            self._environment = ""
            self._builder.end_block()
            self._builder.go_to(number + 1)

    def _add_heading(self, number: int, section: re.Match[str]) -> None:
        level, line = _SECTIONS.index(section[1]) + 1, section.string
        text = "\n".join([line, *self._shown[number + 1 : number + _HEADING_LINES]])
        argument = _argument(text, section.end())
        title = plain_tex(" ".join(argument.split("\n")))
        text_after = plain_tex(line[section.end() + len(argument) + 1 :])
        if text_after.strip():
            self._builder.section(level, title)
            self._builder.line(f"{title} {text_after}")
        else:
            self._builder.heading(level, title)


def _argument(text: str, start: int) -> str:
    """Return the text after an opening brace, up to its closing brace."""
    end = closing_brace(text, start, _MAX_TITLE)
    return text[start : end if end >= 0 else start + _MAX_TITLE]


def _blank_preamble(text: str) -> str:
    """Blank the lines before the document, except for the text of its title page."""
    end = text.find(_DOCUMENT)
    if end < 0:
        return text
    parts = []
    at = 0
    for match in _TITLE_PAGE.finditer(text, 0, end if r"\maketitle" in text else 0):
        if match.start() < at:
            continue
        closing = closing_brace(text, match.end(), _MAX_AUTHORS)
        if not 0 <= closing < end:
            break
        parts += [
            "\n" * text.count("\n", at, match.start()) or " " * bool(at),
            _AND.sub(", ", text[match.start() : closing + 1]),
        ]
        at = closing + 1
    return "".join([*parts, "\n" * text.count("\n", at, end), text[end:]])
