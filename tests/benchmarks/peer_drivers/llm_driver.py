"""Run llm for `tests.benchmarks.peers`, in llm's own virtual environment; see `passages.drive`.

`index`, and `ask` with a question, are `llm embed-multi` and `llm similar`, run as its console script runs them;
`ask` without a question uses `llm.Collection`. All settings are llm's own: SQLite stores no text, only vectors, which
are compared with the question one by one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from passages import drive  # type: ignore[import-not-found]

_NAME = "passages"


def index(store: str, model: str, passages: str) -> None:
    """Register the model, as `llm sentence-transformers register` does, and embed the passages."""
    folder = Path(store)
    folder.mkdir(parents=True)
    (folder / "sentence-transformers.json").write_text(json.dumps([{"name": model}]), encoding="utf-8")
    from llm.cli import cli  # type: ignore[import-not-found]

    chosen = f"sentence-transformers/{model}"
    cli(["embed-multi", _NAME, passages, "--format", "nl", "-m", chosen], standalone_mode=False)


def ask_by_command(question: str) -> list[str]:
    """The ids that `llm similar` prints."""
    from llm.cli import cli

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        cli(["similar", _NAME, "-c", question, "-n", "5"], standalone_mode=False)
    return [json.loads(line)["id"] for line in printed.getvalue().splitlines()]


def open_store(store: str, _: str) -> Callable[[str], list[str]]:
    """Open the collection, ready for questions."""
    if len(sys.argv) > 4:
        return ask_by_command
    import llm  # type: ignore[import-not-found]
    import sqlite_utils  # type: ignore[import-not-found]

    collection = llm.Collection(_NAME, sqlite_utils.Database(Path(store) / "embeddings.db"), create=False)
    return lambda question: [entry.id for entry in collection.similar(question, number=5)]


if __name__ == "__main__":
    os.environ["LLM_USER_PATH"] = sys.argv[2]
    drive(index, open_store)
