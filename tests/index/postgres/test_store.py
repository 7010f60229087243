"""A collection in PostgreSQL when things go wrong: writers that die, servers that end, readers that hold on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from corpus.errors import (
    DamagedIndexError,
    IncompatibleError,
    LockedError,
    NoIndexError,
    QAError,
    StorageError,
)
from index.postgres import generation_writer, schema
from index.postgres.address import parse_address, remembered_address
from index.postgres.store import PostgresStore
from index.protocol import Index
from index.stores import open_index, open_store, use_store, verify_index
from index.update.report import BuildReport, Request
from index.update.update import rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.paths import REPOSITORY
from tests.postgres_server import Server

# Builds a folder again and again, each time with another number in every file.
WRITER = """
import sys
from pathlib import Path
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
root, first = Path(sys.argv[1]), int(sys.argv[2])
for number in range(first, first + 1000):
    for i in range(4):
        (root / f"{i}.txt").write_text(f"Number {number} is in file {i}.\\n\\nAnd {number} again.\\n")
    update_index(Request(root, BagEncoder()))
    print(number, flush=True)
"""


Kill = Callable[[Server, "subprocess.Popen[str]"], None]


def build(folder: Path, encoder: BagEncoder | None = None) -> BuildReport:
    return update_index(Request(folder, encoder or BagEncoder()))


def collection(folder: Path) -> str:
    """The schema of a folder's collection."""
    address = remembered_address(folder / ".qa")
    assert address is not None
    return schema.PREFIX + address.collection


def empty(folder: Path) -> None:
    """Delete its documents."""
    for path in [one for one in folder.rglob("*.*") if one.is_file() and ".qa" not in one.parts]:
        path.unlink()


def numbers_in(index: Index) -> set[str]:
    """The numbers that the texts of one generation say, by every way to read it."""
    found = [one for file in index.documents() for one in index.passages_of(file.path)]
    found += index.passages([one.passage for one in index.keyword("number again", 100)])
    found += index.passages([one.passage for one in index.dense(BagEncoder().encode_query("Number again"), 100)])
    return {word for one in found for word in one.text.replace(".", " ").split() if word.isdigit() and len(word) > 2}


def test_who_reads_sees_one_generation_while_another_is_written(remote: Path, address: str) -> None:
    """Whatever is asked, in many threads: all files say one number, and the same one later."""
    empty(remote)
    torn: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            with open_store(address) as index:
                first, second = numbers_in(index), numbers_in(index)
                if len(first) != 1 or first != second:
                    torn.append((first, second))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for number in range(100, 112):
        for i in range(4):
            (remote / f"{i}.txt").write_text(f"Number {number} is in file {i}.\n\nAnd {number} again.\n")
        build(remote)
        if number == 100:
            for each in readers:
                each.start()
    done.set()
    for each in readers:
        each.join()
    assert torn == []
    assert verify_index(remote / ".qa").problems == ()


def test_old_generations_are_cleared_behind_the_oldest_reader(remote: Path, server: Server) -> None:
    """Not one that is held; all others, once it is not."""
    rows = f"SELECT count(*) FROM {collection(remote)}.passages WHERE removed < {schema.NEVER}"  # noqa: S608
    build(remote)
    with open_index(remote / ".qa") as held:
        before = [one.text for one in held.passages_of("birds.txt")]
        for i in range(3):
            (remote / "birds.txt").write_text(f"Birds sing {i}.\n")
            build(remote)
        assert server.run(rows) == [(3,)]
        assert [one.text for one in held.passages_of("birds.txt")] == before
    (remote / "birds.txt").write_text("Birds are silent.\n")
    build(remote)
    assert server.run(rows) == [(0,)]


def test_one_writer_at_a_time(remote: Path, address: str) -> None:
    with PostgresStore(parse_address(address)), pytest.raises(LockedError, match="written by another process"):
        build(remote)
    assert build(remote).passages == 4


