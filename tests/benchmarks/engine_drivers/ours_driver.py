"""Our index for `tests.benchmarks.engines`: FAISS files over the vectors that SQLite holds.

Building is making the files from the vectors stored, into a folder of its own. Storing the vectors in SQLite, which
comes before that, is timed aside. Asking gives passages, scored exactly and in the order of their keys where they tie.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import numpy as np

from index.commit.store import Store
from index.dense.faiss_segments import Fetch, Ids, Stored, save
from index.dense.faiss_segments import build as build_segment
from index.dense.vector_rows import read_vectors
from index.snapshot import Snapshot
from index.storage.database import DATABASE, open_for_reading
from tests.benchmarks.engine_drivers import common

# What a build embeds and stores in one transaction.
_STORED = 1000
# What finding the nearest passages reads of the database.
_TABLES = ("vectors", "sqlite_autoindex_vectors_1", "vector_refs", "passages_vector")


def build(_vectors: Path, store: Path, *, index: str) -> dict[str, Any]:
    """Make every segment of the index again."""
    with Snapshot(Path(index)) as snapshot:
        info = snapshot.info
    connection = open_for_reading(Path(index) / DATABASE)

    def fetch(wanted: Ids) -> Stored:
        return read_vectors(connection, Path(index), wanted.tolist(), info.dimension)

    size = 0
    members = []
    for segment in info.segments:
        query = "SELECT vector FROM vector_refs WHERE segment = ? ORDER BY vector"
        members.append(np.array(connection.execute(query, (segment.number,)).fetchall(), dtype=np.int64).reshape(-1))
        made = build_segment(members[-1], fetch, dimension=info.dimension)
        size += save(made, store, number=segment.number, generation=1).size
    begun = time.monotonic()
    (pages,) = connection.execute(
        f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({', '.join('?' * len(_TABLES))})",  # noqa: S608 - only marks
        _TABLES,
    ).fetchone()
    ids = np.concatenate(members)
    storing = _storing(ids, fetch, store)
    return {
        "disk_bytes": size + pages,
        "note": f"{len(ids):,} vectors in {len(info.segments)} segments",
        "storing_seconds": storing,
        "aside_seconds": time.monotonic() - begun,
    }


def _storing(ids: Ids, fetch: Fetch, store: Path) -> float:
    """Seconds to put vectors into a new database."""
    seconds = 0.0
    with Store(store) as database:
        for start in range(0, len(ids), _STORED):
            chunk = ids[start : start + _STORED]
            vectors = fetch(chunk).astype(np.float32)
            digests = [hashlib.blake2b(number.tobytes(), digest_size=16).digest() for number in chunk]
            begun = time.monotonic()
            database.add_vectors(digests, vectors)
            seconds += time.monotonic() - begun
    return seconds


def ready(_store: Path, *, index: str) -> common.Search:
    """Open the index itself."""
    snapshot = Snapshot(Path(index))
    return lambda query: [one.passage for one in snapshot.dense(query, common.LIMIT)]


if __name__ == "__main__":
    common.run(build, ready)
