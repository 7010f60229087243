"""Refusals by a server and damage in it each give one clear error that names the fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from corpus.errors import DamagedIndexError, IncompatibleError, NoIndexError, QAError, StorageError
from index.stores import open_index, open_store, verify_index
from index.update.report import Choice, Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.index.conftest import build
from tests.index.postgres.conftest import schema_of
from tests.postgres_server import Server


@pytest.mark.parametrize(
    ("address", "kind", "message"),
    [
        ("postgres@127.0.0.1:1/db", StorageError, "cannot reach postgresql.*: Connection refused. Is the server"),
        ("stranger@127.0.0.1:{}/postgres", StorageError, 'role "stranger" does not exist'),
        ("postgres@127.0.0.1:{}/postgresx", StorageError, 'database "postgresx" does not exist. Create it'),
        (
            "postgres@127.0.0.1:{}/postgres#nowhere",
            NoIndexError,
            "there is no collection .*#nowhere. Build it with: qa",
        ),
    ],
    ids=["no server", "no account", "no database", "no collection"],
)
def test_wrong_address_gives_a_clear_error(server: Server, address: str, kind: type[QAError], message: str) -> None:
    with pytest.raises(kind, match=message), open_store(f"postgresql://{address.format(server.port)}"):
        pass


def test_tables_of_a_later_version_are_refused(remote: Path, server: Server, address: str) -> None:
    build(remote)
    server.run(f"INSERT INTO {schema_of(remote)}.migrations VALUES (99)")  # noqa: S608
    message = "tables of version 99, newer than this qa reads. Upgrade qa"
    with pytest.raises(IncompatibleError, match=message), open_store(address):
        pass


def test_a_database_without_pgvector_is_refused(server: Server) -> None:
    server.run("CREATE DATABASE bare")
    url = server.url.removesuffix("postgres") + "bare"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA qa_one")
    message = "has no pgvector. Have an administrator run there: CREATE EXTENSION vector"
    with pytest.raises(IncompatibleError, match=message), open_store(f"{url}#one"):
        pass


@pytest.mark.parametrize(
    ("state", "kind", "message"),
    [
        ("53100", StorageError, "its disk is full"),
        ("XX001", DamagedIndexError, "its files are damaged"),
        ("28P01", StorageError, "refused the login"),
    ],
)
def test_errors_of_the_server_are_translated(
    remote: Path, server: Server, state: str, kind: type[QAError], message: str
) -> None:
    """By their codes; a trigger raises errors that are hard to provoke otherwise."""
    build(remote)
    text = "password authentication failed for user" if state == "28P01" else "raised by a trigger"
    name = schema_of(remote)
    server.run(
        f"CREATE FUNCTION {name}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$BEGIN RAISE EXCEPTION '{text}' USING ERRCODE = '{state}'; END$$; "
        f"CREATE TRIGGER refuse BEFORE INSERT ON {name}.documents EXECUTE FUNCTION {name}.refuse()"
    )
    (remote / "birds.txt").write_text("Birds sing at night.\n")
    with pytest.raises(kind, match=message):
        build(remote)
    with open_index(remote / ".qa") as index:
        assert index.info.generation == 1


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE {0}.passages SET text = 'Other' || substr(text, 6) WHERE text LIKE 'Birds%'", "checksum mismatch"),
        (
            "UPDATE {0}.vectors SET vector = (SELECT vector FROM {0}.vectors ORDER BY id LIMIT 1)",
            "checksum mismatch in vector",
        ),
        ("UPDATE {0}.postings SET data = set_byte(data, 0, 1 + get_byte(data, 0))", "checksum mismatch in segment"),
        ("UPDATE {0}.postings SET data = set_byte(data, length(data) - 1, 9)", "checksum mismatch in segment"),
        ("DELETE FROM {0}.postings WHERE term = 'bird'", "lacks a term"),
        ("DELETE FROM {0}.passages WHERE text LIKE 'Birds%'", "inconsistent"),
        ("UPDATE {0}.generations SET info = replace(info, '\"passages\": 4', '\"passages\": 3')", "in generation 1"),
    ],
)
def test_damage_is_detected_and_a_rebuild_repairs_it(remote: Path, server: Server, damage: str, problem: str) -> None:
    """The message names the address, and does not advise `qa check --repair`, which works on files only.

    Files that were left out are still left out, unless the row that says so was damaged.
    """
    (remote / "draft.txt").write_text("A draft.\n")
    update_index(Request(remote, BagEncoder(), Choice(exclude=["draft.txt"])))
    before = build(remote)
    server.run(damage.format(schema_of(remote)))
    try:
        problems = verify_index(remote / ".qa").problems
    except DamagedIndexError as error:
        problems = (str(error),)
    assert any(problem in message for message in problems), problems
    for message in problems:
        assert message.startswith("postgresql://")
        assert message.endswith("Rebuild it with `qa index --full`, or restore a back-up.")
    rebuild_index(Request(remote, BagEncoder()))
    assert verify_index(remote / ".qa").problems == ()
    assert build(remote).passages == before.passages + ("generations" in damage)


@pytest.fixture
def empty_index(remote: Path, server: Server) -> Iterator[Callable[[str, str], None]]:
    """A function that empties an SQL index of the built collection; the server uses it even for few rows."""
    name = schema_of(remote)

    def empty(index: str, column: str) -> None:
        server.run(f"CREATE TABLE {name}.bare (LIKE {name}.passages); CREATE INDEX bare_key ON {name}.bare ({column})")
        server.run(
            f"UPDATE pg_class SET relfilenode = pg_relation_filenode('{name}.bare_key') "  # noqa: S608
            f"WHERE oid = '{name}.{index}'::regclass"
        )

    build(remote)
    server.run("ALTER ROLE postgres SET enable_seqscan = off")
    yield empty
    server.run("ALTER ROLE postgres RESET enable_seqscan")


def test_a_key_that_an_sql_index_lacks_is_damage(remote: Path, empty_index: Callable[[str, str], None]) -> None:
    with open_index(remote / ".qa") as index:
        key = index.passages(index.columns().passages[:1].tolist())[0].key
        assert index.find(key) is not None
    empty_index("passages_key", "key")
    with open_index(remote / ".qa") as index:
        with pytest.raises(DamagedIndexError, match=f"passage {key} cannot be found by its key"):
            index.find(key)
        assert index.find("0" * 16) is None


def test_a_text_that_an_sql_index_lacks_is_damage(remote: Path, empty_index: Callable[[str, str], None]) -> None:
    empty_index("passages_text", "text_digest")
    with open_index(remote / ".qa") as index:
        passages = index.passages(index.columns().passages.tolist())
        with pytest.raises(DamagedIndexError, match=f"the duplicates of passage {passages[0].id} are inconsistent"):
            index.duplicates(passages)
