"""Cut a document into passages along its own structure, within what the encoder reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from corpus import formats
from corpus.chunking.units import CountTokens, Unit, balanced, bounded, units_of
from corpus.errors import Unreadable
from corpus.readers.assemble.coverage import WIDEST_GAP
from corpus.text.lines import LineMap
from corpus.types import Block, BlockKind, Document, Passage, Record

# Raised whenever the same document would be cut otherwise: indexes are then split anew.
VERSION = 3
# A document of more is left out: to cut it would take more time and memory than any one file may.
MAX_PASSAGES = 20_000
MAX_SENTENCES = 500_000
# Blocks whose tokens are counted together.
_AT_ONCE = 1000
# Tokens of text a passage aims at, its context not counted.
TARGET_TOKENS = 120
# A paragraph or list item up to this size stays whole rather than being cut into small pieces.
WHOLE_TOKENS = 180
_CONTEXT_CHARACTERS = 240
# Heading lines above a passage's text take no more than this.
_HEADING_CHARACTERS = 2000
# Blanks before the colon are looked at from their first alone: from each they would take quadratic time.
_LABEL = re.compile(r"^(.{3,100}?)(?:(?:(?<!\s)|(?<=\A.{3}))\s*+:\s|\.\s|\s[–—-]\s|$)", re.DOTALL)
_MARKER = re.compile(r"^\s*(?:[•◦▪‣●○■□–—*+-]|\(?\w{1,4}[.)])\s+")
# Where a label is looked for: its longest, behind a marker and some blanks.
_LABEL_CHARACTERS = 400


def splitter_version() -> int:
    """The number under which an index notes what its passages were made with: the readers and the splitter.

    It is another one where another set of grammars for source code is installed.
    """
    from corpus.readers.source.grammars import edition  # noqa: PLC0415 - no question needs it

    return 1_000_000 * edition() + 1000 * formats.VERSION + VERSION


@dataclass(frozen=True, slots=True)
class _Cut:
    """A passage to be: a span, its tokens (of its parts, added up), and what stands above it beside the headings."""

    start: int
    end: int
    tokens: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """Blocks of one record under the same headings; `start` takes in the heading lines above them."""

    start: int
    body: int
    title: str
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

    Every non-blank character stands in exactly one passage, no passage crosses a heading or the border of a
    record, and none has more tokens than the encoder reads. A sentence is cut only where it alone is too long.

    Args:
        document: What to cut.
        count_tokens: The encoder's own count for each text, special tokens not counted.
        max_tokens: What the encoder reads of a text, special tokens not counted.

    Returns:
        Passages in order; `document.text[p.start:p.end] == p.text` for each.

    Raises:
        Unreadable: There would be more than `MAX_PASSAGES`, of more than `MAX_SENTENCES`.
    """
    splitter = _Splitter(document, count_tokens, max_tokens)
    found: list[Passage] = []
    for section in _sections(document):
        found.extend(splitter.passages(section))
        _require_few(len(found), MAX_PASSAGES, "passages")
    return tuple(found)


def _require_few(count: float, limit: int, what: str) -> None:
    if count > limit:
        raise Unreadable(f"more than {limit:,} {what}; split it into smaller files")


def _sections(document: Document) -> Iterator[_Section]:
    """Group blocks under their headings; headings with nothing below them go with the record's next section."""
    pending: list[Block] = []
    body: list[Block] = []
    record: Record | None = None
    for block in document.blocks:
        is_heading = block.kind is BlockKind.HEADING
        above, record = record, document.record_of(block.start)
        goes_on = record is above and not (body and (is_heading or block.heading != body[0].heading))
        if (pending or body) and not goes_on:
            yield _section(document, pending, body)
            pending, body = [], []
        (pending if is_heading else body).append(block)
    if pending or body:
        yield _section(document, pending, body)


def _section(document: Document, pending: list[Block], body: list[Block]) -> _Section:
    heading = body[0].heading if body else pending[-1].heading[:-1]
    first = (pending or body)[0].start
    record = document.record_of(first)
    title = document.title if record is None else record.title
    short = not pending or not body or body[0].start - pending[0].start <= _HEADING_CHARACTERS
    if body and short and all(_is_repeated(block, heading, document.title) for block in pending):
        return _Section(first, body[0].start, title, heading, tuple(body))
    # A heading line that no context repeats is read as text, or it could not be found.
    lines = [replace(block, kind=BlockKind.PARAGRAPH) for block in pending]
    return _Section(first, first, title, heading, (*lines, *body))


def _is_repeated(line: Block, heading: tuple[str, ...], title: str) -> bool:
    """Whether a passage's context says what a heading line above it says."""
    return line.heading == heading[: len(line.heading)] or line.heading[-1:] == (title,)


