"""Texts are embedded while files are read: each once, the longest first, few in memory, no finished vector lost."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.errors import ModelError, StorageError
from index.commit.store import Store
from index.storage.vectors import Vectors, vector_digest
from index.update import embed_queue
from index.update.embed_queue import Embedding
from tests.encoders import BagEncoder

STOPPING = "stopping; what has been embedded is kept (Ctrl-C again: stop at once, and lose some of it)"


def set_sizes(patch: pytest.MonkeyPatch, *, gathered: int, chunk: int, ahead: int) -> None:
    """Set how many texts are gathered and embedded at once, and how many chunks are embedded ahead."""
    for name, value in (("_GATHERED", gathered), ("_CHUNK", chunk), ("_WORKERS_CHUNK", chunk), ("_AHEAD", ahead)):
        patch.setattr(embed_queue, name, value)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as store:
        yield store


def digest(text: str) -> bytes:
    return vector_digest("", text)


def ignore(_: float) -> None:
    pass


def offer_all(target: Embedding, texts: Sequence[str]) -> None:
    for text in texts:
        target.offer([digest(text)], [text], 1.0)


def embed(encoder: BagEncoder, store: Store, texts: Sequence[str]) -> None:
    with Embedding(encoder, store, ignore) as target:
        offer_all(target, texts)
        target.finish()


def stored(folder: Path) -> dict[bytes, bytes]:
    with closing(sqlite3.connect(folder / "index.db")) as connection:
        return dict(connection.execute("SELECT digest, vector FROM vectors"))


def expected(texts: Sequence[str]) -> dict[bytes, bytes]:
    rows = BagEncoder().encode_passages(texts)
    return {digest(text): row.astype("<f2").tobytes() for text, row in zip(texts, rows, strict=True)}


def keeping(texts: Sequence[str], store: Store) -> set[str]:
    """The texts whose vectors are stored."""
    return {text for text in texts if store.known_vectors([digest(text)], 64)}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text("abc ", min_size=1, max_size=8), max_size=40),
    gathered=st.integers(1, 12),
    chunk=st.integers(1, 5),
    ahead=st.integers(1, 3),
)
def test_every_text_gets_its_own_vector_whatever_the_sizes(
    tmp_path: Path, texts: list[str], gathered: int, chunk: int, ahead: int
) -> None:
    """The reported progress adds up to the number of texts."""
    progress: list[float] = []
    encoder = BagEncoder()
    with pytest.MonkeyPatch.context() as patch, Store(tmp_path) as store:
        set_sizes(patch, gathered=gathered, chunk=chunk, ahead=ahead)
        store._connection.execute("DELETE FROM vector_refs")
        store._connection.execute("DELETE FROM vectors")
        with Embedding(encoder, store, progress.append) as target:
            offer_all(target, texts)
            target.finish()
            assert target.embedded == len(encoder.embedded) == len(set(texts))
    assert stored(tmp_path) == expected(sorted(set(texts)))
    assert sum(progress) == len(texts)


def test_gathered_texts_are_embedded_from_the_longest_to_the_shortest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_sizes(monkeypatch, gathered=5, chunk=2, ahead=1)
    encoder = BagEncoder()
    embed(encoder, store, ["a", "aaa", "a" * 9, "aa", "aaaa", "b" * 7, "b"])
    assert encoder.embedded == ["a" * 9, "aaaa", "aaa", "aa", "a", "b" * 7, "b"]


class Counted(str):
    """A text of a class that counts its instances."""

    __slots__ = ()
    alive = 0

    def __init__(self, *_: object) -> None:
        Counted.alive += 1

    def __del__(self) -> None:
        Counted.alive -= 1


def test_slow_model_keeps_few_texts_in_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, gathered=40, chunk=8, ahead=2)
    running, most_running, most_alive = 0, 0, 0
    lock = threading.Lock()

    class Slow(BagEncoder):
        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            nonlocal running, most_running
            with lock:
                running += 1
                most_running = max(most_running, running)
            time.sleep(0.001)
            found = self._embed("cat")
            with lock:
                running -= 1
            return np.tile(found, (len(texts), 1))

    with Embedding(Slow(), store, ignore) as target:
        for number in range(1000):
            target.offer([number.to_bytes(16, "big")], [Counted(f"text {number}")], 1.0)
            most_alive = max(most_alive, Counted.alive)
        target.finish()
        assert target.embedded == 1000
    # When the 40th arrives, the first of its chunk may already be stored.
    assert 39 <= most_alive <= 40 + (2 + 2) * 8
    assert most_running <= 2
    assert Counted.alive == 0


class Failing(BagEncoder):
    """Raises at the text "bad", once the given number of other texts is done."""

    def __init__(self, error: BaseException, *, others: int = 0) -> None:
        super().__init__()
        self._error = error
        self._others = others
        self._done = threading.Semaphore(0)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if "bad" in texts:
            for _ in range(self._others):
                assert self._done.acquire(timeout=600)
            raise self._error
        found = super().encode_passages(texts)
        self._done.release()
        return found


@pytest.mark.parametrize("error", [ModelError("no such layer"), ValueError("too long"), KeyboardInterrupt()], ids=repr)
def test_an_error_of_the_encoder_reaches_the_caller_and_earlier_vectors_are_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    set_sizes(monkeypatch, gathered=10, chunk=1, ahead=1)
    texts = ["longest text", "longer text", "bad", "b"]
    with pytest.raises(type(error)) as caught:
        embed(Failing(error), store, texts)
    assert caught.value is error
    assert {"longest text", "longer text"} <= keeping(texts, store) <= {"longest text", "longer text", "b"}


def test_finished_chunk_is_stored_if_an_earlier_one_fails(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two run in parallel; the first waits for the other and then fails."""
    set_sizes(monkeypatch, gathered=2, chunk=1, ahead=2)
    with pytest.raises(ModelError):
        embed(Failing(ModelError("bad"), others=1), store, ["bad", "b"])
    assert keeping(["bad", "b"], store) == {"b"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, StorageError])
