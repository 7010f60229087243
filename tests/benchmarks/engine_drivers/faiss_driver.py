"""FAISS for `tests.benchmarks.engines`: every vector compared in float32, nothing approximate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.engine_drivers import common

_FILE = "flat.faiss"


def build(vectors: Path, store: Path) -> dict[str, Any]:
    """Add the vectors, the memory for them taken at once."""
    import faiss

    total, dimension = common.rows(vectors)
    index = faiss.IndexFlatIP(dimension)
    index.codes.resize(total * index.code_size)
    index.codes.clear()
    for _, batch in common.batches(vectors, 8192):
        index.add(batch)
    faiss.write_index(index, str(store / _FILE))
    return {}


def ready(store: Path) -> common.Search:
    """Read the file."""
    import faiss

    index = faiss.read_index(str(store / _FILE))

    def search(query: common.Array) -> list[int]:
        found: list[int] = index.search(query.reshape(1, -1), common.LIMIT)[1][0].tolist()
        return found

    return search


if __name__ == "__main__":
    common.run(build, ready)
