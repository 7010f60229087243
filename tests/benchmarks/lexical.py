"""Our keyword index against tantivy and SQLite's FTS5: building, bytes, the first question and later ones.

    QA_DATA=DIR python -m tests.benchmarks.lexical --venvs DIR [--passages N] [--out FILE.json]

QA_DATA holds datasets with `corpus.jsonl` ({"title", "text"}) and `queries.jsonl` ({"text"}). A passage is three to
seven consecutive sentences of a text: first all runs of three, then all of four, and so on, until there are enough; so
words and their frequencies are real, though runs overlap. Passages are in text order, as in files.

Each engine builds in one process and is asked in others. Times are CPU seconds of all cores: for a build, from the
first passage to a committed and merged store, without reading the passages; for a first question, including the start
of Python and imports, the same with NumPy imported (as every question to `qa` does whatever its keyword index is), and
without imports. Ours and FTS5 use their own settings for stemming and ranking; tantivy, like ours, stores frequencies
and no positions; FTS5 stores positions and no texts.
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
from tests.benchmarks.common import provenance, read_lines, result_parser, write_result
from tests.benchmarks.peer_tools import FailedError, last_line, run
from tests.paths import REPOSITORY

ENGINES = ("ours", "tantivy", "fts5")
_TANTIVY = "tantivy==0.27.0"
_RUNS = range(3, 8)
_COLD, _WARM = 7, 50
_SEED = 18


def documents(data: Path) -> Iterator[tuple[str, str, str]]:
    """Title, path and text of every text in all datasets."""
    for file in sorted(data.glob("*/corpus.jsonl")):
        for row in read_lines(file):
            title = row.get("title", "")
            yield title, f"{file.parent.name}/{title.replace('/', ' ') or row['_id']}.txt", row["text"]


def passages(data: Path, count: int) -> list[list[str]]:
    """`count` passages in text order: title, heading, text and path."""
    texts = [(title, path, text, sentence_spans(text)) for title, path, text in documents(data)]
    chosen: list[tuple[int, int, int]] = []
    for width in _RUNS:
        for number, (*_, spans) in enumerate(texts):
            runs = range(max(1, len(spans) - width + 1) if spans else 0)
            chosen += ((number, first, width) for first in runs)
        if len(chosen) >= count:
            break
    rows = []
    for number, first, width in sorted(chosen[:count]):
        title, path, text, spans = texts[number]
        run = spans[first : first + width]
        rows.append([title, "", text[run[0][0] : run[-1][1]], path])
    return rows


def questions(data: Path) -> list[str]:
    """The questions of all datasets, shuffled with a fixed seed."""
    texts = [row["text"] for file in sorted(data.glob("*/queries.jsonl")) for row in read_lines(file)]
    random.Random(_SEED).shuffle(texts)  # noqa: S311 - not for secrets
    return texts


def _installed_python(venv: Path) -> str:
    """The Python of an environment with tantivy and our version of NumPy, created if missing."""
    python = venv / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", str(venv)])
        run([str(python), "-m", "pip", "install", "--quiet", _TANTIVY, f"numpy=={np.__version__}"])
    return str(python)


class Bench:
    """One engine: its Python and its store. Methods raise `FailedError` if the engine fails."""

    def __init__(self, name: str, venvs: Path, work: Path) -> None:
        self._name = name
        self._python = _installed_python(venvs / "tantivy") if name == "tantivy" else sys.executable
        self._store = work / name
        self._store.mkdir()
        self._first: list[float] = []
        self._without_imports: list[float] = []
        self._with_numpy: list[float] = []

    def build(self, file: Path) -> dict[str, Any]:
        """Build from scratch, and count the bytes written."""
        printed, _ = self._run("build", str(file), str(self._store))
        size = sum(path.stat().st_size for path in self._store.rglob("*") if path.is_file())
        return {"build_cpu_seconds": printed["cpu_seconds"], "bytes": size}

    def ask_first(self, question: str) -> None:
        """Ask a question in a process of its own."""
        printed, seconds = self._run("ask", str(self._store), question)
        self._first.append(seconds)
        self._without_imports.append(printed["cpu_seconds"])
        self._with_numpy.append(self._run("ask-beside-numpy", str(self._store), question)[1])

    def ask(self, questions: Sequence[str]) -> dict[str, Any]:
        """Ask many questions in one process; return the times of these and of the first questions."""
        once, many = (self._run("ask", str(self._store), *questions[:count])[0] for count in (1, _WARM + 1))
        return {
            "first_cpu_ms": 1000 * statistics.median(self._first),
            "first_beside_numpy_cpu_ms": 1000 * statistics.median(self._with_numpy),
            "first_without_imports_cpu_ms": 1000 * statistics.median(self._without_imports),
            "more_cpu_ms": 1000 * (many["cpu_seconds"] - once["cpu_seconds"]) / _WARM,
        }

    def _run(self, *arguments: str) -> tuple[Any, float]:
        """What the driver printed, and the CPU seconds of its process."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [self._python, "-m", "tests.benchmarks.lexical_drivers", self._name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise FailedError(f"{self._name}: {last_line(done.stderr)}")
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(done.stdout.splitlines()[-1]), seconds


def table(result: dict[str, Any]) -> str:
    """The results in Markdown."""
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
    for name, figures in engines.items():
        cells = []
        for key in columns:
            value = figures[key] / 1e6 if key == "bytes" else figures[key]
            ratio = f" ×{figures[key] / engines['tantivy'][key]:.1f}" if name != "tantivy" else ""
            cells.append(f"{value:.0f}{ratio}" if value >= 100 else f"{value:.1f}{ratio}")
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__)
    parser.add_argument("--venvs", type=Path, required=True, metavar="DIR", help="folder for virtual environments")
    parser.add_argument("--passages", type=int, default=240_000)
    options = parser.parse_args()
    data = Path(os.environ.get("QA_DATA", "data"))
    result: dict[str, Any] = {**provenance("lexical"), "passages": options.passages}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "passages.jsonl"
        with file.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps(passage) + "\n" for passage in passages(data, options.passages))
        texts = questions(data)
        benches = {name: Bench(name, options.venvs, Path(folder)) for name in ENGINES}
        builds = {name: bench.build(file) for name, bench in benches.items()}
        # The engines take turns, because the load of the machine may vary.
        for question in texts[:_COLD]:
            for bench in benches.values():
                bench.ask_first(question)
        result["engines"] = {name: {**builds[name], **bench.ask(texts)} for name, bench in benches.items()}
    write_result(result, options.out)


if __name__ == "__main__":
    main()
