"""A small corpus, its index, and code run in new processes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from index.update.report import BuildReport, Request
from index.update.update import update_index
from tests.encoders import BagEncoder

# `--hypothesis-profile=long`, for tests that have a long form.
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


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, used instead of the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def build(root: Path, encoder: BagEncoder | None = None) -> BuildReport:
    """Bring the index of a folder up to date."""
    return update_index(Request(root, encoder or BagEncoder()))


def delete_documents(root: Path) -> None:
    """Delete all documents of a folder, but not its index."""
    for path in list(root.rglob("*.*")):
        if path.is_file() and ".qa" not in path.parts:
            path.unlink()


def run_sql(folder: Path, statement: str, *values: object) -> list[Any]:
    """Run a statement on the database of an index folder."""
    with closing(sqlite3.connect(folder / "index.db")) as connection, connection:
        return connection.execute(statement, values).fetchall()


def run_code(code: str, *arguments: object, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new process, with the import path of this one but no other settings."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={"PYTHONPATH": ":".join(sys.path), "XDG_CONFIG_HOME": os.devnull} | environment,
        capture_output=True,
        text=True,
        check=check,
        timeout=600,
    )
