"""The generation of an index that is asked, and how the next takes its place without disturbing anybody."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from corpus.errors import UsageError
from index import Hint, load_encoder, require_same_encoder
from qa.retrieval.pipeline import Pipeline


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

    def _close_if_unused(self) -> None:
        if self._is_retired and not self._users:
            self.pipeline.snapshot.close()


class Generations:
    """The generation that is asked now; safe to use from several threads."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._now = Generation(pipeline)
        self._changing = threading.Lock()
        self._closed = False
        self._process = os.getpid()

    @property
    def now(self) -> Pipeline:
        """The one that is asked now; nothing keeps it open."""
        return self._now.pipeline

    @contextmanager
    def asked(self) -> Iterator[Pipeline]:
        """Yield the one that is asked now, and keep it open meanwhile; raises UsageError where all is closed."""
        self._require_open()
        # One that was retired in between has a successor, unless all is closed.
        while not (generation := self._now).enter():
            self._require_open()
        try:
            yield generation.pipeline
        finally:
            generation.leave()

    def reload(self) -> bool:
        """Open the newest if this is not it, and return whether that was so; see `Retriever.reload`."""
        with self._changing:
            self._require_open()
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
        if os.getpid() != self._process:
            # Neither the locks that hold its generation nor FAISS's threads survive a fork.
            raise UsageError("this retriever was opened by another process; open one here with Retriever.open.")


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
