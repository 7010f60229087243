"""What a database that cannot be used any more still yields: its embeddings, row by row."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from corpus.errors import StorageError
from index.dense.vector_rows import vector_checksum
from index.integrity import page_scan
from index.storage import disk
from index.storage.database import DATABASE

_ASIDE = DATABASE + ".damaged"
# Behind the database itself: SQLite drops a log whose database is gone.
_COMPANIONS = ("", "-wal", "-shm")
# Bytes of the digest that a vector is found again by.
_DIGEST = 16

Row = tuple[bytes, bytes]


def set_aside(folder: Path) -> None:
    """Make room for a new database; the old one stays until the new one has a generation.

    Raises:
        StorageError: The disk refused.
    """
    try:
        for companion in _COMPANIONS:
            disk.delete_all(folder / (_ASIDE + companion))
        _move(folder, _COMPANIONS)
    except OSError as error:
        raise _refused(folder / DATABASE, "set aside", error) from error


def resume(folder: Path) -> None:
    """Finish what `set_aside` began, if its process was killed: the log follows its database.

    Raises:
        StorageError: The disk refused.
    """
    if (folder / _ASIDE).exists() and not (folder / DATABASE).exists():
        try:
            _move(folder, _COMPANIONS[1:])
        except OSError as error:
            raise _refused(folder / DATABASE, "set aside", error) from error


def _move(folder: Path, companions: tuple[str, ...]) -> None:
    for companion in companions:
        path = folder / (DATABASE + companion)
        if path.exists():
            disk.rename(path, folder / (_ASIDE + companion))
    disk.sync_folder(folder)


def is_set_aside(folder: Path) -> bool:
    """Whether a database was set aside and is not made anew yet."""
    return (folder / _ASIDE).exists()


def salvaged_vectors(folder: Path) -> Iterator[Row]:
    """Digests and vectors of the database that was set aside, as far as they can be read and hold.

    Raises:
        StorageError: The system refused to open it; what it holds is not known to be lost.
    """
    with _pages(folder / _ASIDE) as pages:
        if pages is None:
            return
        for _, digest, vector, check in pages.records(page_scan.TABLE, columns=4):
            if not isinstance(digest, bytes) or not isinstance(vector, bytes) or len(digest) != _DIGEST:
                continue
            if vector_checksum(digest, vector) == check:
                yield digest, vector


def salvaged_model(folder: Path) -> str | None:
    """The model that a database which cannot be used, or was set aside, says it was built with, if it still does."""
    model = _said(folder, "model", lambda value: isinstance(value, str))
    return None if model is None else str(model)


def salvaged_patterns(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None:
    """`include`, `exclude` and `paths` that such a database says it was built with, if it still says so."""
    include, exclude, paths = (_said(folder, key, _are_lines) for key in ("include", "exclude", "paths"))
    # An earlier version wrote no paths.
    return None if include is None or exclude is None else (tuple(include), tuple(exclude), tuple(paths or ()))


def _are_lines(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _said(folder: Path, key: str, fits: Callable[[object], bool]) -> Any:
    """The value of a key of `meta`, in the first row found whose value is of the right kind; else None."""
    # Beside one that was set aside there is only one that was never finished.
    file = folder / (_ASIDE if is_set_aside(folder) else DATABASE)
    with contextlib.suppress(StorageError), _pages(file) as pages:
        if pages is not None:
            for own, value in pages.records(page_scan.INDEX, columns=2):
                if own == key.encode() and isinstance(value, bytes):
                    with contextlib.suppress(ValueError, RecursionError):
                        found = json.loads(value)
                        if fits(found):
                            return found
    return None


def discard(folder: Path) -> None:
    """Delete the database that was set aside; what the disk refuses to delete is there the next time."""
    with contextlib.suppress(OSError):
        for companion in _COMPANIONS:
            disk.delete_all(folder / (_ASIDE + companion))


@contextlib.contextmanager
def _pages(file: Path) -> Iterator[page_scan.Pages | None]:
    """The pages of a database and its log, or None where there is none."""
    with contextlib.ExitStack() as stack:
        database, log = (_opened(path, stack) for path in (file, file.with_name(file.name + "-wal")))
        yield None if database is None else page_scan.Pages(database, log)


def _opened(path: Path, stack: contextlib.ExitStack) -> BinaryIO | None:
    try:
        return stack.enter_context(path.open("rb"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, "read", error) from error


def _refused(file: Path, what: str, error: Exception) -> StorageError:
    reason = getattr(error, "strerror", None) or error
    return StorageError(
        f"cannot {what} {file}: {reason}. Check space and permissions; the embeddings in it are lost if it is deleted."
    )
