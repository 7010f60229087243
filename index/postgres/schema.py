"""The tables of collections: each collection has its own PostgreSQL schema, changed only by numbered migrations.

A row of `documents`, `passages` and `segments` lives from generation `added` up to, not including, `removed`.
"""

from __future__ import annotations

import contextlib

import psycopg
from psycopg import sql

from corpus.errors import IncompatibleError, NoIndexError, UsageError
from index.postgres.connection import fetch_number

# The value of `removed` for rows that no commit has removed.
NEVER = 2**31 - 1
# pgvector has `halfvec` since 0.7; since 0.8 it continues a graph search if a filter leaves too few rows.
MIN_SERVER, MIN_PGVECTOR = 140_000, (0, 8)
PREFIX = "qa_"
# Numbered from 1. A released migration is never changed; changes are new migrations.
MIGRATIONS = (
    f"""
CREATE TABLE meta (key text PRIMARY KEY, value bigint NOT NULL);
INSERT INTO meta VALUES ('cleared', 0), ('next_document', 1), ('next_passage', 1), ('next_segment', 1);

CREATE TABLE generations (  -- a row publishes a generation; readers see none before it is there
    generation int PRIMARY KEY,
    info text NOT NULL,  -- JSON
    skipped text NOT NULL,  -- JSON
    checksum bytea NOT NULL,
    published timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE documents (
    id bigint PRIMARY KEY,
    added int NOT NULL,
    removed int NOT NULL DEFAULT {NEVER},
    path text NOT NULL,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    mtime_ns bigint NOT NULL,
    checked_ns bigint NOT NULL,
    media_type text NOT NULL,
    title text NOT NULL,
    passages int NOT NULL,
    records int NOT NULL,
    metadata text NOT NULL,
    checksum bytea NOT NULL
);
CREATE INDEX documents_path ON documents (path);

CREATE TABLE vectors (  -- of distinct texts, in no generation
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    vector halfvec NOT NULL,
    checksum bigint NOT NULL
);
ALTER TABLE vectors ALTER COLUMN vector SET STORAGE PLAIN;  -- a search reads it of every row
CREATE TABLE spare_vectors (  -- those that no passage has
    vector bigint PRIMARY KEY REFERENCES vectors (id) ON DELETE CASCADE,
    since int NOT NULL
);

CREATE TABLE passages (
    id bigint PRIMARY KEY,
    added int NOT NULL,
    removed int NOT NULL DEFAULT {NEVER},
    key text NOT NULL,
    document bigint NOT NULL,
    vector bigint NOT NULL,
    start int NOT NULL,
    stop int NOT NULL,
    link_checksum bigint NOT NULL,
    body int NOT NULL,
    line_first int,
    line_last int,
    page int,
    anchor text,
    title text,
    heading text NOT NULL,
    context text NOT NULL,
    text text NOT NULL,
    text_digest bytea NOT NULL,
    checksum bytea NOT NULL
);
CREATE INDEX passages_key ON passages (key);
CREATE INDEX passages_document ON passages (document);
CREATE INDEX passages_vector ON passages (vector);
CREATE INDEX passages_text ON passages (text_digest);
CREATE INDEX passages_removed ON passages (removed) WHERE removed < {NEVER};

CREATE TABLE segments (  -- of the keyword index: passages, ascending, and the number of words in each
    segment int PRIMARY KEY,
    added int NOT NULL,
    removed int NOT NULL DEFAULT {NEVER},
    passages bytea NOT NULL,  -- int64, little-endian
    lengths bytea NOT NULL,  -- uint16, little-endian
    terms int NOT NULL,  -- rows of `postings`
    checksum bigint NOT NULL
);
CREATE TABLE postings (  -- where a term is in a segment, and its BM25 weight there
    segment int NOT NULL,
    term bytea NOT NULL,
    data bytea NOT NULL,  -- places in the segment, uint16, then weights, uint8
    checksum bigint NOT NULL,
    PRIMARY KEY (segment, term)
);
ALTER TABLE postings ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE dead (  -- passages that were removed, as long as a segment lists them
    passage bigint PRIMARY KEY,
    removed int NOT NULL
);
""",
    # Citus requires that unique keys include the sharding column, and that no foreign key refers to a shard.
    """
ALTER TABLE spare_vectors DROP CONSTRAINT spare_vectors_vector_fkey;
ALTER TABLE vectors DROP CONSTRAINT vectors_pkey, DROP CONSTRAINT vectors_digest_key, ADD PRIMARY KEY (digest);
CREATE INDEX vectors_id ON vectors (id);
""",
)
# Tables distributed among the nodes of Citus, with their sharding columns; all others stay on the coordinator.
DISTRIBUTED = {"vectors": "digest", "postings": "term"}
VERSION = len(MIGRATIONS)


