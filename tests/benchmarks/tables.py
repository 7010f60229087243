"""Generate the tables of the documents below from the measurements in `tests/benchmarks/results`.

    python -m tests.benchmarks.tables

Each table replaces the text between the lines `<!-- NAME -->` and `<!-- /NAME -->`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks import peers, postgres, scale, serve, workers
from tests.paths import REPOSITORY

RESULTS = Path(__file__).with_name("results")
DOCUMENTS = (REPOSITORY / "tests" / "benchmarks" / "README.md",)


def read(name: str) -> dict[str, Any]:
    """The content of a result file."""
    content: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return content


TABLES: dict[str, Callable[[], str]] = {
    "peers": lambda: peers.table(read("peers.json")),
    "peers-squad": lambda: peers.table(read("peers-squad.json")),
    "serve": lambda: serve.table(read("serve.json")),
    "scale": lambda: scale.table(read("scale.json")),
    "postgres": lambda: postgres.table({part: read(f"postgres-{part}.json") for part in ("size", "readers", "kills")}),
    "workers": lambda: workers.table(read("workers.json")),
}


def fill(text: str) -> str:
    """Return a text with its tables regenerated."""
    for name, table in TABLES.items():
        between = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        text = between.sub(lambda _, render=table: f"\n{render()}\n", text)  # type: ignore[misc]
    return text


def main() -> None:
    """Update the documents."""
    for file in DOCUMENTS:
        file.write_text(fill(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
