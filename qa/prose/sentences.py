"""What a language model streams, taken apart into sentences and what each cites."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus import sentence_spans

_ONE = r"[\[【]\s*(?:passages?\s+)?\d{1,4}(?:\s*[,;&–-]\s*\d{1,4})*(?:†[^\]】]{0,40})?\s*[\]】]"
_CITATION = re.compile(rf"\s*({_ONE})", re.IGNORECASE)
# "It rained. [1]" means "It rained [1]."
_BEHIND = re.compile(rf"([.!?…。！？]+[\"'”’»)*_]*)((?:\s*{_ONE})+)", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
_WIDEST_RANGE = 10
# Of Markdown, which is not wanted: marks of lists and headings, and of stress.
_LEAD = re.compile(r"(?:[-*+•–#>]+|\d{1,2}[.)])\s+")
_STRESS = re.compile(r"\*\*|__|`")
_OPEN = re.compile(r"[\[【][^\]】]*$|<[^>]*$")
_THOUGHTS = re.compile(r"\s*<think>.*?(?:</think>|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence as a model wrote it.

    Attributes:
        text: On one line, without citations and Markdown.
        citations: The numbers that it cites, in order.
    """

    text: str
    citations: tuple[int, ...]


class ClaimStream:
    """Collects pieces of text, and gives each sentence back once it is whole: when another has begun."""

    def __init__(self) -> None:
        self._left = ""
        self._is_thinking: bool | None = None

    def add(self, piece: str) -> Iterator[Claim]:
        """Add a piece, and yield the sentences that are whole now."""
        self._left += piece
        if self._thinks():
            return
        text = _BEHIND.sub(r"\2\1", self._left)
        *whole, last = sentence_spans(text) or [(0, 0)]
        # What begins may still be a citation of what ends.
        if whole and not _OPEN.fullmatch(text[slice(*last)]):
            self._left = text[last[0] :]
            yield from _claims(text[slice(*span)] for span in whole)

    def end(self) -> Iterator[Claim]:
        """Yield what is left."""
        text = _BEHIND.sub(r"\2\1", _THOUGHTS.sub("", self._left))
        self._left = ""
        yield from _claims(text[slice(*span)] for span in sentence_spans(text))

    def _thinks(self) -> bool:
        """Whether it is not yet the answer: some models write their thoughts first, between two tags."""
        begins = self._left.lstrip()
        if self._is_thinking is None and begins:
            if "<think>".startswith(begins[:7]) and len(begins) < 7:
                return True
            self._is_thinking = begins.startswith("<think>")
        if self._is_thinking and "</think>" in self._left:
            self._left = _THOUGHTS.sub("", self._left, count=1)
            self._is_thinking = False
        return bool(self._is_thinking)


def _claims(sentences: Iterator[str]) -> Iterator[Claim]:
    for sentence in sentences:
        text = _LEAD.sub("", _STRESS.sub("", _CITATION.sub("", sentence)).strip(), count=1)
        cited = [number for found in _CITATION.findall(sentence) for number in _numbers(found)]
        if any(map(str.isalnum, text)):
            yield Claim(" ".join(text.split()), tuple(dict.fromkeys(cited)))


def _numbers(citation: str) -> list[int]:
    written = citation.partition("†")[0]
    found: list[int] = []
    for first, last in _RANGE.findall(written):
        found += range(int(first), min(int(last), int(first) + _WIDEST_RANGE) + 1)
    return [*found, *(int(one) for one in re.findall(r"\d+", _RANGE.sub(" ", written)))]
