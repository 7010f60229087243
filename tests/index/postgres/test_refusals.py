"""What a server refuses, and what is damaged in it: one clear error each, and a way on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from corpus.errors import DamagedIndexError, IncompatibleError, NoIndexError, QAError, StorageError
from index.postgres import schema
from index.postgres.address import parse_address, remembered_address
from index.stores import open_index, open_store, verify_index
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.postgres_server import Server


def _schema(folder: Path) -> str:
    address = remembered_address(folder / ".qa")
    assert address is not None
    return schema.PREFIX + address.collection


def _no_server(server: Server, _: str) -> str:
    return server.url.replace(str(server.port), "1")


def _no_account(server: Server, _: str) -> str:
    return server.url.replace("postgres@", "stranger@")


def _no_database(server: Server, _: str) -> str:
    return server.url + "x"


def _no_collection(server: Server, _: str) -> str:
    return server.url + "#nowhere"


def _later_tables(server: Server, address: str) -> str:
    name = schema.PREFIX + parse_address(address).collection
    server.run(f"INSERT INTO {name}.migrations VALUES (99)")  # noqa: S608
    return address


def _no_vector(server: Server, address: str) -> str:
    with suppress(psycopg.errors.DuplicateDatabase):
        server.run("CREATE DATABASE bare")
    with psycopg.connect(server.url.removesuffix("/postgres") + "/bare", autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS qa_one")
    return server.url.removesuffix("/postgres") + "/bare" + "#one"


@pytest.mark.parametrize(
    ("cause", "kind", "message"),
    [
        (_no_server, StorageError, "cannot reach postgresql.*: Connection refused. Is the server running?"),
        (_no_account, StorageError, 'role "stranger" does not exist'),
        (_no_database, StorageError, 'database "postgresx" does not exist. Create it'),
        (_no_collection, NoIndexError, "there is no collection .*#nowhere. Build it with: qa index"),
        (_later_tables, IncompatibleError, "tables of version 99, newer than this qa reads. Upgrade qa"),
        (_no_vector, IncompatibleError, "has no pgvector. Have an administrator run there: CREATE EXTENSION vector"),
    ],
)
def test_one_clear_error(
    remote: Path, server: Server, cause: Callable[[Server, str], str], kind: type[QAError], message: str
) -> None:
    update_index(Request(remote, BagEncoder()))
    address = remembered_address(remote / ".qa")
    assert address is not None
    with pytest.raises(kind, match=message), open_store(cause(server, address.url_with_name)):
        pass


@pytest.mark.parametrize(
    ("state", "kind", "message"),
    [
        ("53100", StorageError, "its disk is full"),
        ("25006", StorageError, "this account or server only reads"),
        ("57014", StorageError, "took too long"),
        ("XX001", DamagedIndexError, "its files are damaged"),
        ("28P01", StorageError, "refused the login"),
    ],
)
def test_what_the_server_reports_is_translated(
    remote: Path, server: Server, state: str, kind: type[QAError], message: str
) -> None:
    """Each as its own error, by the server's code: a trigger reports what cannot be had at will."""
    update_index(Request(remote, BagEncoder()))
    said = "password authentication failed for user" if state == "28P01" else "as asked"
    name = _schema(remote)
    server.run(
        f"CREATE FUNCTION {name}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$BEGIN RAISE EXCEPTION '{said}' USING ERRCODE = '{state}'; END$$; "
        f"CREATE TRIGGER refuse BEFORE INSERT ON {name}.documents EXECUTE FUNCTION {name}.refuse()"
    )
    (remote / "birds.txt").write_text("Birds sing at night.\n")
    with pytest.raises(kind, match=message):
        update_index(Request(remote, BagEncoder()))
    with open_index(remote / ".qa") as index:
        assert index.info.generation == 1


@pytest.mark.parametrize(
    ("damage", "found_by"),
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
def test_damage_is_noticed_and_rebuilt(remote: Path, server: Server, damage: str, found_by: str) -> None:
    """A row that was changed is never shown; `qa index --full` makes all of it anew."""
    update_index(Request(remote, BagEncoder()))
    before = update_index(Request(remote, BagEncoder()))
    server.run(damage.format(_schema(remote)))
    try:
        problems = verify_index(remote / ".qa").problems
    except DamagedIndexError as error:
        problems = (str(error),)
    assert any(found_by in one for one in problems), problems
    rebuild_index(Request(remote, BagEncoder()))
    assert verify_index(remote / ".qa").problems == ()
    assert update_index(Request(remote, BagEncoder())).passages == before.passages
