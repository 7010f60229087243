"""An encoder for worker processes that can be slow or faulty, and logs what it embeds."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from index.encoder.protocol import Encoder
from index.storage.vectors import Vectors
from tests.encoders import BagEncoder


class RecordedEncoder(BagEncoder):
    """Logs a line for each embedded text: the process, its cores and GPU, and the text.

    Args:
        log: The log file.
        seconds: Delay for each text.
        fault: "other model" has another fingerprint, "other vectors" embeds differently, "crash" kills the process and
            "error" raises when a text contains the word robot.
    """

    def __init__(self, log: str, seconds: float = 0.0, fault: str = "") -> None:
        super().__init__(fingerprint="0" * 64 if fault == "other model" else "f" * 64)
        self._log = log
        self._seconds = seconds
        self._fault = fault

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if any("robot" in text for text in texts):
            if self._fault == "crash":
                os.kill(os.getpid(), signal.SIGKILL)
            if self._fault == "error":
                raise MemoryError("no more")
        vectors = super().encode_passages(texts)
        time.sleep(self._seconds * len(texts))
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        place = f"{os.getpid()} {cores}@{os.environ.get('CUDA_VISIBLE_DEVICES')}"
        lines = "".join(f"{place} {text!r}\n" for text in texts).encode()
        file = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, lines)
        os.close(file)
        return np.roll(vectors, 1, axis=1) if self._fault == "other vectors" else vectors


def load_recorded(log: str, seconds: float, fault: str) -> Encoder:
    """Load the encoder in a worker."""
    return RecordedEncoder(log, seconds, fault)


def recorded(log: Path) -> list[list[str]]:
    """The logged lines so far: process, cores, text."""
    return [line.split(" ", 2) for line in log.read_text().splitlines()] if log.exists() else []
