"""`qa show --open`: which program is run with which arguments, recorded by programs that write them down."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

import pytest
from click.testing import Result

from corpus.errors import UsageError
from index.update.report import Request
from index.update.update import update_index
from qa.answer.results import State
from qa.cli import open_file
from qa.collection.show import ShowTarget
from tests.corpus.readers.samples import pdf
from tests.encoders import BagEncoder
from tests.qa.commands import qa

FILES = {
    "talks.md": "# Talks\n\nThe keynote is about whales.\n",
    "-n.md": "# Dash\n\nA name like an option.\n",
    "a b$(touch x);#%20'é.txt": "Nothing here is a command.\n",
    "tide.py": "def tide():\n    return 1\n",
    "page.html": "<html><body><p>Dunes wander east.</p></body></html>",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A collection of text, code, HTML and a PDF of two pages."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    pages = [[pdf.Words(60, 700, f"Page {n} is about {what} of the river.")] for n, what in ((1, "ants"), (2, "soup"))]
    (folder / "river.pdf").write_bytes(pdf.make(pages))
    update_index(Request(folder, BagEncoder()))
    return folder


class Programs(Protocol):
    """Puts programs into a folder that is the PATH."""

    def __call__(self, *names: str, editor: str = "") -> Path: ...


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """On a machine with a display."""
    folder, log = tmp_path / "bin", tmp_path / "log"
    for name, value in {"PATH": f"{folder}:/bin", "DISPLAY": ":0", "VISUAL": ""}.items():
        monkeypatch.setenv(name, value)

    def put(*names: str, editor: str = "") -> Path:
        monkeypatch.setenv("EDITOR", editor)
        folder.mkdir(exist_ok=True)
        for name in names:
            path = folder / name
            script = f"#!/bin/sh\nprintf '%s\\n' {name} \"$@\" > '{log}.new'\nmv '{log}.new' '{log}'\nexit 0\n"
            path.write_text(script)
            path.chmod(0o755)
        return folder

    return put


def show(root: Path, *args: str) -> Result:
    return qa("show", "--open", "--index", root, *args)


def started(root: Path) -> list[str]:
    """The name and arguments that a program wrote down, once it has."""
    log = root.parent / "log"
    for _ in range(30_000):
        if log.exists():
            break
        time.sleep(0.02)
    return log.read_text().splitlines()


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vim -c 'set number'", ["vim", "-c", "set number", "+3", "{}"]),
        ("code --wait", ["code", "--wait", "--goto", "{}:3"]),
        ("own", ["own", "{}"]),
    ],
)
def test_an_editor_goes_to_the_line(root: Path, programs: Programs, editor: str, arguments: list[str]) -> None:
    """It runs in this terminal with its own arguments; one that is not known gets the file alone."""
    name = arguments[0]
    programs(name, editor=editor)
    done = show(root, "talks.md:3")
    where = "" if name == "own" else " at line 3"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"Opened talks.md{where} with {name}.\n")
    assert started(root) == [argument.format(root / "talks.md") for argument in arguments]


@pytest.mark.parametrize("name", ["-n.md", "a b$(touch x);#%20'é.txt", "tide.py"])
def test_odd_names_are_only_names(root: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Neither an option nor a command: the path is absolute, and no shell reads it. Code is opened in the editor."""
    programs("nano", "xdg-open")
    monkeypatch.setenv("VISUAL", "nano")
    done = show(root, "--", f"{name}:1")
    assert done.exit_code == 0, done.stderr
    assert started(root) == ["nano", "+1", str(root / name)]
    assert not (root / "x").exists()


# A viewer outlives what started it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("viewer", "place", "arguments"),
    [
        ("evince", "river.pdf, p. 2", ["evince", "-i", "2", "{}"]),
        ("okular", "river.pdf, p. 2", ["okular", "-p", "2", "{}"]),
        ("zathura", "river.pdf, p. 2", ["zathura", "-P", "2", "{}"]),
        ("xdg-open", "river.pdf, p. 2", ["xdg-open", "{}"]),
        ("xdg-open", "page.html", ["xdg-open", "{}"]),
    ],
)
def test_a_viewer_opens_the_page(root: Path, programs: Programs, viewer: str, place: str, arguments: list[str]) -> None:
    """One that can open a PDF at a page; otherwise the system's program for the file."""
    programs(viewer)
    done = show(root, place)
    assert (done.exit_code, done.stdout) == (0, "")
    file = root / place.partition(",")[0]
    with_what = " with the default program." if viewer == "xdg-open" else f" at page 2 with {viewer}."
    assert done.stderr == f"Opened {file.name}{with_what}\n"
    assert started(root) == [argument.format(file) for argument in arguments]


def test_without_a_display_the_text_is_shown(root: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    programs("evince")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    done = show(root, "river.pdf, p. 2")
    assert (done.exit_code, done.stderr) == (0, "There is no display; here is the text.\n")
    assert "Page 2 is about soup" in done.stdout
    assert not (root.parent / "log").exists()


def test_a_pdf_named_like_a_script_goes_to_the_editor(root: Path, programs: Programs) -> None:
    """A system chooses by the name, and would run it."""
    programs("nano", "xdg-open", editor="nano")
    trap = root / "trap.js"
    trap.write_bytes((root / "river.pdf").read_bytes())
    open_file.open_file(ShowTarget(trap, 2, 1, State.CHANGED), root)
    assert started(root) == ["nano", "+1", str(trap)]


@pytest.mark.parametrize(
    ("editor", "words"),
    [("nothing-here", "cannot find the editor nothing-here"), ("vim '", "is not a command"), ("false", "exit code 1")],
)
def test_an_editor_that_does_not_work(root: Path, programs: Programs, editor: str, words: str) -> None:
    programs(editor=editor)
    with pytest.raises(UsageError, match=words):
        open_file.open_file(ShowTarget(root / "talks.md", None, 3, State.VERIFIED), root)


def test_no_program_of_the_collection_is_run(root: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if PATH leads there, or a link does."""
    (programs("vim", editor="vim") / "vim").rename(root / "vim")
    (root.parent / "links").mkdir()
    (root.parent / "links" / "vim").symlink_to(root / "vim")
    monkeypatch.chdir(root)
    for path in (str(root), str(root.parent / "links"), "."):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(UsageError, match="cannot find the editor vim"):
            open_file.open_file(ShowTarget(root / "talks.md", None, 3, State.VERIFIED), root)
