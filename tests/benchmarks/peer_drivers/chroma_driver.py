"""What `tests.benchmarks.peers` has Chroma do; runs in Chroma's own virtual environment.

    python chroma_driver.py export STORE MODEL
    python chroma_driver.py index STORE MODEL PASSAGES.jsonl
    python chroma_driver.py ask STORE MODEL [QUESTION]

MODEL is a folder, for `SentenceTransformerEmbeddingFunction`, or "default" for the embedding function that Chroma
takes where none is named: the same model in onnxruntime, without torch. Chroma fetches that file from its own server;
`export` makes it from the folder MODEL where there is no network, and puts it where Chroma looks.
All settings are Chroma's own, but that it is told to send no telemetry: an HNSW index, the texts in SQLite.
Without QUESTION, questions are read from stdin, a JSON string a line. Each answer is a line of JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NAME = "passages"


def export(model: str) -> None:
    """Convert the model to ONNX, with eager attention: of what torch exports, the fastest that is right."""
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
    one, other = (np.array(embed(texts)) for embed in (ONNXMiniLM_L6_V2(), SentenceTransformerEmbeddingFunction(model)))
    if not np.allclose(one, other, atol=1e-4):
        sys.exit(f"the converted model differs by {np.abs(one - other).max()}")


def _open(store: str, model: str) -> tuple[Any, dict[str, Any]]:
    """The client, and what a collection is to be made or opened with."""
    import chromadb  # type: ignore[import-not-found]

    client = chromadb.PersistentClient(path=store, settings=chromadb.Settings(anonymized_telemetry=False))
    if model == "default":
        return client, {}
    from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction

    return client, {"embedding_function": SentenceTransformerEmbeddingFunction(model_name=model)}


def index(store: str, model: str, passages: str) -> None:
    """Add the passages, in batches as large as Chroma takes."""
    client, options = _open(store, model)
    collection = client.create_collection(_NAME, **options)
    with Path(passages).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    size = client.get_max_batch_size()
    for start in range(0, len(rows), size):
        batch = rows[start : start + size]
        collection.add(ids=[row["id"] for row in batch], documents=[row["text"] for row in batch])


def ready(store: str, model: str) -> Callable[[str], list[str]]:
    """Open the collection, for questions."""
    client, options = _open(store, model)
    collection = client.get_collection(_NAME, **options)
    return lambda question: list(collection.query(query_texts=[question], n_results=5)["ids"][0])


def main() -> None:
    """Do what the command line says."""
    action, store, model, *rest = sys.argv[1:]
    if action == "export":
        export(model)
        return
    if action == "index":
        index(store, model, *rest)
        return
    ask = ready(store, model)
    for question in rest or map(json.loads, sys.stdin):
        print(json.dumps({"ids": ask(question)}), flush=True)


if __name__ == "__main__":
    main()
