"""The real program in a process of its own: without a network, on a read-only disk, with its sockets counted."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.paths import REPOSITORY

# Runs the command line; whatever has to do with sockets, and every file opened, is written down first.
_WATCHED = """
import os, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def watch(event, args):
    if event.startswith("socket.") and event != "socket.gethostname":
        os.write(log, f"{event} {ascii(args)[:200]}\\n".encode())
    elif event == "open":
        os.write(log, f"open {ascii(args[0])}\\n".encode())
sys.addaudithook(watch)
sys.argv = ["qa", *sys.argv[2:]]
from qa.cli.main import main
main()
"""
# Mounts the folder $0 on itself, read-only, and runs the rest.
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
_HOLDING = """
import sys
from pathlib import Path
from corpus.errors import LockedError
from index.storage.locking import wait_for_writer, writer_lock

folder, held = Path(sys.argv[1]), False
while not held:
    wait_for_writer(folder)
    try:
        with writer_lock(folder):
            held = True
            print("held", flush=True)
            sys.stdin.read()
    except LockedError:
        pass
"""


def command(arguments: Sequence[str]) -> list[str]:
    """The command line in a process of its own."""
    return [sys.executable, "-m", "qa", *arguments]


@cache
def has_namespaces(flags: str) -> bool:
    """Whether `unshare` works here: it needs Linux, and not every container allows it."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", flags, "true"], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def held(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process has the lock of an index folder, until its stdin is closed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDING, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder


@contextlib.contextmanager
def growing_to(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes; a write takes what fits, the next fails with EFBIG."""
    if sys.platform == "win32":
        raise NotImplementedError
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@dataclass(frozen=True, slots=True)
class Program:
    """Runs `qa`; `home` has its cache and its log."""

    home: Path

    def run(
        self,
        *args: str,
        namespace: str = "",
        read_only: Path | None = None,
        stdin: bytes | None = None,
        cwd: Path = REPOSITORY,
        timeout: float = 600,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command, its sockets written down.

        Args:
            args: Of the command line.
            namespace: Flags of `unshare`, such as "-rn" for no network; left out where that does not work here.
            read_only: A folder to make read-only for this command.
            stdin: What it reads.
            cwd: Where it runs.
            timeout: Seconds.
        """
        self._log.unlink(missing_ok=True)
        command = [sys.executable, "-c", _WATCHED, str(self._log), *args]
        if read_only is not None:
            command = ["unshare", "-rm", "sh", "-c", READ_ONLY, str(read_only), *command]
        elif namespace and has_namespaces(namespace):
            command = ["unshare", namespace, *command]
        return subprocess.run(
            command, input=stdin, cwd=cwd, env=self.environ(), capture_output=True, check=False, timeout=timeout
        )

    def environ(self) -> dict[str, str]:
        """A bare home, and nothing that would keep libraries from the network."""
        left_out = {"HF_HOME", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "QA_INDEX", "QA_DEBUG", "XDG_CACHE_HOME"}
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
        return kept | {"HOME": str(self.home), "PYTHONPATH": path}

    @property
    def _log(self) -> Path:
        return self.home / "events.log"

    def sockets(self) -> list[str]:
        """What the last command did with sockets."""
        return [line for line in self._events() if line.startswith("socket.")]

    def opened(self, suffix: str) -> list[str]:
        """Files with this at the end of their name that the last command opened from Python."""
        return [line for line in self._events() if line.startswith("open ") and line.rstrip("'").endswith(suffix)]

    def _events(self) -> list[str]:
        return self._log.read_text(encoding="ascii").splitlines()


def make_old(root: Path) -> None:
    """Let no file look as if it may have changed since it was read."""
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (1_000_000_000, 1_000_000_000))


def tree(root: Path) -> dict[str, tuple[int, int, int]]:
    """Every file and folder with mode, size and time of change: what any writing would change."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found
