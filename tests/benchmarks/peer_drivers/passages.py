"""Shared by the drivers of other tools: reading passages, and their command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def read_passages(file: str) -> Iterator[dict[str, Any]]:
    """The passages that qa exported: objects with `id` and `text`."""
    with Path(file).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def drive(index: Callable[[str, str, str], None], open_store: Callable[[str, str], Callable[[str], list[str]]]) -> None:
    """Run the command line: `index STORE MODEL PASSAGES.jsonl` or `ask STORE MODEL [QUESTION]`.

    Without QUESTION, questions are read from stdin, a JSON string per line. Each answer is a line of JSON.
    """
    action, store, model, *arguments = sys.argv[1:]
    if action == "index":
        index(store, model, *arguments)
        return
    ask = open_store(store, model)
    for question in arguments or map(json.loads, sys.stdin):
        print(json.dumps({"ids": ask(question)}), flush=True)
