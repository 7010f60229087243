"""Chroma for `tests.benchmarks.engines`: a collection by cosine on disk, given vectors and no texts.

All settings are Chroma's own; batches are as large as it takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.benchmarks.engine_drivers import common

_NAME = "passages"


def _client(store: Path) -> Any:
    import chromadb  # type: ignore[import-not-found]

    return chromadb.PersistentClient(path=str(store), settings=chromadb.Settings(anonymized_telemetry=False))


def build(vectors: Path, store: Path) -> dict[str, Any]:
    """Add the vectors."""
    client = _client(store)
    configuration = {"hnsw": {"space": "cosine"}}
    collection = client.create_collection(_NAME, embedding_function=None, configuration=configuration)
    for numbers, batch in common.batches(vectors, client.get_max_batch_size()):
        collection.add(ids=[str(number) for number in numbers], embeddings=batch)
    if collection.count() != common.rows(vectors)[0]:
        raise SystemExit(f"only {collection.count()} vectors are there")
    return {"hnsw": dict(collection.configuration["hnsw"])}


def ready(store: Path, *, ef: int = 0) -> common.Search:
    """Open the collection; `ef` is how many candidates are kept, 0 for Chroma's own."""
    collection = _client(store).get_collection(_NAME, embedding_function=None)
    if ef:
        collection.modify(configuration={"hnsw": {"ef_search": ef}})

    def search(query: common.Array) -> list[int]:
        answer = collection.query(query_embeddings=[query], n_results=common.LIMIT, include=[])
        return [int(number) for number in answer["ids"][0]]

    return search


if __name__ == "__main__":
    common.run(build, ready)
