"""Marks in a text, and the text cut into pieces where they begin and end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

# First character and one past the last, in code points of a document's text.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A piece of text with a single mark.

    Attributes:
        text: Its characters.
        mark: "passage", "sentence", "answer", or "" for none.
        is_place: Whether the cited place begins here.
    """

    text: str
    mark: str = ""
    is_place: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks in a document: passages (or lightly marked sentences), sentences inside them, and answers in those."""

    passages: tuple[Span, ...] = ()
    sentences: tuple[Span, ...] = ()
    answers: tuple[Span, ...] = ()

    @property
    def place_start(self) -> int | None:
        """Where the cited place begins: at the first sentence, else at the first passage."""
        return min((start for start, _ in self.sentences or self.passages), default=None)

    def shifted(self, by: int) -> Marks:
        """Return the same marks, `by` characters later."""

        def shift(spans: tuple[Span, ...]) -> tuple[Span, ...]:
            return tuple((start + by, end + by) for start, end in spans)

        return Marks(shift(self.passages), shift(self.sentences), shift(self.answers))

    def cut(self, text: str, first: int = 0) -> tuple[MarkedText, ...]:
        """Cut a text that begins at character `first` of the document into pieces at its marks."""
        last = first + len(text)
        layers = (("passage", self.passages), ("sentence", self.sentences), ("answer", self.answers))
        visible = [
            (name, max(a, first), min(b, last)) for name, spans in layers for a, b in spans if a < last and first < b
        ]
        edges = sorted({first, last, *(edge for _, *span in visible for edge in span)})
        pieces = []
        for start, end in pairwise(edges):
            mark = next((name for name, a, b in reversed(visible) if a <= start and end <= b), "")
            piece = text[start - first : end - first]
            pieces.append(MarkedText(piece, mark if piece.strip() else "", start == self.place_start))
        return tuple(pieces)


def window(length: int, around: Span, edges: Iterable[int], *, room: int) -> Span:
    """Return which characters of a long document to show around a place, cut at edges if possible.

    Args:
        length: The document's length.
        around: The place.
        edges: Where the document may be cut, such as the beginnings of lines, in order.
        room: How many characters to show at most.
    """
    if length <= room:
        return 0, length
    first = max(0, around[0] - room // 2)
    last = min(length, first + room)
    inside = [edge for edge in edges if first <= edge <= last]
    start = next((edge for edge in inside if edge <= around[0]), first) if first else 0
    end = next((edge for edge in reversed(inside) if edge >= around[1] and edge > start), last)
    return start, end if last < length else length
