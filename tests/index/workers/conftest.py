"""A folder of several batches, and small batches."""

from __future__ import annotations

from pathlib import Path

import pytest

from index.update import embed_queue
from tests.index.workers.builds import build, contents, write

BATCH = 8
TEXTS = 96


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_queue, "_CHUNK", BATCH)
    monkeypatch.setattr(embed_queue, "_FIRST", BATCH)
    monkeypatch.setattr(embed_queue, "_GATHERED", 2 * BATCH)


@pytest.fixture
def folder(tmp_path: Path, small_batches: None) -> Path:
    """Twelve files with eight passages each, all different."""
    return write(tmp_path / "corpus", TEXTS // 8)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """What a build without workers makes of the folder."""
    root = write(tmp_path_factory.mktemp("plain") / "corpus", TEXTS // 8)
    build(root)
    return contents(root)
