"""Have files read in another process, which may hang, bloat or crash without harm to this one."""

from __future__ import annotations

import contextlib
import json
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from corpus.errors import Unreadable
from corpus.types import Block, BlockKind, Extracted, PageBox, Record

_MIB = 1024 * 1024
# Behind the seconds of computing that a file is given, for a machine that does much else.
_PATIENCE = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take.

    Attributes:
        seconds: Of computing, where the system counts them; three times that by the clock.
        memory: Bytes of address space that the process may have, where the system keeps to it.
    """

    seconds: int = 20
    memory: int = 1024 * _MIB


@dataclass(slots=True)
class _Exchange:
    """A question to the process and what came back; None where the process died over it."""

    answer: bytes | None = None


class Sandbox:
    """A process that reads files, started when the first comes; use it as a context manager.

    A file that it dies over is refused, and the next one gets a new process. It may be used from several
    threads, one file at a time.
    """

    def __init__(self, limits: Limits = Limits()) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._files = 0
        self._closed = False

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if there is one; what it is reading is given up, and nothing is read any more."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        self._files = 0
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            # What was not written yet cannot be any more.
            with contextlib.suppress(OSError, ValueError):
                pipe and pipe.close()
        process.wait()

    def read(self, path: str, data: bytes) -> Extracted:
        """Have a file's bytes read.

        Raises:
            Unreadable: They cannot be, or not within the limits.
        """
        return _reading(self._ask({"do": "read", "path": path}, data))

    def boxes(self, data: bytes, wanted: Sequence[tuple[int, str]]) -> list[tuple[PageBox, ...]]:
        """Have texts found on the pages of a PDF; see `corpus.readers.pdf.boxes`.

        Raises:
            Unreadable: As `read`.
        """
        found = self._ask({"do": "boxes", "path": "", "wanted": list(wanted)}, data)
        return [tuple(map(_page_box, boxes)) for boxes in found["boxes"]]

    def _ask(self, head: dict[str, Any], data: bytes) -> dict[str, Any]:
        text = json.dumps(head).encode()
        frame = struct.pack(">II", len(text), len(data)) + text
        with self._lock:
            while True:
                if self._closed:
                    raise Unreadable("given up", unknown=True)
                fresh = self._files == 0
                answer = self._answer(frame, data)
                # What others left behind must not count against this file: it is tried alone.
                if fresh or "unreadable" not in answer or not answer.get("died"):
                    break
        if "unreadable" in answer:
            raise Unreadable(str(answer["unreadable"]))
        return answer

    def _answer(self, frame: bytes, data: bytes) -> dict[str, Any]:
        process = self._process or self._start()
        exchange = _Exchange()
        thread = threading.Thread(target=_exchange, args=(process, frame, data, exchange), daemon=True)
        self._files += 1
        thread.start()
        thread.join(self._limits.seconds * _PATIENCE)
        late = thread.is_alive()
        if late:
            process.kill()
            thread.join()
        if exchange.answer is None or late:
            code = _end_of(process)
            self._end()
            late = late or code == -getattr(signal, "SIGXCPU", 0)
            return {"unreadable": self._too_long() if late else self._death(code), "died": not late}
        answer: dict[str, Any] = json.loads(exchange.answer)
        if answer.get("died"):
            self._end()
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        child = Path(__file__).resolve().with_name("sandbox_child.py")
        limits = [str(self._limits.seconds), str(self._limits.memory)]
        # -P: nothing is imported from the folder that it is started in.
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own file
                [sys.executable, "-P", str(child), *limits],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise Unreadable(f"cannot be read: no process can be started ({reason})", unknown=True) from error
        return self._process

    def _too_long(self) -> str:
        return f"took longer than {self._limits.seconds} s to read"

    @staticmethod
    def _death(code: int) -> str:
        if code < 0:
            return f"its reader died of it ({signal.Signals(-code).name})"
        return f"its reader died of it (exit code {code})"


def _end_of(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a process that has closed its end, or is about to."""
    try:
        return process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _exchange(process: subprocess.Popen[bytes], frame: bytes, data: bytes, exchange: _Exchange) -> None:
    """Hand a file over and wait for what is made of it; in a thread, which ends when the process does."""
    if process.stdin is None or process.stdout is None:
        return
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(frame)
        process.stdin.write(data)
        process.stdin.flush()
        head = process.stdout.read(4)
        if len(head) == 4:
            (size,) = struct.unpack(">I", head)
            answer = process.stdout.read(size)
            exchange.answer = answer if len(answer) == size else None


def _page_box(values: Sequence[float]) -> PageBox:
    page, left, top, right, bottom = values
    return int(page), left, top, right, bottom


_KINDS = {str(kind): kind for kind in BlockKind}


def _reading(answer: dict[str, Any]) -> Extracted:
    headings = [tuple(path) for path in answer["headings"]]
    return Extracted(
        text=answer["text"],
        title=answer["title"],
        blocks=tuple(
            Block(_KINDS[kind], start, end, headings[heading], depth)
            for kind, start, end, heading, depth in answer["blocks"]
        ),
        pages=tuple(answer["pages"]),
        media_type=answer["media_type"],
        note=answer["note"],
        records=tuple(Record(start, title) for start, title in answer["records"]),
    )
