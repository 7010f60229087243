"""What `tests.benchmarks.peers` has llm do; runs in llm's own virtual environment.

    python llm_driver.py index STORE MODEL PASSAGES.jsonl
    python llm_driver.py ask STORE MODEL [QUESTION]

With PASSAGES or QUESTION this is `llm embed-multi` or `llm similar`, run as its console script runs it; without
QUESTION, questions are read from stdin, a JSON string a line, for `llm.Collection`. Each answer is a line of JSON.
All settings are llm's own: SQLite holds the vectors, which a question is compared with one by one, and no text.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

_NAME = "passages"


def index(store: str, model: str, passages: str) -> None:
    """Register the model, as `llm sentence-transformers register` does, and embed the passages."""
    folder = Path(store)
    folder.mkdir(parents=True)
    (folder / "sentence-transformers.json").write_text(json.dumps([{"name": model}]), encoding="utf-8")
    from llm.cli import cli  # type: ignore[import-not-found]

    chosen = f"sentence-transformers/{model}"
    cli(["embed-multi", _NAME, passages, "--format", "nl", "-m", chosen], standalone_mode=False)


def by_command(question: str) -> list[str]:
    """The ids that `llm similar` prints."""
    from llm.cli import cli

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        cli(["similar", _NAME, "-c", question, "-n", "5"], standalone_mode=False)
    return [json.loads(line)["id"] for line in printed.getvalue().splitlines()]


def ready(store: str) -> Callable[[str], list[str]]:
    """Open the collection, for questions."""
    import llm  # type: ignore[import-not-found]
    import sqlite_utils  # type: ignore[import-not-found]

    collection = llm.Collection(_NAME, sqlite_utils.Database(Path(store) / "embeddings.db"), create=False)
    return lambda question: [entry.id for entry in collection.similar(question, number=5)]


def main() -> None:
    """Do what the command line says."""
    action, store, model, *rest = sys.argv[1:]
    os.environ["LLM_USER_PATH"] = store
    if action == "index":
        index(store, model, *rest)
        return
    ask = by_command if rest else ready(store)
    for question in rest or map(json.loads, sys.stdin):
        print(json.dumps({"ids": ask(question)}), flush=True)


if __name__ == "__main__":
    main()
