"""Empty tables of a keyword index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from index.lexical import posting_blocks
from index.storage.database import open_for_writing
from tests.index.postings import rollback


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four passages, so that a few passages fill several."""
    monkeypatch.setattr(posting_blocks, "BLOCK", 4)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    with closing(open_for_writing(tmp_path_factory.mktemp("postings") / "index.db")) as connection:
        yield connection


@pytest.fixture
def connection(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    with rollback(database) as tables:
        yield tables
