"""The collection that is served: opened once, kept loaded, and followed as its files and its index change."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import NoIndexError, UsageError
from index import Index
from qa.answer.pdf_boxes import BoxFinder
from qa.answer.results import IndexInfo, Result, json_value
from qa.collection.opening import Refresh, open_collection, refresh_if_small
from qa.collection.settings import CollectionSettings, read_settings
from qa.collection.show import show_indexed
from qa.collection.status import status
from qa.filters import Filter
from qa.locate import folder_gone
from qa.retrieval.retriever import Retriever, Unit

# Files are compared with the index before an answer, if that was not done so many seconds ago.
_LOOK_SECONDS = 2.0
# And not before so many times as long as it took: of a large collection it takes a twentieth of the time at most.
_REST = 20.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """What one request is answered from: an open index, and what is set for its collection.

    Attributes:
        retriever: For questions; it may be on a newer generation already.
        snapshot: One generation, open while the request is answered.
        settings: Of the collection.
        boxes: Finds sentences on the pages of PDF.
    """

    retriever: Retriever
    snapshot: Index
    settings: CollectionSettings
    boxes: BoxFinder

    @property
    def root(self) -> Path:
        """The collection's folder."""
        return self.retriever.root

    def asking(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `Retriever.ask`, with what is set where a request says nothing.

        Args:
            wanted: The values of the request's parameters, by name.
        """
        found = self.settings.asking(k=wanted.get("k"), mode=wanted.get("mode"), rerank=wanted.get("rerank"))
        return found | {"only": filter_of(wanted)}

    def ask(self, wanted: Mapping[str, Any]) -> Result:
        """Answer a question as `qa ask --json` does, with boxes for PDF."""
        topic = {"topic": wanted["topic"]} if "topic" in wanted else {}
        return self.boxes.fill(self.retriever.ask(wanted["question"], **self.asking(wanted), **topic))

    def body(self, name: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object that a command prints with `--json`; "search" is of the passages of "ask".

        Args:
            name: Of the command.
            wanted: The values of the request's parameters, by name.
        """
        match name:
            case "ask":
                return self.ask(wanted).as_json()
            case "search":
                return self._search(wanted)
            case "similar":
                k, only = self.asking(wanted)["k"], filter_of(wanted)
                found = self.retriever.similar(wanted["place"], k=k, unit=_unit(wanted), only=only, indexed_only=True)
                return found.as_json()
            case "topics":
                return self.retriever.topics(n=wanted.get("n"), unit=_unit(wanted), only=filter_of(wanted)).as_json()
            case "show":
                return show_indexed(
                    self.root, self.snapshot, wanted["place"], context=wanted.get("context", 3)
                ).as_json()
            case _:
                return status(self.root).as_json()

    def _search(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        info = self.snapshot.info
        return {
            "version": 1,
            "question": wanted["question"],
            "passages": json_value(self.retriever.search(wanted["question"], **self.asking(wanted))),
            "index": json_value(IndexInfo(info.documents, info.passages, info.model, info.generation)),
        }


def _unit(wanted: Mapping[str, Any]) -> Unit:
    return "documents" if wanted.get("documents") else "passages"


def filter_of(wanted: Mapping[str, Any]) -> Filter:
    """Return which part of the collection a request means."""
    return Filter.of(
        path=wanted.get("path"),
        types=wanted.get("type"),
        since=wanted.get("since"),
        until=wanted.get("until"),
        where=wanted.get("where"),
    )


class ServedCollection:
    """A collection whose newest state answers; any number of threads may share it.

    Args:
        root: Its folder.
        follow: Whether changed files are looked for, as `qa ask` does.
    """

    def __init__(self, root: Path, *, follow: bool = True) -> None:
        self._settings = read_settings(root)
        reader = self._settings.reader is not False and self._settings.rerank is not False
        refresh = Refresh.SMALL if follow else Refresh.NONE
        opened = open_collection(root, partial(Retriever.open, reader=reader), refresh=refresh)
        self._retriever = opened.retriever
        self._boxes = BoxFinder(root)
        self._follow = follow
        self._looking = threading.Lock()
        self._look_at = time.monotonic() + _LOOK_SECONDS
        self.note = ""
        self._tell(opened.note)

    @property
    def root(self) -> Path:
        """The collection's folder."""
        return self._retriever.root

    @contextmanager
    def reading(self) -> Iterator[Served]:
        """Yield the newest state, after small changes of files were indexed, if it is time to look for them."""
        if self._follow and time.monotonic() >= self._look_at:
            with self._looking:
                # Whoever came meanwhile waited for this look, and needs none of its own.
                if time.monotonic() >= self._look_at:
                    self._look()
        try:
            self._retriever.reload()
        except NoIndexError:
            if not self.root.exists():
                raise folder_gone(self.root) from None
            raise
        with self._retriever.reading() as snapshot:
            yield Served(self._retriever, snapshot, self._settings, self._boxes)

    def close(self) -> None:
        """Close the index."""
        self._retriever.close()
        self._boxes.close()

    def _look(self) -> None:
        began = time.monotonic()
        note = ""
        try:
            self._settings = read_settings(self.root)
        except UsageError as error:
            note = f"{error} Until then, what was set before holds."
        opened = refresh_if_small(self._retriever)
        self._tell(note or opened.note)
        now = time.monotonic()
        # What it took to index a change says nothing of the next look.
        rest = _REST * (now - began) if opened.report is None else 0.0
        self._look_at = now + max(_LOOK_SECONDS, rest)

    def _tell(self, note: str) -> None:
        if note and note != self.note:
            _log.warning("%s", note)
        self.note = note
