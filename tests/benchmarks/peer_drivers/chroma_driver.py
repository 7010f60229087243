"""Run Chroma for `tests.benchmarks.peers`, in Chroma's own virtual environment; see `passages.drive`.

    python chroma_driver.py export STORE MODEL

MODEL is a folder, for `SentenceTransformerEmbeddingFunction`, or "default" for Chroma's default embedding function:
the same model in onnxruntime, without torch. Chroma downloads that file from its own server; without a network,
`export` makes it from the folder MODEL and puts it where Chroma looks for it.
All settings are Chroma's own, except that telemetry is off: an HNSW index, the texts in SQLite.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from passages import drive, read_passages  # type: ignore[import-not-found]

_NAME = "passages"


def export(model: str) -> None:
    """Convert the model to ONNX with eager attention, the fastest correct export of torch."""
    import numpy as np
    import torch
    from chromadb.utils.embedding_functions import (  # type: ignore[import-not-found]
        ONNXMiniLM_L6_V2,
        SentenceTransformerEmbeddingFunction,
    )
    from transformers import AutoModel

    folder = ONNXMiniLM_L6_V2.DOWNLOAD_PATH / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME
    folder.mkdir(parents=True)
    for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt"):
        shutil.copyfile(Path(model, name), folder / name)
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    torch.onnx.export(
        AutoModel.from_pretrained(model, attn_implementation="eager").eval(),
        (),
        str(folder / "model.onnx"),
        kwargs={name: torch.ones(2, 16, dtype=torch.int64) for name in inputs},  # one tensor would become one input
        input_names=inputs,
        output_names=("last_hidden_state", "pooled"),
        dynamic_shapes={name: {0: "batch", 1: "sequence"} for name in inputs},
        dynamo=True,
        external_data=False,
        verbose=False,
    )
    texts = ["Which paper won?", "The test of time award went to a paper on optimisation. " * 9]
    embedders = (ONNXMiniLM_L6_V2(), SentenceTransformerEmbeddingFunction(model))
    converted, original = (np.array(embed(texts)) for embed in embedders)
    if not np.allclose(converted, original, atol=1e-4):
        sys.exit(f"the converted model differs by {np.abs(converted - original).max()}")


def _open(store: str, model: str) -> tuple[Any, dict[str, Any]]:
    """The client, and the options to create or open a collection."""
    import chromadb  # type: ignore[import-not-found]

    client = chromadb.PersistentClient(path=store, settings=chromadb.Settings(anonymized_telemetry=False))
    if model == "default":
        return client, {}
    from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction

    return client, {"embedding_function": SentenceTransformerEmbeddingFunction(model_name=model)}


def index(store: str, model: str, passages: str) -> None:
    """Add the passages, in batches as large as Chroma accepts."""
    client, options = _open(store, model)
    collection = client.create_collection(_NAME, **options)
    rows = list(read_passages(passages))
    size = client.get_max_batch_size()
    for start in range(0, len(rows), size):
        batch = rows[start : start + size]
        collection.add(ids=[row["id"] for row in batch], documents=[row["text"] for row in batch])


def open_store(store: str, model: str) -> Callable[[str], list[str]]:
    """Open the collection, ready for questions."""
    client, options = _open(store, model)
    collection = client.get_collection(_NAME, **options)
    return lambda question: list(collection.query(query_texts=[question], n_results=5)["ids"][0])


if __name__ == "__main__":
    if sys.argv[1] == "export":
        export(sys.argv[3])
    else:
        drive(index, open_store)
