"""Workers as an update uses them: texts in, vectors out, several batches at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from corpus.errors import ModelError, UsageError
from index.encoder.protocol import Encoder
from index.storage.vectors import Vectors
from index.workers.job import Embedded, Job

_LOG = logging.getLogger(__name__)

# Minimum cosine between a worker's vectors and our own, as between GPU and CPU, and about how many are compared.
_MIN_COSINE = 0.9999
_COMPARED = 4


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """Where an update embeds if not in its own process: in other processes here, or on a Dask cluster."""

    processes: int = 0
    dask: str = ""


class WorkerPool(Protocol):
    """Processes that embed."""

    @property
    def batches(self) -> int:
        """The number of concurrent batches that keep all processes busy at the moment."""

    def embed(self, job: Job, texts: Sequence[str]) -> Embedded:
        """Embed a batch on a worker, or on another if that is lost; several threads may call this.

        Raises:
            StorageError: There are no workers left, or the batch kills them, or it fails.
            ModelError: The worker cannot load the model, or has a different one.
        """

    def close(self) -> None:
        """Release the workers."""


class Workers:
    """Embeds passages on a pool; vectors of each process's first batch are compared with the encoder's own."""

    def __init__(self, encoder: Encoder, load: partial[Encoder], pool: WorkerPool) -> None:
        self._encoder = encoder
        self._job = Job(load, encoder.fingerprint)
        self._pool = pool
        self._verified: set[str] = set()
        self._lock = threading.Lock()
        self._is_prepared = False

    @property
    def batches(self) -> int:
        """The number of concurrent batches that keep all workers busy."""
        return self._pool.batches

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed like `Encoder.encode_passages`; raises as `WorkerPool.embed`, and ModelError if vectors differ."""
        with self._lock:
            if not self._is_prepared:
                # Compile the model for this machine now, rather than in all workers at the same time.
                self._encoder.encode_passages(texts[:1])
                self._is_prepared = True
        embedded = self._pool.embed(self._job, texts)
        if embedded.worker not in self._verified:
            self._require_agreement(embedded, texts)
            self._verified.add(embedded.worker)
        return embedded.vectors

    def _require_agreement(self, embedded: Embedded, texts: Sequence[str]) -> None:
        sample = range(0, len(texts), max(1, len(texts) // _COMPARED))
        expected = self._encoder.encode_passages([texts[i] for i in sample])
        shape, vectors = (len(texts), self._encoder.dimension), embedded.vectors
        cosine = np.min(np.sum(vectors[sample] * expected, axis=1)) if vectors.shape == shape else np.nan
        # Written so that NaN fails too.
        if not cosine >= _MIN_COSINE:
            raise ModelError(
                f"worker {embedded.worker} returns different vectors from this machine (cosine {cosine:.5f}). "
                "Install the same versions on both."
            )
        _LOG.info("worker %s embeds (cosine with our own vectors: %.6f)", embedded.worker, cosine)


@contextmanager
def open_workers(plan: WorkerPlan | None, encoder: Encoder, load: partial[Encoder]) -> Iterator[Workers | None]:
    """Open the workers of a plan for an update; None without a plan: then the encoder itself embeds.

    Args:
        plan: Where to embed.
        encoder: The update's encoder.
        load: Returns the same encoder on a worker.

    Raises:
        UsageError: The plan contradicts itself, or there is no cluster at its address.
    """
    if plan is None:
        yield None
        return
    if plan.processes and plan.dask:
        raise UsageError("--workers starts processes on this machine, --dask uses a cluster; choose one.")
    with closing(_open_pool(plan)) as pool:
        yield Workers(encoder, load, pool)


def _open_pool(plan: WorkerPlan) -> WorkerPool:
    if plan.dask:
        from index.workers.dask_cluster import DaskCluster

        return DaskCluster(plan.dask)
    from index.workers.processes import Processes

    return Processes(plan.processes)
