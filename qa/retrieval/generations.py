"""The index generation that answers questions, and how a newer one replaces it without disturbing running queries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from corpus.errors import UsageError
from index import Forked, Hint, Index, keep_for_ever, load_encoder, require_same_encoder, take_part

if TYPE_CHECKING:
    from qa.retrieval.pipeline import Pipeline

# Indexes of the parent process, to be closed before any is opened here: SQLite would believe that it still holds the
# parent's locks on a file, and would take none for this process.
_INHERITED: list[Index] = []


class Generation:
    """One generation and a count of its users; closed once it is retired and has no users left."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._lock = threading.Lock()
        self._users = 0
        self._is_retired = False

    def enter(self) -> bool:
        """Register a user, and return True; if the generation is retired, return False."""
        with self._lock:
            self._users += not self._is_retired
            return not self._is_retired

    def leave(self) -> None:
        """Unregister a user."""
        with self._lock:
            self._users -= 1
            self._close_if_unused()

    def retire(self) -> None:
        """Admit no further users; retiring twice is fine."""
        with self._lock:
            self._is_retired = True
            self._close_if_unused()

    def after_fork(self) -> None:
        """In a forked process: never destroy it, as FAISS has threads, and close its files unless they are in use."""
        self._lock = threading.Lock()
        keep_for_ever(self.pipeline.snapshot)
        if not self._users and not self._is_retired:
            _INHERITED.append(self.pipeline.snapshot)

    def _close_if_unused(self) -> None:
        if self._is_retired and not self._users:
            self.pipeline.snapshot.close()


class Generations(Forked):
    """Holds the current generation; safe to use from several threads, and reopened in a forked process."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._now = Generation(pipeline)
        self._changing = threading.Lock()
        self._closed = False
        self._is_inherited = False
        take_part(self)

    @property
    def pipeline(self) -> Pipeline:
        """The current pipeline; it may be closed at any time, unlike within `pinned`."""
        return self._current().pipeline

    @contextmanager
    def pinned(self) -> Iterator[Pipeline]:
        """Yield the current pipeline, and keep it open meanwhile; raises UsageError after `close`."""
        self._require_open()
        # A generation that was retired in between has a successor, unless all are closed.
        while not (generation := self._current()).enter():
            self._require_open()
        try:
            yield generation.pipeline
        finally:
            generation.leave()

    def reload(self) -> bool:
        """Switch to the newest generation, and return whether that was a newer one; see `Retriever.reload`."""
        with self._changing:
            self._require_open()
            if self._is_inherited:
                self._reopen()
                return True
            before = self._now
            if before.pipeline.snapshot.is_newest():
                return False
            self._now = Generation(_newest(before.pipeline))
            before.retire()
            return True

    def close(self) -> None:
        """Admit no further questions, and close once the running ones end; closing twice is fine."""
        with self._changing:
            self._closed = True
            self._now.retire()

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("this retriever is closed; open another with Retriever.open.")

    def in_child(self) -> None:
        """Leave the parent's files and threads alone."""
        self._now.after_fork()
        self._changing = threading.Lock()
        self._is_inherited = not self._closed

    def _current(self) -> Generation:
        if self._is_inherited:
            with self._changing:
                if self._is_inherited:
                    self._reopen()
        return self._now

    def _reopen(self) -> None:
        close_inherited()
        self._now = Generation(_newest(self._now.pipeline))
        self._is_inherited = False


def close_inherited() -> None:
    """Close the indexes that the parent process had open; call this before opening any here."""
    while _INHERITED:
        _INHERITED.pop().close()


def _newest(before: Pipeline) -> Pipeline:
    """Open the newest generation, with the same models unless it was built with another encoder."""
    snapshot = before.snapshot.newest()
    try:
        models = before.models
        if snapshot.info.fingerprint != models.encoder.fingerprint:
            encoder = load_encoder(snapshot.info.model, hint=Hint.LATENCY)
            require_same_encoder(snapshot.info, encoder)
            models = replace(models, encoder=encoder, has_warned=False)
        snapshot.load()
    except BaseException:
        snapshot.close()
        raise
    return type(before)(before.root, snapshot, models)
