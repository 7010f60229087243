"""A small corpus that tests change."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# What `--hypothesis-profile=long` means, for the tests that have a long form.
settings.register_profile(
    "long",
    max_examples=250,
    stateful_step_count=30,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)

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
