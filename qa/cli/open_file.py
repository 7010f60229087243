"""`qa show --open`: which program shows a file at its place, and how it is started.

A program gets its arguments one by one, never through a shell, and the file by its absolute path, which cannot be
taken for an option. It is looked for in the absolute folders of PATH outside the collection, so that nothing in the
collection is run; files of source code only ever go to an editor, as a system's own program for them may run them.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePath

from corpus.errors import UsageError
from corpus.formats import PDF, format_of
from qa.answer.results import State
from qa.collection.show import Spot
from qa.terminal.hyperlinks import file_url
from qa.terminal.text import clean_name

FILE, URL, PAGE, LINE = "{file}", "{url}", "{page}", "{line}"
Arguments = tuple[str, ...]

# What is put behind the name of a program; without a page or a line it gets the file alone.
_EVINCE: Arguments = ("-i", PAGE, FILE)
PDF_VIEWERS: dict[str, Arguments] = {
    **dict.fromkeys(("evince", "papers", "atril", "xreader"), _EVINCE),
    "okular": ("-p", PAGE, FILE),
    "zathura": ("-P", PAGE, FILE),
    "mupdf": (FILE, PAGE),
    "sumatrapdf": ("-page", PAGE, FILE),
}
BROWSERS: dict[str, Arguments] = dict.fromkeys(
    ("firefox", "chromium", "google-chrome", "brave-browser", "microsoft-edge", "vivaldi"), (URL,)
)
_PLUS: Arguments = (f"+{LINE}", FILE)
_COLON: Arguments = (f"{FILE}:{LINE}",)
_GOTO: Arguments = ("-g", f"{FILE}:{LINE}")
# For its editor, macOS takes no line.
_NO_LINE: Arguments = ("-t", FILE)
_NUMBER: Arguments = ("-l", LINE, FILE)
EDITORS: dict[str, Arguments] = {
    **dict.fromkeys(("vi", "vim", "nvim", "view", "gvim", "nano", "pico", "emacs", "emacsclient"), _PLUS),
    **dict.fromkeys(("gedit", "gnome-text-editor", "joe", "kak", "mg", "micro"), _PLUS),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), _COLON),
    **dict.fromkeys(("code", "codium", "code-insiders", "cursor"), _GOTO),
    **dict.fromkeys(("kate", "kwrite", "mate"), _NUMBER),
    "less": (f"+{LINE}g", FILE),
}
# Where neither VISUAL nor EDITOR says: those with a window, and those for a terminal.
_WINDOWS = ("gnome-text-editor", "gedit", "kate", "kwrite", "code", "codium", "subl")
_TERMINAL = ("less", "nano", "vim", "vi")
# Text that is no code and not for an editor first: the system knows what shows it.
_SHOWN = frozenset({"text/html", "text/csv", "text/tab-separated-values"})
_PROSE = frozenset({"text/plain", "text/markdown", "text/x-rst", "text/x-org", "text/asciidoc"})
# Seconds after which a program that has not ended has begun well.
_PATIENCE = 0.5


class How(Enum):
    """How a program is started."""

    HERE = "in this terminal, until it ends"
    BESIDE = "with a window of its own"
    SYSTEM = "by the system"


@dataclass(frozen=True, slots=True)
class Launch:
    """What will be run.

    Attributes:
        how: How it is started.
        command: The program's absolute path and its arguments; for `How.SYSTEM` the file alone.
        placed: Whether the program is told the page or the line.
    """

    how: How
    command: Arguments
    placed: bool = False

    @property
    def program(self) -> str:
        """The program's name."""
        return "the system's program" if self.how is How.SYSTEM else PurePath(self.command[0]).name


