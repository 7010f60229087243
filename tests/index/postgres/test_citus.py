"""Tables and statements follow the rules of Citus for distributed tables; Citus itself cannot be run here.

The rules are from its documentation (SQL support and workarounds); index/DESIGN.md describes a manual run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from index.postgres import schema
from index.postgres.address import remembered_address
from index.stores import open_index, verify_index
from index.update.report import Request
from index.update.update import rebuild_index
from tests.encoders import BagEncoder
from tests.index.conftest import build
from tests.index.postgres.conftest import schema_of
from tests.postgres_server import Server

_TABLES = "|".join(schema.DISTRIBUTED)
_MODIFIED_TABLE = re.compile(r"\b(?:(?:INSERT INTO|DELETE FROM|COPY) |UPDATE (?=\w+ SET))(\w+)")


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All statements sent to the server from now on."""
    sent: list[str] = []
    for name in ("execute", "executemany", "copy"):
        original = getattr(psycopg.Cursor, name)

        def record(cursor: Any, query: Any, *values: Any, _original: Any = original, **options: Any) -> Any:
            sent.append(str(query))
            return _original(cursor, query, *values, **options)

        monkeypatch.setattr(psycopg.Cursor, name, record)
    return sent


def test_statements_follow_the_rules(remote: Path, statements: list[str]) -> None:
    """A distributed table is changed in separate statements without subqueries, and joined only with results."""
    build(remote)
    (remote / "birds.txt").write_text("Birds sing at night.\n")
    build(remote)
    rebuild_index(Request(remote, BagEncoder()))
    with open_index(remote / ".qa") as index:
        passages = index.passages(index.columns().passages.tolist())
        scope = index.match_paths("*.txt")
        index.dense(BagEncoder().encode_query("birds"), 5)
        index.dense(BagEncoder().encode_query("birds"), 5, documents=scope)
        index.keyword("birds", 5)
        index.vectors([passage.vector for passage in passages])
        index.duplicates(passages)
    assert verify_index(remote / ".qa").problems == ()
    changes_and_queries = [statement for statement in statements if not statement.lstrip().startswith("CREATE")]
    relevant = [statement for statement in changes_and_queries if re.search(rf"\b({_TABLES})\b", statement)]
    assert len({*relevant}) > 10
    for statement in relevant:
        modified = {*_MODIFIED_TABLE.findall(statement)}
        if modified & schema.DISTRIBUTED.keys():
            assert "SELECT" not in statement, statement
            assert len(modified) == 1, statement
        elif modified:
            assert not statement.lstrip().startswith("WITH"), statement
        for table in re.findall(rf"(?:FROM|JOIN) (?:{_TABLES}) \w+ (?:LEFT |RIGHT |FULL )?JOIN (\w+)", statement):
            raise AssertionError(f"joined with {table}: {statement}")
        for table in re.findall(rf"FROM (\w+)(?: \w+)? (?:LEFT |RIGHT |FULL )?JOIN (?:{_TABLES})\b", statement):
            assert f"WITH {table} AS MATERIALIZED" in statement, statement
        assert "FOR UPDATE" not in statement, statement


def test_tables_follow_the_rules(remote: Path, server: Server) -> None:
    """Unique indexes include the distribution column, and no foreign key involves a distributed table."""
    build(remote)
    name = schema_of(remote)
    for table, column in schema.DISTRIBUTED.items():
        query = (
            "SELECT i.indexrelid::regclass::text, bool_or(a.attname = '{}') FROM pg_index i JOIN pg_attribute a "
            "ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) WHERE i.indrelid = '{}.{}'::regclass "
            "AND i.indisunique GROUP BY 1"
        )
        keys = server.run(query.format(column, name, table))
        assert keys
        assert all(has for _, has in keys), keys
        query = "SELECT conname FROM pg_constraint WHERE contype = 'f' AND '{}.{}'::regclass IN (conrelid, confrelid)"
        assert server.run(query.format(name, table)) == []


def test_with_citus_tables_are_distributed_once(remote: Path, server: Server) -> None:
    """Citus is replaced by a function that only records its calls."""
    build(remote)
    address = remembered_address(remote / ".qa")
    assert address is not None
    server.run(
        "CREATE TABLE public.pg_dist_partition (logicalrelid regclass, by text); CREATE FUNCTION "
        "public.create_distributed_table(regclass, text) RETURNS void LANGUAGE sql AS "
        "$$INSERT INTO public.pg_dist_partition VALUES ($1, $2)$$"
    )
    with psycopg.connect(server.url, autocommit=True) as connection:
        for _ in range(2):
            schema.use_collection(connection, address.collection, address.url)
            schema._distribute(connection)
    distributed = server.run("SELECT logicalrelid::text, by FROM public.pg_dist_partition")
    assert sorted(distributed) == sorted(
        (f"{schema_of(remote)}.{table}", column) for table, column in schema.DISTRIBUTED.items()
    )
    server.run("DROP TABLE public.pg_dist_partition; DROP FUNCTION public.create_distributed_table")
