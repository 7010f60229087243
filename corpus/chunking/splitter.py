"""Split a document into passages along its structure, each within the input length of the encoder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from corpus import formats
from corpus.chunking.neighbours import belongs_to, introduces, parent_items
from corpus.chunking.units import CountTokens, Unit, bounded_counter, pack_evenly, units_of
from corpus.errors import Unreadable
from corpus.readers.assemble.gaps import MAX_GAP
from corpus.text.aligned import aligned_table
from corpus.text.bars import has_box_table, is_rule, plain_bars
from corpus.text.lines import BULLETS, FileLines
from corpus.text.path_words import path_words
from corpus.types import OUTDATED, Block, BlockKind, Document, Passage, Record

# Incremented whenever splitting or headings of passages change; documents are then split again.
VERSION = 22
# More would take too much time and memory; such a document is skipped.
MAX_PASSAGES = 20_000
MAX_SENTENCES = 500_000
# Target size of a passage's text, without its context.
TARGET_TOKENS = 120
# A paragraph or list item up to this size is not cut.
WHOLE_TOKENS = 180
_CONTEXT_CHARACTERS = 240
# Maximum length of the heading lines above a passage's text.
_HEADING_CHARACTERS = 2000
# Blanks before the colon are matched from the first only: trying each would take quadratic time.
_LABEL = re.compile(r"^(.{3,100}?)(?:(?:(?<!\s)|(?<=\A.{3}))\s*+:\s|\.\s|\s[–—-]\s|$)", re.DOTALL)
_MARKER = re.compile(rf"^\s*(?:[{BULLETS}]|\(?\w{{1,4}}[.)])\s+")
# Enough for the longest label after a marker and some blanks.
_LABEL_CHARACTERS = 400
# Maximum length of a table's column names, and of the text searched for aligned columns.
_COLUMN_CHARACTERS = 300
_ALIGNED_CHARACTERS = 3000
# The version of the grammars is above the others.
_GRAMMAR_UNIT = 1_000_000
# The row number in the heading of a spreadsheet row, which is only for citations: "Row 3", "Heron (row 3)".
_ROW_NUMBER = re.compile(r"\ARow \d+\Z| \(row \d+\)\Z")


def splitter_version() -> int:
    """Return the version of readers and splitter, which depends on the installed grammars for source code."""
    from corpus.readers.source.grammars import grammar_version  # noqa: PLC0415 - no question needs it

    return _GRAMMAR_UNIT * grammar_version() + 1000 * formats.VERSION + VERSION


def mixed_version() -> int:
    """Return the version of documents of which some were split before the set of grammars changed to this one."""
    from corpus.readers.source import grammars  # noqa: PLC0415

    return splitter_version() % _GRAMMAR_UNIT + _GRAMMAR_UNIT * grammars.mixed_version(grammars.grammar_version())


def types_split_otherwise(version: int) -> frozenset[str] | None:
    """Return the media types that another version splits differently, or None if these may be all.

    They are some if only the set of installed grammars differs.
    """
    from corpus.readers.source.grammars import types_read_otherwise  # noqa: PLC0415

    grammars, others = divmod(version, _GRAMMAR_UNIT)
    return types_read_otherwise(grammars) if others == splitter_version() % _GRAMMAR_UNIT else None


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A planned passage: its span, the tokens of its parts in total, and the list item or column names above it."""

    start: int
    end: int
    tokens: int
    label: str = ""
    columns: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """Blocks of one record under the same headings; `start` includes the heading lines above `body`."""

    start: int
    body: int
    title: str
    heading: tuple[str, ...]
    blocks: tuple[Block, ...]


def encoder_text(passage: Passage) -> str:
    """Return a passage as the encoder reads it: title and headings, then the text proper."""
    return join_context(passage.context, passage.text[passage.body :])


def join_context(context: str, text: str) -> str:
    """Return a passage's context and text as the encoder reads them."""
    return f"{context}\n{text}" if context else text


def context_of(title: str, heading: Sequence[str], *, count_tokens: CountTokens, max_tokens: int) -> str:
    """Return title and headings in one line, or "" if they take more than half of the encoder's input."""
    path = list(dict.fromkeys(part for part in (title, *heading) if part))
    while len(path) > 1 and sum(map(len, path)) > _CONTEXT_CHARACTERS:
        # The innermost heading describes the passage best, and the title the document.
        del path[1 if len(path) > 2 else 0]
    context = " › ".join(path)[:_CONTEXT_CHARACTERS]
    return context if context and count_tokens([context])[0] <= max_tokens // 2 else ""


def split(document: Document, *, count_tokens: CountTokens, max_tokens: int) -> tuple[Passage, ...]:
    """Split a document into passages, in the order of its text.

    Every non-blank character is in exactly one passage, no passage crosses a heading or a record boundary, and
    none has more tokens than the encoder reads. A sentence is cut only if it is too long on its own.

    Args:
        document: The document to split.
        count_tokens: Returns the encoder's token count of each text, without special tokens.
        max_tokens: Maximum number of tokens that the encoder reads, without special tokens.

    Raises:
        Unreadable: There would be more than `MAX_PASSAGES`, or `MAX_SENTENCES` in cut blocks.
    """
    splitter = _Splitter(document, count_tokens, max_tokens)
    passages: list[Passage] = []
    for section in _sections(document):
        passages.extend(splitter.passages(section))
        _require_at_most(MAX_PASSAGES, len(passages), "passages")
    return tuple(passages)


