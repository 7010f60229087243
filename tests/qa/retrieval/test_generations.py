"""One retriever shared by threads and coroutines, while the index changes."""

from __future__ import annotations

import asyncio
import gc
import shutil
import sqlite3
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corpus.errors import NoIndexError, UsageError
from index.protocol import Index
from index.snapshot import Snapshot
from qa.answer.results import Result
from qa.retrieval.generations import Generation
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.forks import exit_code_in_fork
from tests.marks import needs_fork
from tests.qa.indexes import build, opened

QUESTION = "when does the harbour close"
MARCH = {"a.txt": "The harbour closes in March.\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    build(tmp_path, {"a.txt": "The harbour closes in winter.\n", "b.txt": "Soup is served at noon.\n"})
    return tmp_path


def texts(result: Result) -> list[str]:
    return [hit.text for hit in result.passages]


def is_closed(snapshot: Index) -> bool:
    try:
        snapshot.documents()
    except sqlite3.ProgrammingError:
        return True
    return False


def test_newer_generation_is_used_after_a_reload(root: Path) -> None:
    """And not before; the old one is closed, so that its files are free."""
    with opened(root) as retriever:
        before = retriever.snapshot
        assert (before.is_newest(), retriever.reload()) == (True, False)
        build(root, MARCH)
        assert not before.is_newest()
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in winter."
        assert retriever.reload()
        assert is_closed(before)
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in March."
        assert not retriever.reload()


def test_a_closed_retriever_is_freed_at_once(root: Path) -> None:
    """With its vectors: a program may open many, and garbage collection may be rare."""
    gc.disable()
    try:
        with opened(root) as retriever:
            retriever.ask(QUESTION)
            snapshot = retriever.snapshot
            assert isinstance(snapshot, Snapshot)
            freed = [
                weakref.ref(it) for it in (retriever, snapshot, snapshot._dense_index, snapshot._dense_index._segments)
            ]
        del retriever, snapshot
        assert [reference() for reference in freed] == [None] * 4
    finally:
        gc.enable()


def test_a_rebuilt_index_is_newer(root: Path) -> None:
    """Even if it has the same generation number and counts."""
    with opened(root) as retriever:
        info = retriever.snapshot.info
        shutil.rmtree(root / ".qa")
        (root / "a.txt").rename(root / "c.txt")
        build(root)
        assert retriever.reload()
        assert retriever.snapshot.info == info
        assert retriever.ask(QUESTION).passages[0].source.path == "c.txt"


def test_old_generation_keeps_answering_if_reload_fails(root: Path) -> None:
    with opened(root) as retriever:
        (root / ".qa").rename(root / ".gone")
        with pytest.raises(NoIndexError):
            retriever.reload()
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in winter."


def test_open_questions_finish_on_their_generation(root: Path) -> None:
    """Neither a reload nor a close waits; the last reader to leave closes the snapshot."""
    with opened(root) as retriever:
        with retriever.reading() as before:
            build(root, {"d.txt": "A new lighthouse.\n"})
            assert retriever.reload()
            assert len(before.documents()) == 2
            with retriever.reading() as now:
                assert len(now.documents()) == 3
                retriever.close()
                assert len(now.documents()) == 3
                with pytest.raises(UsageError, match="closed"), retriever.reading():
                    pass
        assert is_closed(before)
        assert is_closed(now)
    with pytest.raises(UsageError, match="closed"):
        retriever.reload()


def test_question_on_a_retired_generation_uses_the_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter = Generation.enter
    turns: list[bool] = []

    def late(generation: Generation) -> bool:
        if not turns:
            build(root, MARCH)
            turns.append(retriever.reload())
        turns.append(enter(generation))
        return turns[-1]

    with opened(root) as retriever:
        monkeypatch.setattr(Generation, "enter", late)
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in March."
    assert turns == [True, False, True]


def test_many_threads_ask_during_reloads_and_a_close(root: Path) -> None:
    """Each answer comes from a single generation; after the close all threads get an error."""
    by_generation = {1: "winter"}
    refused: list[str] = []
    seen: set[int] = set()
    answered = threading.Condition()

    def ask(retriever: Retriever, number: int) -> list[tuple[int, str, list[str]]]:
        answers = []
        try:
            while True:
                result = retriever.ask((QUESTION, "is soup served at noon")[number % 2], k=2)
                answers.append((result.index.generation, result.question, texts(result)))
                with answered:
                    seen.add(result.index.generation)
                    answered.notify()
        except UsageError as error:
            refused.append(str(error))
            return answers

    def wait_for(generation: int) -> None:
        with answered:
            assert answered.wait_for(lambda: generation in seen, timeout=60)

    with ThreadPoolExecutor(8) as pool, opened(root) as retriever:
        asking = [pool.submit(ask, retriever, number) for number in range(8)]
        wait_for(1)
        for month in ("March", "April", "May", "June", "July"):
            build(root, {"a.txt": f"The harbour closes in {month}.\n"})
            assert retriever.reload()
            by_generation[retriever.snapshot.info.generation] = month
            wait_for(max(by_generation))
        before = retriever.snapshot
        retriever.close()
        answers = [answer for each in asking for answer in each.result(timeout=60)]
    assert is_closed(before)
    assert refused == ["this retriever is closed; open another with Retriever.open."] * 8
    assert {generation for generation, *_ in answers} == by_generation.keys()
    for generation, question, answer_texts in answers:
        expected = [f"The harbour closes in {by_generation[generation]}.", "Soup is served at noon."]
        assert answer_texts == (expected if question == QUESTION else expected[::-1])


def test_coroutines_ask_at_the_same_time(root: Path) -> None:
    """The event loop is not blocked: both questions are in the encoder together."""
    together = threading.Barrier(2)

    class Waiting(BagEncoder):
        def unknown_token_ratio(self, text: str) -> float:
            together.wait(20)
            return super().unknown_token_ratio(text)

    async def both(retriever: Retriever) -> tuple[Result, tuple[object, ...]]:
        return await asyncio.gather(retriever.aask(QUESTION, k=1), retriever.asearch("soup at noon", k=1))

    with opened(root, encoder=Waiting()) as retriever:
        result, hits = asyncio.run(both(retriever))
    assert texts(result) == ["The harbour closes in winter."]
    assert [getattr(hit, "text", None) for hit in hits] == ["Soup is served at noon."]


@needs_fork
def test_a_forked_process_can_close_while_a_thread_of_its_parent_begins_a_question(root: Path) -> None:
    with opened(root) as retriever, retriever._generations._now._lock:
        assert exit_code_in_fork(retriever.close) == 0
