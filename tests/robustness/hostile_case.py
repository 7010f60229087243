"""What a hostile file is, and how one is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corpus.formats import MAX_BYTES

ANY = "?"
"""An expectation: the file may be taken in or left out for a reason, which depends on its size."""
LARGE = MAX_BYTES // 1_000_000 * 1_000_000

# With its subject to be filled in.
PASSAGE = "# T\n\nA passage about {}.\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile file.

    Attributes:
        path: Where it stands in the corpus.
        make: Makes it there, at a share (0 to 1) of its full size.
        reason: How the reason to leave it out begins, "" where it is taken in, `ANY` where size decides.
        grows: Whether its size follows the share.
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
    """A text of about `size` bytes; `write` is told how many."""

    def make(file: Path, share: float) -> None:
        file.write_bytes(write(max(10, int(size * share))).encode()[: MAX_BYTES if size <= MAX_BYTES else None])

    return Case(f"bombs/{name}", make, reason, grows=True)


def again(piece: str) -> Callable[[int], str]:
    """The same piece over and over."""
    return lambda size: piece * (size // len(piece.encode()))


def sparse(size: int) -> Callable[[Path, float], None]:
    def make(file: Path, _: float) -> None:
        with file.open("wb") as stream:
            stream.truncate(size)

    return make
