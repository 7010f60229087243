"""One retriever for many: threads, coroutines, and an index that changes meanwhile."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corpus.errors import NoIndexError, UsageError
from index.protocol import Index
from index.update.report import Request
from index.update.update import update_index
from qa.answer.results import Result
from qa.retrieval.generations import Generation
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder

QUESTION = "when does the harbour close"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("The harbour closes in winter.\n")
    (folder / "b.txt").write_text("Soup is served at noon.\n")
    update(folder)
    return folder


def update(root: Path) -> None:
    update_index(Request(root, BagEncoder()))


def opened(root: Path) -> Retriever:
    return Retriever.open(root, encoder=BagEncoder(), reader=False)


def texts(result: Result) -> list[str]:
    return [hit.text for hit in result.passages]


def is_closed(snapshot: Index) -> bool:
    try:
        snapshot.documents()
    except sqlite3.ProgrammingError:
        return True
    return False


def test_a_newer_generation_is_asked_after_a_reload(root: Path) -> None:
    """And not before; the old one is closed, so that nothing keeps its files."""
    with opened(root) as retriever:
        before = retriever.snapshot
        assert (before.is_newest(), retriever.reload()) == (True, False)
        (root / "a.txt").write_text("The harbour closes in March.\n")
        update(root)
        assert not before.is_newest()
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in winter."
        assert retriever.reload()
        assert is_closed(before)
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in March."
        assert not retriever.reload()


def test_an_index_that_was_made_anew_is_newer(root: Path) -> None:
    """It has the same generation number, and what it says of itself is the same."""
    with opened(root) as retriever:
        info = retriever.snapshot.info
        shutil.rmtree(root / ".qa")
        (root / "a.txt").rename(root / "c.txt")
        update(root)
        assert retriever.reload()
        assert retriever.snapshot.info == info
        assert retriever.ask(QUESTION).passages[0].source.path == "c.txt"


def test_what_cannot_be_opened_changes_nothing(root: Path) -> None:
    """The old generation answers on."""
    with opened(root) as retriever:
        (root / ".qa").rename(root / ".gone")
        with pytest.raises(NoIndexError):
            retriever.reload()
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in winter."


def test_open_questions_finish_on_their_generation(root: Path) -> None:
    """A reload, and a close, wait for nobody; the last to leave closes."""
    with opened(root) as retriever:
        with retriever.reading() as before:
            (root / "d.txt").write_text("A new lighthouse.\n")
            update(root)
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


def test_a_generation_that_is_retired_just_then_has_a_successor(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds it retired asks the next one."""
    enter = Generation.enter
    turns: list[bool] = []

    def late(generation: Generation) -> bool:
        if not turns:
            (root / "a.txt").write_text("The harbour closes in March.\n")
            update(root)
            turns.append(retriever.reload())
        turns.append(enter(generation))
        return turns[-1]

    with opened(root) as retriever:
        monkeypatch.setattr(Generation, "enter", late)
        assert texts(retriever.ask(QUESTION))[0] == "The harbour closes in March."
    assert turns == [True, False, True]


def test_many_threads_beside_reloads_and_a_close(root: Path) -> None:
    """Each answer is that of one generation, the newest when it was asked or one before; then all are told."""
    months = ("March", "April", "May", "June", "July")
    by_generation = {1: "winter"}
    refused: list[str] = []
    seen: set[int] = set()
    answered = threading.Condition()

    def ask(retriever: Retriever, number: int) -> list[tuple[int, str, list[str]]]:
        found = []
        try:
            while True:
                result = retriever.ask((QUESTION, "is soup served at noon")[number % 2], k=2)
                found.append((result.index.generation, result.question, texts(result)))
                with answered:
                    seen.add(result.index.generation)
                    answered.notify()
        except UsageError as error:
            refused.append(str(error))
            return found

    def wait_for(generation: int) -> None:
        with answered:
            assert answered.wait_for(lambda: generation in seen, timeout=60)

    with ThreadPoolExecutor(8) as pool, opened(root) as retriever:
        asking = [pool.submit(ask, retriever, number) for number in range(8)]
        wait_for(1)
        for month in months:
            (root / "a.txt").write_text(f"The harbour closes in {month}.\n")
            update(root)
            assert retriever.reload()
            by_generation[retriever.snapshot.info.generation] = month
            wait_for(max(by_generation))
        before = retriever.snapshot
        retriever.close()
        answers = [answer for each in asking for answer in each.result(timeout=60)]
    assert is_closed(before)
    assert refused == ["this retriever is closed; open another with Retriever.open."] * 8
    assert {generation for generation, *_ in answers} == by_generation.keys()
    for generation, question, found in answers:
        both = [f"The harbour closes in {by_generation[generation]}.", "Soup is served at noon."]
        assert found == (both if question == QUESTION else both[::-1])


def test_coroutines_ask_at_once(root: Path) -> None:
    """The loop is free meanwhile: both questions are in the encoder together."""
    together = threading.Barrier(2)

    class Waiting(BagEncoder):
        def unknown_token_ratio(self, text: str) -> float:
            together.wait(20)
            return super().unknown_token_ratio(text)

    async def both(retriever: Retriever) -> tuple[Result, tuple[object, ...]]:
        return await asyncio.gather(retriever.aask(QUESTION, k=1), retriever.asearch("soup at noon", k=1))

    with Retriever.open(root, encoder=Waiting(), reader=False) as retriever:
        result, hits = asyncio.run(both(retriever))
    assert texts(result) == ["The harbour closes in winter."]
    assert [getattr(hit, "text", None) for hit in hits] == ["Soup is served at noon."]
