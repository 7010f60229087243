"""A collection with one document."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.qa.indexes import build


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """An indexed document of two passages."""
    build(tmp_path, {"talks.md": "# Talks\n\nThe keynote is about whales.\n\n## Lunch\n\nSoup at noon.\n"})
    return tmp_path
