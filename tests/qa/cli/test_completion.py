"""Shell completion."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from qa.cli.main import app
from tests.qa.commands import run_python


def _completed(*words: str) -> list[tuple[str, str]]:
    *args, incomplete = words
    completions = ShellComplete(app, {}, "qa", "_QA_COMPLETE").get_completions(args, incomplete)
    return [(item.value, item.type) for item in completions]


def test_commands_and_files_are_completed() -> None:
    """Files and folders are completed by the shell itself."""
    assert _completed("st") == [("status", "plain")]
    assert _completed("show", "ta") == _completed("rm", "a.md", "ta") == _completed("eval", "ta") == [("ta", "file")]
    assert _completed("status", "no") == _completed("ask", "--index", "no") == [("no", "dir")]


def test_paths_are_those_of_the_collection(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are relative to its root in any working directory, and hidden files are not offered."""
    monkeypatch.chdir(indexed / "sub")
    assert _completed("ask", "--path", "") == [("sub/", "plain"), ("talks.md", "plain")]
    assert _completed("ls", "--path", "sub/t") == [("sub/travel.md", "plain")]
    assert _completed("ask", "--path", "gone/") == []
    monkeypatch.chdir(indexed.parent)
    assert _completed("ask", "--path", "t") == []
    assert _completed("ask", "--index", "notes", "--path", "t") == [("talks.md", "plain")]


def test_completion_imports_nothing_heavy(indexed: Path) -> None:
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'faiss', "
        "'sqlite3', 'pathspec'})))\nfrom qa.cli.main import app\napp(prog_name='qa')"
    )
    words = f"qa ask --index {indexed} --path t"
    done = run_python("-c", program, _QA_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="5")
    assert (done.stdout, done.stderr) == ("plain,talks.md\n[]\n", "")
