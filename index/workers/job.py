"""What runs on a worker: load the model once, make sure that it is the right one, embed a batch."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from corpus.errors import ModelError, QAError, StorageError
from index.encoder.protocol import Encoder
from index.storage.vectors import Vectors

_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Job:
    """Which encoder embeds: how a worker gets it, and what it has to be; sent with every batch.

    Attributes:
        load: Makes the encoder: a function or class of a module, which workers have too, with hashable arguments.
        fingerprint: Of the encoder of the process that coordinates.
    """

    load: partial[Encoder]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """A batch done: by which process, and its vectors, `(n, dim) float32`."""

    worker: str
    vectors: Vectors


def embed(job: Job, texts: Sequence[str]) -> Embedded:
    """Embed a batch in this process; raises as the encoder does, and ModelError where it is another."""
    worker = f"{os.getpid()} on {socket.gethostname()}"
    try:
        return Embedded(worker, _encoder(job).encode_passages(texts))
    except QAError as error:
        raise type(error)(f"worker {worker}: {error}") from None
    except Exception as error:  # whatever a model or a library raises
        raise StorageError(f"worker {worker}: {type(error).__name__}: {error}") from None


def _encoder(job: Job) -> Encoder:
    with _LOCK:
        encoder = _loaded(job.load.func, *job.load.args, **job.load.keywords)
        if encoder.fingerprint != job.fingerprint:
            # The worker may be older than the model's files.
            _loaded.cache_clear()
            encoder = _loaded(job.load.func, *job.load.args, **job.load.keywords)
        if encoder.fingerprint != job.fingerprint:
            raise ModelError(f"its files of the model {encoder.name} differ from those here. Install the same ones.")
        return encoder


@lru_cache(maxsize=1)
def _loaded(load: Callable[..., Encoder], *args: object, **options: object) -> Encoder:
    return load(*args, **options)
