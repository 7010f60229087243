"""Progress bars and messages on the terminal."""

from __future__ import annotations

import io
import sys

import pytest

from index import Progress
from qa.cli import session
from qa.terminal.answers import error_line
from tests.qa.commands import TerminalStream


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line appears before files are read, becomes a bar, and disappears; without work, nothing is shown."""
    monkeypatch.setattr(sys, "stderr", shown := TerminalStream())
    with session.progress() as report:
        assert report is not None
        report(Progress(5, 5))
        assert shown.getvalue() == ""
        report(Progress(0, 0))
        assert "Looking for changes" in shown.getvalue()
        report(Progress(10, 40))
        assert "| 10.0/40.0 [" in shown.getvalue()
        report(Progress(40, 40))
    assert shown.getvalue().rpartition("\r")[2].strip() == ""


def test_errors_wrap_at_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", TerminalStream())
    monkeypatch.setenv("COLUMNS", "30")
    assert error_line("the folder cannot be read because") == "qa: the folder cannot be read\nbecause"
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert error_line("the folder cannot be read because") == "qa: the folder cannot be read because"


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_no_progress_without_a_terminal(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with session.progress() as report:
        assert report is None
