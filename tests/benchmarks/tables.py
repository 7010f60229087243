"""Write the tables of the documents below from the measurements in `tests/benchmarks/results`.

    python -m tests.benchmarks.tables

A table is what stands between the lines `<!-- NAME -->` and `<!-- /NAME -->`; it is replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks import engines, explore, footprint, formats, peers, scale, serve
from tests.paths import REPOSITORY

RESULTS = Path(__file__).with_name("results")
DOCUMENTS = (REPOSITORY / "tests" / "benchmarks" / "README.md",)


def read(name: str) -> dict[str, Any]:
    """A measurement."""
    found: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return found


def encoding() -> str:
    """How fast passages are embedded."""
    result = read("encoding.json")
    peaks = result["peak_gflops"]
    rows = [
        "| embedding | passages/s | tokens/s | × | GFLOP/s | of the peak | least cosine |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {name} | {one['passages_a_second']:.0f} | {one['tokens_a_second']:,} | {one['ratio']:.2f} "
            f"| {one['gflops']:,} | {one['gflops'] / peaks['float32' if 'float32' in name else 'bf16']:.0%} "
            f"| {one['least_cosine']:.5f} |"
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


def trust() -> str:
    """What was done to indexes, and what came of it."""
    points, repairs = (
        json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in ("points", "repairs")
    )
    model, kills, torn, flips = read("model-kills.json"), read("kills.json"), read("torn.json"), read("flips.json")
    struck = sum(one["tried"] for one in points)
    wrong = sum(len(one["violations"]) for one in points)
    good = {"right", "right, of an earlier generation", "refused"}
    bad = sum(count for outcome, count in flips["outcomes"].items() if outcome not in good)
    right = flips["outcomes"]["right"] + flips["outcomes"]["right, of an earlier generation"]
    rows = (
        (
            f"each operation on a file in {len(points)} builds, updates, rebuilds and repairs: killed before it or "
            "halfway, EIO, ENOSPC or a short write, once or from then on",
            f"{struck:,} points",
            f"{wrong} left anything but the old or the new index, or an error with the fix",
        ),
        (
            "`kill -9` at random moments of builds, updates, rebuilds and repairs",
            f"{kills['killed']:,} of {kills['runs']:,} processes died of it",
            f"{sum(len(one['wrong']) for one in kills['violations'])} wrong; at most {kills['most_lost']} finished "
            "embeddings lost",
        ),
        (
            f"the same with the real model, {model['texts']:,} passages in batches of {model['batch']}",
            f"{model['killed']:,} of {model['runs']:,} processes died of it",
            f"{len(model['violations'])} wrong; of {model['finished']:,} finished embeddings "
            f"{model['embedded_again']:,} made again, at most {model['most_lost']} after one kill",
        ),
        (
            f"{torn['readers']} readers beside a writer that goes to and fro between two collections",
            f"{torn['questions']:,} questions, {torn['generations_written']:,} generations",
            f"{len(torn['torn']) + len(torn['failed'])} answers of two generations",
        ),
        (
            "a bit turned, or a file cut, lengthened, emptied, deleted or swapped",
            f"{flips['trials']:,} times",
            f"{bad} wrong answers, crashes, hangs or floods of memory: {right:,} answered rightly, "
            f"{flips['outcomes']['refused']:,} refused",
        ),
        (
            "a repair after a bit was turned where the database says how the rest is to be read, or a file was lost",
            f"{sum(one['repairs'] for one in repairs):,} repairs",
            f"{sum(len(one['bad_repairs']) for one in repairs)} did not give back every answer, or embedded a text "
            "whose vector still stood",
        ),
    )
    return (
        "\n".join(["| what | how often | came of it |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])
        + "\n"
    )


TABLES: dict[str, Callable[[], str]] = {
    "encoding": encoding,
    "engines": vector_engines,
    "explore": lambda: explore.table(read("explore.json")),
    "footprint": lambda: footprint.table(read("footprint.json")),
    "formats": lambda: formats.table(read("formats.json")),
    "peers": lambda: peers.table(read("peers.json")),
    "peers-squad": lambda: peers.table(read("peers-squad.json")),
    "quality": quality,
    "serve": lambda: serve.table(read("serve.json")),
    "trust": trust,
    "scale": lambda: scale.table(read("scale.json")),
}


def filled(text: str) -> str:
    """A text with its tables as they are now."""
    for name, table in TABLES.items():
        between = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        text = between.sub(lambda _, made=table: f"\n{made()}\n", text)  # type: ignore[misc]
    return text


def main() -> None:
    """Bring the documents up to date."""
    for file in DOCUMENTS:
        file.write_text(filled(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
