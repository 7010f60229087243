"""Building and opening where the folder or the index is not as it should be."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

import index
from corpus import load_all
from corpus.errors import CorpusError, UsageError
from index import Device
from index.encoder.model_files import DEFAULT_MODEL
from index.update import run
from index.update.diff import compare
from qa.collection import build, opening
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder


def test_a_folder_that_cannot_be_read(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers come from the index as it is, with a note."""

    def refuse(*_: object) -> None:
        raise CorpusError("cannot read the folder.")

    monkeypatch.setattr(opening, "find_changes", refuse)
    with Retriever.open(talks, encoder=BagEncoder()) as retriever:
        opened = opening.refresh_if_small(retriever)
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


def test_a_pattern_by_itself_is_one_and_not_its_letters(talks: Path) -> None:
    (talks / "drafts").mkdir()
    (talks / "drafts" / "a.md").write_text("A draft.\n")
    assert build.build_index(talks, encoder=BagEncoder(), exclude="drafts/").documents == 1
    assert build.build_index(talks, encoder=BagEncoder(), include="drafts/**", exclude=()).documents == 1


def test_workers_load_the_model_on_the_device_that_is_asked_for(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that directs them needs no GPU itself."""
    loaded: list[object] = []

    def load_encoder(*_: object, device: Device, **__: object) -> BagEncoder:
        loaded.append(device)
        return BagEncoder()

    monkeypatch.setattr(build, "load_encoder", load_encoder)

    def opened(_plan: object, _encoder: object, load: Callable[[], object]) -> AbstractContextManager[None]:
        load()
        return nullcontext()

    monkeypatch.setattr(index, "open_workers", opened)
    build.build_index(talks, workers=2, device=Device.CUDA)
    assert loaded == [Device.CPU, Device.CUDA]


def test_what_is_no_mode_is_refused(talks: Path) -> None:
    with pytest.raises(UsageError, match=r"'full' is no BuildMode\. Give BuildMode\.INCREMENTAL or BuildMode\.FULL"):
        build.build_index(talks, encoder=BagEncoder(), mode="full")  # type: ignore[arg-type]


def test_progress_begins_before_anything_is_read(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First that the folder is looked through, then how much there is to read."""
    events: list[object] = []

    def told(what: str, plain: Callable[..., object]) -> Callable[..., object]:
        def call(*args: Any, **how: Any) -> object:
            events.append(what)
            return plain(*args, **how)

        return call

    monkeypatch.setattr(run, "load_all", told("read", load_all))
    monkeypatch.setattr(run, "compare", told("look", compare))
    build.build_index(notes, encoder=BagEncoder(), progress=lambda now: events.append((now.done, now.total)))
    size = sum(file.stat().st_size for file in notes.rglob("*.md"))
    assert events[:4] == [(0, 0), "look", (0, size), "read"]


def test_a_question_tells_of_settings_that_are_not_applied(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once they are, or cannot be read, which whoever asks is told anyway, it tells nothing."""
    encoder = BagEncoder()
    monkeypatch.setattr(opening, "load_encoder", lambda *_, **__: encoder)
    build.build_index(talks, encoder=encoder)
    with Retriever.open(talks, encoder=encoder) as retriever:
        assert opening.refresh_if_small(retriever).note == ""
        (talks / "qa.toml").write_text('exclude = ["b.md"]\n')
        assert opening.refresh_if_small(retriever).note == (
            "qa.toml and the index differ in exclude. Answering from the index as it is; "
            f"to update it, run: qa index {talks}"
        )
        (talks / "qa.toml").write_text("exclude = 1\n")
        assert opening.refresh_if_small(retriever).note == ""
