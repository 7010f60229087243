"""Hostile files and how to make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus.formats import MAX_BYTES

ANY = "?"
"""A `Case.reason`: whether the file is indexed or left out depends on its size."""
LARGE = MAX_BYTES // 1_000_000 * 1_000_000

PASSAGE = "# T\n\nA passage about {}.\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile file.

    Attributes:
        path: Its path in the corpus.
        make: Creates it at a path, with a share (0 to 1) of its full size.
        reason: How the reason for leaving it out begins, "" if it is indexed, `ANY` if that depends on its size.
        grows: Whether its size depends on the share.
    """

    path: str
    make: Callable[[Path, float], None]
    reason: str = ""
    grows: bool = False


def data(path: str, content: bytes, reason: str = "") -> Case:
    return Case(path, lambda file, _: put(file, content), reason)


def put(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def bomb(name: str, write: Callable[[int], str], *, size: int = LARGE, reason: str = ANY) -> Case:
    """A text of about `size` bytes; `write` gets the number of bytes to make."""

    def make(file: Path, share: float) -> None:
        file.write_bytes(write(max(10, int(size * share))).encode()[: MAX_BYTES if size <= MAX_BYTES else None])

    return Case(f"bombs/{name}", make, reason, grows=True)


def again(piece: str) -> Callable[[int], str]:
    """The same piece repeated."""
    return lambda size: piece * (size // len(piece.encode()))


def sparse(size: int) -> Callable[[Path, float], None]:
    def make(file: Path, _: float) -> None:
        with file.open("wb") as stream:
            stream.truncate(size)

    return make
