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

from corpus.errors import NoIndexError, UsageError
from index import Index, Progress
from qa.answer.citation import BoxFinder
from qa.answer.results import IndexInfo, Result, json_value
from qa.collection.opening import ANY_CHANGE, refresh_if_small, update_failure_note
from qa.collection.settings import CollectionSettings, read_settings
from qa.collection.show import show_indexed
from qa.collection.status import status
from qa.filters import Filter
from qa.locate import folder_gone_error
from qa.retrieval.retriever import Retriever, Unit

# How long questions wait for an update, from its start: most changes are indexed by then.
_MAX_WAIT_SECONDS = 2.0
# Files are compared with the index before an answer, but at most once in this many seconds.
_UPDATE_SECONDS = 2.0
# Then wait this many times as long as it took: in a large collection, comparing takes a twentieth of the time at most.
_REST_FACTOR = 20.0
# But no longer than this: a failed update may have taken hours, and its cause may be gone soon.
_MAX_REST_SECONDS = 300.0

_UPDATING_NOTE = "files have changed and are being indexed now. Answering from the index as it was."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """What one request is answered from: an open index, and the settings of its collection.

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

    def ask_arguments(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `Retriever.ask`: those in the request, else the collection's settings.

        Args:
            wanted: The values of the request's parameters, by name.
        """
        found = self.settings.ask_arguments(k=wanted.get("k"), mode=wanted.get("mode"), rerank=wanted.get("rerank"))
        return found | {"only": parse_filter(wanted)}

    def ask(self, wanted: Mapping[str, Any]) -> Result:
        """Answer a question as `qa ask --json` does, with boxes for PDF."""
        topic = {"topic": wanted["topic"]} if "topic" in wanted else {}
        return self.boxes.fill(self.retriever.ask(wanted["question"], **self.ask_arguments(wanted), **topic))

    def json_of(self, name: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object that a command prints with `--json`; "search" has the passages of "ask" alone.

        Args:
            name: The command's name.
            wanted: The values of the request's parameters, by name.
        """
        match name:
            case "ask":
                return self.ask(wanted).as_json()
            case "search":
                return self._search(wanted)
            case "similar":
                k, only = self.ask_arguments(wanted)["k"], parse_filter(wanted)
                found = self.retriever.similar(wanted["place"], k=k, unit=_unit(wanted), only=only, indexed_only=True)
                return found.as_json()
            case "topics":
                return self.retriever.topics(n=wanted.get("n"), unit=_unit(wanted), only=parse_filter(wanted)).as_json()
            case "show":
                return show_indexed(
                    self.root, self.snapshot, wanted["place"], context=wanted.get("context", 3)
                ).as_json()
            case _:
                return status(self.root).as_json()

    def _search(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        index = IndexInfo.of(self.snapshot.info, self.retriever.note)
        return {
            "version": 1,
            "question": wanted["question"],
            "passages": json_value(self.retriever.search(wanted["question"], **self.ask_arguments(wanted))),
            "index": json_value(index),
        }


def _unit(wanted: Mapping[str, Any]) -> Unit:
    return "documents" if wanted.get("documents") else "passages"


def parse_filter(wanted: Mapping[str, Any]) -> Filter:
    """Return the filter that a request asks for."""
    return Filter.of(
        path=wanted.get("path"),
        types=wanted.get("type"),
        since=wanted.get("since"),
        until=wanted.get("until"),
        where=wanted.get("where"),
    )


class ServedCollection:
    """A collection that answers from its newest state; any number of threads may share it.

    Changed files are looked for when a question comes, and indexed by one background thread, however many there are.
    Questions wait a moment for it, so that they know of a small change, and else are answered from the state before.

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
        """The generation that answers now; never waits."""
        return self._retriever.snapshot.info.generation

    @contextmanager
    def reading(self) -> Iterator[Served]:
        """Yield the newest state, after indexing changes if it is time to look for them and that takes no longer."""
        if self._follow and (update := self._current_update()) is not None:
            wait([update], max(0.0, self._update_began + _MAX_WAIT_SECONDS - time.monotonic()))
        try:
            self._retriever.reload()
        except NoIndexError:
            if not self.root.exists():
                raise folder_gone_error(self.root) from None
            raise
        with self._retriever.reading() as snapshot:
            yield Served(self._retriever, snapshot, self._settings, self._boxes)

    def close(self) -> None:
        """Close the index, after stopping an update at the next file or batch of passages."""
        with self._update_lock:
            self._is_closed = True
        self._executor.shutdown(cancel_futures=True)
        self._retriever.close()
        self._boxes.close()

    def _current_update(self) -> Future[None] | None:
        """Return the update that is in progress, or begins now as it is time."""
        with self._update_lock:
            if self._update is not None and self._update.done():
                self._update = None
            if self._update is None and not self._is_closed and time.monotonic() >= self._next_update_at:
                self._update_began = time.monotonic()
                self._update = self._executor.submit(self._index_changes)
            return self._update

    def _index_changes(self) -> None:
        began, rest = time.monotonic(), 0.0
        note = ""
        try:
            try:
                self._settings = read_settings(self.root)
            except UsageError as error:
                note = f"{error} Until then, the previous settings apply."
            opened = refresh_if_small(self._retriever, progress=self._on_progress, limit=ANY_CHANGE)
            self._warn(note or opened.note)
            # How long a change took to index says nothing about the next update.
            rest = _REST_FACTOR * (time.monotonic() - began - opened.waited_seconds) if opened.report is None else 0.0
        except CancelledError:
            pass  # the index stays as it was
        except Exception as error:  # nobody waits for this thread, and questions are answered all the same
            _log.debug("the index was not updated", exc_info=error)
            self._warn(update_failure_note(error))
            rest = _REST_FACTOR * (time.monotonic() - began)
        self._next_update_at = time.monotonic() + min(max(_UPDATE_SECONDS, rest), _MAX_REST_SECONDS)

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
