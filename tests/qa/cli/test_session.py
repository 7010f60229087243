"""What commands draw on the terminal while they work."""

from __future__ import annotations

import io
import sys

import pytest

from index import Progress
from qa.cli import session
from qa.terminal.answers import problem


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal a line appears before anything is read, becomes a bar, and goes; nothing to do shows nothing."""
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    with session.progress() as tell:
        assert tell is not None
        tell(Progress(5, 5))
        assert shown.getvalue() == ""
        tell(Progress(0, 0))
        assert "Looking for changes" in shown.getvalue()
        tell(Progress(10, 40))
        assert "| 10.0/40.0 [" in shown.getvalue()
        tell(Progress(40, 40))
    assert shown.getvalue().rpartition("\r")[2].strip() == ""


def test_errors_wrap_at_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "30")
    assert problem("the folder cannot be read because") == "qa: the folder cannot be read\nbecause"
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert problem("the folder cannot be read because") == "qa: the folder cannot be read because"


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_no_progress_without_a_terminal(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with session.progress() as tell:
        assert tell is None
