"""Cut a document into passages along its own structure, within what the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from corpus.lines import LineMap
from corpus.sentences import sentence_spans
from corpus.types import Block, BlockKind, Document, Passage

CountTokens = Callable[[Sequence[str]], list[int]]

# Raised whenever the same document would be cut otherwise: indexes are then split anew.
VERSION = 1
# Tokens of text a passage aims at, its context not counted.
TARGET_TOKENS = 120
# A paragraph or list item up to this size stays whole rather than being cut into small pieces.
WHOLE_TOKENS = 180
_CONTEXT_CHARACTERS = 240
_LABEL = re.compile(r"^(.{3,100}?)(?:\s*:\s|\.\s|\s[–—-]\s|$)", re.DOTALL)
_MARKER = re.compile(r"^\s*(?:[•◦▪‣●○■□–—*+-]|\(?\w{1,4}[.)])\s+")
_SOFT_BREAK = re.compile(r"[;:,。、，；]\s*|\s+")


@dataclass(frozen=True, slots=True)
class _Unit:
    """The smallest piece that is not cut: a sentence, a short list item, a line of code, a table row."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class _Cut:
    """A passage to be: a span, and what stands above it beside the headings."""

    start: int
    end: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """Blocks under the same headings; `start` takes in the heading lines above them."""

    start: int
    body: int
    heading: tuple[str, ...]
    blocks: tuple[Block, ...]


def encoder_text(passage: Passage) -> str:
    """What the encoder reads of a passage: title and headings, then the text proper."""
    return join_context(passage.context, passage.text[passage.body :])


def join_context(context: str, text: str) -> str:
    """Put a passage's context before its text, as the encoder reads them."""
    return f"{context}\n{text}" if context else text


def context_of(title: str, heading: Sequence[str], *, count_tokens: CountTokens, max_tokens: int) -> str:
    """Title and heading path in one line, "" where they would take more than half of what the encoder reads."""
    parts = [part for part in (title, *heading) if part]
    path = [part for n, part in enumerate(parts) if part not in parts[:n]]
    while len(path) > 1 and sum(map(len, path)) > _CONTEXT_CHARACTERS:
        # The innermost headings say most about the passage, the title most about the document.
        del path[1 if len(path) > 2 else 0]
    context = " › ".join(path)[:_CONTEXT_CHARACTERS]
    return context if context and count_tokens([context])[0] <= max_tokens // 2 else ""


def split(document: Document, *, count_tokens: CountTokens, max_tokens: int) -> tuple[Passage, ...]:
    """Cut a document into passages.

    Every non-blank character stands in exactly one passage, no passage crosses a heading, and none has
    more tokens than the encoder reads. A sentence is cut only where it alone is too long.

    Args:
        document: What to cut.
        count_tokens: The encoder's own count for each text, special tokens not counted.
        max_tokens: What the encoder reads of a text, special tokens not counted.

    Returns:
        Passages in order; `document.text[p.start:p.end] == p.text` for each.
    """
    splitter = _Splitter(document, count_tokens, max_tokens)
    return tuple(passage for section in _sections(document) for passage in splitter.passages(section))


def _sections(document: Document) -> Iterator[_Section]:
    """Group blocks under their headings; headings with nothing below them go with the next section."""
    start: int | None = None
    body: list[Block] = []
    for block in document.blocks:
        if block.kind is BlockKind.HEADING or (body and block.heading != body[0].heading):
            if body:
                yield _section(start, body)
                start, body = None, []
            if block.kind is BlockKind.HEADING:
                start = block.start if start is None else start
                continue
        body.append(block)
    if body:
        yield _section(start, body)
    elif start is not None:
        last = document.blocks[-1]
        yield _Section(start, start, last.heading[:-1], (Block(BlockKind.PARAGRAPH, start, last.end, last.heading),))


def _section(start: int | None, body: list[Block]) -> _Section:
    first = body[0]
    return _Section(first.start if start is None else start, first.start, first.heading, tuple(body))


