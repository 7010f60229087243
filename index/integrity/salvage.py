"""Salvage the embeddings, the model and the file selection of a database that can no longer be used."""

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
from index.storage.regular import open_regular
from index.storage.vectors import vector_checksum

_SET_ASIDE = DATABASE + ".damaged"
# The database first, as SQLite deletes a log without a database.
_SUFFIXES = ("", "-wal", "-shm")
_ADVICE = "Check space and permissions; the embeddings in it are lost if it is deleted."
# Length of a `vector_digest`.
_DIGEST_BYTES = 16

VectorRow = tuple[bytes, bytes]


def set_aside(folder: Path) -> None:
    """Rename the database, and keep it until a new one has a generation; raises StorageError."""
    with translate_os_errors("set aside", folder / DATABASE, _ADVICE):
        _delete(folder)
        _rename(folder, _SUFFIXES)
        # Created here with the same permissions, which SQLite would not copy.
        os.close(disk.create(folder / DATABASE, like=folder / _SET_ASIDE))


def resume(folder: Path) -> None:
    """Finish `set_aside` if its process was killed, by renaming the log too; raises StorageError."""
    if is_set_aside(folder) and not (folder / DATABASE).exists():
        with translate_os_errors("set aside", folder / DATABASE, _ADVICE):
            _rename(folder, _SUFFIXES[1:])


def is_set_aside(folder: Path) -> bool:
    """Return whether a database was set aside and has not been rebuilt yet."""
    return (folder / _SET_ASIDE).exists()


def discard(folder: Path) -> None:
    """Delete the database that was set aside; a file that cannot be deleted is tried again next time."""
    with contextlib.suppress(OSError):
        _delete(folder)


def salvaged_vectors(folder: Path) -> Iterator[VectorRow]:
    """Yield digests and intact vectors of the database set aside; raises StorageError if it cannot be read."""
    with _open_pages(folder / _SET_ASIDE) as pages:
        for _, digest, vector, check in () if pages is None else pages.rows(TABLE, columns=4):
            if not isinstance(digest, bytes) or not isinstance(vector, bytes) or len(digest) != _DIGEST_BYTES:
                continue
            if vector_checksum(digest, vector) == check:
                yield digest, vector


def salvaged_model(folder: Path) -> str | None:
    """Return the model of an unusable database, set aside or not; None if it cannot be found."""
    model: str | None = _salvaged_value(folder, "model", lambda value: isinstance(value, str))
    return model


def salvaged_selection(folder: Path) -> Selection | None:
    """Return the file selection of such a database; None if it cannot be found."""
    names = ("include", "exclude", "paths", "formats")
    values = {key: _salvaged_value(folder, key, _is_list_of_strings) for key in names}
    if values["include"] is None or values["exclude"] is None:
        return None
    # Earlier format versions have fewer fields.
    return Selection(**{key: tuple(patterns or ()) for key, patterns in values.items()})


def _is_list_of_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _salvaged_value(folder: Path, key: str, is_valid: Callable[[object], bool]) -> Any:
    """Return the newest valid value of a key of table meta, or None."""
    # If a database was set aside, the new one has no generation yet.
    file = folder / (_SET_ASIDE if is_set_aside(folder) else DATABASE)
    with contextlib.suppress(StorageError), _open_pages(file) as pages:
        for name, data in () if pages is None else pages.rows(INDEX, columns=2):
            if name == key.encode() and isinstance(data, bytes):
                with contextlib.suppress(ValueError, RecursionError):
                    value = json.loads(data)
                    if is_valid(value):
                        return value
    return None


def _delete(folder: Path) -> None:
    for suffix in _SUFFIXES:
        disk.delete_all(folder / (_SET_ASIDE + suffix))


def _rename(folder: Path, suffixes: tuple[str, ...]) -> None:
    for suffix in suffixes:
        path = folder / (DATABASE + suffix)
        if path.exists():
            disk.rename(path, folder / (_SET_ASIDE + suffix))
    disk.sync_folder(folder)


@contextlib.contextmanager
def _open_pages(file: Path) -> Iterator[PageScan | None]:
    """Open a database and its log; None if there is no database."""
    with contextlib.ExitStack() as stack:
        database, log = (_open_if_exists(path, stack) for path in (file, file.with_name(file.name + "-wal")))
        yield None if database is None else PageScan(database, log)


def _open_if_exists(path: Path, stack: contextlib.ExitStack) -> BinaryIO | None:
    with translate_os_errors("read", path, _ADVICE), contextlib.suppress(FileNotFoundError):
        return stack.enter_context(os.fdopen(open_regular(path), "rb"))
    return None
