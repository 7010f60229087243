"""The code that runs on a worker: load the model once, check that it is the right one, and embed batches."""

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
    """The encoder for a batch: how a worker loads it, and the fingerprint that it must have.

    Attributes:
        load: Returns the encoder: a function or class of a module that workers have too, with hashable arguments.
        fingerprint: The fingerprint of the coordinating process's encoder.
    """

    load: partial[Encoder]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """An embedded batch: the process that embedded it, and its vectors, `(n, dim) float32`."""

    worker: str
    vectors: Vectors


def embed(job: Job, texts: Sequence[str]) -> Embedded:
    """Embed a batch in this process; raises as the encoder does, and ModelError if its fingerprint differs."""
    worker = f"{os.getpid()} on {socket.gethostname()}"
    try:
        with _LOCK:
            encoder = _load_encoder(job.fingerprint, job.load.func, *job.load.args, **job.load.keywords)
        return Embedded(worker, encoder.encode_passages(texts))
    except QAError as error:
        raise type(error)(f"worker {worker}: {error}") from None
    except Exception as error:  # models and libraries may raise anything
        raise StorageError(f"worker {worker}: {type(error).__name__}: {error}") from None


@lru_cache(maxsize=1)
def _load_encoder(fingerprint: str, load: Callable[..., Encoder], *args: object, **options: object) -> Encoder:
    encoder = load(*args, **options)
    if encoder.fingerprint != fingerprint:
        raise ModelError(f"its files of the model {encoder.name} differ from those here. Install the same ones.")
    return encoder
