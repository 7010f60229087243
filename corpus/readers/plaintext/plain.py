"""Text without markup, or with the light kind: underlined, `= wiki =` and `#` headings, bullets, wrapped lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from corpus.readers.assemble.coverage import fill_gaps, is_blank
from corpus.readers.plaintext.record_pages import find_records
from corpus.text.encodings import decode, require_few_lines
from corpus.text.headings import LONGEST_HEADING, Line, could_be_heading, heading_title, infer, is_title_case, is_upper
from corpus.types import Block, BlockKind, Extracted

_BULLET = re.compile(r"^(?P<indent>[ \t]*)(?:[•◦▪‣●○■□–—*+-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)])[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+:._])\1{2,}[ \t]*$")
_ATX = re.compile(r"^(#{1,6})[ \t]+(?=\S)")
_WIKI = re.compile(r"^[ \t]*((?:= ?){1,6})(?=[^=\s])(.*?[^=\s])[ \t]*\1?(?:= ?)*+$")
_TABLE_ROW = re.compile(r"\|.*\||\t.*\t")
_WRAP_WIDTH = 120


@dataclass(frozen=True, slots=True)
class _Piece:
    """A run of lines that belongs together."""

    kind: BlockKind
    start: int
    end: int
    title: str = ""
    level: int = 0
    depth: int = 0
    alone: bool = False


def read(path: str, data: bytes) -> Extracted:
    """Read a text file; see `corpus.readers`."""
    text, note = decode(data)
    require_few_lines(text)
    title, blocks = read_plain(text)
    records = find_records(text, blocks)
    if records and records[0].title == title:
        # The first title of the page is that of a record, not of them all.
        title = ""
    return Extracted(text, title, blocks, note=note, records=records)


def read_plain(text: str) -> tuple[str, tuple[Block, ...]]:
    """Take a text apart into its title ("" where it states none) and blocks."""
    pieces = _pieces(text)
    paths = infer(
        [
            Line(
                piece.title or text[piece.start : piece.end],
                piece.alone,
                piece.level,
                leaf=piece.kind is not BlockKind.PARAGRAPH,
            )
            for piece in pieces
        ]
    )
    blocks = []
    heading: tuple[str, ...] = ()
    for piece, path in zip(pieces, paths, strict=True):
        kind = piece.kind
        if path is not None:
            kind, heading = BlockKind.HEADING, path
        blocks.append(Block(kind, piece.start, piece.end, heading, piece.depth))
    return _title(text, pieces), fill_gaps(text, blocks)


def _title(text: str, pieces: list[_Piece]) -> str:
    """The first line or the second, where it looks like a title."""
    for piece in pieces[:2]:
        if piece.kind is not BlockKind.PARAGRAPH:
            return ""
        line = piece.title or text[piece.start : piece.end]
        if piece.level or (piece.alone and could_be_heading(line) and len(line.split()) >= 2):
            return heading_title(line)
        if piece.alone and 20 <= len(line) <= 160 and "\n" not in line.strip() and line.rstrip()[-1] not in ".!":
            return heading_title(line)
    return ""


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    levels: dict[str, int] = {}
    chunk: list[tuple[int, int]] = []
    for start, end in [*_line_spans(text), (len(text), len(text))]:
        if not is_blank(text[start:end]):
            chunk.append((start, end))
        elif chunk:
            pieces.extend(_chunk(text, chunk, levels))
            chunk = []
    return pieces


def _line_spans(text: str) -> list[tuple[int, int]]:
    spans = []
    start = int(text.startswith("\ufeff"))
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        spans.append((start, end))
        start = end + 1
    return spans


def _chunk(text: str, lines: list[tuple[int, int]], levels: dict[str, int]) -> list[_Piece]:
    """Take apart lines with no blank line between them."""
    pieces: list[_Piece] = []
    i = 0
    titles = _two_titles(text, lines)
    while i < len(lines):
        heading = _marked_heading(text, lines, i, levels)
        if heading is not None:
            piece, used = heading
            pieces.append(piece)
            i += used
            continue
        j = i + 1
        hang = _hang(text[slice(*lines[i])])
        while (
            not titles
            and j < len(lines)
            and _continues(text, lines, j, begun=j - i == 1, hang=hang)
            and not _marked_heading(text, lines, j, levels)
        ):
            j += 1
        piece = _piece(text, lines, i, j)
        pieces.append(replace(piece, alone=True) if titles else piece)
        i = j
    return pieces


def _two_titles(text: str, lines: list[tuple[int, int]]) -> bool:
    """Whether the chunk is a heading with a second one right below: "Test of Time Award", "Presentations"."""
    if len(lines) != 2:
        return False
    return all(could_be_heading(line) and is_title_case(line) for line in (text[slice(*span)] for span in lines))


def _marked_heading(
    text: str, lines: list[tuple[int, int]], i: int, levels: dict[str, int]
) -> tuple[_Piece, int] | None:
    start, end = lines[i]
    if end - start > LONGEST_HEADING:
        return None
    line = text[start:end].rstrip("\r")
    if match := _ATX.match(line):
        return _Piece(BlockKind.PARAGRAPH, start, end, _atx_title(line[match.end() :]), len(match[1])), 1
    if line.rstrip().endswith("=") and (match := _WIKI.match(line)):
        return _Piece(BlockKind.PARAGRAPH, start, end, match[2].strip(), match[1].count("=")), 1
    return _underlined(text, lines, i, levels)


def _atx_title(rest: str) -> str:
    """What stands behind the signs of a heading, without those that close it."""
    rest = rest.rstrip(" \t")
    opened = rest.rstrip("#")
    return opened.rstrip(" \t") if opened.endswith((" ", "\t")) else rest


def _underlined(text: str, lines: list[tuple[int, int]], i: int, levels: dict[str, int]) -> tuple[_Piece, int] | None:
    """A line with a row of punctuation below it, and perhaps above; each style is a level, in order of first use."""
    over = _UNDERLINE.match(text[slice(*lines[i])].rstrip("\r"))
    at = i + 1 if over else i
    if at + 1 >= len(lines):
        return None
    title = text[slice(*lines[at])].rstrip("\r")
    if not title.strip() or len(title) > LONGEST_HEADING:
        return None
    under = _UNDERLINE.match(text[slice(*lines[at + 1])].rstrip("\r"))
    if not under or _UNDERLINE.match(title) or _BULLET.match(title):
        return None
    if len(under[0].rstrip()) < min(len(title.strip()), 60) * 0.6 or (over and over[1] != under[1]):
        return None
    style = under[1] + ("o" if over else "")
    level = levels.setdefault(style, len(levels) + 1)
    return _Piece(BlockKind.PARAGRAPH, lines[i][0], lines[at + 1][1], title.strip(), level), at + 2 - i


def _hang(line: str) -> int | None:
    """How far in the bullet of a list item stands; None where there is none."""
    return len(line) - len(line.lstrip()) if _BULLET.match(line) else None


def _continues(text: str, lines: list[tuple[int, int]], j: int, *, begun: bool, hang: int | None) -> bool:
    """Whether line `j` goes on with the block above it.

    Args:
        text: The whole text.
        lines: Spans of the lines.
        j: The line.
        begun: Whether the block has one line so far.
        hang: How far in the block's bullet stands, None where it is no list item.
    """
    line, before = text[slice(*lines[j])], text[slice(*lines[j - 1])]
    if _BULLET.match(line) or bool(_TABLE_ROW.search(line)) != bool(_TABLE_ROW.search(before)):
        return False
    if _TABLE_ROW.search(line):
        return True
    if hang is not None:
        # Wrapped text of a list item stands further in than its bullet.
        return len(line) - len(line.lstrip()) > hang
    if begun and could_be_heading(before) and is_upper(before):
        return False
    ends_sentence = before.rstrip()[-1] in ".!?:;”\"'。"
    if line.lstrip()[:1].islower() and not ends_sentence:
        return True
    # A line as wide as the page goes on; a short one, or one as long as a paragraph, ends there.
    return len(before) <= _WRAP_WIDTH and len(before.rstrip()) + len(line.split(maxsplit=1)[0]) >= 60


def _piece(text: str, lines: list[tuple[int, int]], i: int, j: int) -> _Piece:
    start, end = lines[i][0], lines[j - 1][1]
    first = text[slice(*lines[i])]
    if match := _BULLET.match(first):
        return _Piece(BlockKind.ITEM, start, end, depth=len(match["indent"].expandtabs(4)))
    if _TABLE_ROW.search(first):
        return _Piece(BlockKind.TABLE, start, end)
    one_line = j == i + 1
    alone = one_line and i == 0 and (len(lines) == 1 or (len(first) <= LONGEST_HEADING and is_upper(first)))
    return _Piece(BlockKind.PARAGRAPH, start, end, alone=alone)
