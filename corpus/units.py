"""The pieces that are not cut, such as sentences and table rows: found, made to fit the encoder, packed evenly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from corpus.sentences import sentence_spans
from corpus.types import Block, BlockKind

CountTokens = Callable[[Sequence[str]], list[int]]

# Visible characters that count as one token at least: some tokenizers see one token, or none, in a text of any length.
_CHARACTERS_A_TOKEN = 16
_SOFT_BREAK = re.compile(r"[;:,。、，；]\s*|\s+")
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest piece that is not cut: a sentence, a short list item, a line of code, a table row."""

    start: int
    end: int
    tokens: int


def bounded(count_tokens: CountTokens, max_tokens: int) -> CountTokens:
    """The same count, but never so low that a long text takes few tokens; far above `max_tokens` a lower bound."""

    def count(texts: Sequence[str]) -> list[int]:
        least = [-(-sum(map(len, text.split())) // _CHARACTERS_A_TOKEN) for text in texts]
        found = count_tokens([text if low <= max_tokens else "" for text, low in zip(texts, least, strict=True)])
        return list(map(max, found, least))

    return count


def units_of(text: str, block: Block, *, count: CountTokens, room: int) -> list[Unit]:
    """Take a block apart into units of at most `room` tokens, in order."""
    if block.kind in (BlockKind.CODE, BlockKind.TABLE):
        spans = [match.span() for match in _LINE.finditer(text, block.start, block.end) if not match[0].isspace()]
    else:
        spans = sentence_spans(text, block.start, block.end)
    sizes = count([text[start:end] for start, end in spans])
    units: list[Unit] = []
    for (start, end), size in zip(spans, sizes, strict=True):
        fitting = [Unit(start, end, size)] if size <= room else _hard_units(text, start, end, count=count, room=room)
        units.extend(fitting)
    return units


def _hard_units(text: str, start: int, end: int, *, count: CountTokens, room: int) -> Iterator[Unit]:
    """Cut what is too long for the encoder even alone: at clauses, else at blanks, else anywhere."""
    guess = start + 4 * room
    while start < end:
        limit = min(end, start + _CHARACTERS_A_TOKEN * room)
        stop, tokens = _long_prefix(text, (start, limit), guess, count=count, room=room)
        guess = stop + (stop - start)
        if stop < end:
            breaks = [match.end() for match in _SOFT_BREAK.finditer(text, start + (stop - start) // 2, stop)]
            if breaks:
                stop = breaks[-1]
                tokens = count([text[start:stop]])[0]
        piece = text[start:stop]
        if body := piece.strip():
            begin = start + piece.index(body)
            yield Unit(begin, begin + len(body), tokens)
        start = stop


def _long_prefix(text: str, span: tuple[int, int], guess: int, *, count: CountTokens, room: int) -> tuple[int, int]:
    """Where a prefix of a span ends that fits and nearly fills the room, found by halving, and its tokens."""
    start, high = span
    low = start + 1
    best = (low, room)
    while low <= high:
        middle = min(max(guess, low), high)
        tokens = count([text[start:middle]])[0]
        if tokens > room:
            high = middle - 1
        elif tokens >= 0.9 * room:
            return middle, tokens
        else:
            best = (middle, tokens)
            low = middle + 1
        guess = (low + high + 1) // 2
    return best


def balanced(units: Sequence[Unit], target: int, room: int) -> Iterator[list[Unit]]:
    """Pack units into as few pieces of about `target` tokens as it takes, all of about the same size."""
    total = sum(unit.tokens for unit in units)
    left = max(1, round(total / target))
    piece: list[Unit] = []
    size = 0
    for unit in units:
        share = total / left
        # Cut before this unit where that comes closer to an even share than cutting behind it.
        if (piece and left > 1 and size + unit.tokens / 2 > share) or (piece and size + unit.tokens > room):
            yield piece
            total, left = total - size, max(1, left - 1)
            piece, size = [], 0
        piece.append(unit)
        size += unit.tokens
    if piece:
        yield piece
