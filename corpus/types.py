"""What the corpus side hands on: documents made of blocks, and the passages cut from them.

All offsets are Unicode code points into `Document.text`, end exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is, as far as splitting cares."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    CODE = "code"
    TABLE = "table"
    META = "meta"


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document that a reader recognised.

    Attributes:
        kind: What it is.
        start: First character in the document.
        end: One past the last character.
        heading: Headings above it, outermost first; a heading block's own title comes last.
        depth: Nesting of a list item, 0 at the outermost; 0 for everything else.
    """

    kind: BlockKind
    start: int
    end: int
    heading: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """One readable file, decoded and taken apart.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        text: The file decoded as UTF-8, newlines untouched.
        sha256: Digest of the file's bytes, lower-case hex.
        media_type: Such as `text/markdown`.
        title: The document's own title, or "" where it states none.
        blocks: In order, not overlapping; every non-blank character stands in one.
    """

    path: str
    text: str
    sha256: str
    media_type: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """The stored unit: an exact slice of a document, with what gives it meaning.

    Attributes:
        start: First character in the document.
        end: One past the last character; `document.text[start:end] == text`.
        text: The slice, as it is shown and cited.
        body: Where the text proper begins in `text`, behind heading lines that `heading` repeats.
        title: The document's title, or "".
        heading: Headings above the passage, outermost first.
        context: What the encoder reads before the text proper: title and heading path in words.
        lines: First and last line in the file, 1-based, inclusive.
    """

    start: int
    end: int
    text: str
    body: int
    title: str
    heading: tuple[str, ...]
    context: str
    lines: tuple[int, int]
