"""LanceDB for `tests.benchmarks.engines`: a table of numbers and vectors, and an index by cosine.

Indexes are of the sizes that its documentation starts from (docs.lancedb.com/indexing/vector-index): a partition for
1,048,576 vectors under a graph, else for 4,096, and a byte for 8 dimensions of product quantization.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.engine_drivers import common

_TABLE = "vectors"


def build(vectors: Path, store: Path, *, kind: str) -> dict[str, Any]:
    """Write the table, then index it."""
    import lancedb  # type: ignore[import-not-found]
    import pyarrow  # type: ignore[import-not-found]
    from lancedb.index import HnswSq, IvfPq, IvfRq  # type: ignore[import-not-found]

    total, dimension = common.rows(vectors)
    schema = pyarrow.schema([("id", pyarrow.int64()), ("vector", pyarrow.list_(pyarrow.float32(), dimension))])

    def records() -> Iterator[Any]:
        for numbers, batch in common.batches(vectors, 8192):
            column = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(batch.reshape(-1)), dimension)
            yield pyarrow.record_batch([pyarrow.array(numbers), column], schema=schema)

    table = lancedb.connect(str(store)).create_table(_TABLE, records(), schema=schema)
    partitions = max(1, total // (1_048_576 if kind == "IVF_HNSW_SQ" else 4096))
    made = {
        "IVF_HNSW_SQ": lambda: HnswSq(distance_type="cosine", num_partitions=partitions),
        "IVF_PQ": lambda: IvfPq(distance_type="cosine", num_partitions=partitions, num_sub_vectors=dimension // 8),
        "IVF_RQ": lambda: IvfRq(distance_type="cosine", num_partitions=partitions),
    }[kind]()
    table.create_index("vector", config=made)
    stats = table.index_stats(table.list_indices()[0].name)
    if stats.num_indexed_rows != total:
        raise SystemExit(f"only {stats.num_indexed_rows} of {total} vectors are indexed")
    return {"note": f"partitions: {partitions}"}


def ready(store: Path, *, nprobes: int = 0, ef: int = 0, refine: int = 0) -> common.Search:
    """Open the table.

    Args:
        store: The database.
        nprobes: How many partitions are searched, 0 for LanceDB's own.
        ef: How many candidates are kept in a graph, 0 for LanceDB's own.
        refine: How many times as many as wanted are scored again with the vectors stored, 0 for none.
    """
    import lancedb

    table = lancedb.connect(str(store)).open_table(_TABLE)

    def search(query: common.Array) -> list[int]:
        asked = table.search(query).limit(common.LIMIT).select(["id", "_distance"])
        if nprobes:
            asked = asked.nprobes(nprobes)
        if ef:
            asked = asked.ef(ef)
        if refine:
            asked = asked.refine_factor(refine)
        found: list[int] = asked.to_arrow()["id"].to_pylist()
        return found

    return search


if __name__ == "__main__":
    common.run(build, ready)
