"""Texts are embedded while files are read: each once, longest first, few in memory, and no vector is lost."""

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


def ignore_progress(_: float) -> None:
    pass


def offer_each(embedding: Embedding, texts: Sequence[str]) -> None:
    for text in texts:
        embedding.offer([digest(text)], [text], 1.0)


def embed(encoder: BagEncoder, store: Store, texts: Sequence[str]) -> None:
    with Embedding(encoder, store, ignore_progress) as embedding:
        offer_each(embedding, texts)
        embedding.finish()


def stored_vectors(folder: Path) -> dict[bytes, bytes]:
    with closing(sqlite3.connect(folder / "index.db")) as connection:
        return dict(connection.execute("SELECT digest, vector FROM vectors"))


def expected_vectors(texts: Sequence[str]) -> dict[bytes, bytes]:
    rows = BagEncoder().encode_passages(texts)
    return {digest(text): row.astype("<f2").tobytes() for text, row in zip(texts, rows, strict=True)}


def stored_texts(texts: Sequence[str], store: Store) -> set[str]:
    """Return the texts whose vectors are stored."""
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
        with Embedding(encoder, store, progress.append) as embedding:
            offer_each(embedding, texts)
            embedding.finish()
            assert embedding.embedded == len(encoder.embedded) == len(set(texts))
    assert stored_vectors(tmp_path) == expected_vectors(sorted(set(texts)))
    assert sum(progress) == len(texts)


def test_gathered_texts_are_embedded_from_the_longest_to_the_shortest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_sizes(monkeypatch, gathered=5, chunk=2, ahead=1)
    encoder = BagEncoder()
    embed(encoder, store, ["a", "aaa", "a" * 9, "aa", "aaaa", "b" * 7, "b"])
    assert encoder.embedded == ["a" * 9, "aaaa", "aaa", "aa", "a", "b" * 7, "b"]


class CountedText(str):
    """A text of a class that counts its instances."""

    __slots__ = ()
    alive = 0

    def __init__(self, *_: object) -> None:
        CountedText.alive += 1

    def __del__(self) -> None:
        CountedText.alive -= 1


def test_slow_model_keeps_few_texts_in_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, gathered=40, chunk=8, ahead=2)
    running, most_running, most_alive = 0, 0, 0
    lock = threading.Lock()

    class SlowEncoder(BagEncoder):
        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            nonlocal running, most_running
            with lock:
                running += 1
                most_running = max(most_running, running)
            time.sleep(0.001)
            vector = self._embed("cat")
            with lock:
                running -= 1
            return np.tile(vector, (len(texts), 1))

    with Embedding(SlowEncoder(), store, ignore_progress) as embedding:
        for number in range(1000):
            embedding.offer([number.to_bytes(16, "big")], [CountedText(f"text {number}")], 1.0)
            most_alive = max(most_alive, CountedText.alive)
        embedding.finish()
        assert embedding.embedded == 1000
    # When the 40th is offered, the first chunk may already be stored.
    assert 39 <= most_alive <= 40 + (2 + 2) * 8
    assert most_running <= 2
    assert CountedText.alive == 0


class FailingEncoder(BagEncoder):
    """Raises an error for the text "bad", after the given number of chunks is done."""

    def __init__(self, error: BaseException, *, chunks_before: int = 0) -> None:
        super().__init__()
        self._error = error
        self._chunks_before = chunks_before
        self._done = threading.Semaphore(0)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        if "bad" in texts:
            for _ in range(self._chunks_before):
                assert self._done.acquire(timeout=600)
            raise self._error
        vectors = super().encode_passages(texts)
        self._done.release()
        return vectors


@pytest.mark.parametrize("error", [ModelError("no such layer"), ValueError("too long"), KeyboardInterrupt()], ids=repr)
def test_an_error_of_the_encoder_reaches_the_caller_and_earlier_vectors_are_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    set_sizes(monkeypatch, gathered=10, chunk=1, ahead=1)
    texts = ["longest text", "longer text", "bad", "b"]
    with pytest.raises(type(error)) as caught:
        embed(FailingEncoder(error), store, texts)
    assert caught.value is error
    assert {"longest text", "longer text"} <= stored_texts(texts, store) <= {"longest text", "longer text", "b"}


def test_finished_chunk_is_stored_if_an_earlier_one_fails(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are embedded in parallel; the first waits for the second and then fails."""
    set_sizes(monkeypatch, gathered=2, chunk=1, ahead=2)
    with pytest.raises(ModelError):
        embed(FailingEncoder(ModelError("bad"), chunks_before=1), store, ["bad", "b"])
    assert stored_texts(["bad", "b"], store) == {"b"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, StorageError])
def test_running_chunk_is_stored_after_a_caller_error(
    store: Store, error: type[BaseException], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No further chunk is begun; after Ctrl-C, a message explains the wait before it begins."""
    set_sizes(monkeypatch, gathered=2, chunk=1, ahead=1)
    began, may_continue = threading.Event(), threading.Event()

    class WaitingEncoder(BagEncoder):
        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            began.set()
            assert may_continue.wait(600)
            return super().encode_passages(texts)

    encoder = WaitingEncoder()
    progress: list[float] = []
    with pytest.raises(error), Embedding(encoder, store, progress.append) as embedding:  # noqa: PT012
        shutdown = embedding._pool.shutdown

        def shut_down(*, wait: bool, cancel_futures: bool) -> None:
            assert caplog.messages == [STOPPING] * (error is KeyboardInterrupt)
            shutdown(wait=False, cancel_futures=cancel_futures)
            may_continue.set()
            shutdown(wait=wait)

        monkeypatch.setattr(embedding._pool, "shutdown", shut_down)
        offer_each(embedding, ["first text", "second"])
        assert began.wait(600)
        offer_each(embedding, ["gathered"])
        raise error
    assert encoder.embedded == ["first text"]
    assert stored_texts(["first text", "second", "gathered"], store) == {"first text"}
    assert progress == [1.0]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("embedding")]


@pytest.mark.parametrize(
    ("rows", "error"),
    [(np.eye(1, 64), ValueError), (np.full((2, 64), np.nan), ModelError), (np.zeros((2, 64)), ModelError)],
    ids=["few", "NaN", "zero"],
)
def test_invalid_vectors_are_never_stored(store: Store, rows: Vectors, error: type[Exception]) -> None:
    class WrongEncoder(BagEncoder):
        def encode_passages(self, texts: Sequence[str]) -> Vectors:
            return rows.astype(np.float32)

    with pytest.raises(error):
        embed(WrongEncoder(), store, ["one", "two"])
    assert stored_texts(["one", "two"], store) == set()


def test_finished_vectors_are_stored_before_gathering_more(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading may take long, and a killed process loses the vectors that are not stored."""
    set_sizes(monkeypatch, gathered=4, chunk=1, ahead=2)
    with Embedding(BagEncoder(), store, ignore_progress) as embedding:
        offer_each(embedding, ["a", "b", "c", "d"])
        wait(embedding._running)
        offer_each(embedding, ["e"])
        assert stored_vectors(tmp_path) == expected_vectors(["a", "b", "c", "d"])
