"""A standby serves readers although the primary does not know which generations they hold."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.errors import NoIndexError, StorageError
from index.postgres import generation_writer
from index.stores import open_store
from qa import Retriever
from tests.encoders import BagEncoder
from tests.index.conftest import build, delete_documents
from tests.index.postgres.killing import numbers_in, write_number
from tests.postgres_server import Server, running_standby, use_store


@pytest.fixture(scope="module")
def standby(server: Server) -> Iterator[Server]:
    with running_standby(server) as started:
        yield started


def publish(root: Path, number: int, server: Server, standby: Server) -> None:
    """Publish a generation, and wait until the standby has it."""
    write_number(root, number)
    build(root)
    ((position,),) = server.run("SELECT pg_current_wal_lsn()")
    for _ in range(500):
        if standby.run(f"SELECT pg_last_wal_replay_lsn() >= '{position}'") == [(True,)]:
            return
        time.sleep(0.01)
    raise TimeoutError("the standby does not follow")


def test_readers_keep_their_generation_for_some_minutes(
    remote: Path, address: str, server: Server, standby: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is deleted, reading it is an error: partial results are never returned."""
    delete_documents(remote)
    publish(remote, 100, server, standby)
    url = address.replace(str(server.port), str(standby.port))
    with open_store(url) as index, Retriever.open(store=url, encoder=BagEncoder(), reader=False) as retriever:
        assert numbers_in(index) == {"100"}
        assert not retriever.reload()
        for number in (101, 102):
            publish(remote, number, server, standby)
            assert numbers_in(index) == {"100"}
        monkeypatch.setattr(generation_writer, "STANDBY_SECONDS", 0)
        publish(remote, 103, server, standby)
        vector = BagEncoder().encode_query("number again")
        for search in (lambda: index.dense(vector, 5), lambda: index.keyword("number", 5), index.documents):
            with pytest.raises(NoIndexError, match="has changed, and the opened version is gone"):
                search()
        assert retriever.reload()
        assert {"103" in hit.text for hit in retriever.search("number again")} == {True}


def test_writing_to_a_standby_is_refused(root: Path, address: str, server: Server, standby: Server) -> None:
    use_store(root / ".qa", address.replace(str(server.port), str(standby.port)))
    with pytest.raises(StorageError, match="this account or server is read-only"):
        build(root)
