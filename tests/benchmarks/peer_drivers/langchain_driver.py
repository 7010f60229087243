"""What `tests.benchmarks.peers` has LangChain do, with FAISS; runs in LangChain's own virtual environment.

    python langchain_driver.py index STORE MODEL PASSAGES.jsonl
    python langchain_driver.py ask STORE MODEL [QUESTION]

All settings are LangChain's own: sentence-transformers through `HuggingFaceEmbeddings`, exact search by Euclidean
distance, the texts pickled beside the vectors. Without QUESTION, questions are read from stdin, a JSON string a line.
Each answer is a line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path


def index(store: str, model: str, passages: str) -> None:
    """Embed the passages and save them."""
    from langchain_community.vectorstores import FAISS  # type: ignore[import-not-found]
    from langchain_huggingface import HuggingFaceEmbeddings  # type: ignore[import-not-found]

    with Path(passages).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    embeddings = HuggingFaceEmbeddings(model_name=model)
    database = FAISS.from_texts([row["text"] for row in rows], embeddings, ids=[row["id"] for row in rows])
    database.save_local(store)


def ready(store: str, model: str) -> Callable[[str], list[str]]:
    """Load what was saved, for questions."""
    from langchain_community.vectorstores import FAISS
    from langchain_huggingface import HuggingFaceEmbeddings

    embeddings = HuggingFaceEmbeddings(model_name=model)
    database = FAISS.load_local(store, embeddings, allow_dangerous_deserialization=True)
    return lambda question: [document.id for document in database.similarity_search(question, k=5)]


def main() -> None:
    """Do what the command line says."""
    action, store, model, *rest = sys.argv[1:]
    if action == "index":
        index(store, model, *rest)
        return
    ask = ready(store, model)
    for question in rest or map(json.loads, sys.stdin):
        print(json.dumps({"ids": ask(question)}), flush=True)


if __name__ == "__main__":
    main()
