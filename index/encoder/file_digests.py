"""SHA-256 of a model's files, computed once and remembered in the user's cache folder by stat."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from corpus.errors import QAError
from index.storage.files import cache_folder, write_to_cache

_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 20

Stamp = list[int]


def sha256_of(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Digest files, lower-case hex by name; a file whose stat is as remembered is not read again.

    Raises:
        OSError: A file is missing or cannot be read.
    """
    memory = _remembered()
    fresh: dict[str, list[object]] = {}
    digests: dict[str, str] = {}
    for name in names:
        path = (folder / name).resolve()
        stamp = _stamp(path)
        known = memory.get(str(path))
        if isinstance(known, list) and known[:-1] == stamp and isinstance(known[-1], str):
            digests[name] = known[-1]
            continue
        digests[name] = _sha256(path)
        # A file that changed meanwhile must not be remembered under either state.
        if _stamp(path) == stamp:
            fresh[str(path)] = [*stamp, digests[name]]
    if fresh:
        _remember(memory | fresh)
    return digests


def _stamp(path: Path) -> Stamp:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _memory_file() -> Path | None:
    folder = cache_folder()
    return None if folder is None else folder / "verified.json"


def _remembered() -> dict[str, object]:
    file = _memory_file()
    with contextlib.suppress(OSError, ValueError):
        if file is not None:
            found = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return found
    return {}


def _remember(memory: dict[str, object]) -> None:
    """Write the memory down; without a place for it the files are simply read again next time."""
    file = _memory_file()
    if file is None:
        return
    there = {path: digest for path, digest in memory.items() if Path(path).exists()}
    try:
        write_to_cache(file, json.dumps(there).encode())
    except QAError as error:
        _LOG.debug("the digests of the model are not remembered: %s", error)
