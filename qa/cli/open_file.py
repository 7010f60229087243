"""`qa show --open`: open a file in the user's editor or viewer, at its line or page where the program can.

A program gets the file as one argument, an absolute path that no shell interprets and that cannot look like an option.
Source code only ever goes to an editor: the system's default program might run a script.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click

from corpus.errors import UsageError
from corpus.formats import PDF, format_of
from qa.answer.results import State
from qa.collection.show import ShowTarget
from qa.terminal.text import clean_name

# Viewers that open a PDF at a page, and editors that open text at a line.
_PAGE_OPTIONS = {"evince": "-i", "okular": "-p", "zathura": "-P"}
_LINE_EDITORS = ("vi", "vim", "nvim", "nano", "emacs", "emacsclient")
_GOTO_EDITORS = ("code", "codium")
# Text that the system's default program shows better than an editor.
_VIEWED_TEXT = ("text/html", "text/csv", "text/tab-separated-values")


def has_display() -> bool:
    """Return whether the user would see a window, unlike on a remote terminal."""
    if sys.platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_file(target: ShowTarget, root: Path) -> str:
    """Open a file and return a message, or "" if there is no display; wait for an editor to exit.

    It is a UsageError if no program can open the file, or the program fails.
    """
    # By name, as the system does, whatever the file contains.
    file_format = format_of(target.file.name)
    media_type = "text/plain" if file_format is None else file_format.media_type
    is_text = media_type.startswith(("text/", "application/json")) and media_type not in _VIEWED_TEXT
    if is_text:
        command, position = _editor_command(target, root)
        _run(command, wait=True)
    elif not has_display():
        return ""
    else:
        viewer = _viewer_command(target, root) if media_type == PDF.media_type else None
        command, position = viewer or (["the default program"], "")
        if viewer:
            _run(command, wait=False)
        elif click.launch(str(target.file)):
            raise UsageError(f"no program could open {target.file.name}")
    changed = "" if target.state is State.VERIFIED else " It has changed since it was indexed."
    return f"Opened {clean_name(target.file.name)}{position} with {clean_name(Path(command[0]).name)}.{changed}"


def _editor_command(target: ShowTarget, root: Path) -> tuple[list[str], str]:
    setting = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        words = shlex.split(setting, posix=sys.platform != "win32")
    except ValueError as error:
        raise UsageError(f"EDITOR or VISUAL is not a command ({setting}): {error}") from error
    names = words[:1] or ["notepad" if sys.platform == "win32" else "nano", "vi"]
    program = next(filter(None, (_find_program(name, root) for name in names)), None)
    if program is None:
        raise UsageError(f"cannot find the editor {names[0]}. Set EDITOR to one that is on PATH.")
    command, name = [program, *words[1:]], Path(program).stem.lower()
    if target.line is not None and name in _LINE_EDITORS:
        return [*command, f"+{target.line}", str(target.file)], f" at line {target.line}"
    if target.line is not None and name in _GOTO_EDITORS:
        return [*command, "--goto", f"{target.file}:{target.line}"], f" at line {target.line}"
    return [*command, str(target.file)], ""


def _viewer_command(target: ShowTarget, root: Path) -> tuple[list[str], str] | None:
    if target.page is not None:
        for name, option in _PAGE_OPTIONS.items():
            if program := _find_program(name, root):
                return [program, option, str(target.page), str(target.file)], f" at page {target.page}"
    return None


def _find_program(name: str, root: Path) -> str | None:
    """Return the absolute path of a program, or None if it is missing or a file of the collection."""
    program = shutil.which(name)
    if program is None or Path(os.path.realpath(program)).is_relative_to(os.path.realpath(root)):
        return None
    return os.path.abspath(program)  # noqa: PTH100 - resolve() would lose the name of a link


def _run(command: list[str], *, wait: bool) -> None:
    quiet = None if wait else subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell, a program from PATH
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=not wait
        )
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror or error}") from error
    while wait and process.poll() is None:
        with suppress(KeyboardInterrupt):  # which is meant for the editor
            process.wait()
    if process.returncode:
        raise UsageError(f"{command[0]} failed with exit code {process.returncode}")
