"""Files as URLs: for links on a terminal (OSC 8) and for browsers."""

from __future__ import annotations

import os
import string
from collections.abc import Mapping
from pathlib import PurePath

_PLAIN = frozenset(f"{string.ascii_letters}{string.digits}-._~/:".encode())
# By what they say of themselves; others may print the sequence, or ask who sent it.
_PROGRAMS = frozenset({"iterm.app", "wezterm", "vscode", "ghostty", "hyper", "rio", "tabby", "warpterminal"})
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
# Terminals on VTE, such as GNOME's, from 0.50.1 on; before, a link could end the terminal. Konsole from 20.12 on.
_LEAST = {"VTE_VERSION": 5001, "KONSOLE_VERSION": 201200}
# Opens a link, and closes it where no URL is given (https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
_LINK = "\x1b]8;;{}\x1b\\"

_LONGEST = 2083


def file_url(path: str, *, host: str = "", page: int | None = None) -> str:
    """Write a file's place as a URL of printable ASCII, whatever is in its name.

    Args:
        path: Absolute, as the system writes it.
        host: Name of the machine that has the file, or "" for this one (RFC 8089).
        page: Page of a PDF that viewers should open, from 1.
    """
    slashed = PurePath(path).as_posix()
    rooted = slashed if slashed.startswith("/") else f"/{slashed}"
    return f"file://{_quoted(host)}{_quoted(rooted)}" + (f"#page={page}" if page is not None else "")


def _quoted(text: str) -> str:
    """Each byte that is no plain letter, digit or mark as %XX, those that are not UTF-8 too."""
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:  # the name of no file
        data = text.encode(errors="replace")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in data)


def this_host() -> str:
    """The machine's name, by which a terminal on another one knows that a file is not its own."""
    return os.uname().nodename if hasattr(os, "uname") else ""


def linked(text: str, url: str) -> str:
    """A text that a terminal opens a URL for; the text alone where terminals would refuse the URL."""
    return text if len(url) > _LONGEST else f"{_LINK.format(url)}{text}{_LINK.format('')}"


def are_understood(environ: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether links may be written: FORCE_HYPERLINK decides; without it only to a terminal that is known to show them.

    Within tmux and screen that depends on the terminals they are shown on, so they get none.
    """
    forced = environ.get("FORCE_HYPERLINK")
    if forced:
        return forced != "0"
    term = environ.get("TERM", "")
    if not terminal or term == "dumb" or term.startswith(("screen", "tmux")) or "TMUX" in environ or "STY" in environ:
        return False
    known = environ.get("TERM_PROGRAM", "").lower() in _PROGRAMS or "WT_SESSION" in environ or term.startswith(_TERMS)
    return known or any(_number(environ.get(name, "")) >= least for name, least in _LEAST.items())


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
