"""The pieces that are not cut, such as sentences and table rows: found, made to fit the encoder, packed evenly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from corpus.text.sentences import each_sentence
from corpus.types import Block, BlockKind

CountTokens = Callable[[Sequence[str]], list[int]]

# Visible characters that count as one token at least: some tokenizers see one token, or none, in a text of any length.
_CHARACTERS_A_TOKEN = 16
# What is given to the tokenizer at a time: what it makes of a text takes fifty times the text's own room.
_TEXTS, _CHARACTERS = 1000, 200_000
# Of the room: between what is enough and what fits.
_LIKELY_FILL, _TRIES = 0.95, 3
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
        asked = [text if low <= max_tokens else "" for text, low in zip(texts, least, strict=True)]
        found = count_tokens(asked) if len(asked) == 1 else [n for some in _handfuls(asked) for n in count_tokens(some)]
        return list(map(max, found, least))

    return count


def _handfuls(texts: Iterable[str]) -> Iterator[list[str]]:
    """The same texts, some at a time."""
    some: list[str] = []
    size = 0
    for text in texts:
        if some and (len(some) == _TEXTS or size + len(text) > _CHARACTERS):
            yield some
            some, size = [], 0
        some.append(text)
        size += len(text)
    if some:
        yield some


def units_of(text: str, block: Block, *, count: CountTokens, room: int) -> Iterator[Unit]:
    """Take a block apart into units of at most `room` tokens, in order."""
    if block.kind in (BlockKind.CODE, BlockKind.TABLE):
        lines = _LINE.finditer(text, block.start, block.end)
        spans: Iterator[tuple[int, int]] = (match.span() for match in lines if not match[0].isspace())
    else:
        spans = each_sentence(text, block.start, block.end)
    while some := list(islice(spans, _TEXTS)):
        sizes = count([text[start:end] for start, end in some])
        for (start, end), size in zip(some, sizes, strict=True):
            if size <= room:
                yield Unit(start, end, size)
            else:
                yield from _hard_units(text, start, end, count=count, room=room)


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
    """Where a prefix of a span ends that fits and nearly fills the room, and its tokens.

    Looked for where it would be if all its characters took as many tokens as those counted last, then by halving.
    """
    start, high = span
    low = start + 1
    best = (low, room)
    tries = 0
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
        tries += 1
        likely = start + int((middle - start) * _LIKELY_FILL * room / max(1, tokens))
        guess = likely if tries <= _TRIES and low <= likely <= high else (low + high + 1) // 2
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
