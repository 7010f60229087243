"""The collection that is served: opened once, kept loaded, and followed as its files and its index change."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus import INDEX_FOLDER
from index import DATABASE
from qa.answer.pdf_boxes import BoxFinder
from qa.answer.results import Mode, Result
from qa.collection.build import Refresh, open_collection, refresh_if_small
from qa.collection.settings import CollectionSettings, read_settings
from qa.retrieval.retriever import Paths, Retriever

# Files are compared with the index before an answer, if that was not done so many seconds ago.
_LOOK_SECONDS = 2.0
# And not before so many times as long as it took: of a large collection it takes a twentieth of the time at most.
_REST = 20.0
_DEFAULT_K = 5

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """What one request is answered from: an open index, and what is set for its collection."""

    retriever: Retriever
    settings: CollectionSettings
    boxes: BoxFinder

    @property
    def root(self) -> Path:
        """The collection's folder."""
        return self.retriever.root

    def asking(self, k: int | None, mode: str | None, rerank: bool | None, path: Paths) -> dict[str, Any]:  # noqa: FBT001
        """Return the arguments of `Retriever.ask`, with what is set where a request says nothing."""
        settings = self.settings
        return {
            "k": k or settings.k or _DEFAULT_K,
            "mode": Mode(mode) if mode else settings.mode or Mode.HYBRID,
            "rerank": settings.rerank is not False if rerank is None else rerank,
            "path": path,
        }

    def ask(self, question: str, **wanted: Any) -> Result:
        """Answer a question as `qa ask --json` does, with boxes for PDF."""
        return self.boxes.fill(self.retriever.ask(question, **wanted))


class ServedCollection:
    """A collection whose newest state answers; used by one thread at a time.

    Args:
        root: Its folder.
        follow: Whether changed files are looked for, as `qa ask` does.
    """

    def __init__(self, root: Path, *, follow: bool = True) -> None:
        self._settings = read_settings(root)
        reader = self._settings.reader is not False and self._settings.rerank is not False
        opened = open_collection(root, refresh=Refresh.SMALL if follow else Refresh.NONE, reader=reader)
        self._retriever = opened.retriever
        self._boxes = BoxFinder(root)
        self._follow = follow
        self._lock = threading.Lock()
        self._seen = self._on_disk()
        self._look_at = time.monotonic() + _LOOK_SECONDS
        self.note = ""
        self._tell(opened.note)

    def current(self) -> Served:
        """Return the newest state, after small changes of files were indexed, if it is time to look for them."""
        with self._lock:
            began = time.monotonic()
            if (seen := self._on_disk()) != self._seen:
                self._retriever, self._seen = self._retriever.reopened(self._retriever._encoder), seen
            if self._follow and began >= self._look_at:
                self._settings = read_settings(self._retriever.root)
                opened = refresh_if_small(self._retriever)
                self._retriever, self._seen = opened.retriever, self._on_disk()
                self._tell(opened.note)
                now = time.monotonic()
                self._look_at = now + max(_LOOK_SECONDS, _REST * (now - began))
            return Served(self._retriever, self._settings, self._boxes)

    def close(self) -> None:
        """Close the index."""
        with self._lock:
            self._retriever.close()
            self._boxes.close()

    def _tell(self, note: str) -> None:
        if note and note != self.note:
            _log.warning("%s", note)
        self.note = note

    def _on_disk(self) -> tuple[tuple[int, int, int], ...]:
        """What differs once another process has committed a generation."""
        file = self._retriever.root / INDEX_FOLDER / DATABASE
        found = []
        for each in (file, file.with_name(f"{DATABASE}-wal")):
            try:
                stat = each.stat()
                found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
            except OSError:
                found.append((0, 0, 0))
        return tuple(found)
