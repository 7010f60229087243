"""Markdown by its own grammar (CommonMark with tables), as blocks with exact spans."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from corpus.headings import LONGEST_HEADING
from corpus.lines import LineMap
from corpus.readers.cover import with_gaps_filled
from corpus.readers.plain import read_plain
from corpus.types import Block, BlockKind

# A rule at the head of a text is no front matter: that begins with a key.
_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<body>(?=\s*[\"']?\w[^\n:]*:).*?)^(?:---|\.\.\.)[ \t]*\r?$",
    re.DOTALL | re.MULTILINE,
)
_FRONT_TITLE = re.compile(r"^title[ \t]*:[ \t]*(?P<title>\S.*?)[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_LEAVES = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "heading_open": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.PARAGRAPH,
    "table_open": BlockKind.TABLE,
}
_NOT_PARSED = re.compile(r"\r\n?|\A\ufeff")


def read_markdown(text: str) -> tuple[str, tuple[Block, ...]]:
    """Take Markdown apart into its title ("" where it states none) and blocks.

    A file without one heading is read as plain text, whose headings are inferred.
    """
    front = _FRONT_MATTER.match(text)
    offset = front.end() if front else 0
    # Inline markup matters in headings alone, and is slow to parse where it is hostile.
    tokens = MarkdownIt("commonmark").enable("table").disable("inline").parse(_same_length(text[offset:]))
    if not any(token.type == "heading_open" for token in tokens):
        return _without_headings(text, front)
    found = title, blocks = _blocks(text, offset, tokens)
    if front is None:
        return found
    meta = Block(BlockKind.META, front.start(), front.end())
    return _front_title(front) or title, with_gaps_filled(text, [meta, *blocks])


def _same_length(text: str) -> str:
    # The parser counts a lone carriage return as a line end, offsets here are kept by "\n" alone;
    # and it takes a byte order mark for the first letter.
    return _NOT_PARSED.sub(lambda match: " \n" if match[0] == "\r\n" else " ", text)


def _front_title(front: re.Match[str]) -> str:
    found = _FRONT_TITLE.search(front["body"])
    return found["title"].strip("\"'") if found else ""


def _without_headings(text: str, front: re.Match[str] | None) -> tuple[str, tuple[Block, ...]]:
    if front is None:
        return read_plain(text)
    title, blocks = read_plain(text[front.end() :])
    shifted = [
        Block(block.kind, block.start + front.end(), block.end + front.end(), block.heading, block.depth)
        for block in blocks
    ]
    meta = Block(BlockKind.META, front.start(), front.end())
    return _front_title(front) or title, with_gaps_filled(text, [meta, *shifted])


def _blocks(text: str, offset: int, tokens: list[Token]) -> tuple[str, tuple[Block, ...]]:
    lines = LineMap(text[offset:])
    blocks: list[Block] = []
    open_headings: list[tuple[int, str]] = []
    title = ""
    lists = 0
    inline = MarkdownIt("commonmark")
    for i, token in enumerate(tokens):
        lists += (token.type == "list_item_open") - (token.type == "list_item_close")
        if token.map is None:
            continue
        start = offset + lines.span(token.map[0] + 1)[0]
        end = offset + lines.span(min(token.map[1], len(lines)))[1]
        if token.type == "heading_open" and len(tokens[i + 1].content) <= LONGEST_HEADING:
            level, words = int(token.tag[1]), _inline_text(inline.parseInline(tokens[i + 1].content)[0])
            while open_headings and open_headings[-1][0] >= level:
                open_headings.pop()
            open_headings.append((level, words))
            title = title or words
            blocks.append(Block(BlockKind.HEADING, start, end, _path(open_headings)))
        elif token.type in _LEAVES:
            kind = BlockKind.ITEM if lists and token.type == "paragraph_open" else _LEAVES[token.type]
            depth = max(0, lists - 1)
            blocks.append(Block(kind, start, end, _path(open_headings), depth))
    return title, with_gaps_filled(text, blocks)


def _path(open_headings: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(words for _, words in open_headings if words)


def _inline_text(token: Token) -> str:
    """A heading's words without their markup."""
    parts = [child.content if child.type in ("text", "code_inline") else " " for child in token.children or ()]
    return " ".join("".join(parts).split())
