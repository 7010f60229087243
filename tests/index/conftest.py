"""A small corpus that tests change."""

from __future__ import annotations

from pathlib import Path

import pytest

CATS = "# Cats\n\nThe cat sat on the mat.\n\n## Dogs\n\nDogs bark at state-of-the-art robots.\n"
BIRDS = "Birds sing in the morning.\n"
FISH = "# Fish\n\nFish swim in the sea.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three files, four passages."""
    folder = tmp_path / "corpus"
    (folder / "notes").mkdir(parents=True)
    (folder / "cats.md").write_text(CATS, encoding="utf-8")
    (folder / "birds.txt").write_text(BIRDS, encoding="utf-8")
    (folder / "notes" / "fish.md").write_text(FISH, encoding="utf-8")
    return folder
