"""The real program in a process of its own: without a network, on a read-only disk, with its sockets counted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
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
_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


@cache
def has_namespaces(flags: str) -> bool:
    """Whether `unshare` works here: it needs Linux, and not every container allows it."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", flags, "true"], capture_output=True, check=False).returncode == 0


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
        environ: dict[str, str] | None = None,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command, its sockets written down.

        Args:
            args: What stands behind `qa`.
            namespace: Flags of `unshare`, such as "-rn" for no network; left out where that does not work here.
            read_only: A folder to make read-only for this command.
            stdin: What it reads.
            cwd: Where it runs.
            environ: Variables, in place of the usual ones where given.
            timeout: Seconds.
        """
        self._log.unlink(missing_ok=True)
        command = [sys.executable, "-c", _WATCHED, str(self._log), *args]
        if read_only is not None:
            command = ["unshare", "-rm", "sh", "-c", _READ_ONLY, str(read_only), *command]
        elif namespace and has_namespaces(namespace):
            command = ["unshare", namespace, *command]
        return subprocess.run(
            command, input=stdin, cwd=cwd, env=self.environ() | (environ or {}), capture_output=True, check=False,
            timeout=timeout,
        )  # fmt: skip

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
