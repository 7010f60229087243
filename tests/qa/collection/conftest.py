"""A collection of one document."""

from __future__ import annotations

from pathlib import Path

import pytest

from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """One document of two passages, indexed."""
    (tmp_path / "talks.md").write_text("# Talks\n\nThe keynote is about whales.\n\n## Lunch\n\nSoup at noon.\n")
    update_index(Request(tmp_path, BagEncoder()))
    return tmp_path
