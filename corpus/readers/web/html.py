"""HTML: what a person reads of a page, without navigation, scripts and what is hidden.

By the standard library's parser, which knows no tree: a page of 200,000 nested elements is read in a second, where
parsers that build one took minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import unescape
from html.parser import HTMLParser

from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.web.html_elements import (
    BREAKING,
    CLOSING,
    ENDS_PARAGRAPH,
    HEADINGS,
    HIDDEN_STYLE,
    LEFT_OUT,
    NAMED,
    NOTHING,
    ROLES,
    VOID,
)
from corpus.text.encodings import decode
from corpus.types import BlockKind, Extracted

# The parser gives up where it meets a marked section that it does not know.
_NO_SECTION = re.compile(r"<!\[(?!(?:temp|cdata|ignore|include|rcdata|if|else|endif)\b)", re.IGNORECASE)
# Elements are no deeper than this; what is below counts as text of the deepest.
_DEEPEST = 500
_LOOK_BACK = 30
_BARE = re.compile(r"<([a-zA-Z][a-zA-Z0-9]*)>")
_BARE_END = re.compile(r"</([a-zA-Z][a-zA-Z0-9]*)>")
_BLANKS = re.compile(r"\s+")


def read(path: str, data: bytes) -> Extracted:
    """Read an HTML file; see `corpus.readers`."""
    text, note = _decoded(data)
    builder = DocumentBuilder()
    add_html(builder, text)
    return builder.build("text/html", note=note)


def _decoded(data: bytes) -> tuple[str, str]:
    declared = re.search(rb"charset\s*=\s*[\"']?([\w-]+)", data[:4096])
    name = declared[1].decode("ascii") if declared else "utf-8"
    if name.lower() not in ("utf-8", "utf8"):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            try:
                return data.decode(name), f"read as {name.lower()}"
            except (UnicodeError, LookupError):
                pass
    return decode(data)


def add_html(builder: DocumentBuilder, text: str, *, level: int = 0) -> str:
    """Write what a page says; `level` is that of the headings above it. Gives the page's title, "" if it has none."""
    parser = _Page(builder, level, has_main=bool(re.search(r"<(?:main|article)[\s>]", text, re.IGNORECASE)))
    text = _NO_SECTION.sub("&lt;![", text)
    # Behind the last ">" no tag ends, and the parser would look for its end from each "<".
    end = text.rfind(">") + 1
    parser.feed(text[:end])
    parser.close()
    parser.handle_data(unescape(text[end:]))
    parser.finish()
    if not level:
        builder.title = parser.title
    return parser.title


