"""A failing file operation gives a typed error, is not retried, and leaves no temporary file."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.errors import QAError
from index.compiled.compiled_copy import CompiledCopy, Hint
from index.storage import disk
from index.storage.file_digests import sha256_of
from tests.encoders import BagEncoder
from tests.robustness.picture import temporary_files
from tests.robustness.scenarios import SCENARIOS, bring_up_to_date

# SQLite's names for these errors of the system.
SQLITE_NAMES = {errno.EIO: "SQLITE_IOERR_FSYNC", errno.ENOSPC: "SQLITE_FULL"}
each_error = pytest.mark.parametrize("error", SQLITE_NAMES, ids=["EIO", "ENOSPC"])
UPDATE = next(scenario for scenario in SCENARIOS if scenario.name == "update")


class Disk:
    """Fails at one step, and records all steps."""

    def __init__(self, at: int | None = None, error: int = 0) -> None:
        self.steps: list[tuple[str, Path]] = []
        self._at = at
        self._error = error

    def __call__(self, step: str, path: Path) -> None:
        self.steps.append((step, path))
        if len(self.steps) - 1 == self._at:
            if step in ("begin", "commit"):
                failure = sqlite3.OperationalError(os.strerror(self._error))
                failure.sqlite_errorname = SQLITE_NAMES[self._error]
                raise failure
            raise OSError(self._error, os.strerror(self._error), str(path))


def steps_of(act: Callable[[], object]) -> list[tuple[str, Path]]:
    recorder = Disk()
    with disk.watched(recorder):
        act()
    return recorder.steps


@each_error
def test_failed_step_is_not_retried(tmp_path: Path, error: int) -> None:
    """A failed sync in particular is not retried, as the system may have dropped the data."""
    template = tmp_path / "template"
    template.mkdir()
    UPDATE.prepare(template)
    watched = shutil.copytree(template, tmp_path / "watched")
    kinds = [step for step, _ in steps_of(partial(UPDATE.act, watched))]
    assert {"create", "write", "sync", "sync folder", "truncate", "begin", "commit"} <= set(kinds)
    for kind in dict.fromkeys(kinds):
        root = shutil.copytree(template, tmp_path / kind)
        failing = Disk(kinds.index(kind), error)
        with disk.watched(failing):
            try:
                UPDATE.act(root)
            except QAError as failure:
                assert str(root) in str(failure)  # noqa: PT017 - the update may also succeed
        failed, *later = failing.steps[kinds.index(kind) :]
        assert not kind.startswith("sync") or (failed not in later and "commit" not in [step for step, _ in later])
        assert temporary_files(root) == []
        assert bring_up_to_date(root, BagEncoder()).documents == 8


def test_generation_is_written_in_a_crash_safe_order(tmp_path: Path) -> None:
    """New files are synced and renamed before the commit that names them; old files are deleted after it."""
    UPDATE.prepare(tmp_path)
    old = {path.name for path in (tmp_path / ".qa").glob("*.faiss")}
    changes = steps_of(partial(UPDATE.act, tmp_path))
    steps = [(step, path.suffix if path.suffix == ".tmp" else path.name) for step, path in changes]
    last = max(i for i, (step, _) in enumerate(steps) if step == "commit")
    names = {path.name for path in (tmp_path / ".qa").glob("*.faiss")}
    new, deleted = names - old, old - names
    assert len(new) == 1
    assert steps[last - 5 : last] == [
        ("create", ".tmp"),
        ("write", ".tmp"),
        ("sync", ".tmp"),
        ("rename", *new),
        ("sync folder", ".qa"),
    ]
    assert len(deleted) == len(old) - 1 == 1
    assert steps[last + 1 :] == [("delete", *deleted)]


@each_error
def test_digests_that_cannot_be_cached_are_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """Whichever step of writing the cache fails, the digest is right and the cache is complete or absent."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "weights").write_bytes(b"weights")
    expected = {"weights": hashlib.sha256(b"weights").hexdigest()}
    steps = [step for step, _ in steps_of(partial(sha256_of, tmp_path, ["weights"]))]
    cache = tmp_path / "cache" / "qa" / "verified.json"
    complete = cache.read_bytes()
    assert steps == ["make folder", "create", "write", "sync", "rename", "sync folder"]
    for at in range(len(steps)):
        shutil.rmtree(tmp_path / "cache")
        with disk.watched(Disk(at, error)):
            assert sha256_of(tmp_path, ["weights"]) == expected
        assert not cache.exists() or cache.read_bytes() == complete
        assert temporary_files(tmp_path) == []
        assert sha256_of(tmp_path, ["weights"]) == expected
        assert cache.read_bytes() == complete


def doubling_model(library: Any) -> tuple[Any, Callable[..., None]]:
    """A model that doubles numbers, and a check that passes."""
    op = library.opset13
    value = op.parameter([-1], np.float32)
    return library.Model(
        [op.result(op.multiply(value, op.constant(np.float32(2))))], [value], "twice"
    ), lambda *_, **__: None


def test_a_compiled_model_is_used_only_if_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a step of saving it fails, the model still works; the next load leaves a complete copy and no other file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    copies = tmp_path / "cache" / "qa" / "compiled"

    def double() -> None:
        network = CompiledCopy("twice", "key", doubling_model).load(Hint.LATENCY)
        assert network([np.array([1, 2, 3], np.float32)])[0].tolist() == [2, 4, 6]

    steps = [(step, path.name) for step, path in steps_of(double)]
    (copy,) = copies.iterdir()
    names = sorted(path.name for path in copy.iterdir())
    for failing in (("sync", "model.bin"), ("rename", copy.name)):
        shutil.rmtree(tmp_path / "cache")
        with disk.watched(Disk(steps.index(failing), errno.EIO)):
            double()
        assert temporary_files(tmp_path) == []
        # A killed process leaves such a folder.
        abandoned = copies / ".killed.tmp"
        abandoned.mkdir(parents=True, exist_ok=True)
        os.utime(abandoned, (1, 1))
        double()
        assert list(copies.iterdir()) == [copy]
        assert sorted(path.name for path in copy.iterdir()) == names
