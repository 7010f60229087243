"""Text without markup or with light markup: headings with underlines, `= wiki =`, `#`, or marks of Org and AsciiDoc."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import PurePosixPath

from corpus.readers.assemble.gaps import fill_gaps, is_blank
from corpus.readers.plaintext.record_pages import find_records
from corpus.text.aligned import aligned_table
from corpus.text.bars import has_box_table, plain_bars
from corpus.text.encodings import decode_lines
from corpus.text.headings import (
    MAX_HEADING,
    SIGN_OFF,
    TopHeading,
    could_be_heading,
    heading_title,
    headings_between_paragraphs,
    is_markup,
    is_title_case,
    is_upper,
    tight_heading,
)
from corpus.text.lines import BULLETS, line_spans
from corpus.text.outline import HeadingCandidate, infer_headings
from corpus.text.path_words import path_words
from corpus.types import Block, BlockKind, Extracted

_BULLET = re.compile(rf"^(?P<indent>[ \t]*)(?:[{BULLETS}]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivxIVX]{{1,4}})[.)])[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+:._])\1{2,}[ \t]*$")
_ATX = re.compile(r"^(#{1,6})[ \t]+(?=\S)")
# Other marks that begin a heading, by the suffix of the file.
_ASCIIDOC = re.compile(r"^(={1,6}|#{1,6})[ \t]+(?=\S)")
_ORG = re.compile(r"^(\*{1,8})[ \t]+(?=\S)")
_MARKS = {".org": _ORG, ".adoc": _ASCIIDOC, ".asciidoc": _ASCIIDOC}
_ORG_TITLE = re.compile(rf"^#\+title:[ \t]*(\S.{{,{MAX_HEADING - 1}}})$", re.IGNORECASE | re.MULTILINE)
_ORG_TAGS = re.compile(r"[ \t]+:[\w@#%:]+:$")
# Begins and ends a block of code in AsciiDoc; below a line of text, it is an underline.
_DELIMITER = re.compile(r"-{4,}|\.{4,}")
_WIKI = re.compile(r"^[ \t]*((?:= ?){1,6})(?=[^=\s])(.*?[^=\s])[ \t]*\1?(?:= ?)*+$")
_TABLE_ROW = re.compile(r"\|.*\||\t.*\t|^[ \t]*\+?(?:[-=]{2,}\+)+[-=]*[ \t\r]*$")
_WRAP_WIDTH = 120
# Headings directly above their text are told from other lines if there are as many.
_MIN_TIGHT = 2
# How often a text has the word that is its title.
_MIN_NAMED = 3


@dataclass(frozen=True, slots=True)
class _TextLine:
    text: str
    start: int
    end: int

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


@dataclass(frozen=True, slots=True)
class _Styles:
    """The markup of headings: the mark that begins one, and the levels of underlines so far."""

    mark: re.Pattern[str]
    levels: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines that form a block; for a heading with markup, `text` is its title."""

    kind: BlockKind
    start: int
    end: int
    text: str
    level: int = 0
    depth: int = 0
    alone: bool = False
    tight: bool = False


def read(path: str, data: bytes) -> Extracted:
    """Read a text file; see `corpus.readers`."""
    text, note = decode_lines(data)
    mark = _MARKS.get(PurePosixPath(path).suffix.lower(), _ATX)
    title, blocks = read_plain(text, mark, code=_listings(text) if mark is _ASCIIDOC else ())
    records = find_records(text, blocks)
    stated = _ORG_TITLE.search(text) if mark is _ORG else None
    title = stated[1].strip() if stated else title or title_of_note(path, blocks)
    if records and records[0].title == title:
        # The first title on a page of records belongs to a record.
        title = ""
    return Extracted(text, title, blocks, note=note, records=records)


def title_of_note(path: str, blocks: Sequence[Block]) -> str:
    """Return the words of a file's name as the title of a note with a single block, or "" for other texts."""
    kinds = [block.kind for block in blocks if block.kind is not BlockKind.DATA]
    return path_words(PurePosixPath(path).name) if len(kinds) == 1 and kinds[0] is not BlockKind.HEADING else ""


