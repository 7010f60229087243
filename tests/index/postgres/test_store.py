"""A collection in PostgreSQL survives dying writers, crashing servers and slow readers."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from corpus.errors import LockedError, NoIndexError, StorageError
from index.postgres import generation_writer, schema, store
from index.postgres.address import parse_address
from index.postgres.snapshot import PostgresSnapshot
from index.postgres.store import PostgresStore
from index.stores import open_index, open_store, verify_index
from index.update.report import Request
from index.update.update import rebuild_index
from tests.encoders import BagEncoder
from tests.forks import exit_code_in_fork
from tests.index.conftest import build, delete_documents
from tests.index.postgres.conftest import schema_of
from tests.index.postgres.killing import KILLS, numbers_in, run_and_kill, write_number
from tests.marks import needs_fork
from tests.postgres_server import Server, use_store


def test_readers_see_one_generation_while_another_is_written(remote: Path, address: str) -> None:
    """In several threads, all files of a generation have the same number."""
    delete_documents(remote)
    inconsistent: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            with open_store(address) as index:
                first, second = numbers_in(index), numbers_in(index)
                if len(first) != 1 or first != second:
                    inconsistent.append((first, second))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for number in range(100, 112):
        write_number(remote, number)
        build(remote)
        if number == 100:
            for thread in readers:
                thread.start()
    done.set()
    for thread in readers:
        thread.join()
    assert inconsistent == []
    assert verify_index(remote / ".qa").problems == ()


def test_generations_are_deleted_once_no_reader_needs_them(remote: Path, server: Server) -> None:
    rows = f"SELECT count(*) FROM {schema_of(remote)}.passages WHERE removed < {schema.NEVER}"  # noqa: S608
    build(remote)
    with open_index(remote / ".qa") as old:
        before = [passage.text for passage in old.passages_of("birds.txt")]
        for i in range(3):
            (remote / "birds.txt").write_text(f"Birds sing {i}.\n")
            build(remote)
        assert server.run(rows) == [(3,)]
        assert [passage.text for passage in old.passages_of("birds.txt")] == before
    (remote / "birds.txt").write_text("Birds are silent.\n")
    build(remote)
    assert server.run(rows) == [(0,)]


def test_a_second_writer_is_refused(remote: Path, address: str) -> None:
    with PostgresStore(parse_address(address)), pytest.raises(LockedError, match="written by another process"):
        build(remote)
    assert build(remote).passages == 4


@pytest.mark.parametrize("step", ["remove", "insert", "finish", "mark_published"])
def test_a_failure_at_any_step_leaves_the_old_generation(
    remote: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Even if only the row that publishes the generation is missing; nothing is embedded twice."""
    build(remote)
    (remote / "birds.txt").write_text("Birds sing at night.\n")
    (remote / "cats.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(generation_writer.GenerationWriter, step, _fail)
        with pytest.raises(InterruptedError):
            build(remote)
    with open_index(remote / ".qa") as index:
        assert (index.info.generation, index.info.passages) == (1, 4)
    assert verify_index(remote / ".qa").problems == ()
    encoder = BagEncoder()
    build(remote, encoder)
    assert encoder.embedded == []
    with open_index(remote / ".qa") as index:
        assert [document.path for document in index.documents()] == ["birds.txt", "notes/fish.md"]
    assert verify_index(remote / ".qa").problems == ()


def test_a_collection_that_was_dropped_and_built_again_is_newer(remote: Path, server: Server) -> None:
    """Although its generation has the same number and the same counts."""
    build(remote)
    with open_index(remote / ".qa") as old:
        assert old.is_newest()
        server.run(f"DROP SCHEMA {schema_of(remote)} CASCADE")
        (remote / "birds.txt").write_text("Birds sing at night.\n")
        build(remote)
        assert not old.is_newest()
        with old.newest() as new:
            assert new.info == old.info
            assert new.is_newest()


def test_a_rebuild_that_dies_before_it_deletes_anything_can_be_read(
    remote: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its generations are numbered from 1 again, so none counts as deleted."""
    for text in ("Birds sing at night.\n", "Birds sleep.\n"):
        (remote / "birds.txt").write_text(text)
        build(remote)
    server.run(f"TRUNCATE {schema_of(remote)}.postings")
    monkeypatch.setattr(store, "delete_old", lambda *_: None)
    rebuild_index(Request(remote, BagEncoder()))
    marks = f"SELECT max(value) FROM {schema_of(remote)}.meta WHERE key IN ('cleared', 'deleted')"  # noqa: S608
    assert server.run(marks) == [(0,)]
    with open_index(remote / ".qa") as index:
        assert (index.info.generation, len(index.documents())) == (1, 3)


def _fail(*_: object, **__: object) -> None:
    raise InterruptedError


@pytest.mark.parametrize(
    ("victim", "publishing"), [("writer", False), ("writer", True), ("server", True), ("connection", True)]
)
def test_killed_writer_leaves_old_or_new_generation(
    remote: Path, server: Server, victim: str, *, publishing: bool
) -> None:
    """At a random moment or while publishing; afterwards, the next build works."""
    delete_documents(remote)
    pause = 0.0005 if publishing else 0.03
    reported, indexed = run_and_kill(server, remote, 100, KILLS[victim], pause=pause, publishing=publishing)
    # A reported number is published; the next one may be.
    assert indexed in (reported, reported + 1)
    assert verify_index(remote / ".qa").problems == ()
    build(remote)


def test_reading_continues_after_a_restart_of_the_server(remote: Path, server: Server) -> None:
    """A new connection reads the same generation, or raises an error if that is gone."""
    build(remote)
    with open_index(remote / ".qa") as index, open_index(remote / ".qa") as late:
        before = index.passages_of("birds.txt")
        server.kill()
        server.start()
        assert index.passages_of("birds.txt") == before
        index.close()
        for text in ("Birds sing at night.\n", "Birds sleep.\n"):
            (remote / "birds.txt").write_text(text)
            build(remote)
        with pytest.raises(NoIndexError, match="its index has changed"):
            late.documents()


def test_a_read_only_account(remote: Path, server: Server, address: str) -> None:
    """It can ask questions, but neither write nor create a collection."""
    build(remote)
    name = schema_of(remote)
    server.run("CREATE ROLE reader LOGIN")
    server.run(f"GRANT USAGE ON SCHEMA {name} TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO reader")
    read_only = address.replace("postgres@", "reader@")
    with open_store(read_only) as index:
        assert index.info.passages == 4
        assert len(index.keyword("cat", 5)) == 2
    use_store(remote / ".qa", read_only)
    (remote / "birds.txt").write_text("Birds sing at night.\n")
    encoder = BagEncoder()
    with pytest.raises(StorageError, match="this account may only read"):
        build(remote, encoder)
    assert encoder.embedded == []
    use_store(remote / ".qa", read_only + "x")
    with pytest.raises(StorageError, match="this account may not do that"):
        build(remote)


def test_the_graph_finds_the_nearest(remote: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """With enough vectors for a graph, and with filters, under which search is exact."""
    for i in range(60):
        words = "\n\n".join(f"Word{(i * 7 + j) % 97} and word{(i + j * j) % 89}, {i} times {j}." for j in range(8))
        (remote / f"{i}.txt").write_text(words)
    build(remote)
    queries = [BagEncoder().encode_query(f"word{i} and word{3 * i} times") for i in range(12)]
    with open_index(remote / ".qa") as index:
        scopes = None, index.match_paths("1*.txt"), index.match_paths("7.txt")
        exact = [[index.dense(query, 10, documents=scope) for query in queries] for scope in scopes]
    (remote / "last.txt").write_text("The last one.")
    monkeypatch.setattr(generation_writer, "GRAPH_FROM", 50)
    build(remote)
    graphs = "SELECT count(*) FROM pg_indexes WHERE schemaname = '{}' AND indexdef LIKE '%hnsw%'"
    assert server.run(graphs.format(schema_of(remote))) == [(1,)]
    with open_index(remote / ".qa") as index:
        by_graph = [[index.dense(query, 10, documents=scope) for query in queries] for scope in scopes]
    keys = [[[candidate.key for candidate in result] for result in results] for results in (*exact, *by_graph)]
    assert keys[4:] == keys[1:3]
    common = sum(len(set(a) & set(b)) for a, b in zip(keys[0], keys[3], strict=True))
    assert common >= 0.99 * sum(map(len, keys[0]))


@needs_fork
def test_a_forked_process_can_close_while_a_thread_of_its_parent_reads(remote: Path) -> None:
    build(remote)
    with open_index(remote / ".qa") as index:
        assert isinstance(index, PostgresSnapshot)
        with index._pool._lock:
            assert exit_code_in_fork(index.close) == 0
        assert index.documents()
