"""A program on a pseudo-terminal, typed to like a person would."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from tests.paths import REPOSITORY

# Sequences that move the cursor, set colours and modes, and make links.
_CONTROL = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>()][A-Z0-9]?|\r|\x07")
# Both kinds of line input turn on bracketed paste right before they show a prompt.
_PROMPT, READY = "\x1b[?2004h", "◆"
_TIMEOUT = 120.0


class Terminal:
    """Runs `qa` on a terminal of 100 columns.

    Args:
        args: Arguments of `qa`.
        cwd: Its working directory.
        environ: Environment variables, in addition to those of this process.
        before: Python code that runs first.
    """

    def __init__(self, *args: str, cwd: Path, environ: dict[str, str], before: str = "") -> None:
        self._parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        # It gets a session with this terminal, so that Ctrl-C reaches it.
        program = "import fcntl, signal, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        program += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        program += f"{before}\nfrom qa.cli.main import main\nmain()"
        defaults = {"PYTHONPATH": str(REPOSITORY), "TERM": "xterm", "COLUMNS": "100", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, *args],
            cwd=cwd, env={**os.environ, **defaults, **environ},
            stdin=child, stdout=child, stderr=child, start_new_session=True,
        )  # fmt: skip
        os.close(child)
        self._unread = ""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def type(self, keys: str) -> None:
        os.write(self._parent, keys.encode())

    def until(self, end: str) -> str:
        """Return the output up to the end of a regular expression's match, without control sequences."""
        limit = time.monotonic() + _TIMEOUT
        while not (match := re.search(end, output := _CONTROL.sub("", self._unread.replace(_PROMPT, READY)))):
            ready, _, _ = select.select([self._parent], [], [], max(0.0, limit - time.monotonic()))
            data = b""
            with contextlib.suppress(OSError):  # Linux raises EIO at the end
                data = os.read(self._parent, 1 << 16) if ready else b""
            if not data:
                raise AssertionError(f"no {end!r} in the output: {output!r}")
            self._unread += self._decode(data)
        self._unread = output[match.end() :]
        return output[: match.end()]

    def say(self, line: str, end: str = READY) -> str:
        """Type a line, and return the output until the next prompt."""
        self.type(f"{line}\r")
        return self.until(end)

    def close(self) -> int:
        """Wait for the program to end, and return its exit code."""
        try:
            return self._process.wait(timeout=_TIMEOUT)
        finally:
            self._process.kill()
            os.close(self._parent)
