"""Run the real program in a separate process: without a network, on a read-only disk, recording its sockets."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.paths import REPOSITORY

# Runs commands until one fails, and logs every socket operation and every file opened.
_AUDITED = """
import json, os, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def watch(event, args):
    if event.startswith("socket.") and event != "socket.gethostname":
        os.write(log, f"{event} {ascii(args)[:200]}\\n".encode())
    elif event == "open":
        os.write(log, f"open {ascii(args[0])}\\n".encode())
sys.addaudithook(watch)
before = json.loads(sys.argv[2])
sys.argv = ["qa", *sys.argv[3:]]
from qa.cli.main import app, main
for args in before:
    try:
        app(args, prog_name="qa")
    except SystemExit as end:
        if end.code:
            raise
main()
"""
# Mounts the folder $0 on itself, read-only, and runs the rest.
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
_LOCKING = """
import sys
from pathlib import Path
from corpus.errors import LockedError
from index.storage.locking import wait_for_writer, writer_lock

folder = Path(sys.argv[1])
while True:
    wait_for_writer(folder)
    try:
        with writer_lock(folder):
            print("locked", flush=True)
            sys.stdin.read()
            break
    except LockedError:
        pass
"""


def command(arguments: Sequence[str]) -> list[str]:
    """The command that runs `qa` with these arguments."""
    return [sys.executable, "-m", "qa", *arguments]


def allow_interrupts() -> None:
    """Stop ignoring Ctrl-C: a process that a shell starts in the background ignores it, and so would its children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@cache
def has_namespaces(flags: str) -> bool:
    """Whether `unshare` works here: only on Linux, and not in every container."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", flags, "true"], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def locked_by_other_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Hold the lock of an index folder in another process, until its stdin is closed."""
    program = [sys.executable, "-c", _LOCKING, str(folder)]
    holder = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        yield holder


@contextlib.contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Limit the size of files: a write by this process is cut off at the limit, and the next fails with EFBIG."""
    if sys.platform == "win32":
        raise NotImplementedError
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def environment_without(*names: str) -> dict[str, str]:
    """The environment without these variables, and with this checkout on Python's path."""
    kept = {name: value for name, value in os.environ.items() if name not in names}
    path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    return kept | {"PYTHONPATH": path}


@dataclass(frozen=True, slots=True)
class Program:
    """Runs `qa` with a home folder, which contains its cache; its log is next to that."""

    home: Path

    def run(
        self,
        *args: str,
        before: Sequence[Sequence[str]] = (),
        namespace: str = "",
        read_only: Path | None = None,
        mounts: str = READ_ONLY,
        stdin: bytes | None = None,
        cwd: Path = REPOSITORY,
        environ: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command, and log its sockets.

        Args:
            args: The arguments of `qa`.
            before: Arguments of commands to run first in the same process, which ends if one fails.
            namespace: Flags for `unshare`, such as "-rn" for no network; ignored if that does not work here.
            read_only: A folder to make read-only for this command.
            mounts: The script that makes it read-only.
            stdin: Its input.
            cwd: Its working folder.
            environ: Additional environment variables.
        """
        self._log.unlink(missing_ok=True)
        command = [sys.executable, "-c", _AUDITED, str(self._log), json.dumps(before), *args]
        if read_only is not None:
            command = ["unshare", "-rm", "sh", "-c", mounts, str(read_only), *command]
        elif namespace and has_namespaces(namespace):
            command = ["unshare", namespace, *command]
        return subprocess.run(
            command,
            input=stdin,
            cwd=cwd,
            env=self.environ() | dict(environ or {}),
            capture_output=True,
            check=False,
            timeout=600,
        )

    def environ(self) -> dict[str, str]:
        """The environment with this home, and without variables that would keep libraries off the network."""
        removed = ("HF_HOME", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "QA_INDEX", "QA_DEBUG", "XDG_CACHE_HOME")
        return environment_without(*removed) | {"HOME": str(self.home)}

    @property
    def _log(self) -> Path:
        return self.home.with_name("events.log")

    def socket_events(self) -> list[str]:
        """The socket events of the last command."""
        return [line for line in self._events() if line.startswith("socket.")]

    def opened_files(self, suffix: str) -> list[str]:
        """The files with this suffix that the last command opened from Python."""
        return [line for line in self._events() if line.startswith("open ") and line.rstrip("'").endswith(suffix)]

    def _events(self) -> list[str]:
        return self._log.read_text(encoding="ascii").splitlines()


def backdate(root: Path) -> None:
    """Give all files an old modification time, so that an update need not read any of them again."""
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (1_000_000_000, 1_000_000_000))


def file_stats(root: Path) -> dict[str, tuple[int, int, int]]:
    """The mode, size and modification time of every file and folder, of which any write would change some."""
    stats = {str(path): path.lstat() for path in sorted(root.rglob("*"))}
    return {path: (status.st_mode, status.st_size, status.st_mtime_ns) for path, status in stats.items()}
