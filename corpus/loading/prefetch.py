"""Read files while those before them are cut and embedded."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from corpus.discovery.walk import FoundFile
from corpus.errors import Unreadable
from corpus.formats import format_of
from corpus.loading.load import load
from corpus.loading.sandbox import Sandbox
from corpus.types import Document

# Files that are read ahead, and the bytes of them.
_MOST_FILES = 8
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """What reading a file gave.

    Attributes:
        file: Which.
        checked_ns: When it was read.
        outcome: The document, or why there is none.
    """

    file: FoundFile
    checked_ns: int
    outcome: Document | Unreadable


def load_all(root: Path, files: Sequence[FoundFile]) -> Iterator[LoadedFile]:
    """Read files in their order; those that another process reads are begun before they are asked for."""
    with Sandbox() as sandbox, ThreadPoolExecutor(1, thread_name_prefix="reading") as pool:
        begun: deque[Future[LoadedFile]] = deque()
        sizes: deque[int] = deque()
        coming = iter([file for file in files if _is_slow(file)])
        following = next(coming, None)
        try:
            for file in files:
                while following and len(begun) < _MOST_FILES and (not begun or sum(sizes) < _MOST_BYTES):
                    begun.append(pool.submit(_read, root, following, sandbox))
                    sizes.append(following.size)
                    following = next(coming, None)
                if _is_slow(file):
                    sizes.popleft()
                    yield begun.popleft().result()
                else:
                    yield _read(root, file, None)
        finally:
            for future in begun:
                future.cancel()
            sandbox.close()


def _is_slow(file: FoundFile) -> bool:
    kind = format_of(file.path)
    return kind is not None and kind.isolated


def _read(root: Path, file: FoundFile, sandbox: Sandbox | None) -> LoadedFile:
    checked_ns = time.time_ns()
    try:
        return LoadedFile(file, checked_ns, load(root, file.path, sandbox=sandbox))
    except Unreadable as error:
        return LoadedFile(file, checked_ns, error)
