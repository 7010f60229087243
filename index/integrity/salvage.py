"""Salvage from a database that cannot be used any more its embeddings, its model and its selection of files."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from corpus.errors import StorageError
from index.integrity.page_scan import INDEX, TABLE, PageScan
from index.storage import disk
from index.storage.database import DATABASE
from index.storage.files import translate_os_errors
from index.storage.metadata import Selection
from index.storage.vectors import vector_checksum

_ASIDE = DATABASE + ".damaged"
# The database comes first: SQLite deletes a log whose database is gone.
_SUFFIXES = ("", "-wal", "-shm")
_ADVICE = "Check space and permissions; the embeddings in it are lost if it is deleted."
# Bytes of `vector_digest`.
_DIGEST = 16

Row = tuple[bytes, bytes]


def set_aside(folder: Path) -> None:
    """Rename the database to make room for a new one, and keep it until that has a generation; raises StorageError."""
    with translate_os_errors("set aside", folder / DATABASE, _ADVICE):
        _delete(folder)
        _rename(folder, _SUFFIXES)
        # Made here, since SQLite would let the new one be read by other users than the old one.
        os.close(disk.create(folder / DATABASE, like=folder / _ASIDE))


def resume(folder: Path) -> None:
    """Finish `set_aside` if its process was killed: the log follows its database. Raises StorageError."""
    if is_set_aside(folder) and not (folder / DATABASE).exists():
        with translate_os_errors("set aside", folder / DATABASE, _ADVICE):
            _rename(folder, _SUFFIXES[1:])


def is_set_aside(folder: Path) -> bool:
    """Return whether a database was set aside and is not rebuilt yet."""
    return (folder / _ASIDE).exists()


def discard(folder: Path) -> None:
    """Delete the database that was set aside; what cannot be deleted now is tried again next time."""
    with contextlib.suppress(OSError):
        _delete(folder)


def salvaged_vectors(folder: Path) -> Iterator[Row]:
    """Yield the sound vectors of the database set aside, with their digests; StorageError if it is unreadable."""
    with _open_pages(folder / _ASIDE) as pages:
        for _, digest, vector, check in () if pages is None else pages.rows(TABLE, columns=4):
            if not isinstance(digest, bytes) or not isinstance(vector, bytes) or len(digest) != _DIGEST:
                continue
            if vector_checksum(digest, vector) == check:
                yield digest, vector


def salvaged_model(folder: Path) -> str | None:
    """Return the model of a database that cannot be used or was set aside, if it can be found."""
    model: str | None = _salvaged_value(folder, "model", lambda value: isinstance(value, str))
    return model


def salvaged_selection(folder: Path) -> Selection | None:
    """Return which files such a database selected, if that can be found."""
    names = ("include", "exclude", "paths", "formats")
    found = {key: _salvaged_value(folder, key, _is_lines) for key in names}
    if found["include"] is None or found["exclude"] is None:
        return None
    # Earlier format versions have fewer of them.
    return Selection(**{key: tuple(lines or ()) for key, lines in found.items()})


def _is_lines(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _salvaged_value(folder: Path, key: str, is_valid: Callable[[object], bool]) -> Any:
    """Return the first valid value of a key of table meta, the last written first, or None."""
    # If one was set aside, the other database has no generation yet.
    file = folder / (_ASIDE if is_set_aside(folder) else DATABASE)
    with contextlib.suppress(StorageError), _open_pages(file) as pages:
        for own, value in () if pages is None else pages.rows(INDEX, columns=2):
            if own == key.encode() and isinstance(value, bytes):
                with contextlib.suppress(ValueError, RecursionError):
                    found = json.loads(value)
                    if is_valid(found):
                        return found
    return None


def _delete(folder: Path) -> None:
    for suffix in _SUFFIXES:
        disk.delete_all(folder / (_ASIDE + suffix))


def _rename(folder: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        path = folder / (DATABASE + suffix)
        if path.exists():
            disk.rename(path, folder / (_ASIDE + suffix))
    disk.sync_folder(folder)


@contextlib.contextmanager
def _open_pages(file: Path) -> Iterator[PageScan | None]:
    """Open a database and its log; None if there is no database."""
    with contextlib.ExitStack() as stack:
        database, log = (_open(path, stack) for path in (file, file.with_name(file.name + "-wal")))
        yield None if database is None else PageScan(database, log)


def _open(path: Path, stack: contextlib.ExitStack) -> BinaryIO | None:
    with translate_os_errors("read", path, _ADVICE), contextlib.suppress(FileNotFoundError):
        return stack.enter_context(path.open("rb"))
    return None
