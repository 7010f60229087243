"""Files as URLs, for links on a terminal and for browsers."""

from __future__ import annotations

import os
from pathlib import PurePath
from urllib.parse import quote


def file_url(path: str, *, host: str = "", page: int | None = None) -> str:
    """Write a file's place as a URL of printable ASCII, whatever is in its name.

    Args:
        path: Absolute, as the system writes it.
        host: Name of the machine that has the file, or "" for this one (RFC 8089).
        page: Page of a PDF that viewers should open, from 1.
    """
    slashed = PurePath(path).as_posix()
    # Each byte that is no plain letter, digit or mark becomes %XX, those that are not UTF-8 too.
    quoted = quote(os.fsencode(slashed if slashed.startswith("/") else f"/{slashed}"), safe="/:")
    return f"file://{quote(host, safe='')}{quoted}" + (f"#page={page}" if page is not None else "")
