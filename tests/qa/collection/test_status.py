"""`qa status` where files cannot be compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import CorpusError
from qa.collection import status
from qa.terminal import reports
from qa.terminal.answers import TerminalStyle


def test_a_folder_that_cannot_be_read(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is described, and why its files could not be compared."""

    def refuse(*_: object) -> None:
        raise CorpusError("cannot read the folder")

    monkeypatch.setattr(status, "find_changes", refuse)
    found = status.status(talks)
    assert (found.info.documents, found.info.passages, found.changes) == (1, 2, 0)
    assert found.as_json()["changes"]["problem"] == "cannot read the folder"
    assert "Changes     unknown: cannot read the folder\n" in reports.status(found, TerminalStyle())


def test_size_of_a_file_that_vanishes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert status.size_of([tmp_path / "a", tmp_path / "gone"]) == 5
