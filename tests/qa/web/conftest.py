"""Servers shared by the tests that only read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import build_index
from tests.qa.remembered import PROGRAM
from tests.qa.web.library import fill
from tests.qa.web.servers import RunningServer, running


@pytest.fixture(scope="session")
def served_folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, along with files that must not be served."""
    folder = tmp_path_factory.mktemp("served")
    root = Path(shutil.copytree(sample, folder / "sample"))
    unserved = "a secret that nobody serves\n"
    (folder / "outside.md").write_text(unserved)
    (root / ".hidden.md").write_text(unserved)
    (root / "drafts").mkdir()
    (root / "drafts" / "excluded.md").write_text(unserved)
    (root / "drafts" / "excluded").write_text(unserved)
    (root / "link.md").symlink_to(folder / "outside.md")
    (root / "linked").symlink_to(folder)
    build_index(root, exclude=["drafts/"])
    return root


@pytest.fixture(scope="session")
def server(served_folder: Path) -> Iterator[RunningServer]:
    with running(served_folder) as server:
        yield server


@pytest.fixture(scope="session")
def library(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of the sample with documents of other formats and hostile ones, which caches what its models compute."""
    root = Path(shutil.copytree(sample, tmp_path_factory.mktemp("page") / "library"))
    fill(root)
    build_index(root)
    with running(root, "--no-update", program=("-c", PROGRAM)) as server:
        yield server
