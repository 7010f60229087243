"""Embed while files are read: texts are gathered, sorted by length, embedded in threads, and stored when ready."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from corpus.errors import QAError
from index.encoder.protocol import Embedder, Encoder
from index.protocol import IndexWriter
from index.storage.vectors import Vectors

_LOG = logging.getLogger(__name__)

# How many texts are gathered and sorted, so that those in a batch are of similar length and need little padding.
_GATHERED = 1024
# Fewer the first time, so that the model starts early.
_FIRST = 256
# Texts embedded between two commits: an interruption waits for those in the model, and a kill loses them. Chunks for
# workers are larger, as each is a message.
_CHUNK = 64
_WORKERS_CHUNK = 256
# While one chunk is in the model, the next is tokenised; workers have their own number of chunks.
_AHEAD = 2
# Limit for threads that wait for workers; they are started on demand.
_MAX_THREADS = 1024


@dataclass(frozen=True, slots=True)
class _Text:
    digest: bytes
    text: str
    bytes: float


class Embedding:
    """A queue of texts to embed; a context manager that waits for the texts being embedded.

    Only the encoder, or the workers used instead, are called from other threads. `report_done` is called with the
    number of corpus bytes whose vectors were stored since the last call.
    """

    def __init__(
        self,
        encoder: Encoder,
        store: IndexWriter,
        report_done: Callable[[float], None],
        *,
        workers: Embedder | None = None,
    ) -> None:
        self._dimension = encoder.dimension
        self._encode = (workers or encoder).encode_passages
        self._workers = workers
        self._store = store
        self._report_done = report_done
        self._gathered: list[_Text] = []
        self._start_at = min(_FIRST, _GATHERED)
        self._running: dict[Future[Vectors], list[_Text]] = {}
        self._pending: set[bytes] = set()
        self._pool = ThreadPoolExecutor(_MAX_THREADS if workers else _AHEAD, thread_name_prefix="embedding")
        self.embedded = 0  # texts embedded and stored so far

    def __enter__(self) -> Embedding:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is KeyboardInterrupt and not all(future.done() for future in self._running):
            _LOG.warning("stopping; what has been embedded is kept (Ctrl-C again: stop at once, and lose some of it)")
        self._pool.shutdown(wait=True, cancel_futures=True)
        # After an interruption, finished vectors are still stored; a further error must not replace the first.
        with contextlib.suppress(QAError):
            for future, chunk in self._running.items():
                if not future.cancelled() and future.exception() is None:
                    self._store_chunk(chunk, future.result())

    def offer(self, digests: Sequence[bytes], texts: Sequence[str], size: float) -> None:
        """Queue those texts of a file of `size` bytes whose vectors are neither stored nor queued."""
        skipped = {*self._store.known_vectors(digests, self._dimension), *self._pending.intersection(digests)}
        for digest, text in zip(digests, texts, strict=True):
            if digest in skipped:
                self._report_done(size / len(texts))
                continue
            skipped.add(digest)
            self._queue(_Text(digest, text, size / len(texts)))

    def _queue(self, text: _Text) -> None:
        self._pending.add(text.digest)
        self._gathered.append(text)
        # Finished vectors are stored immediately, as reading may take long.
        if any(future.done() for future in self._running):
            self._store_done()
        if len(self._gathered) >= self._start_at:
            self._embed_gathered()
            self._start_at = _GATHERED

    def finish(self) -> None:
        """Wait until the vectors of all texts are stored; errors of the encoder and the store are raised."""
        self._embed_gathered()
        while self._running:
            self._store_done()

    def _embed_gathered(self) -> None:
        # Longest first, so that no core is left with a long text at the end.
        texts = sorted(self._gathered, key=lambda text: (-len(text.text), text.digest))
        self._gathered = []
        size = _WORKERS_CHUNK if self._workers else _CHUNK
        for start in range(0, len(texts), size):
            while len(self._running) > (self._workers.batches if self._workers else _AHEAD):
                self._store_done()
            chunk = texts[start : start + size]
            future = self._pool.submit(self._encode, [text.text for text in chunk])
            self._running[future] = chunk

    def _store_done(self) -> None:
        """Wait until any chunk is done, and store all that are done, so that no worker waits for a slow one."""
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        for future in [future for future in self._running if future in done]:
            vectors = future.result()
            self._store_chunk(self._running.pop(future), vectors)

    def _store_chunk(self, chunk: list[_Text], vectors: Vectors) -> None:
        digests = [text.digest for text in chunk]
        self._store.add_vectors(digests, np.asarray(vectors, dtype=np.float32))
        self._pending.difference_update(digests)
        self.embedded += len(chunk)
        self._report_done(sum(text.bytes for text in chunk))
