"""A collection in PostgreSQL with a concurrent writer, and with kills at random moments."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from index.stores import verify_index
from index.update.report import Request
from index.update.update import update_index
from qa import Retriever
from tests.encoders import BagEncoder
from tests.index.postgres.killing import KILLS, numbers_in_text, run_and_kill, start_writer, write_number
from tests.postgres_server import Server, use_store

_READERS = 4
# How often a reader asks before it checks for a new generation.
_REPEATS = 25


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
            counts = list(pool.map(_read, [address] * _READERS, [questions // _READERS] * _READERS))
    finally:
        process.kill()
        lines = process.communicate()[0].split()
    return {
        "readers": _READERS,
        "questions": sum(asked for asked, _, _ in counts),
        "generations": sum(line.isdigit() for line in lines),
        "generations_read": sum(opened for _, opened, _ in counts),
        "torn": sum(torn for _, _, torn in counts),
    }


def _read(address: str, questions: int) -> tuple[int, int, int]:
    """Repeat a question, and count torn answers: all passages of a generation must contain the same number."""
    seen: set[str] = set()
    opened = torn = 0
    with Retriever.open(store=address, encoder=BagEncoder(), reader=False) as retriever:
        for i in range(questions):
            if i % _REPEATS == 0 and retriever.reload():
                seen, opened = set(), opened + 1
            hits = retriever.search("Number again in file", k=10, rerank=False)
            seen.update(*(numbers_in_text(hit.text) for hit in hits))
            torn += len(seen) != 1 or len(hits) < 4
    return questions, opened, torn


def kills(work: Path, times: int, server: Server) -> dict[str, Any]:
    """Return the outcomes of `times` kills of each kind and moment.

    The generation afterwards must be the last one reported, or the next. Moments are within a quarter of a second, or
    within three milliseconds of the start of publishing, which takes about one millisecond.
    """
    results: dict[str, Any] = {}
    dice = random.Random(0)  # noqa: S311 - the same each time
    for name, kill in KILLS.items():
        for moment, most in (("at any time", 0.25), ("while publishing", 0.003)):
            root = work / f"{name} {moment}"
            root.mkdir()
            use_store(root / ".qa", f"{server.url}#{name}-{moment.split()[-1]}")
            first, outcomes = 100, []
            publishing = moment == "while publishing"
            for _ in range(times):
                pause = dice.uniform(0, most)
                reported, seen = run_and_kill(server, root, first, kill, pause=pause, publishing=publishing)
                intact = verify_index(root / ".qa").problems == ()
                outcomes.append({0: "old", 1: "new"}.get(seen - reported, "WRONG") if intact else "DAMAGED")
                first = reported + 2
            results[f"{name} {moment}"] = dict(Counter(outcomes))
    return results