def _require_at_most(limit: int, count: float, units: str) -> None:
    if count > limit:
        raise Unreadable(f"more than {limit:,} {units}; split it into smaller files")


def _sections(document: Document) -> Iterator[_Section]:
    """Group blocks under their headings; headings without text below join the next section of the record."""
    headings: list[Block] = []
    body: list[Block] = []
    record: Record | None = None
    # Front matter with only a title, or nothing, is redundant: the title is in the context of every passage.
    is_redundant = all(name in ("title", OUTDATED) for name, _ in document.metadata)
    blocks = [block for block in document.blocks if not (is_redundant and block.kind is BlockKind.DATA)]
    for block in blocks or document.blocks:
        is_heading = block.kind is BlockKind.HEADING
        previous, record = record, document.record_of(block.start)
        ends = record is not previous or (
            body and (is_heading or block.heading != body[0].heading or body[-1].kind is BlockKind.DATA)
        )
        if (headings or body) and ends:
            yield _make_section(document, headings, body)
            headings, body = [], []
        (headings if is_heading else body).append(block)
    if headings or body:
        yield _make_section(document, headings, body)


def _make_section(document: Document, headings: list[Block], body: list[Block]) -> _Section:
    path = body[0].heading if body else headings[-1].heading[:-1]
    first = (headings or body)[0].start
    record = document.record_of(first)
    title = document.title if record is None else record.title
    is_short = not headings or not body or body[0].start - headings[0].start <= _HEADING_CHARACTERS
    if body and is_short and all(_is_in_context(block, path, document.title) for block in headings):
        return _Section(first, body[0].start, title, path, tuple(body))
    # A heading line that is not in the context becomes text, as no search would find it otherwise.
    lines = [replace(block, kind=BlockKind.PARAGRAPH) for block in headings]
    return _Section(first, first, title, path, (*lines, *body))


def _is_in_context(line: Block, heading: tuple[str, ...], title: str) -> bool:
    return line.heading == heading[: len(line.heading)] or line.heading[-1:] == (title,)


