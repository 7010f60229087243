"""Pages of PDFs as pictures, with boxes around what is cited; the last pictures are kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from corpus import Sandbox
from corpus.types import PagePicture

# Bytes of pictures that are kept.
_ROOM = 24 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A box on a page, in points from its upper left corner; `mark` is "passage" or "sentence"."""

    mark: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PictureView:
    """A page of a PDF: its size in points, boxes on it, and how many pages there are."""

    kind: ClassVar[str] = "picture"
    sha256: str
    page: int
    pages: int
    width: float
    height: float
    boxes: tuple[Rectangle, ...]

    @property
    def first(self) -> Rectangle | None:
        """The box that a reader looks for: that of the sentence, else of the passage."""
        return next((one for one in self.boxes if one.mark == "sentence"), next(iter(self.boxes), None))


class Pictures:
    """Draws pages; several threads may use it."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], PagePicture] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def draw(self, sandbox: Sandbox, data: bytes, sha256: str, page: int) -> PagePicture:
        """Return a page of a PDF with this digest; `Unreadable` where it cannot be drawn."""
        if (kept := self.kept(sha256, page)) is not None:
            return kept
        drawn = sandbox.draw(data, page)
        with self._lock:
            self._size += len(drawn.png) if (sha256, page) not in self._kept else 0
            self._kept[sha256, page] = drawn
            while self._size > _ROOM and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[1].png)
        return drawn

    def kept(self, sha256: str, page: int) -> PagePicture | None:
        """Return a picture if it is kept."""
        with self._lock:
            found = self._kept.get((sha256, page))
            if found is not None:
                self._kept.move_to_end((sha256, page))
            return found


def boxes_on(sandbox: Sandbox, data: bytes, page: int, texts: Sequence[tuple[str, int, str]]) -> tuple[Rectangle, ...]:
    """Return the boxes on a page of texts, each given as its mark, the page that it begins on, and its words."""
    found = sandbox.boxes(data, [(begins, text) for _, begins, text in texts])
    return tuple(
        Rectangle(mark, left, top, round(right - left, 1), round(bottom - top, 1))
        for (mark, _, _), boxes in zip(texts, found, strict=True)
        for on, left, top, right, bottom in boxes
        if on == page
    )