class _Page(HTMLParser):
    def __init__(self, builder: DocumentBuilder, level: int, *, has_main: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._builder = builder
        self._level = level
        self._has_main = has_main
        self._open: list[str] = []
        self._left_out = 0
        self._in_main = 0
        self._title: list[str] | None = None
        self._text: list[str] = []
        self._kind = BlockKind.PARAGRAPH
        self._rows: list[list[str]] | None = None
        self._tables = 0
        self._lost: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and not self.title and "svg" not in self._open[-_LOOK_BACK:]:
            self._title = []
            return
        if tag in VOID:
            self._void(tag, dict(attrs))
            return
        self._close_open(tag)
        if len(self._open) >= _DEEPEST:
            return
        self._open.append(tag)
        if self._left_out or tag in LEFT_OUT or self._is_left_out(tag, dict(attrs)):
            self._left_out += 1
            return
        self._in_main += tag in ("main", "article")
        self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._title is not None and tag == "title":
            self.title = one_line("".join(self._title))
            self._title = None
            return
        if tag in self._open[-_LOOK_BACK:] if tag != "body" else tag in self._open:
            while self._pop() != tag:
                pass

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Outside SVG, where it shows nothing, "/>" means nothing in HTML but for elements without an end.
        if tag in VOID:
            self._void(tag, dict(attrs))

    def handle_data(self, data: str) -> None:
        if self._title is not None:
            self._title.append(data)
        elif not self._left_out:
            self._text.append(data if self._kind is BlockKind.CODE else _with_single_blanks(data))

    def parse_starttag(self, i: int) -> int:
        """As the library does, but without its rules for attributes where there are none."""
        found = _BARE.match(self.rawdata, i)
        tag = found[1].lower() if found else ""
        if not found or tag not in ENDS_PARAGRAPH:
            return super().parse_starttag(i)
        self.lasttag = tag
        self.handle_starttag(tag, [])
        return found.end()

    def parse_endtag(self, i: int) -> int:
        """As the library does, in less time for what is written as it should be."""
        found = _BARE_END.match(self.rawdata, i)
        if not found or self.cdata_elem is not None:
            return super().parse_endtag(i)
        self.handle_endtag(found[1].lower())
        return found.end()

    def parse_comment(self, i: int, report: int = 1) -> int:
        """As the library does; once one is not closed, none behind it is."""
        return self._unless_lost(super().parse_comment, i)

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """As `parse_comment`, for each kind of section."""
        return self._unless_lost(super().parse_marked_section, i)

    def _unless_lost(self, parse: Callable[[int], int], i: int) -> int:
        kind = self.rawdata[i : i + 5].lower() if self.rawdata.startswith("<![", i) else ""
        if kind in self._lost:
            return -1
        end = parse(i)
        if end < 0:
            self._lost.add(kind)
        return end

    def close(self) -> None:
        """Go on where `feed` found something that has no end."""
        self._lost.clear()
        super().close()

    def updatepos(self, i: int, j: int) -> int:
        """Count no lines, which nobody asks for."""
        return j

    def finish(self) -> None:
        """Write what is still open."""
        while self._open:
            self._pop()
        self._flush()

    def _void(self, tag: str, attributes: dict[str, str | None]) -> None:
        if self._left_out:
            return
        if tag == "br":
            self._text.append("\n")
        elif tag == "img" and attributes.get("alt"):
            self._text.append(f" {attributes['alt']} ")
        elif tag == "hr":
            self._flush()

    def _is_left_out(self, tag: str, attributes: dict[str, str | None]) -> bool:
        if "hidden" in attributes or attributes.get("aria-hidden") == "true":
            return True
        if attributes.get("role") in ROLES or HIDDEN_STYLE.search(attributes.get("style") or ""):
            return True
        # A page's own head; that of an article has its title in it.
        if tag == "header" and self._has_main and not self._in_main:
            return True
        if not attributes:
            return False
        named = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        return tag in ("div", "ul", "section", "span", "table") and bool(NAMED.search(named[:1000]))

    def _close_open(self, tag: str) -> None:
        """Close what the page left open before an element that ends it."""
        closes, fences = CLOSING.get(tag, NOTHING)
        for back in range(1, min(len(self._open), _LOOK_BACK) + 1) if closes else ():
            name = self._open[-back]
            if name in fences:
                return
            if name in closes:
                for _ in range(back):
                    self._pop()
                return

    def _begin(self, tag: str) -> None:
        if tag == "table":
            self._tables += 1
            if self._tables == 1:
                self._flush()
                self._rows = []
        if self._rows is not None:
            self._begin_cell(tag)
        elif tag in BREAKING or tag in HEADINGS:
            if self._text:
                self._flush(within=self._open[:-1])
            self._kind = BlockKind.CODE if tag == "pre" else BlockKind.PARAGRAPH

    def _begin_cell(self, tag: str) -> None:
        if tag == "tr" and self._rows is not None and self._tables == 1:
            self._rows.append([])
        elif tag in ("td", "th") and self._tables == 1:
            self._text = []
        elif tag in BREAKING:
            self._text.append(" ")

    def _pop(self) -> str:
        tag = self._open.pop()
        if self._left_out:
            self._left_out -= 1
            return tag
        self._in_main -= tag in ("main", "article")
        if self._rows is not None:
            self._end_cell(tag)
        elif tag in HEADINGS:
            self._builder.heading(self._level + HEADINGS[tag], self._take())
        elif tag == "li":
            self._flush(BlockKind.ITEM)
        elif tag in BREAKING:
            self._flush(BlockKind.CODE if tag == "pre" else None)
            self._kind = BlockKind.PARAGRAPH
        return tag

    def _end_cell(self, tag: str) -> None:
        if tag in ("td", "th") and self._rows is not None and self._tables == 1:
            if not self._rows:
                self._rows.append([])
            self._rows[-1].append(self._take())
        elif tag == "caption":
            self._builder.block(self._take())
        elif tag == "table":
            self._tables -= 1
            if not self._tables:
                rows, self._rows = self._rows or [], None
                self._table([row for row in rows if any(cell.strip() for cell in row)])

    def _table(self, rows: Sequence[Sequence[str]]) -> None:
        # A table of one column, or of very long cells, lays out a page.
        if max(map(len, rows), default=0) > 1 and sum(len(cell) for row in rows for cell in row) < 300 * sum(
            map(len, rows)
        ):
            self._builder.rows(rows)
            return
        for row in rows:
            for cell in row:
                self._builder.block(cell)

    def _take(self) -> str:
        text, self._text = "".join(self._text), []
        return text

    def _flush(self, kind: BlockKind | None = None, *, within: Sequence[str] | None = None) -> None:
        text, kind = self._take(), kind or self._kind
        if not text.strip():
            return
        within = self._open if within is None else within
        if kind is BlockKind.PARAGRAPH and _innermost(within) == "li":
            kind = BlockKind.ITEM
        if kind is BlockKind.ITEM:
            depth = sum(name in ("ul", "ol") for name in within) - 1
            self._builder.block(text, kind, min(max(0, depth), 5))
        else:
            self._builder.block(text, kind)


def _with_single_blanks(text: str) -> str:
    if text.isspace():
        return " "
    return text if "  " not in text and text.isprintable() else _BLANKS.sub(" ", text)


def _innermost(within: Sequence[str]) -> str:
    """The innermost element that breaks lines, paragraphs left out."""
    return next((name for name in reversed(within) if name in BREAKING and name != "p"), "")
