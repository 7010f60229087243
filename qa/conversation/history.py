"""The input history of conversations: a file of lines in the user's state folder that only the user can read."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from index import append_private

# Only the end of the file is read.
_MAX_BYTES = 256 * 1024

_log = logging.getLogger(__name__)


def history_file() -> Path:
    """Return the path of the history file (https://specifications.freedesktop.org/basedir-spec)."""
    home = os.environ.get("XDG_STATE_HOME", "")
    return (Path(home) if os.path.isabs(home) else Path(os.path.expanduser("~/.local/state"))) / "qa" / "history"  # noqa: PTH111, PTH117


class LineHistory:
    """The lines of a history file, oldest first; only this conversation's if it cannot be read or written."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.lines = _read(file)

    def add(self, line: str) -> None:
        """Add a line, unless it repeats the previous one or begins with a space, as in shells."""
        kept = " ".join(line.split())
        if not kept or line[0].isspace() or self.lines[-1:] == [kept]:
            return
        self.lines.append(kept)
        try:
            append_private(self._file, f"{kept}\n".encode("utf-8", "replace"))
        except OSError as error:
            _log.debug("cannot save the history: %s", error)


def _read(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - _MAX_BYTES))
            data = stream.read(_MAX_BYTES)
    except OSError as error:
        _log.debug("cannot read the history: %s", error)
        return []
    return [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
