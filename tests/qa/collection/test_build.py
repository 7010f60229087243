"""Building and opening an index, even if the folder or the index has problems."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

import index
from corpus import load_all
from corpus.errors import CorpusError, LockedError, UsageError
from index import Device
from index.encoder.model_files import DEFAULT_MODEL
from index.update import run
from index.update.diff import compare_folder
from qa.collection import build, opening
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder


def test_a_folder_that_cannot_be_read(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions are answered from the index as it is, with a note."""

    def refuse(*_: object) -> None:
        raise CorpusError("cannot read the folder.")

    monkeypatch.setattr(opening, "find_changes", refuse)
    with Retriever.open(talks, encoder=BagEncoder()) as retriever:
        opened = opening.refresh_if_small(retriever)
        assert opened.retriever is retriever
        assert opened.note == "index not updated: cannot read the folder. Answering from the index as it is."


def test_the_model_of_a_damaged_index(talks: Path) -> None:
    """Its name is still read if possible, else the default model is used, so that lost data can be embedded again."""
    with closing(sqlite3.connect(talks / ".qa" / "index.db", isolation_level=None)) as database:
        assert build.model_of(talks) == "bag"
        database.execute("UPDATE meta SET value = '7' WHERE key IN ('generation', 'model')")
        assert build.model_of(talks) == "bag"
        for value in ("7", "not JSON"):
            database.execute("UPDATE meta SET value = ? WHERE key = 'model'", (value,))
            # Otherwise the database file would still have the old row, and only the log the new one.
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert build.model_of(talks) == DEFAULT_MODEL
    assert build.model_of(talks / "nowhere") == DEFAULT_MODEL


def test_a_string_is_a_single_pattern(talks: Path) -> None:
    (talks / "drafts").mkdir()
    (talks / "drafts" / "a.md").write_text("A draft.\n")
    assert build.build_index(talks, encoder=BagEncoder(), exclude="drafts/").documents == 1
    assert build.build_index(talks, encoder=BagEncoder(), include="drafts/**", exclude=()).documents == 1


def test_workers_load_the_model_on_the_requested_device(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The main process loads it on the CPU."""
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


def test_a_build_waits_for_a_locked_database(
    talks: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """There is a pause before each attempt; the wait is logged once, as are paths that do not exist."""
    (talks / "qa.toml").write_text('paths = ["talks.md", "nope"]')
    update, pauses = index.update_index, [1, 2, 3]

    def locked(request: index.Request) -> index.BuildReport:
        if pauses:
            raise LockedError("postgresql://db/x#talks is being written by another process. Wait for it.")
        return update(request)

    monkeypatch.setattr(index, "update_index", locked)
    monkeypatch.setattr(build, "store_of", lambda _: "postgresql://db/x#talks")
    monkeypatch.setattr("time.sleep", lambda _: pauses.pop())
    assert build.build_index(talks, encoder=BagEncoder(), on_locked=build.OnLocked.WAIT).documents
    assert caplog.messages == [
        "postgresql://db/x#talks is being written by another process; waiting for it to end",
        "paths in qa.toml names what does not exist: nope. Correct it there.",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "whole"}, "mode must be incremental or full, not 'whole'."),
        ({"mode": None}, "mode must be incremental or full, not None."),
        ({"on_locked": "retry"}, "on_locked must be fail or wait, not 'retry'."),
        ({"on_empty": True}, "on_empty must be fail or allow, not True."),
        ({"device": "tpu"}, "device must be auto, cpu, cuda or mps, not 'tpu'."),
    ],
)
def test_choices_that_do_not_exist_are_refused(talks: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        build.build_index(talks, encoder=BagEncoder(), **arguments)


def test_choices_may_be_given_by_name(talks: Path) -> None:
    report = build.build_index(talks, encoder=BagEncoder(), mode="full", on_empty="allow", on_locked="wait")
    assert report.to_dict()["added"] == report.added


def test_progress_begins_before_anything_is_read(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported before the folder is searched for changes, and before files are read, with their total size."""
    events: list[object] = []

    def logged(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: Any, **options: Any) -> object:
            events.append(name)
            return function(*args, **options)

        return call

    monkeypatch.setattr(run, "load_all", logged("read", load_all))
    monkeypatch.setattr(run, "compare_folder", logged("compare", compare_folder))
    build.build_index(notes, encoder=BagEncoder(), progress=lambda now: events.append((now.done, now.total)))
    size = sum(file.stat().st_size for file in notes.rglob("*.md"))
    assert events[:4] == [(0, 0), "compare", (0, size), "read"]


def test_a_question_reports_settings_that_are_not_applied(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no note if they are applied, or if they cannot be read, which is reported elsewhere."""
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
