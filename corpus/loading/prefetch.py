"""Prefetch files while those before them are split and embedded."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from corpus.discovery.walk import FoundFile
from corpus.errors import Unreadable
from corpus.formats import MIB, format_of, read_as
from corpus.loading.load import load
from corpus.loading.sandbox import Sandbox
from corpus.types import Document

# Limits on prefetching, in files and in bytes.
_MAX_FILES = 8
_MAX_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """The document in a file, or why there is none; `checked_ns` is when loading began, in ns since the epoch."""

    file: FoundFile
    checked_ns: int
    outcome: Document | Unreadable


def load_all(root: Path, files: Sequence[FoundFile], *, formats: Sequence[str] = ()) -> Iterator[LoadedFile]:
    """Load files in order, prefetching those that are read in the sandbox; see `load`."""
    with Sandbox() as sandbox, ThreadPoolExecutor(1, thread_name_prefix="reading") as pool:
        ahead: deque[tuple[FoundFile, Future[LoadedFile]]] = deque()
        kinds = {file.path: format_of(read_as(file.path, formats)) for file in files}
        isolated = {path for path, kind in kinds.items() if kind is not None and kind.isolated}
        pending = deque(file for file in files if file.path in isolated)
        try:
            for file in files:
                while pending and len(ahead) < _MAX_FILES and sum(file.size for file, _ in ahead) < _MAX_BYTES:
                    following = pending.popleft()
                    ahead.append((following, pool.submit(_load, root, following, formats, sandbox)))
                if file.path in isolated:
                    yield ahead.popleft()[1].result()
                else:
                    # Its content may not be what its name says, and may need the sandbox.
                    yield _load(root, file, formats, sandbox)
        finally:
            for _, future in ahead:
                future.cancel()
            # Else the pool would wait for a file; a process that its thread has just started ends with the sandbox.
            sandbox.close()


def _load(root: Path, file: FoundFile, formats: Sequence[str], sandbox: Sandbox) -> LoadedFile:
    checked_ns = time.time_ns()
    try:
        return LoadedFile(file, checked_ns, load(root, file.path, formats=formats, sandbox=sandbox))
    except Unreadable as error:
        return LoadedFile(file, checked_ns, error)
