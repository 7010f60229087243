"""Kill or fail every step of writing the compiled copy of a model, which must be used only if it is complete.

    python -m tests.robustness.model_cache [--sample N] [--out FILE]

Each trial compiles a small model with random weights anew, in a separate process with its own cache.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from index.compiled.runtime import openvino
from index.encoder.load import FastestEncoder
from index.encoder.model_files import find
from index.encoder.openvino_backend import CompiledEncoder
from index.storage import disk
from tests import small_models
from tests.robustness import options
from tests.robustness.picture import temporary
from tests.robustness.process import in_fork, value_in_fork

_TEXT = "The meeting was moved to Thursday at half past nine."
_KILLED = 86
_FAULTS = ("killed", "EIO once", "ENOSPC once", "ENOSPC from then on")
_AGREE = 0.999


class _Strike:
    """Kills the process or fails at a step."""

    def __init__(self, at: int = -1, fault: str = "") -> None:
        self.steps: list[str] = []
        self._at = at
        self._fault = fault

    def __call__(self, step: str, path: Path) -> None:
        now = len(self.steps)
        self.steps.append(f"{step} {path.name}")
        if self._at < 0 or now < self._at or (now > self._at and "then on" not in self._fault):
            return
        if self._fault == "killed":
            os._exit(_KILLED)
        number = errno.EIO if self._fault.startswith("EIO") else errno.ENOSPC
        raise OSError(number, os.strerror(number), str(path))


def _encode(model: Path, cache: Path, strike: _Strike) -> tuple[list[float], list[str]]:
    """The vector of a text, from the compiled copy or, if it cannot be stored, from torch; and the steps."""
    os.environ["XDG_CACHE_HOME"] = str(cache)
    with disk.watched(strike):
        vector = FastestEncoder(find(str(model))).encode_query(_TEXT)
    return vector.tolist(), strike.steps


def _compiled(model: Path, cache: Path) -> list[float]:
    """The same vector from the compiled copy, which is made if needed."""
    os.environ["XDG_CACHE_HOME"] = str(cache)
    encoder = CompiledEncoder(find(str(model)))
    encoder.prepare()
    found: list[float] = encoder.encode_query(_TEXT).tolist()
    return found


def _agree(found: list[float], expected: list[float]) -> bool:
    return sum(a * b for a, b in zip(found, expected, strict=True)) >= _AGREE


def _try(model: Path, folder: Path, expected: list[float], at: int, fault: str) -> list[str]:
    """Inject one fault, and list what is wrong afterwards."""
    cache = folder / "trial"
    cache.mkdir()
    try:
        struck = in_fork(partial(_encode, model, cache, _Strike(at, fault)), seconds=120)
        wrong = []
        if fault == "killed":
            wrong += [] if struck.status == _KILLED else [f"was not killed: {struck}"]
        elif not struck.succeeded or not _agree(struck.value[0], expected):
            wrong.append(f"no vector, or a different one: {struck}")
        if "once" in fault and temporary(cache):
            wrong.append(f"temporary files: {temporary(cache)}")
        for name in cache.rglob("*.tmp"):
            os.utime(name, (1, 1))
        again = in_fork(partial(_compiled, model, cache), seconds=120)
        if not again.succeeded or not _agree(again.value, expected):
            wrong.append(f"no compiled copy afterwards, or a different one: {again}")
        copies = [one for one in (cache / "qa" / "compiled").iterdir() if not one.name.startswith(".")]
        if len(copies) != 1 or {"manifest.json", "model.bin", "model.xml"} - {one.name for one in copies[0].iterdir()}:
            wrong.append(f"copies: {copies}")
        if any(one.is_dir() for one in (cache / "qa" / "compiled").glob("*.tmp")):
            wrong.append("the abandoned folder is still there")
        return wrong
    finally:
        shutil.rmtree(cache)


def run(sample: int = 0, seed: int = 0) -> dict[str, Any]:
    """Inject every fault at every step, or a sample of this many, and return the results."""
    started = time.monotonic()
    # All forks need these.
    import torch  # noqa: F401
    from sentence_transformers import SentenceTransformer  # noqa: F401

    with openvino():
        from openvino.tools.ovc import convert_model  # noqa: F401

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        model = Path(value_in_fork(lambda: str(small_models.build("bert-mean", folder))))
        _, steps = value_in_fork(partial(_encode, model, folder / "whole", _Strike()))
        expected = value_in_fork(partial(_compiled, model, folder / "whole"))
        points = [(at, fault) for at in range(len(steps)) for fault in _FAULTS]
        chosen = random.Random(seed).sample(points, min(sample or len(points), len(points)))  # noqa: S311
        violations = [
            {"at": at, "step": steps[at], "fault": fault, "wrong": wrong}
            for at, fault in chosen
            for wrong in _try(model, folder, expected, at, fault)
        ]
    return {
        "steps": steps,
        "points": len(points),
        "tried": len(chosen),
        "violations": violations,
        "seconds": round(time.monotonic() - started, 1),
    }


if __name__ == "__main__":
    sys.exit(options.main(run))
