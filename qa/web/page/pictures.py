"""Pages of PDFs as pictures, with boxes around cited text; recent pictures are cached."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from corpus import Sandbox
from corpus.types import PagePicture

# Bytes of pictures to cache.
_CACHE_BYTES = 24 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A box on a page, in points from the page's upper left corner; `mark` is "passage" or "sentence"."""

    mark: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PictureView:
    """A page of a PDF: its size in points, the boxes on it, and the number of pages in the document."""

    kind: ClassVar[str] = "picture"
    sha256: str
    page: int
    pages: int
    width: float
    height: float
    boxes: tuple[Rectangle, ...]

    @property
    def first(self) -> Rectangle | None:
        """The box to scroll to: the sentence's first, else the passage's."""
        return next((box for box in self.boxes if box.mark == "sentence"), next(iter(self.boxes), None))


class Pictures:
    """Draws pages and caches them; thread-safe."""

    def __init__(self) -> None:
        self._cache: dict[tuple[str, int], PagePicture] = {}  # the latest last
        self._lock = threading.Lock()

    def draw(self, sandbox: Sandbox, data: bytes, sha256: str, page: int) -> PagePicture:
        """Draw a page of a PDF with this digest; raises `Unreadable` if that fails."""
        with self._lock:
            cached = self._cache.pop((sha256, page), None)
        picture = cached or sandbox.draw(data, page)
        with self._lock:
            self._cache[sha256, page] = picture
            while sum(len(picture.png) for picture in self._cache.values()) > _CACHE_BYTES and len(self._cache) > 1:
                del self._cache[next(iter(self._cache))]
        return picture


def boxes_on(sandbox: Sandbox, data: bytes, page: int, texts: Sequence[tuple[str, int, str]]) -> tuple[Rectangle, ...]:
    """Return the boxes of texts on a page; a text has its mark, its first page, and its words."""
    boxes_of_texts = sandbox.boxes(data, [(first_page, text) for _, first_page, text in texts])
    return tuple(
        Rectangle(mark, left, top, round(right - left, 1), round(bottom - top, 1))
        for (mark, _, _), boxes in zip(texts, boxes_of_texts, strict=True)
        for box_page, left, top, right, bottom in boxes
        if box_page == page
    )
