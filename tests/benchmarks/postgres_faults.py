"""A collection in PostgreSQL with a concurrent writer, with kills at random moments, and with a full disk."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from corpus.errors import QAError
from index.stores import open_index, verify_index
from index.update.report import Request
from index.update.update import update_index
from qa import Retriever
from tests.encoders import BagEncoder
from tests.index.postgres.killing import KILLS, numbers_in, numbers_in_text, run_and_kill, start_writer, write_number
from tests.postgres_server import Server, kept_server, use_store

_READERS = 4
# Questions that a reader asks before it checks for a new generation.
_SAME = 25


def readers(work: Path, questions: int, server: Server) -> dict[str, Any]:
    """Count answers that mix generations or change under a reader, while a writer publishes continuously."""
    address = f"{server.url}#readers"
    root = work / "docs"
    root.mkdir()
    use_store(root / ".qa", address)
    write_number(root, 100)
    update_index(Request(root, BagEncoder()))
    process = start_writer(root, 101)
    try:
        with ProcessPoolExecutor(_READERS, mp_context=get_context("spawn")) as pool:
            found = list(pool.map(_torn, [address] * _READERS, [questions // _READERS] * _READERS))
    finally:
        process.kill()
        lines = process.communicate()[0].split()
    return {
        "readers": _READERS,
        "questions": sum(asked for asked, _, _ in found),
        "generations": sum(line.isdigit() for line in lines),
        "generations_read": sum(opened for _, opened, _ in found),
        "torn": sum(torn for _, _, torn in found),
    }


def _torn(address: str, questions: int) -> tuple[int, int, int]:
    """Repeat one question: all passages of one generation must contain the same number."""
    seen: set[str] = set()
    opened = torn = 0
    with Retriever.open(store=address, encoder=BagEncoder(), reader=False) as asked:
        for i in range(questions):
            if i % _SAME == 0 and asked.reload():
                seen, opened = set(), opened + 1
            hits = asked.search("Number again in file", k=10, rerank=False)
            seen.update(*(numbers_in_text(hit.text) for hit in hits))
            torn += len(seen) != 1 or len(hits) < 4
    return questions, opened, torn


def kills(work: Path, times: int, server: Server) -> dict[str, Any]:
    """Return the outcomes of `times` kills of each kind and moment.

    The generation afterwards must be the last one reported, or the next. Moments are within a quarter of a second, or
    within three milliseconds of the start of publishing, which takes about one millisecond.
    """
    found: dict[str, Any] = {}
    dice = random.Random(0)  # noqa: S311 - the same each time
    for what, kill in KILLS.items():
        for moment, most in (("at any time", 0.25), ("while publishing", 0.003)):
            root = work / f"{what} {moment}"
            root.mkdir()
            use_store(root / ".qa", f"{server.url}#{what}-{moment.split()[-1]}")
            first, outcomes = 100, []
            publishing = moment == "while publishing"
            for _ in range(times):
                pause = dice.uniform(0, most)
                reported, seen = run_and_kill(server, root, first, kill, pause=pause, publishing=publishing)
                intact = verify_index(root / ".qa").problems == ()
                outcomes.append({0: "old", 1: "new"}.get(seen - reported, "WRONG") if intact else "DAMAGED")
                first = reported + 2
            found[f"{what} {moment}"] = dict(Counter(outcomes))
    return found


def full_disk(work: Path) -> dict[str, Any]:
    """Return the error and the state of the collection when a server's disk fills up while the collection grows."""
    volume = work / "server" / "data"
    volume.mkdir(parents=True)
    work.chmod(0o755)
    if os.geteuid() != 0 or sys.platform != "linux":
        return {"skipped": "mounting a small volume needs root and Linux"}
    mount = ["mount", "-t", "tmpfs", "-o", "size=96m,mode=700,uid=65534,gid=65534", "tmpfs", str(volume)]
    mounted = subprocess.run(mount, check=False, capture_output=True, text=True)
    if mounted.returncode:
        return {"skipped": mounted.stderr.strip()}
    try:
        with kept_server(volume.parent, "shared_buffers=16MB", "max_wal_size=32MB", "min_wal_size=32MB") as server:
            return _filled(work, server)
    finally:
        subprocess.run(["umount", "-l", volume], check=True)


def _filled(work: Path, server: Server) -> dict[str, Any]:
    """Write until the volume is full; then free some space and continue."""
    root, ballast = work / "docs", server.data / "ballast"
    root.mkdir()
    use_store(root / ".qa", f"{server.url}#full")
    ballast.write_bytes(bytes(16 * 1024 * 1024))
    error, last = "", 99
    while not error:
        last += 1
        write_number(root, last)
        for i in range(50):
            (root / f"{last}-{i}.md").write_text(" ".join(random.Random(i).choices("abcdefgh ", k=4000)))  # noqa: S311
        try:
            update_index(Request(root, BagEncoder()))
        except QAError as found:
            error = f"{type(found).__name__}: {found}".replace(server.url, "URL")
    ballast.unlink()
    died = server.process is not None and server.process.poll() is not None
    if died:
        server.start()
    time.sleep(1)
    with open_index(root / ".qa") as index:
        (seen,) = {one for one in numbers_in(index) if int(one) in (last - 1, last)}
    intact = verify_index(root / ".qa").problems == ()
    update_index(Request(root, BagEncoder()))
    return {
        "said": error,
        "server_died": died,
        "generation": "old" if int(seen) == last - 1 else "new",
        "intact": intact,
        "next_build_intact": verify_index(root / ".qa").problems == (),
    }
