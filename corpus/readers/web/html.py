"""HTML: the readable text of a page, without navigation, scripts and hidden text.

lxml reports elements as events instead of a tree: text that is nested 200,000 elements deep is read in a second, while
libxml2's tree silently ends at a depth of 2,048.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from lxml import etree

from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.web.about import meta_field, strip_site_name
from corpus.readers.web.numbering import Number, NumberedList
from corpus.readers.web.parts import Part, write
from corpus.readers.web.skipped import (
    State,
    controlled_ids,
    is_hidden,
    is_label,
    is_named_like_folded,
    is_skipped,
)
from corpus.readers.web.source_lines import Fragment, LineBuffer
from corpus.readers.web.table_cells import Table
from corpus.text.encodings import decode, web_codec
from corpus.text.superscripts import to_superscript
from corpus.types import BlockKind, Extracted

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# Elements in which a button unfolds what is below them.
_LABELS = frozenset([*_HEADINGS, "dt"])
_MAIN = re.compile(r"<(?:main|article)[\s>]|\brole\s*=\s*[\"']?main\b", re.IGNORECASE)
_STRUCK_TAGS = frozenset(["s", "strike"])
# Texts of links from a heading to itself.
_PERMALINKS = frozenset(["¶", "§", "#", "🔗"])
_BLOCK_TAGS = frozenset(
    [
        *("p", "div", "section", "article", "main", "header", "aside", "ul", "ol", "li", "dl", "dt", "dd", "pre"),
        *("table", "tr", "td", "th", "caption", "tbody", "thead", "tfoot", "blockquote", "figure", "figcaption"),
        *("address", "details", "summary", "hr", "body", "html", "fieldset", "center", *_HEADINGS),
    ]
)
# Elements of a table that may hold blocks, or cells.
_TABLE_TAGS = frozenset(["tr", "td", "th", "caption"])
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)")
_MAX_TITLE, _MAX_ANCHOR = 1000, 200
# The greatest depth of list items and terms; deeper ones count as this deep.
_MAX_DEPTH = 5
# Tables inside as many others are text of their cells.
_MAX_TABLES = 32


def read(path: str, data: bytes) -> Extracted:
    """Read an HTML file; see `corpus.readers`."""
    text, note = _decode(data)
    builder = DocumentBuilder()
    add_html(builder, text)
    return builder.build("text/html", note=note)


def _decode(data: bytes) -> tuple[str, str]:
    """Decode a page as UTF-8, else by its declared encoding, else by a guess."""
    try:
        data.decode()
    except UnicodeDecodeError:
        declaration = _CHARSET.search(data[:4096])
        name = declaration[1].decode("ascii").lower() if declaration else "utf-8"
        if name not in ("utf-8", "utf8"):
            for codec in (web_codec(name), name):
                with suppress(UnicodeError, LookupError):
                    return data.decode(codec), f"read as {codec}"
    return decode(data)


def add_html(builder: DocumentBuilder, text: str, *, level: int = 0) -> None:
    """Write the content of a page below headings of `level`; the title of a page alone is that of its document."""
    has_main = _MAIN.search(text) is not None
    page = _PageReader(builder, level, has_main=has_main, controlled=controlled_ids(text))
    parser = etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True, remove_pis=True)
    # Lone surrogates cannot be encoded.
    data = text.encode("utf-8", "replace")
    # Line by line, as events have no position; a page inside another file has no lines to cite.
    for line in [data] if level else data.splitlines(keepends=True):
        page.line += not level
        parser.feed(line)
    if data:  # the parser reports empty input as damaged
        parser.close()
    if not level:
        builder.title = strip_site_name(page.title[:_MAX_TITLE], page.first_heading)


@dataclass(slots=True)
class _Item:
    """An open list item: its number, if any, the number of tables around it, and whether its number is used."""

    number: Number | None
    tables: int
    has_text: bool = False


class _PageReader:
    """Takes the parser's events; the parser closes open elements itself, so starts and ends come in pairs."""

    def __init__(self, builder: DocumentBuilder, level: int, *, has_main: bool, controlled: Collection[str]) -> None:
        self.title = ""
        self.first_heading = ""
        self.line = 0  # the last line of the file that the parser got
        self._builder = builder
        self._level = level
        self._has_main = has_main
        self._controlled = controlled
        self._text = LineBuffer()
        self._struck_text = LineBuffer()
        self._title: list[str] | None = None
        # Open lists, None for those with bullets, and their items.
        self._lists: list[NumberedList | None] = []
        self._items: list[_Item] = []
        # Blocks after the start of a list whose numbers depend on its end, and how many such lists are open.
        self._held: list[Part] = []
        self._holding = 0
        # Open tables, without those inside too many others.
        self._tables: list[Table] = []
        # Whether the terms of each open definition list are headings.
        self._terms_are_headings: list[bool] = []
        # Open block elements except paragraphs, and whether each is the main content and named like a folded part.
        self._open: list[tuple[str, bool, bool]] = []
        # The number of open elements at which each state began, the last one being that of the innermost element.
        self._states = [(0, State.READ)]
        # Numbers of open elements, all and by kind; a page inside another file is main content.
        self._depth = self._folded = self._open_tables = self._pre = self._raised = self._struck = 0
        self._in_main = int(level > 0)
        self._link = self._text.end()
        # The names of link targets that begin with the next block and with the one after it.
        self._anchor = self._next_anchor = ""
        # Metadata of the page, and the line of each.
        self._metadata: dict[tuple[str, str], int] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        self._text.line = self.line
        self._raised += tag == "sup"
        self._struck += tag in _STRUCK_TAGS
        if not self._enter(tag, attributes):
            return
        if tag in ("title", "meta"):
            self._start_in_head(tag, attributes)
        elif tag == "br":
            self._text.insert("\n")
        elif tag == "img" and attributes.get("alt"):
            self._text.insert(f" {attributes['alt']} ")
        elif tag in _BLOCK_TAGS:
            self._start_block(tag, attributes)
        if tag == "a":
            self._link = self._text.end()
        if attributes and (name := attributes.get("id") or (tag == "a" and attributes.get("name"))):
            self._add_anchor(name)

    def data(self, text: str) -> None:
        """Handle a text, or a part of it, in the innermost open element."""
        text = text.replace("\N{SOFT HYPHEN}", "")
        if self._title is not None:
            self._title.append(text)
        elif self._states[-1][1] is State.READ:
            buffer = self._struck_text if self._struck else self._text
            buffer.line = self._text.line
            buffer.add(to_superscript(text) if self._raised else text, verbatim=self._pre > 0)
        if self.line:
            self._text.line += text.count("\n")

    def comment(self, _: str) -> None:
        """Handle the end of a comment."""
        self._text.line = self.line

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        self._text.line = self.line
        self._raised -= tag == "sup"
        self._struck -= tag in _STRUCK_TAGS
        if not self._leave():
            return
        if tag == "title":
            self.title = self.title or one_line("".join(self._title or ()))
            self._title = None
        elif tag == "head":
            self._builder.front_matter(list(self._metadata), lines=list(self._metadata.values()))
        elif tag == "a":
            if self._text.text_from(self._link).strip() in _PERMALINKS:
                self._text.cut_from(self._link)
        elif tag in _BLOCK_TAGS:
            self._end_block(tag)

    def close(self) -> None:
        """Handle the end of the page."""
        self._flush()

    def _enter(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Count an open element, and return whether it is read."""
        self._depth += 1
        outer = state = self._states[-1][1]
        if state is not State.HIDDEN:
            if self._is_hidden(tag, attributes):
                state = State.HIDDEN
            elif tag == "main" or attributes.get("role") == "main":
                state = State.READ
            elif is_skipped(tag, attributes, is_outside=not self._in_main, has_main=self._has_main):
                state = State.SKIPPED
            if state is not outer:
                self._states.append((self._depth, state))
        return state is State.READ

    def _leave(self) -> bool:
        """Count an element that ends, and return whether it was read."""
        began, state = self._states[-1]
        if began == self._depth:
            self._states.pop()
        self._depth -= 1
        return state is State.READ

    def _is_hidden(self, tag: str, attributes: Mapping[str, str]) -> bool:
        if tag == "button" and self._text.is_blank():
            return not (self._parent() in _LABELS or is_label(attributes))
        return tag == "del" or is_hidden(tag, attributes, self._controlled, in_folded=self._folded > 0)

    def _parent(self) -> str:
        return self._open[-1][0] if self._open else ""

    def _take(self) -> tuple[Fragment, bool]:
        """Return the text of a block, and whether it is struck out, which is left out unless it is all.

        A task that is done is struck out as a whole.
        """
        text, struck_text = self._text.take(), self._struck_text.take()
        is_struck = bool(struck_text.text.strip()) and not any(map(str.isalnum, text.text))
        return (struck_text, True) if is_struck else (text, False)

    def _add_anchor(self, name: str) -> None:
        """Make a link target with this name of the text that follows; inside a block, of the next block."""
        if len(name) > _MAX_ANCHOR or not name.isprintable() or not self.line:
            return
        if self._text.is_blank():
            self._anchor = name
        else:
            self._next_anchor = name

    def _start_in_head(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "title":
            self._title = []
        elif self.line and (field := meta_field(attributes)) is not None:
            self._metadata.setdefault(field, self.line)

    def _start_block(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._pre:
            self._pre += tag == "pre"
            return
        self._flush()
        if tag == "p":
            return
        is_main = tag in ("main", "article") or attributes.get("role") == "main"
        is_folded = is_named_like_folded(tag, attributes)
        self._open.append((tag, is_main, is_folded))
        self._in_main += is_main
        self._folded += is_folded
        self._pre += tag == "pre"
        self._start_in_list(tag, attributes)
        self._start_in_table(tag, attributes)
        if tag == "dl":
            # Sphinx lists parameters and results in these; they belong to the term above.
            self._terms_are_headings.append("field-list" not in attributes.get("class", ""))

    def _end_block(self, tag: str) -> None:
        if self._pre > (tag == "pre"):
            self._pre -= tag == "pre"
            if not self._text.is_at_line_start():
                self._text.insert("\n")
            return
        self._flush(_HEADINGS.get(tag, 0))
        if tag == "p":
            return
        _, is_main, is_folded = self._open.pop() if self._open else (tag, False, False)
        self._in_main -= is_main
        self._folded -= is_folded
        self._pre -= tag == "pre"
        self._end_in_list(tag)
        self._end_in_table(tag)
        if tag == "dl":
            self._put([Part(Fragment("", ()), BlockKind.HEADING, self._term_level())])
            self._terms_are_headings.pop()

    def _start_in_list(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in ("ul", "ol"):
            numbered = NumberedList(attributes) if tag == "ol" else None
            self._lists.append(numbered)
            self._holding += numbered is not None and numbered.ends_with_one
        elif tag == "li":
            numbered = self._lists[-1] if self._lists else None
            self._items.append(_Item(numbered.number(attributes) if numbered else None, self._open_tables))

    def _end_in_list(self, tag: str) -> None:
        if tag == "li":
            self._items.pop()
        elif tag in ("ul", "ol"):
            numbered = self._lists.pop()
            self._holding -= numbered is not None and numbered.ends_with_one
            if not self._holding:
                held, self._held = self._held, []
                self._put(held)

    def _start_in_table(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open_tables += tag == "table"
        if not 0 < self._open_tables <= _MAX_TABLES:
            return
        if tag == "table":
            self._tables.append(Table(attributes))
        elif tag in _TABLE_TAGS:
            self._tables[-1].begin(tag, attributes)

    def _end_in_table(self, tag: str) -> None:
        if tag == "table":
            self._open_tables -= 1
            if self._open_tables < len(self._tables):
                self._put(self._tables.pop().blocks(self.line))
        elif tag in _TABLE_TAGS and 0 < self._open_tables <= _MAX_TABLES:
            self._tables[-1].end()

    def _term_level(self) -> int:
        return self._level + len(_HEADINGS) + min(len(self._terms_are_headings), _MAX_DEPTH)

    def _flush(self, heading: int = 0) -> None:
        """Put the text since the last block, as the kind of block that the open elements imply."""
        content, is_struck = self._take()
        if not content.text.strip():
            return
        if heading:
            self.first_heading = self.first_heading or one_line(content.text)
        part = self._part(content, heading)
        self._put([part._replace(is_struck=is_struck, anchor=self._anchor)])
        self._anchor, self._next_anchor = self._next_anchor, ""

    def _part(self, content: Fragment, heading: int) -> Part:
        parent = self._parent()
        if self._pre:
            return Part(content, BlockKind.CODE)
        if heading:
            return Part(content, BlockKind.HEADING, self._level + heading)
        if parent == "dt" and self._terms_are_headings and self._terms_are_headings[-1]:
            return Part(content, BlockKind.HEADING, self._term_level())
        return self._item_part(content, is_direct=parent == "li") or Part(content)

    def _item_part(self, content: Fragment, *, is_direct: bool) -> Part | None:
        """Return a part of a list item; None unless it is a direct one, or the first one of a numbered item."""
        item = self._items[-1] if self._items else None
        depth = min(max(0, len(self._lists) - 1), _MAX_DEPTH)
        if item and item.number and item.tables == self._open_tables:
            if not item.has_text:
                item.has_text = True
                return Part(content, BlockKind.ITEM, depth, item.number)
            return Part(content, BlockKind.ITEM, depth + 1) if is_direct else None
        return Part(content, BlockKind.ITEM, depth, "-") if is_direct else None

    def _put(self, parts: Iterable[Part]) -> None:
        """Add blocks to the innermost open table, or else to the document."""
        if self._tables:
            self._tables[-1].add(parts)
            return
        if self._holding:
            self._held.extend(parts)
            return
        for part in parts:
            write(self._builder, part)
