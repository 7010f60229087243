"""Split a language model's streamed answer into sentences and their citations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus import sentence_spans
from qa.language.values import MONTH

_BRACKETED = r"[\[【]\s*(?:passages?\s+)?\d{1,4}(?:\s*[,;&–-]\s*\d{1,4})*(?:†[^\]】]{0,40})?\s*[\]】]"
_CITATION = re.compile(rf"\s*({_BRACKETED})", re.IGNORECASE)
# "It rained. [1]" means "It rained [1]."
_AFTER_STOP = re.compile(rf"([.!?…。！？]+[\"'”’»)*_]*)((?:\s*{_BRACKETED})+)", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
_WIDEST_RANGE = 10
# Unwanted Markdown: markers of lists, headings and emphasis; "24. April" is a date.
_LIST_MARKER = re.compile(rf"\A(?:[-*+•–#>]+|\d{{1,2}}(?:\)|\.(?!\s+{MONTH})))\s+")
_EMPHASIS = re.compile(r"\*\*|__|`")
_OPEN = re.compile(r"[\[【][^\]】]*$|<[^>]*$")
_THOUGHTS = re.compile(r"\s*<think>.*?(?:</think>|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence as a model wrote it.

    Attributes:
        text: On one line, without citations and Markdown.
        citations: The cited passage numbers, in order.
    """

    text: str
    citations: tuple[int, ...]


class ClaimStream:
    """Collects pieces of text, and yields each sentence once it is complete, that is when the next has begun."""

    def __init__(self) -> None:
        self._buffer = ""
        self._is_thinking: bool | None = None

    def add(self, piece: str) -> Iterator[Claim]:
        """Add a piece, and yield the sentences that are now complete."""
        self._buffer += piece
        if self._skip_thoughts():
            return
        text = _AFTER_STOP.sub(r"\2\1", self._buffer)
        *complete, last = sentence_spans(text) or [(0, 0)]
        # An open bracket may become a citation of the sentence before it.
        if complete and not _OPEN.fullmatch(text[slice(*last)]):
            self._buffer = text[last[0] :]
            yield from _claims(text[slice(*span)] for span in complete)

    def end(self) -> Iterator[Claim]:
        """Yield the remaining sentences."""
        text = _AFTER_STOP.sub(r"\2\1", _THOUGHTS.sub("", self._buffer))
        self._buffer = ""
        yield from _claims(text[slice(*span)] for span in sentence_spans(text))

    def _skip_thoughts(self) -> bool:
        """Return whether the answer has yet to begin: some models first write their thoughts, between two tags."""
        start = self._buffer.lstrip()
        if self._is_thinking is None and start:
            if "<think>".startswith(start[:7]) and len(start) < 7:
                return True
            self._is_thinking = start.startswith("<think>")
        if self._is_thinking and "</think>" in self._buffer:
            self._buffer = _THOUGHTS.sub("", self._buffer, count=1)
            self._is_thinking = False
        return bool(self._is_thinking)


def _claims(sentences: Iterator[str]) -> Iterator[Claim]:
    for sentence in sentences:
        text = _LIST_MARKER.sub("", _EMPHASIS.sub("", _CITATION.sub("", sentence)).strip())
        cited = [number for citation in _CITATION.findall(sentence) for number in _cited_numbers(citation)]
        if any(map(str.isalnum, text)):
            yield Claim(" ".join(text.split()), tuple(dict.fromkeys(cited)))


def _cited_numbers(citation: str) -> list[int]:
    text = citation.partition("†")[0]
    numbers: list[int] = []
    for first, last in _RANGE.findall(text):
        numbers += range(int(first), min(int(last), int(first) + _WIDEST_RANGE) + 1)
    return [*numbers, *map(int, re.findall(r"\d+", _RANGE.sub(" ", text)))]