def _listings(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the code in AsciiDoc, with its delimiters."""
    before = opening = ""
    opened = 0
    for start, end in line_spans(text):
        line = text[start:end].rstrip()
        if opening and line == opening:
            yield opened, start + len(line)
            opening = ""
        elif not opening and _DELIMITER.fullmatch(line) and before[:1] in ("", "[", ".", "+"):
            opening, opened = line, start
        before = line


def read_plain(
    text: str, mark: re.Pattern[str] = _ATX, *, code: Iterable[tuple[int, int]] = ()
) -> tuple[str, tuple[Block, ...]]:
    """Return the title of a text ("" if it states none) and its blocks; `mark` begins a heading.

    No line in the spans `code`, each of which begins with a line, is a heading.
    """
    parts: list[str] = []
    listings, copied_to = set(), 0
    for start, end in code:
        # Replace the code with a list item, which is always a separate block.
        parts += text[copied_to:start], "- ".ljust(end - start, "0")
        listings.add(start)
        copied_to = end
    pieces = _split_pieces("".join((*parts, text[copied_to:])), mark)
    paths = infer_headings(
        [
            HeadingCandidate(
                piece.text, piece.alone, piece.level, leaf=piece.kind is not BlockKind.PARAGRAPH, tight=piece.tight
            )
            for piece in pieces
        ]
    )
    blocks = []
    heading: tuple[str, ...] = ()
    for piece, path in zip(pieces, paths, strict=True):
        kind = BlockKind.CODE if piece.start in listings else piece.kind
        if path is not None:
            kind, heading = BlockKind.HEADING, path
        blocks.append(Block(kind, piece.start, piece.end, heading, piece.depth))
    return _title(text, pieces), fill_gaps(text, blocks)


def _title(text: str, pieces: list[_Piece]) -> str:
    """Return the first or second line if it looks like a title, unless it is the whole note or one heading of many."""
    if len(pieces) == 1 and not pieces[0].level:
        return ""
    top = TopHeading()
    for piece in pieces:
        if piece.level:
            top.add(piece.level, heading_title(piece.text))
    for piece in pieces[:2]:
        if piece.kind is not BlockKind.PARAGRAPH:
            return ""
        line = piece.text
        if piece.level:
            return top.title
        is_short = 20 <= len(line) <= 160 and "\n" not in line.strip()
        is_like_title = is_short and line.rstrip()[-1] not in ".!" and not is_markup(line.strip())
        # A single word is a title if it is a name that recurs: "Harlow".
        is_name = piece.tight and text.count(line.strip()) >= _MIN_NAMED
        if piece.alone and (is_like_title or (could_be_heading(line) and (is_name or len(line.split()) >= 2))):
            return heading_title(line)
    return ""


def _split_pieces(text: str, mark: re.Pattern[str]) -> list[_Piece]:
    pieces: list[_Piece] = []
    styles = _Styles(mark)
    chunks: list[list[_TextLine]] = [[]]
    marked = plain_bars(text) if has_box_table(text) else text
    for start, end in line_spans(text):
        line = marked[start:end]
        if not is_blank(line):
            chunks[-1].append(_TextLine(line, start, end))
        elif chunks[-1]:
            chunks.append([])
    chunks = [part for chunk in chunks for part in _parts(chunk)]
    has_tight = sum(tight_heading(_texts(chunk)) > 0 for chunk in chunks if chunk) >= _MIN_TIGHT
    chunks = list(filter(None, chunks))
    for i, chunk in enumerate(chunks):
        # The first title may be above an address.
        are_titles = _are_two_titles(chunk, *chunks[i + 1 : i + 2 if i else i])
        is_tight = has_tight and not are_titles
        above = tight_heading(_texts(chunk), any_text=True, first=not i) if is_tight else 0
        if above:
            start, end = chunk[0].start, chunk[above - 1].end
            pieces.append(_Piece(BlockKind.PARAGRAPH, start, end, text[start:end], alone=True, tight=True))
        below = _split_chunk(text, chunk[above:], styles, are_titles=are_titles)
        pieces += [replace(piece, alone=piece.alone and is_upper(piece.text)) for piece in below] if above else below
    return pieces


def _parts(lines: list[_TextLine]) -> Iterator[list[_TextLine]]:
    """Yield the lines of a text without blank lines in parts, each of which begins with a heading."""
    begins = headings_between_paragraphs(_texts(lines))
    for begin, end in pairwise((0, *(at for at in begins if at), len(lines))):
        yield lines[begin:end]


def _texts(lines: list[_TextLine]) -> list[str]:
    return [line.text for line in lines]


def _split_chunk(text: str, lines: list[_TextLine], styles: _Styles, *, are_titles: bool) -> list[_Piece]:
    """Split lines that have no blank line between them."""
    pieces: list[_Piece] = []
    i = 0
    texts = _texts(lines)
    while i < len(lines):
        if table := aligned_table(texts, i):
            pieces.append(_Piece(BlockKind.TABLE, lines[i].start, lines[table.end - 1].end, ""))
            i = table.end
            continue
        heading, line_count = _marked_heading(lines, i, styles)
        if heading is not None:
            pieces.append(heading)
            i += line_count
            continue
        j = i + 1
        while (
            not are_titles
            and j < len(lines)
            and _continues(lines, i, j)
            and _marked_heading(lines, j, styles)[0] is None
            and aligned_table(texts, j) is None
        ):
            j += 1
        piece = _make_piece(text, lines, i, j)
        pieces.append(replace(piece, alone=True) if are_titles else piece)
        i = j
    return pieces


def _are_two_titles(lines: list[_TextLine], below: Sequence[_TextLine] = ()) -> bool:
    """Whether lines are two headings, "Test of Time Award" and "Presentations", with no other title `below` them."""
    if len(lines) != 2 or SIGN_OFF.fullmatch(lines[0].text.strip()):
        return False
    is_title = [could_be_heading(line.text) and is_title_case(line.text) for line in (*lines, *below[:1])]
    return all(is_title[:2]) and not any(is_title[2:])


def _marked_heading(lines: list[_TextLine], i: int, styles: _Styles) -> tuple[_Piece | None, int]:
    """Return the heading marked up at line `i`, or None, and its number of lines."""
    line = lines[i]
    text = line.text.rstrip("\r")
    if len(line.text) > MAX_HEADING:
        return None, 0
    if match := styles.mark.match(text):
        title, level = _atx_title(text[match.end() :], match[1][0]), len(match[1])
    elif text.rstrip().endswith("=") and (match := _WIKI.match(text)):
        title, level = match[2].strip(), match[1].count("=")
    else:
        return _underlined_heading(lines, i, styles)
    return _Piece(BlockKind.PARAGRAPH, line.start, line.end, title, level), 1


def _atx_title(text: str, mark: str) -> str:
    """Return the text of a heading without closing marks, or the tags of Org."""
    text = text.rstrip(" \t")
    if mark == "*":
        return _ORG_TAGS.sub("", text)
    without_marks = text.rstrip(mark)
    return without_marks.rstrip(" \t") if without_marks.endswith((" ", "\t")) else text


def _underlined_heading(lines: list[_TextLine], i: int, styles: _Styles) -> tuple[_Piece | None, int]:
    """Like `_marked_heading`, for underlines, maybe with an overline; each style is a level, in order of first use."""
    overline = _UNDERLINE.match(lines[i].text.rstrip("\r"))
    title_at = i + 1 if overline else i
    if title_at + 1 >= len(lines):
        return None, 0
    title = lines[title_at].text.rstrip("\r")
    if len(title) > MAX_HEADING:
        return None, 0
    underline = _UNDERLINE.match(lines[title_at + 1].text.rstrip("\r"))
    if not underline or _UNDERLINE.match(title) or _BULLET.match(title):
        return None, 0
    if len(underline[0].rstrip()) < min(len(title.strip()), 60) * 0.6 or (overline and overline[1] != underline[1]):
        return None, 0
    level = styles.levels.setdefault(underline[1] + ("o" if overline else ""), len(styles.levels) + 1)
    return _Piece(BlockKind.PARAGRAPH, lines[i].start, lines[title_at + 1].end, title.strip(), level), title_at + 2 - i


def _continues(lines: list[_TextLine], i: int, j: int) -> bool:
    """Whether line `j` continues the block that begins with line `i`."""
    line, before = lines[j].text, lines[j - 1].text
    if _BULLET.match(line) or bool(_TABLE_ROW.search(line)) != bool(_TABLE_ROW.search(before)):
        return False
    if _TABLE_ROW.search(line):
        return True
    if _BULLET.match(lines[i].text):
        # Wrapped text of a list item is indented further than its bullet.
        return lines[j].indent > lines[i].indent
    if j == i + 1 and could_be_heading(before) and is_upper(before):
        return False
    ends_sentence = before.rstrip()[-1] in ".!?:;”\"'。"
    if line.lstrip()[:1].islower() and not ends_sentence:
        return True
    # A line as wide as the page continues on the next; a short line, or one as long as a paragraph, ends the block.
    return len(before) <= _WRAP_WIDTH and len(before.rstrip()) + len(line.split(maxsplit=1)[0]) >= 60


def _make_piece(text: str, lines: list[_TextLine], i: int, j: int) -> _Piece:
    first, start, end = lines[i].text, lines[i].start, lines[j - 1].end
    content = text[start:end]
    if match := _BULLET.match(first):
        return _Piece(BlockKind.ITEM, start, end, content, depth=len(match["indent"].expandtabs(4)))
    if _TABLE_ROW.search(first):
        return _Piece(BlockKind.TABLE, start, end, content)
    is_short = len(lines) == 1 or (len(first) <= MAX_HEADING and is_upper(first))
    return _Piece(BlockKind.PARAGRAPH, start, end, content, alone=j == 1 and is_short)
