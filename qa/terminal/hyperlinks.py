"""Links to files on a terminal (OSC 8)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath
from urllib.parse import quote_from_bytes

# Terminals known to show links; others may print the escape sequence.
_PROGRAMS = frozenset({"iterm.app", "wezterm", "vscode", "ghostty", "hyper", "rio", "tabby", "warpterminal"})
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
# Set by terminals on VTE, such as GNOME's, by Konsole and by Windows Terminal.
_VARIABLES = ("VTE_VERSION", "KONSOLE_VERSION", "WT_SESSION")
# Opens a link, and closes it if the URL is empty (https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
_LINK = "\x1b]8;;{}\x1b\\"
# Terminals refuse longer URLs.
_MAX_URL = 2083


def file_url(path: str, *, host: str = "", fragment: str = "") -> str:
    """Return the URL of a file (an absolute path) or a place in it, in printable ASCII only.

    `host` is the machine that has the file, "" for this one (RFC 8089).
    """
    slashed = PurePath(path).as_posix()
    rooted = slashed if slashed.startswith("/") else f"/{slashed}"
    return f"file://{_quote(host)}{_quote(rooted)}" + (f"#{_quote(fragment, '/:=.()')}" if fragment else "")


def _quote(text: str, safe: str = "/:") -> str:
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:  # not a valid file name
        data = text.encode(errors="replace")
    return quote_from_bytes(data, safe=safe)


def hyperlink(text: str, url: str) -> str:
    """Return a text as a link; the text alone if terminals would refuse the URL."""
    return text if len(url) > _MAX_URL else f"{_LINK.format(url)}{text}{_LINK.format('')}"


def terminal_shows_links(environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Return whether to write links: as FORCE_HYPERLINK says or, if that is unset, on terminals known to show them."""
    if setting := environ.get("FORCE_HYPERLINK"):
        return setting != "0"
    term = environ.get("TERM", "")
    # In tmux and screen, it depends on the terminal around them.
    is_multiplexed = term.startswith(("screen", "tmux")) or "TMUX" in environ or "STY" in environ
    if not is_terminal or term == "dumb" or is_multiplexed:
        return False
    is_known_program = environ.get("TERM_PROGRAM", "").lower() in _PROGRAMS
    return is_known_program or term.startswith(_TERMS) or any(name in environ for name in _VARIABLES)
