"""Each step of the module that changes files, made to fail: a typed error, nothing tried twice, nothing left behind."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import QAError
from index.encoder.file_digests import sha256_of
from index.storage import disk
from tests.marks import needs_fork
from tests.robustness import model_cache as cache
from tests.robustness.contents import content, difference, logical, strays, temporary
from tests.robustness.scenarios import SCENARIOS, Scenario, bring_up_to_date, in_memory

PLAIN = [one for one in SCENARIOS if not one.forks]
# What SQLite says where the system says EIO and ENOSPC.
SAID = {errno.EIO: "SQLITE_IOERR_FSYNC", errno.ENOSPC: "SQLITE_FULL"}


class Disk:
    """Fails at a step, once, or from then on; and knows what was done."""

    def __init__(self, at: int | None = None, error: int = 0, *, lasting: bool = False) -> None:
        self.steps: list[tuple[str, Path]] = []
        self._at = at
        self._error = error
        self._lasting = lasting

    def __call__(self, step: str, path: Path) -> None:
        now = len(self.steps)
        self.steps.append((step, path))
        if self._at is not None and (now == self._at or (self._lasting and now > self._at)):
            if step in ("begin", "commit"):
                refusal = sqlite3.OperationalError(os.strerror(self._error))
                refusal.sqlite_errorname = SAID[self._error]
                raise refusal
            raise OSError(self._error, os.strerror(self._error), str(path))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario's folder, what is done to files when nothing fails, and what the index then holds."""

    scenario: Scenario
    template: Path
    steps: list[tuple[str, Path]]
    expected: dict[str, Any]

    def copies(self) -> Iterator[Path]:
        """Fresh copies of the folder, one at a time in the same place."""
        root = self.template.with_name("copy")
        while True:
            if root.exists():
                shutil.rmtree(root)
            shutil.copytree(self.template, root)
            yield root


@pytest.fixture(scope="module", params=PLAIN, ids=lambda one: one.name)
def prepared(request: pytest.FixtureRequest) -> Iterator[Prepared]:
    scenario: Scenario = request.param
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        template = Path(name).resolve() / "template"
        template.mkdir()
        scenario.prepare(template)
        one = Prepared(scenario, template, [], {})
        root, everything = next(one.copies()), Disk()
        with disk.watched(everything):
            scenario.act(root)
        yield replace(one, steps=everything.steps, expected=logical(content(root)))


@pytest.mark.parametrize("error", SAID, ids=["EIO", "ENOSPC"])
def test_each_step_may_fail(prepared: Prepared, error: int) -> None:
    """Once or from then on: in every other scenario the one error is the lasting one, in those between the other."""
    lasting = (error == errno.EIO) == bool(PLAIN.index(prepared.scenario) % 2)
    # Only ever the first of its kind in a file: the rest is left to what strikes below Python.
    kinds = [(step, path.suffix) for step, path in prepared.steps]
    places = [kinds.index(kind) for kind in dict.fromkeys(kinds)]
    assert {"create", "write", "truncate", "begin", "commit"} <= {kind for kind, _ in kinds}
    for at, root in zip(places, prepared.copies(), strict=False):
        failing = Disk(at, error, lasting=lasting)
        with disk.watched(failing):
            try:
                prepared.scenario.act(root)
            except QAError as refusal:
                assert str(root) in str(refusal)  # noqa: PT017 - it may as well succeed
        step, path = failing.steps[at]
        if step.startswith("sync"):
            assert (step, path) not in failing.steps[at + 1 :]
            assert not lasting or "commit" not in [later for later, _ in failing.steps[at + 1 :]]
        if not lasting:
            assert temporary(root) == []
        bring_up_to_date(root)
        assert difference(logical(content(root)), prepared.expected) == ""
        assert strays(root) == []


def test_a_generation_is_written_in_the_order_that_its_safety_rests_on(tmp_path: Path) -> None:
    """New files are there, synced, under their names, before the commit that names them; old ones go after it."""
    scenario = next(one for one in SCENARIOS if one.name == "update")
    scenario.prepare(tmp_path)
    old = {path.name for path in (tmp_path / ".qa").glob("*.faiss")}
    watcher = Disk()
    with disk.watched(watcher):
        scenario.act(tmp_path)
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
def test_a_compiled_model_is_used_only_if_it_is_whole(tmp_path: Path) -> None:
    """Whatever step of writing it is struck there are vectors, and afterwards a whole copy and nothing beside it."""
    out = tmp_path / "found.json"
    done = subprocess.run(
        [sys.executable, "-m", cache.__name__, "--sample", "1", "--seed", "2", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (found["tried"], found["violations"]) == (1, [])
    written = [step.partition(" ")[0] for step in found["steps"]]
    assert written.count("sync") >= 4
    assert written.index("rename") > written.index("sync")
