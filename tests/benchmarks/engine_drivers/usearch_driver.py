"""USearch for `tests.benchmarks.engines`: a graph, by inner product, its own settings but for the type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.engine_drivers import common

_FILE = "index.usearch"


def build(vectors: Path, store: Path, *, dtype: str = "") -> dict[str, Any]:
    """Add the vectors; without a type USearch takes what suits the processor."""
    from usearch.index import Index  # type: ignore[import-not-found]

    _, dimension = common.rows(vectors)
    index = Index(ndim=dimension, metric="ip", dtype=dtype or None)
    for numbers, batch in common.batches(vectors, 8192):
        index.add(numbers, batch)
    index.save(str(store / _FILE))
    taken = {} if dtype else {"note": str(index.dtype).rpartition(".")[2].lower()}
    return {"computed_for": index.hardware_acceleration, **taken}


def ready(store: Path, *, ef: int = 0, view: bool = False) -> common.Search:
    """Load the file, or map it; `ef` is how many candidates are kept, 0 for USearch's own."""
    from usearch.index import Index

    index = Index.restore(str(store / _FILE), view=view)
    if ef:
        index.expansion_search = ef

    def search(query: common.Array) -> list[int]:
        found: list[int] = index.search(query, common.LIMIT).keys.tolist()
        return found

    return search


if __name__ == "__main__":
    common.run(build, ready)
