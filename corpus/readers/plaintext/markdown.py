"""Markdown: CommonMark with tables, as blocks with exact spans."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from corpus.readers.assemble.gaps import fill_gaps
from corpus.readers.plaintext.front_matter import find_front_matter
from corpus.readers.plaintext.plain import read_plain, title_of_note
from corpus.text.bars import has_box_table, is_rule
from corpus.text.encodings import decode_lines
from corpus.text.headings import MAX_HEADING, HeadingStack, TopHeading
from corpus.text.lines import LineMap
from corpus.text.path_words import path_words
from corpus.types import Block, BlockKind, Extracted

_LEAVES = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "heading_open": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.PARAGRAPH,
    "table_open": BlockKind.TABLE,
}
_NOT_PARSED = re.compile(r"\r\n?|\A\ufeff")
_MARKUP = re.compile(r"[\[\]*_`<&\\]")
# The id and classes of a heading, as in Pandoc: "## Costs {#costs .unnumbered}".
_ATTRIBUTES = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*\Z")
# A heading with more marks keeps its markup, as nested marks can take unlimited time to parse.
_MAX_MARKS = 32


def read(path: str, data: bytes) -> Extracted:
    """Read a Markdown file; see `corpus.readers`."""
    text, note = decode_lines(data)
    title, blocks = read_markdown(text)
    front = find_front_matter(text)
    # A text with front matter is a note, and other notes refer to it by its file name.
    title = title or (path_words(PurePosixPath(path).name) if front else title_of_note(path, blocks))
    return Extracted(text, title, blocks, note=note, metadata=front.fields if front else ())


def read_markdown(text: str) -> tuple[str, tuple[Block, ...]]:
    """Return the title of a Markdown text ("" if it states none) and its blocks.

    A text without headings is read as plain text, whose headings are inferred.
    """
    front = find_front_matter(text)
    offset = front.end if front else 0
    body = text[offset:]
    tokens = _parser().parse(_normalise_newlines(body))
    is_plain = not any(token.type == "heading_open" for token in tokens)
    title, blocks = _read_as_plain(body, tokens) if is_plain else _blocks(body, tokens)
    if front is None:
        return title, blocks
    shifted = [replace(block, start=block.start + offset, end=block.end + offset) for block in blocks]
    data = Block(BlockKind.DATA, front.start, front.end)
    return front.title or title, fill_gaps(text, [data, *shifted])


@cache
def _parser() -> MarkdownIt:
    """Return the parser, created only once, as a notebook has thousands of texts."""
    # Inline markup matters only in headings, and hostile markup is slow to parse.
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _table(state: StateBlock, first: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - the parser's own signature
    """Apply the parser's rule for tables, but without cells: a few lines can have millions."""
    if not table(state, first, end, True):  # noqa: FBT003
        return False
    if silent:
        return True
    outside, state.parentType = state.parentType, "table"
    opening = state.push("table_open", "table", 1)
    enders = state.md.block.ruler.getRules("blockquote")
    line = first + 2
    while line < end and not (
        state.sCount[line] < state.blkIndent
        or any(ends(state, line, end, True) for ends in enders)  # noqa: FBT003
        or state.isEmpty(line)
        or state.is_code_block(line)
    ):
        line += 1
    opening.map = [first, line]
    state.push("table_close", "table", -1)
    state.parentType = outside
    state.line = line
    return True


def _normalise_newlines(text: str) -> str:
    # The parser treats a lone carriage return as a newline and a byte order mark as a letter. Offsets must not change.
    return _NOT_PARSED.sub(lambda match: " \n" if match[0] == "\r\n" else " ", text)


def _blocks(text: str, tokens: list[Token]) -> tuple[str, tuple[Block, ...]]:
    lines = LineMap(text)
    blocks: list[Block] = []
    headings = HeadingStack()
    titles = TopHeading()
    lists = 0
    for i, token in enumerate(tokens):
        lists += (token.type == "list_item_open") - (token.type == "list_item_close")
        if token.map is None:
            continue
        start = lines.span(token.map[0] + 1)[0]
        end = lines.span(min(token.map[1], len(lines)))[1]
        if token.type == "heading_open" and len(tokens[i + 1].content) <= MAX_HEADING:
            words = _heading_text(tokens[i + 1].content)
            titles.add(int(token.tag[1]), words)
            blocks.append(Block(BlockKind.HEADING, start, end, headings.push(int(token.tag[1]), words)))
        elif token.type in _LEAVES:
            kind = BlockKind.ITEM if lists and token.type == "paragraph_open" else _LEAVES[token.type]
            if kind is BlockKind.PARAGRAPH and _is_table(text[start:end]):
                kind = BlockKind.TABLE
            blocks.append(Block(kind, start, end, headings.path, max(0, lists - 1)))
    return titles.title, fill_gaps(text, blocks)


def _is_table(paragraph: str) -> bool:
    """Whether a paragraph is a table other than Markdown's: drawn with boxes, or with a rule such as `+---+---+`."""
    return has_box_table(paragraph) or ("|" in paragraph and is_rule(paragraph.split("\n", 1)[0]))


def _read_as_plain(text: str, tokens: list[Token]) -> tuple[str, tuple[Block, ...]]:
    """Return the title and blocks of a plain text; no line of fenced code is a heading."""
    lines = LineMap(text)
    fences = []
    for first, last in (token.map for token in tokens if token.type == "fence" and token.map):
        start, end = lines.span(first + 1)[0], lines.span(min(last, len(lines)))[1]
        # An unclosed fence includes the blank lines after it.
        fences.append((start, start + len(text[start:end].rstrip())))
    return read_plain(text, code=fences)


def _heading_text(heading: str) -> str:
    """Return the text of a heading without markup."""
    heading = _ATTRIBUTES.sub("", heading)
    if 0 < len(_MARKUP.findall(heading)) <= _MAX_MARKS:
        children = _inline_parser().parseInline(heading)[0].children or ()
        heading = "".join(child.content if child.type in ("text", "code_inline") else " " for child in children)
    return " ".join(heading.split())
