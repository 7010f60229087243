"""A served collection: opened once, kept loaded, and kept current as its files and its index change."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.errors import UsageError
from index import Index, Progress
from qa.answer.citation import BoxFinder
from qa.answer.results import IndexInfo, Result, json_value
from qa.collection.opening import ANY_CHANGE, refresh_if_small, update_failure_note
from qa.collection.settings import CollectionSettings, read_settings
from qa.collection.show import show_indexed
from qa.collection.status import status
from qa.filters import Filter
from qa.retrieval.retriever import Retriever, Unit

# How long questions wait for an update, from its start; most changes are indexed by then.
_MAX_WAIT_SECONDS = 2.0
# Files are compared with the index before an answer, but at most once in this time.
_UPDATE_SECONDS = 2.0
# After comparing, wait this many times as long as that took: in a large collection, it takes a twentieth of the time.
_REST_FACTOR = 20.0
# But no longer than this: a failed update may have taken hours, and its cause may soon be gone.
_MAX_REST_SECONDS = 300.0

_UPDATING_NOTE = "files have changed and are being indexed now. Answering from the index as it was."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """What a request is answered from: an open index and the settings of its collection.

    Attributes:
        retriever: For questions; it may be on a newer generation already.
        snapshot: One generation, open while the request is answered.
        settings: The collection's settings.
        boxes: Locates sentences on the pages of PDFs.
    """

    retriever: Retriever
    snapshot: Index
    settings: CollectionSettings
    boxes: BoxFinder

    @property
    def root(self) -> Path:
        """The collection's folder."""
        return self.retriever.root

    def ask_arguments(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `Retriever.ask`: from the request, else from the collection's settings.

        Args:
            request: The values of the request's parameters, by name.
        """
        k, mode, rerank = map(request.get, ("k", "mode", "rerank"))
        return self.settings.ask_arguments(k=k, mode=mode, rerank=rerank) | {"only": parse_filter(request)}

    def ask(self, request: Mapping[str, Any]) -> Result:
        """Answer a question as `qa ask --json` does, with boxes for PDF."""
        arguments = self.ask_arguments(request) | {"topic": request.get("topic")}
        return self.boxes.fill(self.retriever.ask(request["question"], **arguments))

    def body(self, name: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object that a command prints with `--json`; "search" has the passages of "ask" alone.

        Args:
            name: The command's name.
            request: The values of the request's parameters, by name.
        """
        match name:
            case "ask":
                return self.ask(request).as_json()
            case "search":
                return self._search(request)
            case "similar":
                k, only, unit = self.ask_arguments(request)["k"], parse_filter(request), _unit(request)
                return self.retriever.similar(request["place"], k=k, unit=unit, only=only, indexed_only=True).as_json()
            case "topics":
                n, only, unit = request.get("n"), parse_filter(request), _unit(request)
                return self.retriever.topics(n=n, unit=unit, only=only).as_json()
            case "show":
                context = request.get("context", 3)
                return show_indexed(self.root, self.snapshot, request["place"], context=context).as_json()
            case _:
                return status(self.root).as_json()

    def _search(self, request: Mapping[str, Any]) -> dict[str, Any]:
        index = IndexInfo.of(self.snapshot.info, self.retriever.note)
        return {
            "version": 1,
            "question": request["question"],
            "passages": json_value(self.retriever.search(request["question"], **self.ask_arguments(request))),
            "index": json_value(index),
        }


def _unit(request: Mapping[str, Any]) -> Unit:
    return "documents" if request.get("documents") else "passages"


def parse_filter(request: Mapping[str, Any]) -> Filter:
    """Return the filter that a request asks for."""
    return Filter.of(
        path=request.get("path"),
        types=request.get("type"),
        since=request.get("since"),
        until=request.get("until"),
        where=request.get("where"),
    )


class ServedCollection:
    """A collection that answers from its newest state; any number of threads may share it.

    A question makes one background thread look for changed files and index them, however many there are. Questions wait
    for it a moment, so that small changes show at once, and are then answered from the index as it was.

    Args:
        root: Its folder.
        follow: Whether to look for changed files, as `qa ask` does.
    """

    def __init__(self, root: Path, *, follow: bool = True) -> None:
        self._settings = read_settings(root)
        reader = self._settings.reader is not False and self._settings.rerank is not False
        self._retriever = Retriever.open(root, reader=reader)
        self._boxes = BoxFinder(root)
        self._follow = follow
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="qa-update")
        self._update_lock = threading.Lock()
        self._update: Future[None] | None = None
        self._update_began = self._next_update_at = time.monotonic()
        self._is_closed = False
        self._last_warning = ""
        if follow:
            self._current_update()

    @property
    def root(self) -> Path:
        """The collection's folder."""
        return self._retriever.root

    @property
    def generation(self) -> int:
        """The generation that questions are answered from now; never waits."""
        return self._retriever.snapshot.info.generation

    @contextmanager
    def reading(self) -> Iterator[Served]:
        """Yield the newest state, after an update if one is due and takes no longer than questions wait."""
        if self._follow and (update := self._current_update()) is not None:
            wait([update], max(0.0, self._update_began + _MAX_WAIT_SECONDS - time.monotonic()))
        self._retriever.reload()
        with self._retriever.reading() as snapshot:
            yield Served(self._retriever, snapshot, self._settings, self._boxes)

    def close(self) -> None:
        """Stop any update at the next file or batch of passages, and close the index."""
        with self._update_lock:
            self._is_closed = True
        self._executor.shutdown(cancel_futures=True)
        self._retriever.close()
        self._boxes.close()

    def _current_update(self) -> Future[None] | None:
        """Return the update in progress, or start one if it is due."""
        with self._update_lock:
            if self._update is not None and self._update.done():
                self._update = None
            if self._update is None and not self._is_closed and time.monotonic() >= self._next_update_at:
                self._update_began = time.monotonic()
                self._update = self._executor.submit(self._index_changes)
            return self._update

    def _index_changes(self) -> None:
        started, rest_seconds = time.monotonic(), 0.0
        note = ""
        try:
            try:
                self._settings = read_settings(self.root)
            except UsageError as error:
                note = f"{error} Until then, the previous settings apply."
            collection = refresh_if_small(self._retriever, progress=self._on_progress, limit=ANY_CHANGE)
            self._warn(note or collection.note)
            # How long a change took to index says nothing about the next update.
            if collection.report is None:
                rest_seconds = _REST_FACTOR * (time.monotonic() - started - collection.waited_seconds)
        except CancelledError:
            pass  # the index stays as it was
        except Exception as error:  # nobody would see it in this thread, and questions are answered all the same
            _log.debug("the index was not updated", exc_info=error)
            self._warn(update_failure_note(error))
            rest_seconds = _REST_FACTOR * (time.monotonic() - started)
        self._next_update_at = time.monotonic() + min(max(_UPDATE_SECONDS, rest_seconds), _MAX_REST_SECONDS)

    def _on_progress(self, _: Progress) -> None:
        if self._is_closed:
            raise CancelledError
        self._retriever.note = _UPDATING_NOTE

    def _warn(self, note: str) -> None:
        """Pass on a note, and log it unless it was the last one."""
        self._retriever.note = note
        if note and note != self._last_warning:
            _log.warning("%s", note)
        self._last_warning = note
