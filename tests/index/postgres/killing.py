"""A process that writes generations, and ways to kill it, its server or its connection."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from index.protocol import Index
from index.stores import open_index
from tests.encoders import BagEncoder
from tests.paths import REPOSITORY
from tests.postgres_server import Server

# Builds a folder again and again, each time with another number in all files, and prints when it publishes that.
_WRITER = """
import sys
from pathlib import Path
from index.postgres.store import PostgresStore
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.index.postgres.killing import write_number
publish = PostgresStore._publish
def publish_and_tell(*values):
    print("publishing", flush=True)
    publish(*values)
PostgresStore._publish = publish_and_tell
root, first = Path(sys.argv[1]), int(sys.argv[2])
for number in range(first, first + 100_000):
    write_number(root, number)
    update_index(Request(root, BagEncoder()))
    print(number, flush=True)
"""

Kill = Callable[[Server, "subprocess.Popen[str]", psycopg.Connection], None]


def write_number(root: Path, number: int) -> None:
    """Write files that all contain the same number."""
    for i in range(4):
        (root / f"{i}.txt").write_text(f"Number {number} is in file {i}.\n\nAnd {number} again.\n")


def numbers_in_text(text: str) -> set[str]:
    """Return the numbers in a text, except the numbers of files."""
    return {word for word in text.replace(".", " ").split() if word.isdigit() and len(word) > 2}


def numbers_in(index: Index) -> set[str]:
    """Return the numbers in all passages of a generation, read in every way."""
    passages = [passage for file in index.documents() for passage in index.passages_of(file.path)]
    vector = BagEncoder().encode_query("Number again")
    for candidates in (index.keyword("number again", 100), index.dense(vector, 100)):
        passages += index.passages([candidate.passage for candidate in candidates])
    return set().union(*(numbers_in_text(passage.text) for passage in passages))


def start_writer(folder: Path, first: int) -> subprocess.Popen[str]:
    """Start a process that builds again and again."""
    command = [sys.executable, "-c", _WRITER, str(folder), str(first)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run_and_kill(
    server: Server, folder: Path, first: int, kill: Kill, *, pause: float, publishing: bool
) -> tuple[int, int]:
    """Start and kill a writer; return the last number that it reported, and the number that is then in the index.

    It is killed after a pause in seconds, which begins when it reports a number or starts to publish the next.
    """
    process = start_writer(folder, first)
    assert process.stdout is not None
    with psycopg.connect(server.url, autocommit=True) as connection:
        lines = [process.stdout.readline() for _ in range(3 if publishing else 2)]  # "publishing", a number, ...
        time.sleep(pause)
        kill(server, process, connection)
    lines += process.communicate()[0].splitlines()
    with open_index(folder / ".qa") as index:
        (indexed,) = numbers_in(index)
    return max(int(line) for line in lines if line.strip().isdigit()), int(indexed)


def _kill_writer(_: Server, process: subprocess.Popen[str], __: psycopg.Connection) -> None:
    process.send_signal(signal.SIGKILL)


def _kill_server(server: Server, process: subprocess.Popen[str], _: psycopg.Connection) -> None:
    server.kill()
    process.wait()
    server.start()


def _cut_connection(_: Server, process: subprocess.Popen[str], connection: psycopg.Connection) -> None:
    while process.poll() is None:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'qa'")
        time.sleep(0.001)


KILLS: dict[str, Kill] = {"writer": _kill_writer, "server": _kill_server, "connection": _cut_connection}
