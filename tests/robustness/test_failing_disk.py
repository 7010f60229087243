"""Steps of the module that changes files, made to fail: a typed error, nothing tried twice, nothing left behind."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from functools import partial
from pathlib import Path

import pytest

from corpus.errors import QAError
from index.storage import disk
from index.storage.file_digests import sha256_of
from tests.encoders import BagEncoder
from tests.marks import needs_fork
from tests.robustness import model_cache
from tests.robustness.picture import temporary
from tests.robustness.process import value_of
from tests.robustness.scenarios import SCENARIOS, bring_up_to_date

# What SQLite says where the system says EIO and ENOSPC.
SAID = {errno.EIO: "SQLITE_IOERR_FSYNC", errno.ENOSPC: "SQLITE_FULL"}
UPDATE = next(one for one in SCENARIOS if one.name == "update")


class Disk:
    """Fails at a step, and knows what was done."""

    def __init__(self, at: int | None = None, error: int = 0) -> None:
        self.steps: list[tuple[str, Path]] = []
        self._at = at
        self._error = error

    def __call__(self, step: str, path: Path) -> None:
        self.steps.append((step, path))
        if len(self.steps) - 1 == self._at:
            if step in ("begin", "commit"):
                refusal = sqlite3.OperationalError(os.strerror(self._error))
                refusal.sqlite_errorname = SAID[self._error]
                raise refusal
            raise OSError(self._error, os.strerror(self._error), str(path))


def steps_of(place: Path) -> list[tuple[str, Path]]:
    watcher = Disk()
    with disk.watched(watcher):
        UPDATE.act(shutil.copytree(place, place.with_name("watched")))
    return watcher.steps


@pytest.mark.parametrize("error", SAID, ids=["EIO", "ENOSPC"])
def test_a_step_that_fails_is_not_tried_again(tmp_path: Path, error: int) -> None:
    """Syncing above all, as the system may have dropped what it was to write; what strikes below Python tries more."""
    template = tmp_path / "template"
    template.mkdir()
    UPDATE.prepare(template)
    kinds = [step for step, _ in steps_of(template)]
    assert {"create", "write", "sync", "sync folder", "truncate", "begin", "commit"} <= set(kinds)
    for kind in dict.fromkeys(kinds):
        root = shutil.copytree(template, tmp_path / kind)
        failing = Disk(kinds.index(kind), error)
        with disk.watched(failing):
            try:
                UPDATE.act(root)
            except QAError as refusal:
                assert str(root) in str(refusal)  # noqa: PT017 - it may as well succeed
        done = failing.steps[kinds.index(kind) :]
        assert not kind.startswith("sync") or (done[0] not in done[1:] and "commit" not in [step for step, _ in done])
        assert temporary(root) == []
        assert bring_up_to_date(root, BagEncoder()).documents == 8


def test_a_generation_is_written_in_the_order_that_its_safety_rests_on(tmp_path: Path) -> None:
    """New files are there, synced, under their names, before the commit that names them; old ones go after it."""
    UPDATE.prepare(tmp_path)
    old = {path.name for path in (tmp_path / ".qa").glob("*.faiss")}
    watcher = Disk()
    with disk.watched(watcher):
        UPDATE.act(tmp_path)
    steps = [(step, path.suffix if path.suffix == ".tmp" else path.name) for step, path in watcher.steps]
    last = max(i for i, (step, _) in enumerate(steps) if step == "commit")
    new = {path.name for path in (tmp_path / ".qa").glob("*.faiss")} - old
    assert len(new) == 1
    assert steps[last - 5 : last] == [
        ("create", ".tmp"),
        ("write", ".tmp"),
        ("sync", ".tmp"),
        ("rename", *new),
        ("sync folder", ".qa"),
    ]
    gone = old - {path.name for path in (tmp_path / ".qa").glob("*.faiss")}
    assert len(gone) == len(old) - 1 == 1
    assert steps[last + 1 :] == [("delete", *gone)]


@pytest.mark.parametrize("error", SAID, ids=["EIO", "ENOSPC"])
def test_digests_that_cannot_be_remembered_are_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """Whatever fails, the digest is right, and the memory holds what it held or more."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "weights").write_bytes(b"weights")
    watcher = Disk()
    with disk.watched(watcher):
        expected = sha256_of(tmp_path, ["weights"])
    memory = tmp_path / "cache" / "qa" / "verified.json"
    whole = memory.read_bytes()
    steps = [step for step, _ in watcher.steps]
    assert steps == ["make folder", "create", "write", "sync", "rename", "sync folder"]
    for at in range(len(steps)):
        shutil.rmtree(tmp_path / "cache")
        with disk.watched(Disk(at, error)):
            assert sha256_of(tmp_path, ["weights"]) == expected
        assert not memory.exists() or memory.read_bytes() == whole
        assert temporary(tmp_path) == []
        assert sha256_of(tmp_path, ["weights"]) == expected
        assert memory.read_bytes() == whole


@needs_fork
def test_a_compiled_model_is_used_only_if_it_is_whole() -> None:
    """Whatever step of writing it is struck there are vectors, and afterwards a whole copy and nothing beside it."""
    found = value_of(partial(model_cache.run, 1, seed=2), seconds=300)
    assert (found["tried"], found["violations"]) == (1, [])
    written = [step.partition(" ")[0] for step in found["steps"]]
    assert written.count("sync") >= 4
    assert written.index("rename") > written.index("sync")
