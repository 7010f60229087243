"""Building and opening where the folder or the index is not as it should be."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from corpus.errors import CorpusError
from index.encoder.model_files import DEFAULT_MODEL
from qa.collection import build
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder


def test_a_folder_that_cannot_be_read(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers come from the index as it is, with a note."""

    def refuse(*_: object) -> None:
        raise CorpusError("cannot read the folder.")

    monkeypatch.setattr(build, "find_changes", refuse)
    with Retriever.open(talks, encoder=BagEncoder()) as retriever:
        opened = build.refresh_if_small(retriever)
        assert opened.retriever is retriever
        assert opened.note == "index not updated: cannot read the folder. Answering from the index as it is."


def test_the_model_of_a_damaged_index_is_what_it_still_says(talks: Path) -> None:
    """If it says nothing any more, the default, so that what is lost can be embedded at all."""
    with closing(sqlite3.connect(talks / ".qa" / "index.db", isolation_level=None)) as database:
        assert build.model_of(talks) == "bag"
        database.execute("UPDATE meta SET value = '7' WHERE key IN ('generation', 'model')")
        assert build.model_of(talks) == "bag"
        for value in ("7", "not JSON"):
            database.execute("UPDATE meta SET value = ? WHERE key = 'model'", (value,))
            # As long as the log is there, the row is in the database as it was.
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert build.model_of(talks) == DEFAULT_MODEL
    assert build.model_of(talks / "nowhere") == DEFAULT_MODEL


@pytest.mark.parametrize(("name", "words"), [("talks.md", "is a file"), ("gone", "does not exist")])
def test_what_is_no_folder_is_refused(talks: Path, name: str, words: str) -> None:
    with pytest.raises(CorpusError, match=words):
        build.build_index(talks / name, encoder=BagEncoder())
