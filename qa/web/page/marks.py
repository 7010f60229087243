"""What is marked in a text, and a text cut where its marks begin and end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

# First character and one past the last, in code points of a document's text.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Characters of a text that are marked in one way.

    Attributes:
        text: The characters.
        mark: "passage", "sentence", "answer", or "" for none.
        is_place: Whether what was looked for begins here.
    """

    text: str
    mark: str = ""
    is_place: bool = False


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked in a document: passages (or sentences, lightly), in these sentences, in these the answer."""

    passages: tuple[Span, ...] = ()
    sentences: tuple[Span, ...] = ()
    answers: tuple[Span, ...] = ()
    _layers: tuple[tuple[str, Span], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        layers = (("passage", self.passages), ("sentence", self.sentences), ("answer", self.answers))
        object.__setattr__(self, "_layers", tuple((name, span) for name, spans in layers for span in spans))

    @property
    def place(self) -> int | None:
        """Where what was looked for begins: the first sentence, else the passage."""
        return min((start for start, _ in self.sentences or self.passages), default=None)

    def moved(self, by: int) -> Marks:
        """The same in a document where everything is so many characters later."""

        def move(spans: tuple[Span, ...]) -> tuple[Span, ...]:
            return tuple((start + by, end + by) for start, end in spans)

        return Marks(move(self.passages), move(self.sentences), move(self.answers))

    def cut(self, text: str, first: int = 0) -> tuple[MarkedText, ...]:
        """Cut a text, which begins at character `first` of the document."""
        last = first + len(text)
        inside = [(name, max(a, first), min(b, last)) for name, (a, b) in self._layers if a < last and first < b]
        edges = sorted({first, last, *(edge for _, *span in inside for edge in span)})
        pieces = []
        for start, end in pairwise(edges):
            mark = next((name for name, a, b in reversed(inside) if a <= start and end <= b), "")
            piece = text[start - first : end - first]
            pieces.append(MarkedText(piece, mark if piece.strip() else "", start == self.place))
        return tuple(pieces)


def window(length: int, around: Span, edges: Iterable[int], *, room: int) -> Span:
    """Return which characters of a long document to show: those around a place, from edge to edge where there are any.

    Args:
        length: Of the document.
        around: The place.
        edges: Where it may be cut, such as the beginnings of lines, in order.
        room: How many characters at most.
    """
    if length <= room:
        return 0, length
    first = max(0, around[0] - room // 2)
    last = min(length, first + room)
    inside = [edge for edge in edges if first <= edge <= last]
    start = next((edge for edge in inside if edge <= around[0]), first) if first else 0
    end = next((edge for edge in reversed(inside) if edge >= around[1] and edge > start), last)
    return start, end if last < length else length
