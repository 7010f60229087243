"""`qa show --open`: which program is run with which arguments, told by programs that write them down."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.errors import UsageError
from index.update.report import Request
from index.update.update import update_index
from qa.answer.results import State
from qa.cli import open_file
from qa.cli.open_file import How, Launch
from qa.collection.show import Spot, spot
from qa.retrieval.retriever import Retriever
from tests.corpus.readers.samples import pdf
from tests.encoders import BagEncoder

FILES = {
    "talks.md": "# Talks\n\nThe keynote is about whales.\n",
    "-n.md": "# Dash\n\nA name like an option.\n",
    "a b$(touch x);#%20'é.txt": "Nothing here is a command.\n",
    "sub/tide.py": "def tide():\n    return 1\n",
    "page.html": "<html><body><p>Dunes wander east.</p></body></html>",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A collection of text, code, HTML and a PDF of two pages."""
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    pages = [
        [pdf.Words(60, 700, f"Page {n} is about {what} of the river.")] for n, what in ((1, "otters"), (2, "soup"))
    ]
    (folder / "river.pdf").write_bytes(pdf.make(pages))
    update_index(Request(folder, BagEncoder()))
    return folder


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def programs(tmp_path: Path, log: Path) -> Callable[..., Path]:
    """Puts programs into a folder; each writes its name and arguments down."""

    def put(*names: str, folder: Path = tmp_path / "bin", more: str = "") -> Path:
        folder.mkdir(exist_ok=True)
        for name in names:
            path = folder / name
            path.write_text(f"#!/bin/sh\nprintf '%s\\n' {name} \"$@\" > '{log}.new'\n{more}\nmv '{log}.new' '{log}'\n")
            path.chmod(0o755)
        return folder

    return put


@pytest.fixture
def mime(tmp_path: Path) -> Callable[[str], None]:
    """The user's own choice for every kind of file."""

    def choose(program: str) -> None:
        path = tmp_path / "bin" / "xdg-mime"
        path.write_text(f"#!/bin/sh\n[ \"$1 $2\" = 'query default' ] && printf '%s\\n' '{program}'\n")
        path.chmod(0o755)

    return choose


def planned(root: Path, place: str, tmp_path: Path, platform: str = "linux", **environ: str) -> Launch:
    """What would be run, on a machine with a display unless said otherwise."""
    known = {"PATH": f"{tmp_path / 'bin'}:/bin:/usr/bin", "DISPLAY": ":0"} | environ
    return open_file.plan(spot(root, place), root, environ=known, platform=platform)


def arguments(launch: Launch) -> list[str]:
    return [Path(launch.command[0]).name, *launch.command[1:]]


