"""A served collection answers while it indexes changes in the background, with a note."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import StorageError
from index.storage.vectors import Vectors
from qa.collection import opening, served
from qa.collection.served import ServedCollection
from qa.retrieval import retriever
from qa.web.service.private import public_body
from tests.encoders import BagEncoder
from tests.qa.indexes import build, write

QUESTION = {"question": "when does the ferry leave", "rerank": False}
MANY = {f"n{number:02}.md": f"Note {number:02}.\n" for number in range(70)}


class SlowEncoder(BagEncoder):
    """Embeds passages once `go` is set, or after 20 seconds, so that a failing test ends."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.go.wait(20)
        return super().encode_passages(texts)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> SlowEncoder:
    """The encoder that embeds what the server indexes."""
    slow_encoder = SlowEncoder()
    for module in (opening, retriever):
        monkeypatch.setattr(module, "load_encoder", lambda *_, **__: slow_encoder)
    monkeypatch.setattr(retriever, "shared_reader", lambda: None)
    monkeypatch.setattr(served, "_UPDATE_SECONDS", 0.0)
    monkeypatch.setattr(served, "_REST_FACTOR", 0.0)
    return slow_encoder


@pytest.fixture
def collection(tmp_path: Path, encoder: SlowEncoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedCollection]:
    build(tmp_path, {"ferry.md": "The ferry leaves at nine.\n"})
    monkeypatch.setattr(served, "_MAX_WAIT_SECONDS", 0.0)
    served_collection = ServedCollection(tmp_path)
    finish_updating(served_collection)
    yield served_collection
    encoder.go.set()
    served_collection.close()


def finish_updating(collection: ServedCollection) -> None:
    if (update := collection._update) is not None:
        wait([update])


def wait_for_update_to_start(collection: ServedCollection) -> Future[None]:
    """Wait until the update has begun, and return it."""
    update = collection._update
    assert update is not None
    while not collection._retriever.note:
        assert not update.done()
    return update


def ask(collection: ServedCollection) -> dict[str, Any]:
    with collection.reading() as state:
        return state.body("ask", QUESTION)


def test_questions_are_answered_while_a_large_change_is_indexed(
    collection: ServedCollection, encoder: SlowEncoder, caplog: pytest.LogCaptureFixture
) -> None:
    """From the previous generation, with a note for clients, and then from the new one, however many files changed."""
    write(collection.root, MANY)
    assert ask(collection)["index"]["generation"] == 1
    wait_for_update_to_start(collection)
    body = ask(collection)
    assert body["index"]["generation"] == collection.generation == 1
    assert body["index"]["note"] == "files have changed and are being indexed now. Answering from the index as it was."
    with collection.reading() as state:
        assert state.body("search", QUESTION)["index"]["note"] == body["index"]["note"]
    encoder.go.set()
    finish_updating(collection)
    index = ask(collection)["index"]
    assert (index["generation"], index["documents"], "note" in index) == (2, 71, False)
    assert caplog.messages == []


def test_questions_wait_for_a_small_change(
    collection: ServedCollection, encoder: SlowEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for a moment, so that an edit shows at once."""
    monkeypatch.setattr(served, "_MAX_WAIT_SECONDS", 20.0)
    encoder.go.set()
    write(collection.root, {"ferry.md": "The ferry leaves at ten.\n"})
    assert ask(collection)["passages"][0]["text"] == "The ferry leaves at ten."


def test_closing_ends_an_update(collection: ServedCollection, encoder: SlowEncoder) -> None:
    """It does not wait for thousands of passages, and leaves the index as it was."""
    write(collection.root, MANY)
    ask(collection)
    update = wait_for_update_to_start(collection)
    closing = threading.Thread(target=collection.close)
    closing.start()
    while not collection._is_closed:
        pass
    encoder.go.set()
    closing.join()
    assert update.exception() is None
    with retriever.Retriever.open(collection.root, reader=False) as reopened:
        assert reopened.snapshot.info.generation == 1


def test_a_failed_update_is_a_note(
    collection: ServedCollection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is in each answer, and once in the log; only the log names folders."""

    def fail(*_: object, **__: object) -> BagEncoder:
        raise ValueError("no such file: /home/ida/model.")

    monkeypatch.setattr(opening, "load_encoder", fail)
    write(collection.root, MANY)
    for _ in range(3):
        ask(collection)
        finish_updating(collection)
    body = ask(collection)
    failed = "index not updated: ValueError: no such file: /home/ida/model. Answering from the index as it is."
    assert body["index"]["note"] == failed
    assert caplog.messages == [failed]
    note = public_body(body, collection.root)["index"]["note"]
    assert note == "index not updated: see the server's terminal for details. Answering from the index as it is."


def test_a_failed_update_is_retried_after_a_limited_rest(
    collection: ServedCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After any error, the rest is a multiple of the time that the update took, within a limit."""
    write(collection.root, MANY)
    monkeypatch.setattr(served, "_REST_FACTOR", 1e12)
    for error in (KeyError("vectors"), StorageError("the disk is full.")):

        def fail(*_: object, error: Exception = error, **__: object) -> BagEncoder:
            raise error

        monkeypatch.setattr(opening, "load_encoder", fail)
        collection._next_update_at = 0.0
        ask(collection)
        finish_updating(collection)
        finished = time.monotonic()
        rest = served._MAX_REST_SECONDS
        assert collection._update_began + rest <= collection._next_update_at <= finished + rest


def test_clients_do_not_learn_where_a_user_keeps_settings(
    collection: ServedCollection, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    write(home / "qa", {"config.toml": "kk = 3"})
    ask(collection)
    finish_updating(collection)
    note = public_body(ask(collection), collection.root)["index"]["note"]
    assert note.startswith("config.toml: unknown key 'kk'. ")
    assert note.endswith("Until then, the previous settings apply.")


def test_a_search_has_the_note_of_its_generation(collection: ServedCollection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if an update ends during the search."""

    def search(*_: object, **__: object) -> tuple[()]:
        collection._retriever.note = ""
        return ()

    monkeypatch.setattr(retriever.Retriever, "search", search)
    with collection.reading() as state:
        finish_updating(collection)
        collection._retriever.note = "files have changed"
        assert state.body("search", QUESTION)["index"]["note"] == "files have changed"
