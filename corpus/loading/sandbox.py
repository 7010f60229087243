"""Read files in another process, so that a reader that hangs, bloats or crashes does no harm to this one."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from corpus.errors import Unreadable
from corpus.formats import MIB
from corpus.types import Block, BlockKind, Extracted, PageBox, PagePicture, Record

# Limits for a file: seconds of CPU time; wall-clock seconds, as the machine may be busy; bytes of address space.
SECONDS, PATIENCE, MEMORY = 20, 200, 1024 * MIB


class Sandbox:
    """A process that reads files, started on first use; a context manager that threads may share.

    A file that exceeds a limit or crashes the process is refused as `unknown`, since the machine may be the cause,
    and the next file is read in a new process.

    Args:
        seconds: Seconds of CPU time for a file, where the system measures it.
        patience: Wall-clock seconds for a file.
        memory: Bytes of address space of the process, where the system limits it.
    """

    def __init__(self, *, seconds: int = SECONDS, patience: float = PATIENCE, memory: int = MEMORY) -> None:
        self._seconds = seconds
        self._patience = patience
        self._memory = memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._files = 0
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process, even while it reads a file; further files are refused."""
        self._closed = True
        self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        self._files = 0
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            # Closing flushes, which fails after the kill.
            with contextlib.suppress(OSError, ValueError):
                pipe and pipe.close()
        process.wait()

    def read(self, path: str, data: bytes) -> Extracted:
        """Return what a file's reader extracts; raise `Unreadable` if it fails or exceeds a limit."""
        return _unpack(self._request({"do": "read", "path": path}, data))

    def boxes(self, data: bytes, wanted: Sequence[tuple[int, str]]) -> list[tuple[PageBox, ...]]:
        """Find texts on the pages of a PDF; see `read` and `corpus.readers.pdf.boxes`."""
        answer = self._request({"do": "boxes", "wanted": list(wanted)}, data)
        return [tuple((int(page), *box) for page, *box in boxes) for boxes in answer["boxes"]]

    def draw(self, data: bytes, page: int) -> PagePicture:
        """Draw a page of a PDF, from 1; see `read` and `corpus.readers.pdf.picture`."""
        answer = self._request({"do": "draw", "page": page}, data)
        return PagePicture(answer["width"], answer["height"], answer["pages"], base64.b64decode(answer["png"]))

    def _request(self, request: dict[str, Any], data: bytes) -> dict[str, Any]:
        header = json.dumps(request).encode()
        frame = struct.pack(">II", len(header), len(data)) + header
        with self._lock:
            while True:
                if self._closed:
                    raise Unreadable("cancelled", unknown=True)
                is_first = self._files == 0
                answer = self._answer(frame, data)
                # Earlier files may have exhausted the process: retry in a new one.
                if is_first or not answer.get("died"):
                    break
        if "unreadable" in answer:
            raise Unreadable(str(answer["unreadable"]), unknown=bool(answer["unknown"]))
        return answer

    def _answer(self, frame: bytes, data: bytes) -> dict[str, Any]:
        process = self._process or self._start()
        self._files += 1
        reply, timed_out = self._exchange(process, frame, data)
        if reply is None:
            code = _exit_code(process)
            self._kill()
            if timed_out:
                return {"unreadable": f"took longer than {self._patience:g} s to read", "unknown": True}
            if code == -getattr(signal, "SIGXCPU", 0):
                return {"unreadable": f"needs more than {self._seconds} s of processor time to read", "unknown": True}
            cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return {"unreadable": f"its reader crashed ({cause})", "unknown": True, "died": True}
        answer: dict[str, Any] = json.loads(reply)
        if answer.get("died"):
            self._kill()
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        child = Path(__file__).resolve().with_name("sandbox_child.py")
        # -P: nothing is imported from the working directory.
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own file
                [sys.executable, "-P", str(child), str(self._seconds), str(self._memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise Unreadable(f"cannot be read: no process can be started ({reason})", unknown=True) from error
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], frame: bytes, data: bytes) -> tuple[bytes | None, bool]:
        """Send a file; return the answer, or None if the process died, and whether it timed out."""
        timed_out = threading.Event()

        def expire() -> None:
            timed_out.set()
            process.kill()

        reply = None
        with contextlib.suppress(OSError, ValueError):
            if process.stdin and process.stdout:
                size_bytes = b"\0" * 4
                # A length of zero only reports progress in a file that takes long.
                while size_bytes == b"\0" * 4:
                    timer = threading.Timer(self._patience, expire)
                    timer.daemon = True
                    timer.start()
                    try:
                        process.stdin.writelines((frame, data))
                        process.stdin.flush()
                        frame = data = b""
                        size_bytes = process.stdout.read(4)
                        reply = process.stdout.read(size) if (size := int.from_bytes(size_bytes)) else None
                    finally:
                        timer.cancel()
                reply = reply if reply is not None and len(reply) == int.from_bytes(size_bytes) else None
        return reply, timed_out.is_set()


def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a process that has closed its end of the pipe."""
    try:
        return process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _unpack(answer: dict[str, Any]) -> Extracted:
    headings = [tuple(path) for path in answer.pop("headings")]
    fields = {
        "blocks": tuple(
            Block(BlockKind(kind), start, end, headings[heading], depth)
            for kind, start, end, heading, depth in answer["blocks"]
        ),
        "pages": tuple(answer["pages"]),
        "records": tuple(Record(*record) for record in answer["records"]),
        "file_lines": None if answer["file_lines"] is None else tuple(map(tuple, answer["file_lines"])),
        "anchors": tuple(map(tuple, answer["anchors"])),
        "metadata": tuple(map(tuple, answer["metadata"])),
    }
    return Extracted(**answer | fields)
