"""One server of the sample collection, shared by all tests that only read from it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import SAMPLE
from tests.qa.web.servers import RunningServer, run_qa, running


@pytest.fixture(scope="session")
def served_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, indexed with the real model, along with files that must not be served."""
    folder = tmp_path_factory.mktemp("served")
    root = folder / "sample"
    shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".qa"))
    unseen = "a secret that nobody serves\n"
    (folder / "outside.md").write_text(unseen)
    (root / ".hidden.md").write_text(unseen)
    (root / "drafts").mkdir()
    (root / "drafts" / "excluded.md").write_text(unseen)
    (root / "drafts" / "excluded").write_text(unseen)
    (root / "link.md").symlink_to(folder / "outside.md")
    (root / "linked").symlink_to(folder)
    run_qa(root, "index", "--exclude", "drafts/", ".")
    return root


@pytest.fixture(scope="session")
def server(served_folder: Path) -> Iterator[RunningServer]:
    with running(served_folder) as found:
        yield found
