"""The engines that `tests.benchmarks.engines` compares: their pins and settings, and running their drivers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.engine_drivers.common import LIMIT
from tests.benchmarks.peer_tools import FailedError, last_line, run
from tests.paths import REPOSITORY

_SILENCE = {"ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1"}

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Engine:
    """One of those compared.

    Attributes:
        name: As in the results, after a comma what sets it apart.
        home: Of its virtual environment and its driver.
        build: What its driver is told to build with.
        asks: What it is told to ask with if its own settings do not find enough.
        also: Is added to the settings chosen, for one more measurement.
    """

    name: str
    home: str
    build: Settings = field(default_factory=dict)
    asks: tuple[Settings, ...] = ()
    also: Settings = field(default_factory=dict)


_NUMPY = "numpy==2.4.6"
PINS = {
    "ours": (),
    "faiss": ("faiss-cpu==1.15.1", _NUMPY),
    "usearch": ("usearch==2.26.6", _NUMPY),
    "hnswlib": ("hnswlib==0.8.0", _NUMPY),
    "lancedb": ("lancedb==0.40.0", "pyarrow==26.0.1", _NUMPY),
    "chroma": ("chromadb==1.5.9", _NUMPY),
    "tantivy": ("tantivy==0.27.0",),
}
_USEARCH: tuple[Settings, ...] = tuple({"ef": ef} for ef in (128, 256, 512))
_REFINED: tuple[Settings, ...] = (
    *({"refine": refine} for refine in (5, 10, 20, 50)),
    *({"nprobes": nprobes, "refine": refine} for nprobes in (50, 100) for refine in (10, 20, 50)),
)
# The documentation has `ef` go up to ten times as many as wanted, the first three.
_GRAPH: tuple[Settings, ...] = tuple({"ef": ef, "refine": 3} for ef in (30, 50, 100, 200, 400))
ENGINES = (
    Engine("ours", "ours"),
    Engine("FAISS, flat", "faiss"),
    Engine("USearch, f32", "usearch", {"dtype": "f32"}, _USEARCH, {"view": True}),
    Engine("USearch, type left to it", "usearch", {}, _USEARCH),
    Engine("USearch, i8", "usearch", {"dtype": "i8"}, _USEARCH),
    Engine("hnswlib", "hnswlib", {}, tuple({"ef": ef} for ef in (50, 100, 200, 400))),
    Engine("LanceDB, IVF_PQ", "lancedb", {"kind": "IVF_PQ"}, _REFINED),
    Engine("LanceDB, IVF_RQ", "lancedb", {"kind": "IVF_RQ"}, _REFINED),
    Engine("LanceDB, IVF_HNSW_SQ", "lancedb", {"kind": "IVF_HNSW_SQ"}, _GRAPH),
    Engine("Chroma", "chroma", {}, tuple({"ef": ef} for ef in (200, 400, 800))),
)


def install(home: str, venvs: Path) -> str:
    """Make an engine's virtual environment, unless the one that is there has the same pins; returns its Python.

    Raises:
        FailedError: pip failed.
    """
    if not PINS[home]:
        return sys.executable
    python, marker, pins = venvs / home / "bin" / "python", venvs / home / "engines-pins.txt", "\n".join(PINS[home])
    if not (marker.is_file() and marker.read_text(encoding="utf-8") == pins):
        run([sys.executable, "-m", "venv", "--clear", str(venvs / home)])
        run([str(python), "-m", "pip", "install", "--quiet", *PINS[home]])
        marker.write_text(pins, encoding="utf-8")
    return str(python)


class Bench:
    """One engine's processes: where its store is, and how long they may take."""

    def __init__(self, engine: Engine, python: str, work: Path, limit: float) -> None:
        self._engine, self._python, self._work, self._limit = engine, python, work, limit
        self._store = work / "engines" / engine.name
        self._always = {"index": str(work / "corpus" / ".qa")} if engine.home == "ours" else {}
        self.discard()
        self._store.mkdir(parents=True)

    def discard(self) -> None:
        """Delete what the engine built."""
        shutil.rmtree(self._store, ignore_errors=True)

    def build(self) -> dict[str, Any]:
        """Build from nothing.

        Raises:
            FailedError: The engine failed or took too long.
        """
        built = self._run("build", self._work / "vectors.npy", self._engine.build)
        files = [file for file in self._store.rglob("*") if file.is_file()]
        return {"disk_bytes": sum(file.stat().st_size for file in files), **built}

    def ask(self, queries: Path, settings: Settings, right: Sequence[frozenset[int]]) -> dict[str, Any]:
        """Open the store in a new process and ask it everything.

        Raises:
            FailedError: The engine failed or took too long.
        """
        told = self._run("ask", queries, settings)
        times, answers = told.pop("ms"), told.pop("ids")
        hits = [len(set(ids) & truth) / LIMIT for ids, truth in zip(answers, right, strict=True)]
        spread = {"median_ms": float(np.median(times)), "p95_ms": float(np.percentile(times, 95))}
        return {"settings": dict(settings), **told, **spread, "recall": float(np.mean(hits))}

    def _run(self, action: str, vectors: Path, settings: Settings) -> dict[str, Any]:
        options = json.dumps({**self._always, **settings})
        driver = [self._python, "-m", f"tests.benchmarks.engine_drivers.{self._engine.home}_driver", action]
        with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as out:

            def said(what: str) -> FailedError:
                errors.seek(0)
                return FailedError(f"{action}: {what}; {last_line(errors.read())}")

            command = [*driver, str(vectors.absolute()), str(self._store.absolute()), options, str(time.monotonic())]
            process = subprocess.Popen(
                command, stdout=out, stderr=errors, cwd=REPOSITORY, env={**os.environ, **_SILENCE}
            )
            try:
                code = process.wait(self._limit)
            except subprocess.TimeoutExpired as error:
                raise said(f"not done after {self._limit:g} s") from error
            finally:
                process.kill()
                process.wait()
            if code:
                raise said(f"exit code {code}")
            out.seek(0)
            told: dict[str, Any] = json.loads(out.read().splitlines()[-1])
            return told
