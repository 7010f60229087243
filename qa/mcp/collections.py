"""The served collections by name; each is opened in the background, or earlier by the first request for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from corpus.errors import QAError, UsageError

if TYPE_CHECKING:
    from index import Index, StoredDocument
    from qa.collection.served import Served, ServedCollection

_log = logging.getLogger(__name__)


class NamedCollections:
    """Collections by folder name, made unique by numbers; thread-safe.

    Args:
        roots: The collections' folders.
        follow: Whether to look for changed files, as `qa ask` does.
    """

    def __init__(self, roots: Sequence[Path], *, follow: bool) -> None:
        self._roots: dict[str, Path] = {}
        for root in dict.fromkeys(roots):
            stem = root.name or "files"
            names = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
            self._roots[next(name for name in names if name not in self._roots)] = root
        self._follow = follow
        self._served: dict[str, ServedCollection] = {}
        self._documents: WeakKeyDictionary[Index, tuple[StoredDocument, ...]] = WeakKeyDictionary()
        # One for each, as a collection that opens slowly must not block the others.
        self._locks = {name: threading.Lock() for name in self._roots}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the given folders."""
        return tuple(self._roots)

    @contextmanager
    def reading(self, name: str | None) -> Iterator[Served]:
        """Yield the newest state of a collection; the name is optional if there is only one.

        Raises:
            QAError: No collection has this name, or it cannot be opened.
        """
        if name is None and len(self._roots) > 1:
            raise UsageError(f"which collection? There are: {', '.join(self._roots)}.")
        name = name or self.names[0]
        if name not in self._roots:
            raise UsageError(f"no collection {name}. There are: {', '.join(self._roots)}.")
        with self._open_collection(name).reading() as served:
            yield served

    def documents(self, name: str) -> tuple[StoredDocument, ...]:
        """Return the documents of a collection; cached while its snapshot is open, as they are listed page by page.

        Raises:
            QAError: As for `reading`.
        """
        with self.reading(name) as served:
            if (documents := self._documents.get(served.snapshot)) is None:
                documents = self._documents[served.snapshot] = served.snapshot.documents()
            return documents

    def _open_collection(self, name: str) -> ServedCollection:
        from qa.collection.served import ServedCollection  # noqa: PLC0415 - would delay the first answer

        with self._locks[name]:
            if name not in self._served:
                self._served[name] = ServedCollection(self._roots[name], follow=self._follow)
            return self._served[name]

    def open_all(self) -> None:
        """Open all collections; failures are logged here, and raised by requests for that collection."""
        for name in self._roots:
            try:
                self._open_collection(name)
            except QAError as error:
                _log.warning("%s", error)

    def close(self) -> None:
        """Close all collections, and end their updates."""
        for name, lock in self._locks.items():
            with lock:
                if name in self._served:
                    self._served[name].close()