def plan(spot: Spot, root: Path, *, environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Launch:
    """Choose the program for a place.

    Raises:
        UsageError: There is none; the message says what would help.
    """
    return _Chooser(spot, root, environ, platform).launch()


def has_display(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Whether a window that is opened now would be seen: not from a terminal of another machine, for instance."""
    if platform in ("darwin", "win32"):
        return not environ.get("SSH_CONNECTION")
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def start(launch: Launch) -> None:
    """Run it: wait for what runs in this terminal, leave a window to itself.

    Raises:
        UsageError: It cannot be started, or ends at once with an error.
    """
    try:
        if launch.how is How.SYSTEM:
            _by_system(launch.command[0])
        elif launch.how is How.HERE:
            _here(launch.command)
        else:
            _beside(launch)
    except OSError as error:
        raise UsageError(f"{launch.program} cannot be started: {error.strerror or error}") from error


def _by_system(file: str) -> None:
    if sys.platform == "win32":
        os.startfile(file)  # noqa: S606 - of a format that is shown, never one that is run
    else:
        raise OSError("only Windows opens files so")


def _here(command: Sequence[str]) -> None:
    with subprocess.Popen(command) as process:  # noqa: S603 - no shell, and a program from PATH
        while process.poll() is None:
            # Ctrl-C is the editor's.
            with suppress(KeyboardInterrupt):
                process.wait()


def _beside(launch: Launch) -> None:
    process = subprocess.Popen(  # noqa: S603 - as above
        launch.command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(_PATIENCE)
        if code:
            raise UsageError(f"{launch.program} could not open the file (exit code {code})")


class _Chooser:
    def __init__(self, spot: Spot, root: Path, environ: Mapping[str, str], platform: str) -> None:
        self._spot = spot
        self._file = str(spot.file)
        self._root = os.path.realpath(root)
        self._environ = environ
        self._platform = platform

    def launch(self) -> Launch:
        # By its name alone: whatever is in it, it is the name by which a system chooses to show or to run a file.
        named = format_of(self._spot.file.name)
        media_type = named.media_type if named is not None else "text/plain"
        text = media_type.startswith("text/") or media_type in ("application/json", "application/jsonl")
        if text and media_type not in _SHOWN:
            return self._editor(prose=media_type in _PROSE)
        if media_type == PDF.media_type and self._spot.page is not None:
            found = self._at_page()
            if found is not None:
                return found
        return self._system("install a program that shows it")

    def _at_page(self) -> Launch | None:
        if self._platform == "darwin":
            return None  # its `open` knows no pages
        known = PDF_VIEWERS | BROWSERS
        return self._default(PDF.media_type, known) or self._first(tuple(PDF_VIEWERS), PDF_VIEWERS)

    def _editor(self, *, prose: bool) -> Launch:
        for variable in ("VISUAL", "EDITOR"):
            if words := self._words(variable):
                program = self._program(words[0])
                if program is None:
                    raise UsageError(f"{variable} names {words[0]}, which is no program on PATH outside the collection")
                known = EDITORS.get(PurePath(words[0]).stem.lower(), (FILE,))
                return self._launch(How.HERE, (program, *words[1:]), known)
        if has_display(self._environ, self._platform):
            found = self._with_window(prose=prose)
            if found is not None:
                return found
        found = self._first(_TERMINAL, EDITORS, how=How.HERE)
        if found is None:
            raise UsageError("no editor was found on PATH; set EDITOR to the one that you use")
        return found

    def _with_window(self, *, prose: bool) -> Launch | None:
        if self._platform == "darwin":
            return self._run("open", _NO_LINE)
        if self._platform == "win32":
            return self._run("notepad", (FILE,))
        found = self._default("text/plain", {name: EDITORS[name] for name in _WINDOWS})
        return found or self._first(_WINDOWS, EDITORS) or (self._run("xdg-open", (FILE,)) if prose else None)

    def _words(self, variable: str) -> list[str]:
        try:
            return shlex.split(self._environ.get(variable, ""), posix=self._platform != "win32")
        except ValueError as error:
            raise UsageError(f"{variable} cannot be taken apart: {error}") from error

    def _system(self, advice: str) -> Launch:
        if self._platform == "win32":
            return Launch(How.SYSTEM, (self._file,))
        name = "open" if self._platform == "darwin" else "xdg-open"
        found = self._run(name, (FILE,))
        if found is None:
            raise UsageError(f"{name}, which opens files, was not found on PATH; {advice}")
        return found

    def _first(self, names: Sequence[str], table: Mapping[str, Arguments], how: How = How.BESIDE) -> Launch | None:
        return next(filter(None, (self._run(name, table[name], how) for name in names)), None)

    def _default(self, media_type: str, table: Mapping[str, Arguments]) -> Launch | None:
        """The user's own choice for a kind of file, where it is one that takes a place."""
        asking = self._program("xdg-mime")
        if asking is None or self._platform == "win32":
            return None
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and a program from PATH
                [asking, "query", "default", media_type],
                env=dict(self._environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        chosen = done.stdout.decode(errors="replace").strip().lower()
        return self._first([name for name in table if name in chosen], table)

    def _run(self, name: str, arguments: Arguments, how: How = How.BESIDE) -> Launch | None:
        program = self._program(name)
        return None if program is None else self._launch(how, (program,), arguments)

    def _launch(self, how: How, program: Arguments, arguments: Arguments) -> Launch:
        spot = self._spot
        if (spot.line is None and LINE in "".join(arguments)) or (spot.page is None and PAGE in arguments):
            arguments = (FILE,)
        values = {PAGE: str(spot.page), LINE: str(spot.line), URL: file_url(self._file, page=spot.page)}
        # The file last, as it may be called "{line}".
        filled = (_replaced(argument, values).replace(FILE, self._file) for argument in arguments)
        return Launch(how, (*program, *filled), placed=arguments not in ((FILE,), _NO_LINE))

    def _program(self, name: str) -> str | None:
        """Where a program is; nothing in the collection, in a folder named relative to here, or for a shell."""
        path = Path(name)
        if path.is_absolute():
            folders = [path.parent]
        elif path.name == name:
            folders = [Path(folder) for folder in self._environ.get("PATH", os.defpath).split(os.pathsep) if folder]
        else:
            return None
        for folder in folders:
            # Windows looks in the working directory as well, and gives arguments of these to a shell.
            found = Path(shutil.which(path.name, path=str(folder)) or "")
            if (
                folder.is_absolute()
                and found.parent == folder
                and found.suffix.lower() not in (".bat", ".cmd")
                and not Path(os.path.realpath(found)).is_relative_to(self._root)
            ):
                return str(found)
        return None


def _replaced(argument: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        argument = argument.replace(name, value)
    return argument


def opening(launch: Launch, spot: Spot, *, seen: bool) -> str:
    """Write out what is opened with what; where no window would be `seen`, the command for where it would."""
    if not seen:
        command = clean_name(" ".join(map(shlex.quote, launch.command)))
        return f"No window can be opened from here, so this is its text. Where one can: {command}"
    where = f"page {spot.page}" if spot.page is not None else f"line {spot.line}" if spot.line is not None else ""
    at = f" at {where}" if where and launch.placed else ""
    turn = f" Turn to {where}." if where and not launch.placed else ""
    changed = "" if spot.state is State.VERIFIED else " It has changed since it was indexed."
    return f"Opening {clean_name(spot.file.name)}{at} with {clean_name(launch.program)}.{turn}{changed}"
