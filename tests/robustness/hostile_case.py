"""Hostile files and how to make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus.formats import MAX_BYTES

ANY = "?"
"""A `Case.reason`: whether the file is indexed or skipped depends on its size."""
LARGE = MAX_BYTES // 1_000_000 * 1_000_000

PASSAGE = "# T\n\nA passage about {}.\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile file.

    Attributes:
        path: Its path in the corpus.
        make: Creates it at a path, with a share (0 to 1) of its full size.
        reason: Start of the reason for skipping it, "" if it is indexed, `ANY` if that depends on its size.
        is_scalable: Whether its size depends on the share.
    """

    path: str
    make: Callable[[Path, float], None]
    reason: str = ""
    is_scalable: bool = False


def data(path: str, content: bytes, reason: str = "") -> Case:
    return Case(path, lambda file, _: put(file, content), reason)


def put(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def bomb(name: str, write: Callable[[int], str], *, size: int = LARGE, reason: str = ANY) -> Case:
    """A text of about `size` bytes, from a function of the size."""

    def make(file: Path, share: float) -> None:
        file.write_bytes(write(max(10, int(size * share))).encode()[: MAX_BYTES if size <= MAX_BYTES else None])

    return Case(f"bombs/{name}", make, reason, is_scalable=True)


def repeat(piece: str) -> Callable[[int], str]:
    """Repeat a piece of text up to a size in bytes."""
    return lambda size: piece * (size // len(piece.encode()))


def sparse(size: int) -> Callable[[Path, float], None]:
    def make(file: Path, _: float) -> None:
        with file.open("wb") as stream:
            stream.truncate(size)

    return make