def collections(connection: psycopg.Connection) -> tuple[str, ...]:
    """Return the names of the collections in a database."""
    query = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s) ORDER BY nspname"
    return tuple(row[0].removeprefix(PREFIX) for row in connection.execute(query, (PREFIX,)))


def only_collection(connection: psycopg.Connection, place: str) -> str:
    """Return the name of the only collection in a database."""
    names = collections(connection)
    if not names:
        raise NoIndexError(f"there is no collection in {place}. Build one with: qa index FOLDER --store {place}")
    if len(names) > 1:
        raise UsageError(f"{place} has several collections; name one: {place}#{names[0]} (or {', '.join(names[1:])})")
    return names[0]


def use_collection(connection: psycopg.Connection, collection: str, place: str) -> int:
    """Set the search path to a collection's tables and pgvector's types, and return the collection's number.

    Raises:
        NoIndexError: There is no such collection.
        IncompatibleError: The server or pgvector is too old.
    """
    query = "SELECT oid::bigint FROM pg_namespace WHERE nspname = %s"
    row = connection.execute(query, (PREFIX + collection,)).fetchone()
    if row is None:
        raise NoIndexError(f"there is no collection {place}. Build it with: qa index FOLDER --store {place}")
    vector_schema = _require_versions(connection, place)
    names = sql.Identifier(PREFIX + collection), sql.Identifier(vector_schema)
    connection.execute(sql.SQL("SET search_path TO {}, {}").format(*names))
    return int(row[0])


def require_current(connection: psycopg.Connection, place: str) -> None:
    """Raise IncompatibleError if the tables have another version."""
    version = _version(connection)
    if version > VERSION:
        raise IncompatibleError(f"{place} has tables of version {version}, newer than this qa reads. Upgrade qa.")
    if version < VERSION:
        raise IncompatibleError(f"{place} has tables of the old version {version}. Run `qa index` to upgrade them.")


def migrate(connection: psycopg.Connection, collection: str, place: str) -> int:
    """Create the tables of a collection or upgrade them, in one transaction, and use them.

    Returns:
        The collection's number.

    Raises:
        IncompatibleError: See `use_collection` and `require_current`.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('qa-migrations'))")
        try:
            # If this account may not, `use_collection` says what to do.
            with contextlib.suppress(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
            raise IncompatibleError(f"the server of {place} has no pgvector. Install it there.") from error
        schema = sql.Identifier(PREFIX + collection)
        exists = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (PREFIX + collection,)).fetchone()
        if not exists:
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        number = use_collection(connection, collection, place)
        if not exists:
            connection.execute("CREATE TABLE migrations (version int PRIMARY KEY, at timestamptz DEFAULT now())")
        for version in range(_version(connection) + 1, VERSION + 1):
            connection.execute(MIGRATIONS[version - 1])
            connection.execute("INSERT INTO migrations (version) VALUES (%s)", (version,))
        if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'").fetchone():
            _distribute(connection)
    require_current(connection, place)
    return number


def _distribute(connection: psycopg.Connection) -> None:
    """Distribute the large tables among the nodes of Citus, unless they are already."""
    query = "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = %s::regclass"
    for table, column in DISTRIBUTED.items():
        if not connection.execute(query, (table,)).fetchone():
            connection.execute("SELECT create_distributed_table(%s, %s)", (table, column))


def _version(connection: psycopg.Connection) -> int:
    return fetch_number(connection, "SELECT coalesce(max(version), 0) FROM migrations")


def _require_versions(connection: psycopg.Connection, place: str) -> str:
    """Check the versions of the server and pgvector, and return pgvector's schema."""
    if connection.info.server_version < MIN_SERVER:
        raise IncompatibleError(f"the server of {place} is too old: PostgreSQL 14 or later is needed.")
    query = "SELECT n.nspname, e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace"
    row = connection.execute(f"{query} WHERE e.extname = 'vector'").fetchone()
    if row is None:
        raise IncompatibleError(f"{place} has no pgvector. Have an administrator run there: CREATE EXTENSION vector")
    if tuple(int(part) for part in row[1].split(".")[:2]) < MIN_PGVECTOR:
        raise IncompatibleError(f"{place} has pgvector {row[1]}; 0.8 or later is needed: ALTER EXTENSION vector UPDATE")
    return str(row[0])
