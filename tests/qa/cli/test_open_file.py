"""`qa show --open`: which program is run with which arguments, as logged by fake programs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from corpus.errors import UsageError
from qa.answer.results import State
from qa.cli import open_file
from qa.collection.show import ShowTarget
from tests.corpus.readers.samples import pdf
from tests.qa.commands import qa
from tests.qa.indexes import build

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
    pages = [[pdf.Words(60, 700, f"Page {n} is about {what} of the river.")] for n, what in ((1, "ants"), (2, "soup"))]
    (folder / "river.pdf").write_bytes(pdf.make(pages))
    build(folder, FILES)
    return folder


# Takes names of programs, and `editor`, the value of EDITOR.
Programs = Callable[..., Path]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Creates programs that log their arguments, in a folder that is the PATH; there is a display."""
    folder, log = tmp_path / "bin", tmp_path / "log"
    for name, value in {"PATH": f"{folder}:/bin", "DISPLAY": ":0", "VISUAL": ""}.items():
        monkeypatch.setenv(name, value)

    def create(*names: str, editor: str = "") -> Path:
        monkeypatch.setenv("EDITOR", editor)
        folder.mkdir(exist_ok=True)
        for name in names:
            script = f"#!/bin/sh\nprintf '%s\\n' {name} \"$@\" > '{log}.new'\nmv '{log}.new' '{log}'\nexit 0\n"
            (folder / name).write_text(script)
            (folder / name).chmod(0o755)
        return folder

    return create


def show(root: Path, *args: str) -> Result:
    return qa("show", "--open", "--index", root, *args)


def logged_command(root: Path) -> list[str]:
    """Wait until a program has logged its name and arguments, and return them."""
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
def test_an_editor_opens_the_line(root: Path, programs: Programs, editor: str, arguments: list[str]) -> None:
    """It is run with its own arguments; an unknown editor only gets the file."""
    name = arguments[0]
    programs(name, editor=editor)
    done = show(root, "talks.md:3")
    where = "" if name == "own" else " at line 3"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"Opened talks.md{where} with {name}.\n")
    assert logged_command(root) == [argument.format(root / "talks.md") for argument in arguments]


@pytest.mark.parametrize("name", ["-n.md", "a b$(touch x);#%20'é.txt", "tide.py"])
def test_odd_names_are_harmless(root: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A name is no option, as the path is absolute, and not interpreted by a shell. Code is opened in the editor."""
    programs("nano", "xdg-open")
    monkeypatch.setenv("VISUAL", "nano")
    done = show(root, "--", f"{name}:1")
    assert done.exit_code == 0, done.stderr
    assert logged_command(root) == ["nano", "+1", str(root / name)]
    assert not (root / "x").exists()


# A viewer outlives the process that started it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("viewer", "place", "arguments"),
    [
        ("evince", "river.pdf, p. 2", ["evince", "-i", "2", "{}"]),
        ("xdg-open", "river.pdf, p. 2", ["xdg-open", "{}"]),
        ("xdg-open", "page.html", ["xdg-open", "{}"]),
    ],
)
def test_a_viewer_opens_the_page(root: Path, programs: Programs, viewer: str, place: str, arguments: list[str]) -> None:
    """A viewer that can open a PDF at a page is preferred to the system's default program."""
    programs(viewer)
    done = show(root, place)
    assert (done.exit_code, done.stdout) == (0, "")
    file = root / place.partition(",")[0]
    with_what = " with the default program." if viewer == "xdg-open" else f" at page 2 with {viewer}."
    assert done.stderr == f"Opened {file.name}{with_what}\n"
    assert logged_command(root) == [argument.format(file) for argument in arguments]


def test_without_a_display_the_text_is_shown(root: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    programs("evince")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    done = show(root, "river.pdf, p. 2")
    assert (done.exit_code, done.stderr) == (0, "There is no display; here is the text.\n")
    assert "Page 2 is about soup" in done.stdout
    assert not (root.parent / "log").exists()


def test_a_pdf_named_like_a_script_goes_to_the_editor(root: Path, programs: Programs) -> None:
    """The system's default program depends on the name, and would run the script."""
    programs("nano", "xdg-open", editor="nano")
    trap = root / "trap.js"
    trap.write_bytes((root / "river.pdf").read_bytes())
    open_file.open_file(ShowTarget(trap, 2, 1, State.CHANGED), root)
    assert logged_command(root) == ["nano", "+1", str(trap)]


@pytest.mark.parametrize(
    ("editor", "words"),
    [("nothing-here", "cannot find the editor nothing-here"), ("vim '", "is not a command"), ("false", "exit code 1")],
)
def test_an_editor_that_does_not_work(root: Path, programs: Programs, editor: str, words: str) -> None:
    programs(editor=editor)
    with pytest.raises(UsageError, match=words):
        open_file.open_file(ShowTarget(root / "talks.md", None, 3, State.VERIFIED), root)


def test_programs_inside_the_collection_are_never_run(
    root: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds even if PATH or a link leads there."""
    (programs("vim", editor="vim") / "vim").rename(root / "vim")
    (root.parent / "links").mkdir()
    (root.parent / "links" / "vim").symlink_to(root / "vim")
    monkeypatch.chdir(root)
    for path in (str(root), str(root.parent / "links"), "."):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(UsageError, match="cannot find the editor vim"):
            open_file.open_file(ShowTarget(root / "talks.md", None, 3, State.VERIFIED), root)
