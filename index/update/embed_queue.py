"""Embed while files are read: texts are gathered, sorted by length, embedded in threads, and stored when ready."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from corpus.errors import QAError
from index.encoder.protocol import Embedder, Encoder
from index.protocol import IndexWriter
from index.storage.vectors import Vectors

# Texts gathered before they are sorted, so that a batch has texts of one length, which need little padding.
_GATHERED = 1024
# Fewer at first, so that the model need not wait.
_FIRST = 256
# Texts embedded between two commits: what an interruption loses, and how long it waits.
_CHUNK = 256
# While one chunk is in the model, the next is tokenised; workers say themselves how many they take.
_AHEAD = 2
# Threads that wait for workers, started one by one.
_MOST = 1024


@dataclass(frozen=True, slots=True)
class _Text:
    digest: bytes
    text: str
    bytes: float


class Embedding:
    """A queue of texts to embed; a context manager that waits for what is being embedded.

    Only the encoder, or workers instead of it, are called from other threads. `tell` gets the bytes of the corpus whose
    vectors are stored.
    """

    def __init__(
        self,
        encoder: Encoder,
        store: IndexWriter,
        tell: Callable[[float], None],
        *,
        workers: Embedder | None = None,
    ) -> None:
        self._dimension = encoder.dimension
        self._encode = (workers or encoder).encode_passages
        self._workers = workers
        self._store = store
        self._tell = tell
        self._gathered: list[_Text] = []
        self._enough = min(_FIRST, _GATHERED)
        self._running: dict[Future[Vectors], list[_Text]] = {}
        self._coming: set[bytes] = set()
        self._pool = ThreadPoolExecutor(_MOST if workers else _AHEAD, thread_name_prefix="embedding")
        self.embedded = 0  # texts given to the encoder so far

    def __enter__(self) -> Embedding:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        # After an interruption, finished vectors are stored; the error is known already.
        with contextlib.suppress(QAError):
            for future, chunk in self._running.items():
                if not future.cancelled() and future.exception() is None:
                    self._keep(chunk, future.result())

    def offer(self, digests: Sequence[bytes], texts: Sequence[str], size: float) -> None:
        """Queue the texts of a file of `size` bytes whose vectors are neither stored nor queued."""
        known = {
            *self._store.known_vectors(digests, self._dimension),
            *filter(self._coming.__contains__, digests),
        }
        for digest, text in zip(digests, texts, strict=True):
            if digest in known:
                self._tell(size / len(texts))
                continue
            known.add(digest)
            self._queue(_Text(digest, text, size / len(texts)))

    def _queue(self, text: _Text) -> None:
        self._coming.add(text.digest)
        self._gathered.append(text)
        # Finished vectors are stored at once, as reading may take long.
        if any(future.done() for future in self._running):
            self._keep_done()
        if len(self._gathered) >= self._enough:
            self._start()
            self._enough = _GATHERED

    def finish(self) -> None:
        """Wait until the vectors of all texts are stored; raises as the encoder and the store do."""
        self._start()
        while self._running:
            self._keep_done()

    def _start(self) -> None:
        # The longest first, so that no core ends with a long one.
        texts = sorted(self._gathered, key=lambda one: (-len(one.text), one.digest))
        self._gathered = []
        for start in range(0, len(texts), _CHUNK):
            while len(self._running) > (self._workers.batches if self._workers else _AHEAD):
                self._keep_done()
            chunk = texts[start : start + _CHUNK]
            future = self._pool.submit(self._encode, [one.text for one in chunk])
            self._running[future] = chunk

    def _keep_done(self) -> None:
        """Wait until at least one chunk is done, and store all that are: a slow worker holds up nobody."""
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        for future in [each for each in self._running if each in done]:
            vectors = future.result()
            self._keep(self._running.pop(future), vectors)

    def _keep(self, chunk: list[_Text], vectors: Vectors) -> None:
        digests = [one.digest for one in chunk]
        self._store.add_vectors(digests, np.asarray(vectors, dtype=np.float32))
        self._coming.difference_update(digests)
        self.embedded += len(chunk)
        self._tell(sum(one.bytes for one in chunk))