def run(root: Path, *args: str, path: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The real program with nothing on its PATH but the folder `path` and what a script needs."""
    kept = {
        name: value for name, value in os.environ.items() if name not in {"VISUAL", "EDITOR", "DISPLAY", "QA_INDEX"}
    }
    kept |= {"PATH": f"{path}:/bin", "PYTHONPATH": os.pathsep.join(sys.path)} | environ
    kept.pop("WAYLAND_DISPLAY", None)
    return subprocess.run(
        [sys.executable, "-m", "qa", "show", "--open", "--index", str(root), *args],
        cwd=root, env=kept, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_a_viewer_turns_to_the_page(root: Path, programs: Callable[..., Path], log: Path) -> None:
    """The real program, and the viewer's real arguments; the viewer may go on after `qa` ends."""
    path = programs("evince", more="exec sleep 1")
    done = run(root, "river.pdf, p. 2", path=path, DISPLAY=":0")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "Opening river.pdf at page 2 with evince.\n"
    assert Path(f"{log}.new").read_text().splitlines() == ["evince", "-i", "2", str(root / "river.pdf")]


def test_an_editor_goes_to_the_line(root: Path, programs: Callable[..., Path], log: Path) -> None:
    """What EDITOR names runs in this terminal until it ends, with the arguments that stand there."""
    path = programs("vim")
    done = run(root, "talks.md:3", path=path, EDITOR="vim -c 'set number'")
    assert (done.returncode, done.stderr) == (0, "Opening talks.md at line 3 with vim.\n")
    assert log.read_text().splitlines() == ["vim", "-c", "set number", "+3", str(root / "talks.md")]


@pytest.mark.parametrize("name", ["-n.md", "a b$(touch x);#%20'é.txt"])
def test_odd_names_are_only_names(root: Path, programs: Callable[..., Path], log: Path, name: str) -> None:
    """Neither an option nor a command: the path is absolute, and no shell reads it."""
    done = run(root, "--", f"{name}:1", path=programs("nano"), VISUAL="nano")
    assert done.returncode == 0, done.stderr
    assert log.read_text().splitlines() == ["nano", "+1", str(root / name)]
    assert not (root / "x").exists()


def test_without_a_display_the_text_is_shown(root: Path, programs: Callable[..., Path], log: Path) -> None:
    """With the command that would open it where there is one; nothing is run."""
    path = programs("evince")
    done = run(root, "river.pdf, p. 2", path=path)
    assert done.returncode == 0
    assert "Page 2 is about soup" in done.stdout
    assert done.stderr.endswith(f"Where one can: {path / 'evince'} -i 2 {root / 'river.pdf'}\n")
    assert not log.exists()


def test_a_program_that_fails_is_told(root: Path, programs: Callable[..., Path]) -> None:
    done = run(root, "page.html", path=programs("xdg-open", more="exit 4"), DISPLAY=":0")
    assert done.returncode == 2
    assert done.stderr.endswith("qa: xdg-open could not open the file (exit code 4)\n")


def test_what_is_gone_or_unknown_is_not_opened(root: Path, programs: Callable[..., Path]) -> None:
    """A file that is not indexed may be anything; one that became a link leads elsewhere."""
    programs("xdg-open")
    (root / "page.html").unlink()
    (root / "new.html").write_text("<p>New</p>")
    (root / "talks.md").unlink()
    (root / "talks.md").symlink_to("/etc/hostname")
    for place, words in (("page.html", "is gone"), ("new.html", "not in the index"), ("talks.md", "symbolic link")):
        with pytest.raises(UsageError, match=words):
            spot(root, place)


def test_a_changed_file_is_opened_where_the_text_is_now(root: Path) -> None:
    """By a passage's id; where its text is gone, at the beginning."""
    with Retriever.open(root, encoder=BagEncoder()) as retriever:
        key = retriever.search("whales", k=1)[0].id
    file = root / "talks.md"
    file.write_text("One more line.\n\n" + FILES["talks.md"], encoding="utf-8")
    assert spot(root, key) == Spot(file, None, 3, State.CHANGED)
    assert spot(root, "talks.md:3").line == 3
    file.write_text("Something else.\n", encoding="utf-8")
    assert spot(root, key) == Spot(file, None, None, State.CHANGED)


def test_lines_of_a_pdf_are_on_a_page(root: Path) -> None:
    """A line of the extracted text is nothing that a viewer knows."""
    assert spot(root, "river.pdf:3").page == 2
    assert spot(root, "river.pdf").page is None


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("okular", ["-p", "2", "{file}"]),
        ("zathura", ["-P", "2", "{file}"]),
        ("mupdf", ["{file}", "2"]),
        ("atril", ["-i", "2", "{file}"]),
    ],
)
def test_each_viewer_has_its_way(
    root: Path, tmp_path: Path, programs: Callable[..., Path], program: str, expected: list[str]
) -> None:
    programs(program)
    launch = planned(root, "river.pdf#page=2", tmp_path)
    file = str(root / "river.pdf")
    assert (launch.how, arguments(launch)) == (How.BESIDE, [program, *(a.replace("{file}", file) for a in expected)])


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("emacsclient -nw", ["emacsclient", "-nw", "+3", "{file}"]),
        ("code --wait", ["code", "--wait", "-g", "{file}:3"]),
        ("kate", ["kate", "-l", "3", "{file}"]),
        ("hx", ["hx", "{file}:3"]),
        ("less", ["less", "+3g", "{file}"]),
        ("own", ["own", "{file}"]),
    ],
)
def test_each_editor_has_its_way(
    root: Path, tmp_path: Path, programs: Callable[..., Path], editor: str, expected: list[str]
) -> None:
    """One that is not known gets the file alone."""
    programs(editor.partition(" ")[0])
    launch = planned(root, "talks.md:3", tmp_path, EDITOR=editor)
    file = str(root / "talks.md")
    assert (launch.how, arguments(launch)) == (How.HERE, [a.replace("{file}", file) for a in expected])
    assert launch.placed == (editor != "own")


