"""Prefetch files while earlier ones are split and embedded."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from corpus.discovery.walk import FoundFile
from corpus.errors import Unreadable
from corpus.formats import MIB, effective_name, format_of
from corpus.loading.load import load
from corpus.loading.sandbox import Sandbox
from corpus.types import Document

# Limits on prefetching, in files and in bytes.
_MAX_FILES = 8
_MAX_BYTES = 64 * MIB


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """The document in a file, or why there is none; `checked_ns` is when loading started, in ns since the epoch."""

    file: FoundFile
    checked_ns: int
    outcome: Document | Unreadable


def load_all(root: Path, files: Sequence[FoundFile], *, formats: Sequence[str] = ()) -> Iterator[LoadedFile]:
    """Load files in order, prefetching those that are read in the sandbox; see `load`."""
    with Sandbox() as sandbox, ThreadPoolExecutor(1, thread_name_prefix="reading") as pool:
        started: deque[tuple[FoundFile, Future[LoadedFile]]] = deque()
        named = ((file.path, format_of(effective_name(file.path, formats))) for file in files)
        sandboxed = {path for path, file_format in named if file_format is not None and file_format.sandboxed}
        pending = deque(file for file in files if file.path in sandboxed)
        try:
            for file in files:
                while pending and len(started) < _MAX_FILES and sum(ahead.size for ahead, _ in started) < _MAX_BYTES:
                    next_file = pending.popleft()
                    started.append((next_file, pool.submit(_load, root, next_file, formats, sandbox)))
                if file.path in sandboxed:
                    yield started.popleft()[1].result()
                else:
                    # It may still need the sandbox, if its content is of another format than its name says.
                    yield _load(root, file, formats, sandbox)
        finally:
            for _, future in started:
                future.cancel()
            # Otherwise the pool would wait for a file; closing also ends a process that its thread has just started.
            sandbox.close()


def _load(root: Path, file: FoundFile, formats: Sequence[str], sandbox: Sandbox) -> LoadedFile:
    checked_ns = time.time_ns()
    try:
        return LoadedFile(file, checked_ns, load(root, file.path, formats=formats, sandbox=sandbox))
    except Unreadable as error:
        return LoadedFile(file, checked_ns, error)
