"""Load files ahead of need, while those before them are split and embedded."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from corpus.discovery.walk import FoundFile
from corpus.errors import Unreadable
from corpus.formats import MIB, format_of
from corpus.loading.load import load
from corpus.loading.sandbox import Sandbox
from corpus.types import Document

# Loaded ahead, in files and in bytes.
_MAX_FILES = 8
_MAX_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """The document in a file, or why there is none; `checked_ns` is when loading began, since the epoch."""

    file: FoundFile
    checked_ns: int
    outcome: Document | Unreadable


def load_all(root: Path, files: Sequence[FoundFile]) -> Iterator[LoadedFile]:
    """Yield files in their order; those that are read in the sandbox are loaded ahead."""
    with Sandbox() as sandbox, ThreadPoolExecutor(1, thread_name_prefix="reading") as pool:
        ahead: deque[tuple[FoundFile, Future[LoadedFile]]] = deque()
        coming = deque(file for file in files if _is_isolated(file))
        try:
            for file in files:
                while coming and len(ahead) < _MAX_FILES and sum(file.size for file, _ in ahead) < _MAX_BYTES:
                    following = coming.popleft()
                    ahead.append((following, pool.submit(_load, root, following, sandbox)))
                yield ahead.popleft()[1].result() if _is_isolated(file) else _load(root, file, None)
        finally:
            for _, future in ahead:
                future.cancel()
            sandbox.close()


def _is_isolated(file: FoundFile) -> bool:
    kind = format_of(file.path)
    return kind is not None and kind.isolated


def _load(root: Path, file: FoundFile, sandbox: Sandbox | None) -> LoadedFile:
    checked_ns = time.time_ns()
    try:
        return LoadedFile(file, checked_ns, load(root, file.path, sandbox=sandbox))
    except Unreadable as error:
        return LoadedFile(file, checked_ns, error)
