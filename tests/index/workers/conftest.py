"""A folder that is embedded in several small batches, and builds in which workers fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import ModelError, StorageError
from index.stores import open_index
from index.update import embed_queue
from index.workers.workers import WorkerPlan
from tests.index.workers.builds import build, contents, write

BATCH = 8
TEXTS = 96
# Faults of an encoder in a worker, and the resulting error of the build.
FAULTS: dict[str, tuple[type[Exception], str]] = {
    "error": (StorageError, "MemoryError: no more"),
    "other model": (ModelError, "its files of the model bag differ from those here"),
    "other vectors": (ModelError, "returns different vectors from this machine (cosine 0."),
    "crash": (StorageError, "3 worker processes died over the same"),
}


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_queue, "_WORKERS_CHUNK", BATCH)
    monkeypatch.setattr(embed_queue, "_FIRST", BATCH)
    monkeypatch.setattr(embed_queue, "_GATHERED", 2 * BATCH)


@pytest.fixture
def folder(tmp_path: Path, small_batches: None) -> Path:
    """Twelve files with eight passages each, all different."""
    return write(tmp_path / "corpus", TEXTS // 8)


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The contents of the same folder's index after a build without workers."""
    root = write(tmp_path_factory.mktemp("plain") / "corpus", TEXTS // 8)
    build(root)
    return contents(root)


def check_fault(folder: Path, plan: WorkerPlan, fault: str) -> None:
    """Check that a fault is a one-line error that keeps the old index, and no vector of a wrong model is stored."""
    error, message = FAULTS[fault]
    (folder / "new.md").write_text("A robot.\n", encoding="utf-8")
    build(folder)
    before = contents(folder)
    (folder / "new.md").write_text("A robot that was changed.\n", encoding="utf-8")
    with pytest.raises(error) as caught:
        build(folder, plan, fault=fault)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert contents(folder) == before
    assert build(folder).embedded == 1
    with open_index(folder / ".qa") as index:
        assert [passage.text for passage in index.passages_of("new.md")] == ["A robot that was changed."]
