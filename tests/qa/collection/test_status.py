"""`qa status`: changed and skipped files, settings that are not applied, and a folder that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import CorpusError
from qa import build_index
from qa.collection import status
from qa.terminal import reports
from qa.terminal.answers import TerminalStyle
from tests.encoders import BagEncoder


def test_a_folder_that_cannot_be_read(talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is still described, with the reason why its files could not be compared."""

    def refuse(*_: object) -> None:
        raise CorpusError("cannot read the folder")

    monkeypatch.setattr(status, "find_changes", refuse)
    state = status.status(talks)
    assert (state.info.documents, state.info.passages, state.changes) == (1, 2, 0)
    assert state.as_json()["changes"]["problem"] == "cannot read the folder"
    assert "Changes     unknown: cannot read the folder\n" in reports.render_status(state, TerminalStyle())


def test_skipped_files_are_listed_with_their_reasons(talks: Path) -> None:
    """On the screen, there is a line per reason, with some of the files."""
    (talks / "half.json").write_text("{")
    for number in range(5):
        (talks / f"scan-{number}.txt").write_bytes(b"\0")
    build_index(talks, encoder=BagEncoder())
    state = status.status(talks)
    assert state.as_json()["skipped"] == [
        {"path": "half.json", "reason": "damaged: not valid JSON"},
        *({"path": f"scan-{number}.txt", "reason": "binary, not text"} for number in range(5)),
    ]
    assert reports.render_status(state, TerminalStyle()).endswith(
        "\nSkipped 6 files:\n  - binary, not text (5): scan-0.txt, scan-1.txt, scan-2.txt and 2 more\n"
        "  - damaged: not valid JSON: half.json\n"
    )


def test_settings_that_are_not_applied(tmp_path: Path) -> None:
    """They are shown with the command that applies them; a problem of the file is shown without its folder."""
    (tmp_path / "a.md").write_text("One heron.\n")
    build_index(tmp_path, encoder=BagEncoder())
    assert status.status(tmp_path).as_json()["settings"] is None
    (tmp_path / "qa.toml").write_text('exclude = ["b.md"]\n')
    state = status.status(tmp_path)
    assert state.as_json()["settings"] == "qa.toml and the index differ in exclude"
    shown = reports.render_status(state, TerminalStyle())
    assert "Settings    qa.toml and the index differ in exclude\n" in shown
    assert f"To update: qa index {tmp_path}\n" in shown
    (tmp_path / "qa.toml").write_text("exclude = 1\n")
    state = status.status(tmp_path)
    assert state.settings == "qa.toml: exclude must be a list of patterns."
    shown = reports.render_status(state, TerminalStyle())
    assert f"To update: correct the settings, then: qa index {tmp_path}\n" in shown