class _Splitter:
    def __init__(self, document: Document, count_tokens: CountTokens, max_tokens: int) -> None:
        self._document = document
        self._text = document.text
        self._lines = FileLines(document)
        self._count = bounded_counter(count_tokens, max_tokens)
        self._max = max_tokens
        self._sentences = 0

    def passages(self, section: _Section) -> list[Passage]:
        """Split one section into passages."""
        context = self._context(section.heading)
        # The newline after the context may be a token.
        context_tokens = self._count([context])[0] + 1
        room = max(1, self._max - context_tokens)
        while True:
            chunks = self._join_punctuation(self._chunks(section, room), room)
            passages = [self._make_passage(section, chunk, context) for chunk in chunks]
            # Some tokenizers count more tokens in a text than in its parts.
            doubtful = [
                encoder_text(passage)
                for chunk, passage in zip(chunks, passages, strict=True)
                if chunk.label or chunk.columns or not self._surely_fits(chunk, context_tokens)
            ]
            if room == 1 or max(self._count(doubtful), default=0) <= self._max:
                return passages
            room = max(1, room * 3 // 4)

    def _surely_fits(self, chunk: _Chunk, context_tokens: int) -> bool:
        """Whether a passage fits even if it has a third more tokens than its parts, and a token for each blank."""
        text = self._text[chunk.start : chunk.end]
        blanks = len(text) - len(" ".join(text.split())) + text.count("\n")
        return 4 * (chunk.tokens + blanks + context_tokens) <= 3 * self._max

    def _context(self, heading: tuple[str, ...]) -> str:
        document_title = self._document.title
        # A title made of the file's name is not embedded, so that a renamed file need not be embedded again.
        title = "" if document_title == path_words(PurePosixPath(self._document.path).name) else document_title
        if self._document.media_type in formats.SHEETS:
            heading = tuple(_ROW_NUMBER.sub("", part) for part in heading)
        return context_of(title, heading, count_tokens=self._count, max_tokens=self._max)

    def _make_passage(self, section: _Section, chunk: _Chunk, context: str) -> Passage:
        start = section.start if chunk.start == section.body else chunk.start
        heading = section.heading
        if innermost := chunk.label or chunk.columns:
            labelled = self._context((*heading, innermost))
            if labelled and self._count([join_context(labelled, self._text[chunk.start : chunk.end])])[0] <= self._max:
                context, heading = labelled, (*heading, chunk.label) if chunk.label else heading
        return Passage(
            start=start,
            end=chunk.end,
            text=self._text[start : chunk.end],
            body=chunk.start - start,
            title=section.title,
            heading=heading,
            context=context,
            lines=self._lines.range_of(start, chunk.end),
            page=self._document.page_of(chunk.start),
            anchor=self._document.anchor_of(chunk.start),
        )

    def _join_punctuation(self, chunks: Iterator[_Chunk], room: int) -> list[_Chunk]:
        """Join a chunk of only punctuation, such as a rule, to its neighbour if there is room."""
        joined: list[_Chunk] = []
        for chunk in chunks:
            before = joined[-1] if joined else None
            is_near = before and chunk.start - before.end <= MAX_GAP
            if before and is_near and not (self._has_words(before) and self._has_words(chunk)):
                tokens, label = before.tokens + chunk.tokens, before.label or chunk.label
                both = replace(before, end=chunk.end, tokens=tokens, label=label)
                if both.tokens <= room:
                    joined[-1] = both
                    continue
            joined.append(chunk)
            _require_at_most(MAX_PASSAGES, len(joined), "passages")
        return joined

    def _has_words(self, chunk: _Chunk) -> bool:
        return any(map(str.isalnum, self._text[chunk.start : chunk.end]))

    def _chunks(self, section: _Section, room: int) -> Iterator[_Chunk]:
        """Group small blocks, and cut large ones into pieces of about the same size."""
        labels = {start: self._item_label(item) for start, item in parent_items(section.blocks).items()}
        target, max_size = min(TARGET_TOKENS, room), min(WHOLE_TOKENS, room)
        group: list[Block] = []
        total = 0
        blocks = self._merge_introductions(section.blocks)
        sizes = self._count([self._text[block.start : block.end] for block in blocks])
        for block, size in zip(blocks, sizes, strict=True):
            fits = total + size <= (max_size if belongs_to(group, block) else target)
            if group and not (fits and self._are_near(group[-1], block)):
                yield _Chunk(group[0].start, group[-1].end, total, labels.get(group[0].start, ""))
                group, total = [], 0
            if size <= max_size:
                group.append(block)
                total += size
            else:
                yield from self._cut_block(block, labels.get(block.start, ""), target, room)
        if group:
            yield _Chunk(group[0].start, group[-1].end, total, labels.get(group[0].start, ""))

    def _merge_introductions(self, blocks: Sequence[Block]) -> list[Block]:
        """Merge each block with the line that introduces it, so that no passage ends between the two."""
        merged: list[Block] = []
        for block in blocks:
            if merged and introduces(self._text, merged[-1], block) and self._are_near(merged[-1], block):
                merged[-1] = replace(block, start=merged[-1].start)
            else:
                merged.append(block)
        return merged

    def _are_near(self, before: Block, block: Block) -> bool:
        """Whether one passage may hold both blocks: on one page, with no wide gap between them."""
        same_page = self._document.page_of(before.start) == self._document.page_of(block.start)
        return same_page and block.start - before.end <= MAX_GAP

    def _cut_block(self, block: Block, label: str, target: int, room: int) -> Iterator[_Chunk]:
        units: list[Unit] = []
        total = 0
        for unit in units_of(self._text, block, count=self._count, room=room):
            units.append(unit)
            total += unit.tokens
            self._sentences += 1
            # Checked for each unit, as a block may have millions.
            _require_at_most(MAX_PASSAGES, total / target, "passages")
            _require_at_most(MAX_SENTENCES, self._sentences, "sentences")
        item_label = self._item_label(block) if block.kind is BlockKind.ITEM else ""
        columns = ""
        for piece in pack_evenly(units, target, room):
            yield _Chunk(piece[0].start, piece[-1].end, sum(unit.tokens for unit in piece), label, columns)
            label, columns = item_label or label, self._column_names(block) if block.kind is BlockKind.TABLE else ""

    def _column_names(self, block: Block) -> str:
        """Return the first line of a table, with its column names, or "" if it has only one cell."""
        start = self._text.rfind("\n", 0, block.start) + 1
        text = self._text[start : min(block.end, start + _ALIGNED_CHARACTERS)]
        lines = (plain_bars(text) if has_box_table(text) else text).split("\n")
        if "|" not in lines[0] and len(lines) > 1 and aligned_table(lines) is None:
            # The line that introduces the table, and a blank line.
            lines = lines[2 if not lines[1].strip() and lines[2:] else 1 :]
        if lines[1:] and is_rule(lines[0]):
            lines = lines[1:]
        table = None if "|" in lines[0] else aligned_table(lines)
        line = lines[0][:_COLUMN_CHARACTERS].strip()
        names = table.columns if table else line.removeprefix("|").removesuffix("|").split("|")
        return " | ".join(name.strip() or "–" for name in names) if len(names) > 1 else ""

    def _item_label(self, item: Block) -> str:
        """Return the first words of a list item, up to a colon or the end of the sentence, or "" if too many."""
        words = _MARKER.sub("", self._text[item.start : min(item.end, item.start + _LABEL_CHARACTERS)])
        match = _LABEL.match(words)
        return " ".join(match[1].split()) if match else ""
