"""The keyword index beside tantivy and SQLite's FTS5: building, bytes, the first question and those after it.

    QA_DATA=DIR python -m tests.benchmarks.lexical --venvs DIR [--passages N] [--engines NAME,NAME] [--out FILE.json]

DIR holds sets with `corpus.jsonl` ({"title", "text"}) and `queries.jsonl` ({"text"}). A passage is three to seven
consecutive sentences of a text: first all runs of three, then all of four, and so on, until there are as many as
wanted; so words and their frequencies are real, though runs overlap. They are in the order of the texts, as passages
of files are.

Each engine builds in a process and is asked in others. Seconds are those of the processor, all cores together: a build
without reading the passages, from the first one to a store that is committed and merged; a first question with the
start of the process, Python and imports, the same where each process imports NumPy, as every question to `qa` does
whatever its keyword index is, and without all of that. Ours and FTS5 have their own settings for stemming and ranking,
tantivy stores frequencies and no positions, which is what ours has; FTS5 keeps no texts but positions.
"""

from __future__ import annotations

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corpus.text.sentences import sentence_spans
from tests.benchmarks.common import circumstances, parser, tell
from tests.benchmarks.peer_tools import FailedError, last_line, run
from tests.paths import REPOSITORY

ENGINES = ("ours", "tantivy", "fts5")
_TANTIVY = "tantivy==0.27.0"
_RUNS = range(3, 8)
_COLD, _WARM = 7, 50
_SEED = 18


def documents(data: Path) -> Iterator[tuple[str, str, str]]:
    """Title, path and text of every text of all sets."""
    for file in sorted(data.glob("*/corpus.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                title = row.get("title", "")
                yield title, f"{file.parent.name}/{title.replace('/', ' ') or row['_id']}.txt", row["text"]


def passages(data: Path, count: int) -> list[list[str]]:
    """So many passages, in the order of the texts: title, heading, text and path."""
    texts = [(title, path, text, sentence_spans(text)) for title, path, text in documents(data)]
    wanted: list[tuple[int, int, int]] = []
    for width in _RUNS:
        for number, (*_, spans) in enumerate(texts):
            runs = range(max(1, len(spans) - width + 1) if spans else 0)
            wanted += ((number, first, width) for first in runs)
        if len(wanted) >= count:
            break
    found = []
    for number, first, width in sorted(wanted[:count]):
        title, path, text, spans = texts[number]
        run = spans[first : first + width]
        found.append([title, "", text[run[0][0] : run[-1][1]], path])
    return found


def questions(data: Path) -> list[str]:
    """Questions of all sets, in an order that is always the same."""
    found = []
    for file in sorted(data.glob("*/queries.jsonl")):
        with file.open(encoding="utf-8") as lines:
            found += [json.loads(line)["text"] for line in lines]
    random.Random(_SEED).shuffle(found)  # noqa: S311 - not for secrets
    return found


def _installed(venv: Path) -> str:
    """The Python of an environment that has tantivy and our NumPy, made where there is none."""
    python = venv / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", str(venv)])
        run([str(python), "-m", "pip", "install", "--quiet", _TANTIVY, f"numpy=={np.__version__}"])
    return str(python)


class Bench:
    """One engine: its Python, and where its store is."""

    def __init__(self, name: str, venvs: Path, place: Path) -> None:
        self._name = name
        self._python = _installed(venvs / "tantivy") if name == "tantivy" else sys.executable
        self._store = place / name
        self._store.mkdir()
        self._first: list[float] = []
        self._asking: list[float] = []
        self._beside_numpy: list[float] = []

    def build(self, file: Path) -> dict[str, Any]:
        """Build from nothing, and count the bytes written.

        Raises:
            FailedError: The engine failed.
        """
        told, _ = self._run("build", str(file), str(self._store))
        size = sum(one.stat().st_size for one in self._store.rglob("*") if one.is_file())
        return {"build_cpu_seconds": told["cpu_seconds"], "bytes": size}

    def first(self, question: str) -> None:
        """Ask in a process of its own.

        Raises:
            FailedError: The engine failed.
        """
        told, taken = self._run("ask", str(self._store), question)
        self._first.append(taken)
        self._asking.append(told["cpu_seconds"])
        self._beside_numpy.append(self._run("ask-beside-numpy", str(self._store), question)[1])

    def ask(self, asked: Sequence[str]) -> dict[str, Any]:
        """Ask many in one process; with that what the first ones took.

        Raises:
            FailedError: The engine failed.
        """
        once, many = (self._run("ask", str(self._store), *asked[:count])[0] for count in (1, _WARM + 1))
        return {
            "first_cpu_ms": 1000 * statistics.median(self._first),
            "first_beside_numpy_cpu_ms": 1000 * statistics.median(self._beside_numpy),
            "first_without_imports_cpu_ms": 1000 * statistics.median(self._asking),
            "more_cpu_ms": 1000 * (many["cpu_seconds"] - once["cpu_seconds"]) / _WARM,
        }

    def _run(self, *arguments: str) -> tuple[Any, float]:
        """What the driver told, and the processor's seconds that its process took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [self._python, "-m", "tests.benchmarks.lexical_drivers", self._name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise FailedError(f"{self._name}: {last_line(done.stderr)}")
        taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(done.stdout.splitlines()[-1]), taken


def table(result: dict[str, Any]) -> str:
    """What one run tells."""
    machine, engines = result["machine"], result["engines"]
    columns = {
        "build_cpu_seconds": "build, s",
        "bytes": "MB",
        "first_cpu_ms": "first question, ms",
        "first_beside_numpy_cpu_ms": "the same beside NumPy, ms",
        "first_without_imports_cpu_ms": "without any import, ms",
        "more_cpu_ms": "one more, ms",
    }
    rows = [
        f"{result['passages']:,} passages, on one machine ({machine['cpu']}, {machine['cores']} cores, load "
        f"{machine['load_before']:.1f} before), {machine['date']}; seconds of the processor, and × tantivy's.",
        "",
        f"| | {' | '.join(columns.values())} |",
        f"|---|{'---:|' * len(columns)}",
    ]
    for name, one in engines.items():
        cells = []
        for key in columns:
            value = one[key] / 1e6 if key == "bytes" else one[key]
            beside = f" ×{one[key] / engines['tantivy'][key]:.1f}" if name != "tantivy" else ""
            cells.append(f"{value:.0f}{beside}" if value >= 100 else f"{value:.1f}{beside}")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Measure what the command line names."""
    found = parser(__doc__)
    found.add_argument("--venvs", type=Path, required=True, metavar="DIR", help="of the engines' environments")
    found.add_argument("--passages", type=int, default=240_000)
    found.add_argument("--engines", default=",".join(ENGINES))
    given = found.parse_args()
    data = Path(os.environ.get("QA_DATA", "data"))
    told: dict[str, Any] = {**circumstances("lexical"), "passages": given.passages}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "passages.jsonl"
        with file.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(one) + "\n" for one in passages(data, given.passages))
        asked = questions(data)
        benches = {name: Bench(name, given.venvs, Path(folder)) for name in given.engines.split(",")}
        built = {name: bench.build(file) for name, bench in benches.items()}
        # In turns, as the machine may be busier at one time than at another.
        for question in asked[:_COLD]:
            for bench in benches.values():
                bench.first(question)
        told["engines"] = {name: {**built[name], **bench.ask(asked)} for name, bench in benches.items()}
    tell(told, given.out)


if __name__ == "__main__":
    main()
