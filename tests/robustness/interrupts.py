"""Press Ctrl-C, once or twice, on the real command line."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import NoIndexError
from index.snapshot import Snapshot
from index.storage.locking import writer_lock
from tests.paths import REPOSITORY
from tests.robustness.program import command


@dataclass(frozen=True, slots=True)
class Interrupted:
    """How a command ended: its exit status, its stderr, and whether a process that it started is still running."""

    code: int
    errors: str
    orphans: bool


def interrupt(root: Path, *, after: float, times: int) -> Interrupted:
    """Start indexing a folder, wait until the writer has its lock and then `after` seconds more, and press Ctrl-C."""
    lock = root / ".qa" / "lock"
    lock.unlink(missing_ok=True)
    allow_interrupts()
    process = subprocess.Popen(
        command(["index", str(root)]),
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        while not lock.exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(after)
        for number in range(times):
            if number:
                time.sleep(0.03)
            # Like a terminal: to every process of the command.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return Interrupted(process.returncode, errors, _is_running(process.pid))


def allow_interrupts() -> None:
    """Stop ignoring Ctrl-C, as processes do that a shell starts in the background; children would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_running(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def documents(root: Path, count: int) -> None:
    """Write documents that take some seconds to embed."""
    for number in range(count):
        parts = (f"# Part {number}.{part}\n\nParagraph {part} of {number}.\n" for part in range(20))
        (root / f"{number:03}.md").write_text("\n".join(parts), encoding="utf-8")


def wrong_with(root: Path, ended: Interrupted) -> list[str]:
    """List what is wrong after an interruption."""
    found = []
    if ended.code not in (0, 130):
        found.append(f"exit {ended.code}")
    if "Traceback" in ended.errors or (ended.code and "interrupted" not in ended.errors):
        found.append(f"stderr: {ended.errors}")
    if ended.orphans:
        found.append("a process is left")
    with contextlib.suppress(NoIndexError), Snapshot(root / ".qa") as snapshot:
        snapshot.load()
    with writer_lock(root / ".qa"):
        pass
    return found
