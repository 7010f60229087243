"""Manual pages (the macros man and mdoc): plain text under its headings, with the file's line numbers."""

from __future__ import annotations

import re

from corpus.readers.assemble.document_builder import DocumentBuilder, count_visible
from corpus.readers.plaintext.man_words import MACROS, arguments, join_words, strip_escapes
from corpus.text.encodings import file_lines
from corpus.types import BlockKind, Extracted

_REQUEST = re.compile(r"[.'][ \t]*(\\\}|[^\s\\]*)[ \t]*(.*)")
_MACRO_DEFINITION = re.compile(r"[.'][ \t]*(?:de|am)1?[ \t]+(\S+)")
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
# Macros for words in one font, and in two alternating fonts, without spaces between the words.
_FONTS, _ALTERNATING = frozenset({"B", "I", "R", "SM", "SB"}), frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})
_BREAKS = frozenset(["PP", "P", "LP", "HP", "Pp", "sp", "br", "Sp", "RS", "RE", "Bl", "El", "UE", "ME", "YS"])
# Requests that begin hidden text, each with the request that ends it.
_HIDDEN = {"de": ".", "de1": ".", "am": ".", "ig": ".", "PS": "PE", "EQ": "EN"}
_FORMAT = "format of a table"
_KINDS = dict.fromkeys(("fi", "EE", "Ve", "Ed"), BlockKind.CODE) | {"TE": BlockKind.TABLE}
# A short line that is the tag of the indented text below.
_TAG = re.compile(r".{,119}[^.:;\s]\s*", re.DOTALL)
# Requests that begin text shown as written, each with the request that ends it.
_CODE = {"nf": "fi", "EX": "EE", "Vb": "Ve", "Bd": "Ed", "TS": "TE"}


def read(path: str, data: bytes) -> Extracted:
    """Read a manual page; see `corpus.readers`."""
    lines, note = file_lines(data)
    page = _ManPage(frozenset(match[1] for match in map(_MACRO_DEFINITION.match, lines) if match) - _BREAKS - {"IX"})
    for number, line in enumerate(lines, 1):
        page.add(line, number)
    page.end_block()
    return page.builder.build("text/troff", note=note)


class _ManPage:
    """Takes the lines of a page in order; macros defined in the page itself show their arguments."""

    def __init__(self, own_macros: frozenset[str]) -> None:
        self.builder = DocumentBuilder()
        self._own_macros = own_macros
        self._name = ""
        self._hidden_until = self._code_until = ""
        self._kind = BlockKind.PARAGRAPH
        # Whether the next line is the tag of an item.
        self._awaits_tag = False
        self._text = ""
        self._marks: list[tuple[int, int]] = []

    def add(self, line: str, number: int) -> None:
        """Take a line."""
        match = _REQUEST.match(line)
        request, argument_text = (match[1], match[2]) if match else ("", "")
        if self._hidden_until:
            if request == self._hidden_until or (self._hidden_until == _FORMAT and line.endswith(".")):
                self._hidden_until = ""
        elif match is None:
            self._add_line(strip_escapes(line), number)
        elif request in _HIDDEN:
            self._hidden_until = _HIDDEN[request]
        elif request == "el" or (request == "if" and not argument_text.startswith("n")):
            self._hidden_until = "\\}" if "\\{" in argument_text else ""
        elif not self._apply_layout(request, arguments(argument_text), number):
            self._add_text(self._text_of(request, arguments(argument_text)), number)

    def end_block(self) -> None:
        """End the current block."""
        self.builder.block(self._text, self._kind, lines=self._marks)
        self._text, self._marks = "", []
        self._kind = _KINDS.get(self._code_until, BlockKind.PARAGRAPH)

    def _apply_layout(self, request: str, words: list[str], number: int) -> bool:
        """Apply a request that divides the page into blocks; return whether it is such a request."""
        if request in _HEADINGS:
            self._code_until = ""
            self.end_block()
            self.builder.heading(_HEADINGS[request], " ".join(words), lines=[(0, number)])
        elif request in ("TH", "Dt"):
            self.builder.title = f"{words[0].lower()}({words[1]})" if len(words) > 1 else " ".join(words)
        elif request in ("TP", "TQ", "IP", "It"):
            self._begin_item(request, words, number)
        elif request in _CODE or (request and request == self._code_until):
            self._code_until = _CODE.get(request, "")
            self._hidden_until = _FORMAT if request == "TS" else ""
            self.end_block()
        elif request == "RS" and not self._code_until and _TAG.fullmatch(self._text):
            # In pages made from DocBook, the paragraph is the tag of the indented text below.
            self._kind, self._text = BlockKind.ITEM, f"{self._text.rstrip()}: "
        elif request in _BREAKS:
            # A break between a tag and the indented text below it does not end the item.
            is_tag = self._kind is BlockKind.ITEM and self._text.endswith(": ")
            if not self._code_until and not is_tag:
                self.end_block()
        else:
            return False
        return True

    def _begin_item(self, request: str, words: list[str], number: int) -> None:
        self.end_block()
        self._kind, self._awaits_tag = BlockKind.ITEM, True
        if request in ("IP", "It"):
            tag = join_words(words if request == "It" else words[:1], self._name)
            if len(tag) > 1 or tag.isalnum():
                self._add_text(tag, number)
            self._awaits_tag = False

    def _text_of(self, request: str, words: list[str]) -> str:
        """Return the text that a request shows."""
        if request in _ALTERNATING:
            return "".join(words)
        if request in ("UR", "MT") or request in _FONTS or request in self._own_macros:
            return " ".join(words)
        if request == "Nm" and words and not self._name:
            self._name = words[0]
        if request == "Nd":
            words = ["—", *words]
        return join_words([request, *words], self._name) if request in MACROS else ""

    def _add_line(self, text: str, number: int) -> None:
        if text.strip() or self._code_until:
            self._add_text(text, number)
        elif not self._awaits_tag:
            self.end_block()

    def _add_text(self, text: str, number: int) -> None:
        if self._code_until == "TE":
            text = text.replace("T{", "").replace("T}", "").replace("\t", " | ")
        if not text and not self._code_until:
            return
        self._marks.append((count_visible(self._text), number))
        self._text += text.rstrip() + (":" if self._awaits_tag else "") + ("\n" if self._code_until else " ")
        self._awaits_tag = False
