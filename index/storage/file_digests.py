"""SHA-256 of files that rarely change, such as a model's, cached in the user's cache folder by stat values."""

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
_CACHE = "verified.json"


def sha256_of(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return digests (hex) by file name; files whose stat values match the cache are not read. Raises OSError."""
    cached = _read_cache()
    added: dict[str, list[object]] = {}
    digests: dict[str, str] = {}
    for name in names:
        path = (folder / name).resolve()
        stat = _read_stat(path)
        entry = cached.get(str(path))
        if isinstance(entry, list) and entry[:-1] == stat and isinstance(entry[-1], str):
            digests[name] = entry[-1]
            continue
        digests[name] = _sha256(path)
        # The digest of a file that changed while it was read must not be cached.
        if _read_stat(path) == stat:
            added[str(path)] = [*stat, digests[name]]
    if added:
        _write_cache(cached | added)
    return digests


def _read_stat(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _read_cache() -> dict[str, object]:
    with contextlib.suppress(OSError, ValueError):
        content = json.loads((cache_folder() / _CACHE).read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}


def _write_cache(content: dict[str, object]) -> None:
    existing = {path: digest for path, digest in content.items() if Path(path).exists()}
    try:
        write_to_cache(cache_folder() / _CACHE, json.dumps(existing).encode())
    except QAError as error:
        _LOG.debug("the digests of the model are not cached: %s", error)