def test_the_users_own_choice_comes_first(
    root: Path, tmp_path: Path, programs: Callable[..., Path], mime: Callable[[str], None]
) -> None:
    """A browser is given a URL with the page; where the choice knows no pages, a viewer that does is taken."""
    programs("evince", "okular", "firefox", "xdg-open")
    mime("org.kde.okular.desktop")
    assert arguments(planned(root, "river.pdf, p. 2", tmp_path))[0] == "okular"
    mime("firefox.desktop")
    url = f"file://{root}/river.pdf#page=2"
    assert arguments(planned(root, "river.pdf, p. 2", tmp_path)) == ["firefox", url]
    mime("other.desktop")
    assert arguments(planned(root, "river.pdf, p. 2", tmp_path))[0] == "evince"
    assert arguments(planned(root, "river.pdf", tmp_path)) == ["xdg-open", str(root / "river.pdf")]


def test_code_goes_to_an_editor_only(root: Path, tmp_path: Path, programs: Callable[..., Path]) -> None:
    """A system's own program for a script may run it."""
    programs("xdg-open", "open", "less", "notepad")
    assert arguments(planned(root, "sub/tide.py:2", tmp_path)) == ["less", "+2g", str(root / "sub/tide.py")]
    assert arguments(planned(root, "sub/tide.py:2", tmp_path, "darwin"))[:2] == ["open", "-t"]
    assert arguments(planned(root, "sub/tide.py:2", tmp_path, "win32"))[0] == "notepad"
    assert arguments(planned(root, "talks.md:3", tmp_path)) == ["xdg-open", str(root / "talks.md")]


def test_a_pdf_that_is_called_a_script_goes_to_an_editor(
    root: Path, tmp_path: Path, programs: Callable[..., Path]
) -> None:
    """By its name a system would run it, whatever is in it."""
    (root / "trap.js").write_bytes((root / "river.pdf").read_bytes())
    update_index(Request(root, BagEncoder()))
    programs("notepad", "less")
    assert arguments(planned(root, "trap.js", tmp_path, "win32"))[0] == "notepad"
    assert arguments(planned(root, "trap.js, p. 2", tmp_path))[0] == "less"


def test_macos_and_windows(root: Path, tmp_path: Path, programs: Callable[..., Path]) -> None:
    programs("open", "SumatraPDF")
    assert arguments(planned(root, "river.pdf, p. 2", tmp_path, "darwin")) == ["open", str(root / "river.pdf")]
    found = planned(root, "page.html", tmp_path, "win32")
    assert (found.how, found.command) == (How.SYSTEM, (str(root / "page.html"),))
    assert open_file.has_display({}, "darwin")
    assert not open_file.has_display({"SSH_CONNECTION": "x"}, "darwin")
    assert open_file.has_display({"WAYLAND_DISPLAY": "wayland-0"}, "linux")


def test_no_program_of_the_collection_is_run(root: Path, tmp_path: Path, programs: Callable[..., Path]) -> None:
    """Not even if PATH leads there, if a link does, or if PATH names a folder relative to here."""
    programs("vim", folder=root)
    link = tmp_path / "links"
    link.mkdir()
    (link / "vim").symlink_to(root / "vim")
    for path in (str(root), str(link), ".", ""):
        with pytest.raises(UsageError, match="EDITOR names vim"):
            planned(root, "talks.md:3", tmp_path, EDITOR="vim", PATH=path)
    for editor in (str(root / "vim"), "./vim"):
        with pytest.raises(UsageError, match="EDITOR names"):
            planned(root, "talks.md:3", tmp_path, EDITOR=editor)
    programs("vim")
    assert planned(root, "talks.md:3", tmp_path, EDITOR="vim", PATH=f"{root}:{tmp_path / 'bin'}").placed


def test_nothing_to_open_with(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="set EDITOR"):
        planned(root, "talks.md:3", tmp_path, PATH="")
    with pytest.raises(UsageError, match="xdg-open"):
        planned(root, "page.html", tmp_path, PATH="")
    with pytest.raises(UsageError, match="EDITOR cannot be taken apart"):
        planned(root, "talks.md:3", tmp_path, EDITOR="vim '")