class _Splitter:
    def __init__(self, document: Document, count_tokens: CountTokens, max_tokens: int) -> None:
        self._document = document
        self._text = document.text
        self._lines = LineMap(document.text)
        self._count = bounded(count_tokens, max_tokens)
        self._max = max_tokens
        self._sentences = 0

    def passages(self, section: _Section) -> list[Passage]:
        """Cut one section into passages that the encoder reads whole."""
        context = self._context(section.heading)
        # The newline behind the context may be a token.
        taken = self._count([context])[0] + 1
        room = max(1, self._max - taken)
        while True:
            cuts = self._with_words(self._cuts(section, room), room)
            found = [self._passage(section, cut, context) for cut in cuts]
            # Some tokenizers count more for a whole than for its parts.
            doubtful = [
                encoder_text(passage)
                for cut, passage in zip(cuts, found, strict=True)
                if cut.label or not self._surely_fits(cut, taken)
            ]
            if room == 1 or max(self._count(doubtful), default=0) <= self._max:
                return found
            room = max(1, room * 3 // 4)

    def _surely_fits(self, cut: _Cut, taken: int) -> bool:
        """Whether a passage would fit even if its whole had a third more tokens than its parts, and all blanks some."""
        text = self._text[cut.start : cut.end]
        blanks = len(text) - len(" ".join(text.split())) + text.count("\n")
        return 4 * (cut.tokens + blanks + taken) <= 3 * self._max

    def _context(self, heading: tuple[str, ...]) -> str:
        return context_of(self._document.title, heading, count_tokens=self._count, max_tokens=self._max)

    def _passage(self, section: _Section, cut: _Cut, context: str) -> Passage:
        start = section.start if cut.start == section.body else cut.start
        heading = section.heading
        if cut.label:
            labelled = self._context((*heading, cut.label))
            if labelled and self._count([join_context(labelled, self._text[cut.start : cut.end])])[0] <= self._max:
                context, heading = labelled, (*heading, cut.label)
        return Passage(
            start=start,
            end=cut.end,
            text=self._text[start : cut.end],
            body=cut.start - start,
            title=section.title,
            heading=heading,
            context=context,
            lines=self._lines.range_of(start, cut.end),
            page=self._document.page_of(cut.start),
        )

    def _with_words(self, cuts: Iterator[_Cut], room: int) -> list[_Cut]:
        """Join what holds nothing but punctuation, such as a rule, to its neighbour where there is room."""
        joined: list[_Cut] = []
        for cut in cuts:
            before = joined[-1] if joined else None
            near = before and cut.start - before.end <= WIDEST_GAP
            if before and near and not (self._has_words(before) and self._has_words(cut)):
                both = _Cut(before.start, cut.end, before.tokens + cut.tokens, before.label or cut.label)
                if both.tokens <= room:
                    joined[-1] = both
                    continue
            joined.append(cut)
            _require_few(len(joined), MAX_PASSAGES, "passages")
        return joined

    def _are_near(self, before: Block, block: Block) -> bool:
        """Whether one passage may hold both: no wide gap between them, and no page that ends."""
        same_page = self._document.page_of(before.start) == self._document.page_of(block.start)
        return same_page and block.start - before.end <= WIDEST_GAP

    def _has_words(self, cut: _Cut) -> bool:
        return any(map(str.isalnum, self._text[cut.start : cut.end]))

    def _cuts(self, section: _Section, room: int) -> Iterator[_Cut]:
        """Small blocks together, large ones by themselves, in pieces of about the same size."""
        parents = _parents(section.blocks)
        target, whole = min(TARGET_TOKENS, room), min(WHOLE_TOKENS, room)
        group: list[Block] = []
        total = 0
        for block, size in self._sized(section.blocks):
            fits = total + size <= (target if not _belongs(group, block) else whole)
            if group and not (fits and self._are_near(group[-1], block)):
                yield self._group(group, total, parents)
                group, total = [], 0
            if size <= whole:
                group.append(block)
                total += size
            else:
                yield from self._pieces(block, parents, target, room)
        if group:
            yield self._group(group, total, parents)

    def _sized(self, blocks: Sequence[Block]) -> Iterator[tuple[Block, int]]:
        """Blocks with their tokens, counted as far as they are asked for."""
        for at in range(0, len(blocks), _AT_ONCE):
            some = blocks[at : at + _AT_ONCE]
            yield from zip(some, self._count([self._text[block.start : block.end] for block in some]), strict=True)

    def _group(self, group: list[Block], tokens: int, parents: dict[int, Block]) -> _Cut:
        return _Cut(group[0].start, group[-1].end, tokens, self._label(parents.get(group[0].start)))

    def _pieces(self, block: Block, parents: dict[int, Block], target: int, room: int) -> Iterator[_Cut]:
        units: list[Unit] = []
        total = 0
        for unit in units_of(self._text, block, count=self._count, room=room):
            units.append(unit)
            total += unit.tokens
            self._sentences += 1
            # Known before all are there: of a few bytes each there may be millions.
            _require_few(total / target, MAX_PASSAGES, "passages")
            _require_few(self._sentences, MAX_SENTENCES, "sentences")
        label = self._label(parents.get(block.start))
        own = self._label(block) if block.kind is BlockKind.ITEM else ""
        for piece in balanced(units, target, room):
            yield _Cut(piece[0].start, piece[-1].end, sum(unit.tokens for unit in piece), label)
            label = own or label

    def _label(self, item: Block | None) -> str:
        """The first words of a list item, up to a colon or the end of the sentence, where they are short."""
        if item is None:
            return ""
        words = _MARKER.sub("", self._text[item.start : min(item.end, item.start + _LABEL_CHARACTERS)])
        found = _LABEL.match(words)
        return " ".join(found[1].split()) if found else ""


def _parents(blocks: Sequence[Block]) -> dict[int, Block]:
    """The list item above each nested one, by where that starts: lost where a passage begins inside a list."""
    parents: dict[int, Block] = {}
    above: list[Block] = []
    for block in blocks:
        is_item = block.kind is BlockKind.ITEM
        while above and not (is_item and above[-1].depth < block.depth):
            above.pop()
        if is_item:
            if above:
                parents[block.start] = above[-1]
            above.append(block)
    return parents


def _belongs(group: Sequence[Block], block: Block) -> bool:
    """Whether a block hangs on what stands before it: a list below the line or the item that introduces it."""
    if not group or block.kind is not BlockKind.ITEM:
        return False
    before = group[-1]
    return before.kind is BlockKind.PARAGRAPH or block.depth > group[0].depth