@pytest.mark.parametrize("step", ["remove", "insert", "finish", "published"])
def test_a_failure_at_any_step_leaves_the_old_generation(
    remote: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Also where the rows are there and only the row that publishes them is not; nothing is embedded twice."""
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
        assert [one.path for one in index.documents()] == ["birds.txt", "notes/fish.md"]
    assert verify_index(remote / ".qa").problems == ()


def _fail(*_: object, **__: object) -> None:
    raise InterruptedError


@pytest.mark.parametrize("what", ["writer", "server", "connection"])
def test_kills(remote: Path, server: Server, what: str) -> None:
    """At moments nobody chose: there is the old generation or the new one, whole, and the next build goes on."""
    empty(remote)
    first = 100
    for pause in (0.0, 0.03):
        reported, found = killed(server, writing(remote, first), KILLS[what], remote, pause)
        # What was reported is there; what was not may be.
        assert found in (reported, reported + 1)
        assert verify_index(remote / ".qa").problems == ()
        first = reported + 2


def writing(folder: Path, first: int) -> subprocess.Popen[str]:
    """A process that builds again and again."""
    command = [sys.executable, "-c", WRITER, str(folder), str(first)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def killed(server: Server, process: subprocess.Popen[str], kill: Kill, folder: Path, pause: float) -> tuple[int, int]:
    """The last number that a process reported before it was ended, and the one that is in the index then."""
    assert process.stdout is not None
    last = int(process.stdout.readline())
    time.sleep(pause)
    kill(server, process)
    last = max([last, *(int(line) for line in process.communicate()[0].split())])
    with open_index(folder / ".qa") as index:
        (found,) = numbers_in(index)
    return last, int(found)


def _kill_writer(_: Server, process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)


def _kill_server(server: Server, process: subprocess.Popen[str]) -> None:
    server.kill()
    process.wait()
    server.start()


def _cut_connection(server: Server, process: subprocess.Popen[str]) -> None:
    while process.poll() is None:
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'qa'")
        time.sleep(0.01)


KILLS: dict[str, Kill] = {
    "writer": _kill_writer,
    "server": _kill_server,
    "connection": _cut_connection,
}


def test_reading_goes_on_where_the_server_was_started_again(remote: Path, server: Server) -> None:
    """On a new connection, which holds the same generation; where that is gone, that is said."""
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


def test_an_account_that_only_reads(remote: Path, server: Server, address: str) -> None:
    """It asks and holds its generation; it can neither write nor make a collection."""
    build(remote)
    name = collection(remote)
    server.run("DROP OWNED BY reader" if server.run("SELECT 1 FROM pg_roles WHERE rolname = 'reader'") else "SELECT 1")
    with suppress(psycopg.errors.DuplicateObject):
        server.run("CREATE ROLE reader LOGIN")
    server.run(f"GRANT USAGE ON SCHEMA {name} TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO reader")
    reading = address.replace("postgres@", "reader@")
    with open_store(reading) as index:
        assert index.info.passages == 4
        assert len(index.keyword("cat", 5)) == 2
    use_store(remote / ".qa", reading)
    (remote / "birds.txt").write_text("Birds sing at night.\n")
    encoder = BagEncoder()
    with pytest.raises(StorageError, match="this account may only read"):
        build(remote, encoder)
    assert encoder.embedded == []
    use_store(remote / ".qa", reading + "x")
    with pytest.raises(StorageError, match="this account may not do that"):
        build(remote)


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
    build(remote)
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
    build(remote)
    said = "password authentication failed for user" if state == "28P01" else "as asked"
    name = collection(remote)
    server.run(
        f"CREATE FUNCTION {name}.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$BEGIN RAISE EXCEPTION '{said}' USING ERRCODE = '{state}'; END$$; "
        f"CREATE TRIGGER refuse BEFORE INSERT ON {name}.documents EXECUTE FUNCTION {name}.refuse()"
    )
    (remote / "birds.txt").write_text("Birds sing at night.\n")
    with pytest.raises(kind, match=message):
        build(remote)
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
        ("DELETE FROM {0}.postings WHERE term = 'bird'", "lacks a term"),
        ("DELETE FROM {0}.passages WHERE text LIKE 'Birds%'", "inconsistent"),
        ("UPDATE {0}.generations SET info = replace(info, '\"passages\": 4', '\"passages\": 3')", "in generation 1"),
    ],
)
def test_damage_is_noticed_and_rebuilt(remote: Path, server: Server, damage: str, found_by: str) -> None:
    """A row that was changed is never shown; `qa index --full` makes all of it anew."""
    build(remote)
    before = build(remote)
    server.run(damage.format(collection(remote)))
    try:
        problems = verify_index(remote / ".qa").problems
    except DamagedIndexError as error:
        problems = (str(error),)
    assert any(found_by in one for one in problems), problems
    rebuild_index(Request(remote, BagEncoder()))
    assert verify_index(remote / ".qa").problems == ()
    assert build(remote).passages == before.passages


@contextmanager
def _graph_from(few: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generation_writer, "GRAPH_FROM", few)
        yield


def test_the_graph_finds_the_nearest(remote: Path, server: Server) -> None:
    """With so many vectors that they are searched in a graph, and under filters, which are searched exactly."""
    for i in range(60):
        words = "\n\n".join(f"Word{(i * 7 + j) % 97} and word{(i + j * j) % 89}, {i} times {j}." for j in range(8))
        (remote / f"{i}.txt").write_text(words)
    build(remote)
    queries = [BagEncoder().encode_query(f"word{i} and word{3 * i} times") for i in range(12)]
    with open_index(remote / ".qa") as index:
        scopes = None, index.match_paths("1*.txt"), index.match_paths("7.txt")
        exact = [[index.dense(query, 10, documents=one) for query in queries] for one in scopes]
    (remote / "last.txt").write_text("The last one.")
    with _graph_from(50):
        build(remote)
    graphs = "SELECT count(*) FROM pg_indexes WHERE schemaname = '{}' AND indexdef LIKE '%hnsw%'"
    assert server.run(graphs.format(collection(remote))) == [(1,)]
    with open_index(remote / ".qa") as index:
        found = [[index.dense(query, 10, documents=one) for query in queries] for one in scopes]
    keys = [[[one.key for one in answer] for answer in several] for several in (*exact, *found)]
    assert keys[4:] == keys[1:3]
    same = sum(len(set(a) & set(b)) for a, b in zip(keys[0], keys[3], strict=True))
    assert same >= 0.99 * sum(map(len, keys[0]))