class _Splitter:
    def __init__(self, document: Document, count_tokens: CountTokens, max_tokens: int) -> None:
        self._document = document
        self._text = document.text
        self._lines = LineMap(document.text)
        self._count = count_tokens
        self._max = max_tokens

    def passages(self, section: _Section) -> list[Passage]:
        """Cut one section into passages that the encoder reads whole."""
        context = self._context(section.heading)
        # The newline behind the context may be a token.
        room = self._max - self._count([context])[0] - 1
        while True:
            found = [self._passage(section, cut, context) for cut in self._cuts(section, room)]
            if max(self._count([encoder_text(passage) for passage in found])) <= self._max:
                return found
            # Some tokenizers count more for a whole than for its parts.
            room = room * 3 // 4

    def _context(self, heading: tuple[str, ...]) -> str:
        return context_of(self._document.title, heading, count_tokens=self._count, max_tokens=self._max)

    def _passage(self, section: _Section, cut: _Cut, context: str) -> Passage:
        start = section.start if cut.start == section.body else cut.start
        heading = section.heading
        if cut.label:
            labelled = self._context((*heading, cut.label))
            if self._count([join_context(labelled, self._text[cut.start : cut.end])])[0] <= self._max:
                context, heading = labelled, (*heading, cut.label)
        return Passage(
            start=start,
            end=cut.end,
            text=self._text[start : cut.end],
            body=cut.start - start,
            title=self._document.title,
            heading=heading,
            context=context,
            lines=self._lines.range_of(start, cut.end),
        )

    def _cuts(self, section: _Section, room: int) -> Iterator[_Cut]:
        """Small blocks together, large ones by themselves, in pieces of about the same size."""
        target, whole = min(TARGET_TOKENS, room), min(WHOLE_TOKENS, room)
        sizes = self._count([self._text[block.start : block.end] for block in section.blocks])
        group: list[Block] = []
        total = 0
        for block, size in zip(section.blocks, sizes, strict=True):
            fits = total + size <= (target if not _belongs(group, block) else whole)
            if group and not fits:
                yield self._group(group, section.blocks)
                group, total = [], 0
            if size <= whole:
                group.append(block)
                total += size
            else:
                yield from self._pieces(block, section.blocks, target, room)
        if group:
            yield self._group(group, section.blocks)

    def _group(self, group: list[Block], blocks: Sequence[Block]) -> _Cut:
        return _Cut(group[0].start, group[-1].end, self._parent_label(group[0], blocks))

    def _pieces(self, block: Block, blocks: Sequence[Block], target: int, room: int) -> Iterator[_Cut]:
        units = self._units(block, room)
        own = self._label(block) if block.kind is BlockKind.ITEM else ""
        label = self._parent_label(block, blocks)
        for piece in _balanced(units, target, room):
            yield _Cut(piece[0].start, piece[-1].end, label)
            label = own or label

    def _parent_label(self, block: Block, blocks: Sequence[Block]) -> str:
        """The list item above a nested one, which would be lost where a passage begins inside a list."""
        if block.kind is not BlockKind.ITEM or not block.depth:
            return ""
        for other in reversed(blocks[: blocks.index(block)]):
            if other.kind is not BlockKind.ITEM:
                return ""
            if other.depth < block.depth:
                return self._label(other)
        return ""

    def _label(self, item: Block) -> str:
        """The first words of a list item, up to a colon or the end of the sentence, where they are short."""
        words = _MARKER.sub("", self._text[item.start : item.end])
        found = _LABEL.match(words)
        return " ".join(found[1].split()) if found else ""

    def _units(self, block: Block, room: int) -> list[_Unit]:
        if block.kind in (BlockKind.CODE, BlockKind.TABLE):
            spans = [m.span() for m in re.compile(r"[^\n]*\S[^\n]*").finditer(self._text, block.start, block.end)]
        else:
            spans = sentence_spans(self._text, block.start, block.end)
        sizes = self._count([self._text[start:end] for start, end in spans])
        units: list[_Unit] = []
        for (start, end), size in zip(spans, sizes, strict=True):
            units.extend([_Unit(start, end, size)] if size <= room else self._hard_units(start, end, room))
        return units

    def _hard_units(self, start: int, end: int, room: int) -> Iterator[_Unit]:
        """Cut what is too long for the encoder even alone: at clauses, else at blanks, else anywhere."""
        while start < end:
            stop, tokens = self._longest_prefix(start, end, room)
            if stop < end:
                breaks = [m.end() for m in _SOFT_BREAK.finditer(self._text, start + (stop - start) // 2, stop)]
                if breaks:
                    stop = breaks[-1]
                    tokens = self._count([self._text[start:stop]])[0]
            piece = self._text[start:stop]
            if body := piece.strip():
                begin = start + piece.index(body)
                yield _Unit(begin, begin + len(body), tokens)
            start = stop

    def _longest_prefix(self, start: int, end: int, room: int) -> tuple[int, int]:
        """The end of the longest prefix that fits, found by halving, and its tokens."""
        low, high = start + 1, min(end, start + 16 * room)
        best = (low, room)
        while low <= high:
            middle = (low + high + 1) // 2
            tokens = self._count([self._text[start:middle]])[0]
            if tokens <= room:
                best = (middle, tokens)
                low = middle + 1
            else:
                high = middle - 1
        return best


def _belongs(group: Sequence[Block], block: Block) -> bool:
    """Whether a block hangs on what stands before it: a list below the line or the item that introduces it."""
    if not group or block.kind is not BlockKind.ITEM:
        return False
    before = group[-1]
    return before.kind is BlockKind.PARAGRAPH or block.depth > group[0].depth


def _balanced(units: Sequence[_Unit], target: int, room: int) -> Iterator[list[_Unit]]:
    """Pack units into as few pieces of about `target` tokens as it takes, all of about the same size."""
    total = sum(unit.tokens for unit in units)
    left = max(1, round(total / target))
    piece: list[_Unit] = []
    size = 0
    for unit in units:
        share = total / left
        # Cut before this unit where that comes closer to an even share than cutting behind it.
        if piece and left > 1 and size + unit.tokens / 2 > share or (piece and size + unit.tokens > room):
            yield piece
            total, left = total - size, max(1, left - 1)
            piece, size = [], 0
        piece.append(unit)
        size += unit.tokens
    if piece:
        yield piece