def test_running_chunk_is_stored_after_a_caller_error(
    store: Store, error: type[BaseException], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No other chunk is begun; after Ctrl-C, the wait is explained before it begins."""
    set_sizes(monkeypatch, gathered=2, chunk=1, ahead=1)
    begun, go_on = threading.Event(), threading.Event()

    class Waiting(BagEncoder):
        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            begun.set()
            assert go_on.wait(600)
            return super().encode_passages(texts)

    encoder = Waiting()
    progress: list[float] = []
    with pytest.raises(error), Embedding(encoder, store, progress.append) as target:  # noqa: PT012
        shutdown = target._pool.shutdown

        def shutting(*, wait: bool, cancel_futures: bool) -> None:
            assert caplog.messages == [STOPPING] * (error is KeyboardInterrupt)
            shutdown(wait=False, cancel_futures=cancel_futures)
            go_on.set()
            shutdown(wait=wait)

        monkeypatch.setattr(target._pool, "shutdown", shutting)
        offer_all(target, ["first text", "second"])
        assert begun.wait(600)
        offer_all(target, ["gathered"])
        raise error
    assert encoder.embedded == ["first text"]
    assert keeping(["first text", "second", "gathered"], store) == {"first text"}
    assert progress == [1.0]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("embedding")]


@pytest.mark.parametrize(
    ("rows", "error"),
    [(np.eye(1, 64), ValueError), (np.full((2, 64), np.nan), ModelError), (np.zeros((2, 64)), ModelError)],
    ids=["few", "NaN", "zero"],
)
def test_invalid_vectors_are_never_stored(store: Store, rows: Vectors, error: type[Exception]) -> None:
    class Wrong(BagEncoder):
        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            return rows.astype(np.float32)

    with pytest.raises(error):
        embed(Wrong(), store, ["one", "two"])
    assert keeping(["one", "two"], store) == set()


def test_finished_vectors_are_stored_before_gathering_more(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading may take long, and a process that is killed loses what is not stored."""
    set_sizes(monkeypatch, gathered=4, chunk=1, ahead=2)
    with Embedding(BagEncoder(), store, ignore) as target:
        offer_all(target, ["a", "b", "c", "d"])
        wait(target._running)
        offer_all(target, ["e"])
        assert stored(tmp_path) == expected(["a", "b", "c", "d"])
