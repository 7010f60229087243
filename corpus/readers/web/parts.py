"""The blocks of a page, which are kept until it is known whether the table or list around them is written as such."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.web.numbering import Number
from corpus.readers.web.source_lines import Fragment
from corpus.types import BlockKind


class Row(NamedTuple):
    """The text in each column of a table's row, and the line of the file on which it begins, 0 for none."""

    texts: Sequence[str]
    line: int


class Part(NamedTuple):
    """A block.

    Attributes:
        content: Its text; that of a table is in `rows`, and a heading without text only ends the ones below its level.
        kind: Its kind.
        level: The level of a heading, or the depth of a list item.
        marker: The number or bullet of a list item; "" if it continues one.
        is_struck: Whether its text is struck out.
        rows: The rows of a table.
        anchor: The name of the link target before it.
    """

    content: Fragment
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    marker: str | Number = ""
    is_struck: bool = False
    rows: Sequence[Row] = ()
    anchor: str = ""


def write(builder: DocumentBuilder, part: Part) -> None:
    """Add a block to a document."""
    text, lines = part.content
    if part.anchor:
        builder.anchor(part.anchor)
    if part.kind is BlockKind.TABLE:
        builder.rows([row.texts for row in part.rows], lines=[row.line for row in part.rows if row.line])
    elif part.kind is BlockKind.ITEM:
        builder.block(text, part.kind, part.level, lines=lines, marker=str(part.marker))
    elif part.kind is not BlockKind.HEADING:
        builder.block(text, part.kind, lines=lines)
    elif text:
        builder.heading(part.level, text, lines=lines)
    else:
        builder.section(part.level, "")


def joined_text(parts: Iterable[Part]) -> str:
    """Return the text of blocks on one line, without bullets; struck-out blocks are left out unless all are."""
    texts = [(_line(part), part.is_struck) for part in parts]
    kept = [text for text, is_struck in texts if not is_struck]
    return " ".join(kept if any(map(str.isalnum, "".join(kept))) else [text for text, _ in texts]).strip()


def _line(part: Part) -> str:
    if part.kind is BlockKind.TABLE:
        return " ".join(one_line(text) for row in part.rows for text in row.texts if text)
    text = one_line(part.content.text)
    return f"{part.marker} {text}" if isinstance(part.marker, Number) else text
