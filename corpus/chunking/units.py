"""Divide blocks into units, such as sentences and table rows, cut those too long for the encoder, and pack them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from corpus.text.sentences import iter_sentences
from corpus.types import Block, BlockKind

CountTokens = Callable[[Sequence[str]], list[int]]

# This many visible characters count as at least one token: some tokenizers count one token, or none, for any text.
_CHARACTERS_PER_TOKEN = 16
# Batch limits for the tokenizer, whose result takes fifty times the memory of the text.
_TEXTS, _CHARACTERS = 1000, 200_000
# A prefix is long enough if it fills this share of the room; a guess aims between that and all of it.
_FULL, _LIKELY_FILL, _GUESSES = 0.9, 0.95, 3
_SOFT_BREAK = re.compile(r"[;:,。、，；]\s*|\s+")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest piece of text, not cut if it fits: a sentence, a short list item, a line of code, a table row."""

    start: int
    end: int
    tokens: int


def bounded_counter(count_tokens: CountTokens, max_tokens: int) -> CountTokens:
    """Wrap a token counter: a long text never has few tokens; far above `max_tokens`, the count is a lower bound."""

    def count(texts: Sequence[str]) -> list[int]:
        minimums = [-(-sum(map(len, text.split())) // _CHARACTERS_PER_TOKEN) for text in texts]
        short_texts = [text if minimum <= max_tokens else "" for text, minimum in zip(texts, minimums, strict=True)]
        return list(map(max, _count_in_batches(count_tokens, short_texts), minimums))

    return count


def _count_in_batches(count_tokens: CountTokens, texts: Sequence[str]) -> list[int]:
    counts: list[int] = []
    start = size = 0
    for i, text in enumerate(texts):
        if i > start and (i - start == _TEXTS or size + len(text) > _CHARACTERS):
            counts += count_tokens(texts[start:i])
            start, size = i, 0
        size += len(text)
    return counts + count_tokens(texts[start:]) if texts else []


def units_of(text: str, block: Block, *, count: CountTokens, room: int) -> Iterator[Unit]:
    """Yield the units of a block, each of at most `room` tokens, in order."""
    if block.kind in (BlockKind.CODE, BlockKind.TABLE, BlockKind.DATA):
        lines = _LINE.finditer(text, block.start, block.end)
        spans: Iterator[tuple[int, int]] = (match.span() for match in lines if not match[0].isspace())
    else:
        spans = iter_sentences(text, block.start, block.end)
    while batch := list(islice(spans, _TEXTS)):
        sizes = count([text[start:end] for start, end in batch])
        for (start, end), size in zip(batch, sizes, strict=True):
            if size <= room:
                yield Unit(start, end, size)
            else:
                yield from _cut_long_unit(text, start, end, count=count, room=room)


def _cut_long_unit(text: str, start: int, end: int, *, count: CountTokens, room: int) -> Iterator[Unit]:
    """Cut a unit that is too long for the encoder: at clauses, else at blanks, else anywhere."""
    guess = start + 4 * room
    while start < end:
        limit = min(end, start + _CHARACTERS_PER_TOKEN * room)
        cut_end, tokens = _longest_prefix(text, start, limit, guess, count=count, room=room)
        guess = cut_end + (cut_end - start)
        if cut_end < end:
            breaks = [match.end() for match in _SOFT_BREAK.finditer(text, start + (cut_end - start) // 2, cut_end)]
            if breaks:
                cut_end = breaks[-1]
                tokens = count([text[start:cut_end]])[0]
        piece = text[start:cut_end]
        if body := piece.strip():
            begin = start + piece.index(body)
            yield Unit(begin, begin + len(body), tokens)
        start = cut_end


def _longest_prefix(text: str, start: int, high: int, guess: int, *, count: CountTokens, room: int) -> tuple[int, int]:
    """Return the end and token count of a prefix that fits and nearly fills the room.

    The first guesses assume the tokens per character of the last count; then the range is halved.
    """
    low = start + 1
    best = (low, room)
    tries = 0
    while low <= high:
        middle = min(max(guess, low), high)
        tokens = count([text[start:middle]])[0]
        if tokens > room:
            high = middle - 1
        elif tokens >= _FULL * room:
            return middle, tokens
        else:
            best = (middle, tokens)
            low = middle + 1
        tries += 1
        likely = start + int((middle - start) * _LIKELY_FILL * room / max(1, tokens))
        guess = likely if tries <= _GUESSES and low <= likely <= high else (low + high + 1) // 2
    return best


def pack_evenly(units: Sequence[Unit], target: int, room: int) -> Iterator[list[Unit]]:
    """Pack units into as few pieces of about `target` tokens as possible, all of about the same size."""
    total = sum(unit.tokens for unit in units)
    pieces_left = max(1, round(total / target))
    piece: list[Unit] = []
    size = 0
    for unit in units:
        # End the piece before this unit if that is closer to an even share than ending it after.
        if piece and ((pieces_left > 1 and size + unit.tokens / 2 > total / pieces_left) or size + unit.tokens > room):
            yield piece
            total, pieces_left = total - size, max(1, pieces_left - 1)
            piece, size = [], 0
        piece.append(unit)
        size += unit.tokens
    if piece:
        yield piece
