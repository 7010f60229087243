"""What `tests.benchmarks.peers` has txtai do; runs in txtai's own virtual environment.

    python txtai_driver.py index STORE MODEL PASSAGES.jsonl
    python txtai_driver.py ask STORE MODEL [QUESTION]

All settings are txtai's own: it runs the model through transformers, and keeps vectors and ids but no text.
Without QUESTION, questions are read from stdin, a JSON string a line. Each answer is a line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path


def index(store: str, model: str, passages: str) -> None:
    """Embed the passages and save them."""
    from txtai import Embeddings  # type: ignore[import-not-found]

    embeddings = Embeddings(path=model)
    with Path(passages).open(encoding="utf-8") as lines:
        embeddings.index((row["id"], row["text"]) for row in map(json.loads, lines))
    embeddings.save(store)


def ready(store: str) -> Callable[[str], list[str]]:
    """Load what was saved, for questions."""
    from txtai import Embeddings

    embeddings = Embeddings()
    embeddings.load(store)
    return lambda question: [number for number, _ in embeddings.search(question, 5)]


def main() -> None:
    """Do what the command line says."""
    action, store, model, *rest = sys.argv[1:]
    if action == "index":
        index(store, model, *rest)
        return
    ask = ready(store)
    for question in rest or map(json.loads, sys.stdin):
        print(json.dumps({"ids": ask(question)}), flush=True)


if __name__ == "__main__":
    main()
