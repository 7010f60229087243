"""hnswlib for `tests.benchmarks.engines`: a graph over float32 vectors, by inner product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.engine_drivers import common

_FILE = "index.hnswlib"


def build(vectors: Path, store: Path) -> dict[str, Any]:
    """Add the vectors with M = 16 and ef_construction = 200."""
    import hnswlib  # type: ignore[import-untyped]

    total, dimension = common.rows(vectors)
    index = hnswlib.Index(space="ip", dim=dimension)
    index.init_index(max_elements=total, M=16, ef_construction=200)
    for numbers, batch in common.batches(vectors, 8192):
        index.add_items(batch, numbers)
    index.save_index(str(store / _FILE))
    (store / "dimension").write_text(str(dimension), encoding="utf-8")
    return {}


def ready(store: Path, *, ef: int = 0) -> common.Search:
    """Load the file; `ef` is how many candidates are kept, 0 for hnswlib's own."""
    import hnswlib

    index = hnswlib.Index(space="ip", dim=int((store / "dimension").read_text(encoding="utf-8")))
    index.load_index(str(store / _FILE))
    if ef:
        index.set_ef(ef)

    def search(query: common.Array) -> list[int]:
        found: list[int] = index.knn_query(query, k=common.LIMIT)[0][0].tolist()
        return found

    return search


if __name__ == "__main__":
    common.run(build, ready)
