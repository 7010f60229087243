"""Write the tables of README.md from the measurements in `tests/benchmarks/results`.

    python -m tests.benchmarks.tables

A table stands between the lines `<!-- NAME -->` and `<!-- /NAME -->`; what is between them is replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks import engines, peers, plot

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).with_name("results")


def read(name: str) -> dict[str, Any]:
    """A measurement."""
    found: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return found


def encoding() -> str:
    """How fast passages are embedded."""
    result = read("encoding.json")
    rows = [
        "| embedding | passages/s | tokens/s | × | GFLOP/s | least cosine |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {name} | {one['passages_a_second']:.0f} | {one['tokens_a_second']:,} | {one['ratio']:.1f} "
            f"| {one['gflops']:,} | {one['least_cosine']:.5f} |"
            for name, one in result["encoders"].items()
        ),
    ]
    return "\n".join(rows) + "\n"


def quality() -> str:
    """Ranking before this version and now, with and without re-ranking."""
    result = read("quality.json")
    rows = [
        "| collection, questions | | hit@1 | hit@5 | covered | highlight | ms a question |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for collection, runs in result.items():
        for run, one in runs.items():
            figures = " | ".join(f"{one[key]:.3f}" for key in ("hit@1", "hit@5", "covered@1000", "highlight@1"))
            rows.append(f"| {collection} | {run} | {figures} | {one['ms_a_question']:.0f} |")
    return "\n".join(rows) + "\n"


def vector_engines() -> str:
    """Our vectors beside other engines."""
    return engines.table([read(file.name) for file in sorted(RESULTS.glob("engines-*.json"), key=_size)])


def _size(file: Path) -> int:
    return int(file.stem.partition("-")[2])


TABLES: dict[str, Callable[[], str]] = {
    "encoding": encoding,
    "engines": vector_engines,
    "peers": lambda: peers.table(read("peers.json")),
    "quality": quality,
    "scale": lambda: plot.table(read("scale.json")),
}


def filled(text: str) -> str:
    """A text with its tables as they are now."""
    for name, table in TABLES.items():
        between = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        text = between.sub(lambda _, made=table: f"\n{made()}\n", text)  # type: ignore[misc]
    return text


def main() -> None:
    """Bring README.md and the drawing up to date."""
    file = ROOT / "README.md"
    file.write_text(filled(file.read_text(encoding="utf-8")), encoding="utf-8")
    (RESULTS / "scale.svg").write_text(plot.drawing(read("scale.json")), encoding="utf-8")


if __name__ == "__main__":
    main()
