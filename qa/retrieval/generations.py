"""The generation of an index that is asked, and how the next takes its place without disturbing anybody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from corpus.errors import UsageError
from index import Forked, Hint, Index, keep_for_ever, load_encoder, require_same_encoder, take_part
from qa.retrieval.pipeline import Pipeline

# Of the parent of this process, to be closed before anything is opened here: SQLite believes that it still holds their
# locks on a file, and would take none for this process.
_INHERITED: list[Index] = []


class Generation:
    """One generation and those who ask it; closed once it is retired and nobody does any more."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._lock = threading.Lock()
        self._users = 0
        self._is_retired = False

    def enter(self) -> bool:
        """Use it, unless it is retired."""
        with self._lock:
            self._users += not self._is_retired
            return not self._is_retired

    def leave(self) -> None:
        """Use it no more."""
        with self._lock:
            self._users -= 1
            self._close_if_unused()

    def retire(self) -> None:
        """Let nobody else use it; doing so twice is fine."""
        with self._lock:
            self._is_retired = True
            self._close_if_unused()

    def bequeath(self) -> None:
        """In a forked process: never destroy it, as FAISS has threads, and close its files unless a thread reads."""
        keep_for_ever(self.pipeline.snapshot)
        if not self._users and not self._is_retired:
            _INHERITED.append(self.pipeline.snapshot)

    def _close_if_unused(self) -> None:
        if self._is_retired and not self._users:
            self.pipeline.snapshot.close()


class Generations(Forked):
    """The generation that is asked now; safe to use from several threads, and opened anew in a forked process."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._now = Generation(pipeline)
        self._changing = threading.Lock()
        self._closed = False
        self._is_inherited = False
        take_part(self)

    @property
    def now(self) -> Pipeline:
        """The one that is asked now; nothing keeps it open."""
        return self._current().pipeline

    @contextmanager
    def asked(self) -> Iterator[Pipeline]:
        """Yield the one that is asked now, and keep it open meanwhile; raises UsageError where all is closed."""
        self._require_open()
        # One that was retired in between has a successor, unless all is closed.
        while not (generation := self._current()).enter():
            self._require_open()
        try:
            yield generation.pipeline
        finally:
            generation.leave()

    def reload(self) -> bool:
        """Open the newest if this is not it, and return whether that was so; see `Retriever.reload`."""
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
        """Let nobody ask any more, and close once nobody does; doing so twice is fine."""
        with self._changing:
            self._closed = True
            self._now.retire()

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError("this retriever is closed; open another with Retriever.open.")

    def in_child(self) -> None:
        """Leave the parent's files and threads alone."""
        self._now.bequeath()
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
    """Close what the parent of this process had open, before the same is opened here."""
    while _INHERITED:
        _INHERITED.pop().close()


def _newest(before: Pipeline) -> Pipeline:
    """The newest generation, with the same models unless it was built with another encoder."""
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
    return Pipeline(before.root, snapshot, models)
