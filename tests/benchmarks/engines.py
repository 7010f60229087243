"""Nearest vectors: our index beside engines made for that, on the same vectors, one command.

    python -m tests.benchmarks.engines POOL WORK --size 1000000 --venvs DIR --out FILE.json
        [--engines NAME,NAME] [--queries N] [--limit SECONDS]
    python -m tests.benchmarks.engines --table FILE.json [FILE.json ...]

WORK is what `tests.benchmarks.scale` left: WORK/SIZE has `vectors.npy`, which the others are given, and a finished
index of the same passages, which is ours. Each engine gets a virtual environment in DIR, kept while its pins match;
that needs PyPI, the rest no network. Questions of POOL are embedded once, into WORK/queries.npy.

Each engine builds its store in one process, with as many threads as it takes by itself; then a new process opens the
store and is asked for the ten nearest, one question at a time. Seconds to the first answer count from the start of that
process, Python and the engine's import included, the files in the page cache. Recall is against an exact search of the
same vectors (ours: of those that it stores, as float16); what ties with the tenth counts as right. Where an engine does
not find 99 % at its own settings, all settings listed for it are tried, and the fastest that do are shown too, or those
that find the most. Peak memory is that of the process, with files that it maps.

Not the same work: LanceDB, Chroma and ours keep vectors in a database on disk and can be updated; FAISS, USearch and
hnswlib write one file and hold everything in memory. Ours also looks up passages with their keys and scores exactly.
What it builds here is its search structure, from vectors stored before; storing them is timed aside, in the same
process.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.common import circumstances, parser
from tests.benchmarks.engine_drivers.common import LIMIT, WARM_UPS, Array
from tests.benchmarks.engine_tools import ENGINES, PINS, Bench, Engine, install
from tests.benchmarks.peer_tools import FailedError

_ENOUGH = 0.99
# float32 sums in another order differ by less.
_TIE = 1e-6
_CHUNK = 50_000
_MEBI = 1024 * 1024


def embedded(pool: Path, work: Path, count: int) -> Path:
    """The vectors of so many questions, and behind them those that warm up, `(n, dim) float32`."""
    file = work / "queries.npy"
    if not (file.is_file() and len(np.load(file, mmap_mode="r")) == count + WARM_UPS):
        from index.encoder.load import load_encoder

        encoder = load_encoder()
        lines = (pool / "questions.jsonl").read_text(encoding="utf-8").splitlines()[: count + WARM_UPS]
        np.save(file, np.stack([encoder.encode_query(json.loads(line)["question"]) for line in lines]))
    return file


def nearest(queries: Array, batches: Iterable[tuple[Array, Array]]) -> list[frozenset[int]]:
    """By brute force the numbers of the ten nearest of each query, and of what ties with the tenth."""
    kept = 4 * LIMIT
    scores: Array = np.empty((len(queries), 0), dtype=np.float32)
    numbers: Array = np.empty((len(queries), 0), dtype=np.int64)
    for ids, vectors in batches:
        scores = np.concatenate([scores, queries @ vectors.T], axis=1)
        numbers = np.concatenate([numbers, np.broadcast_to(ids, (len(queries), len(ids)))], axis=1)
        best = np.argpartition(-scores, min(kept, scores.shape[1]) - 1, axis=1)[:, :kept]
        scores, numbers = np.take_along_axis(scores, best, axis=1), np.take_along_axis(numbers, best, axis=1)
    right = scores >= np.sort(scores, axis=1)[:, -LIMIT:][:, :1] - _TIE
    return [frozenset(line[mask].tolist()) for line, mask in zip(numbers, right, strict=True)]


def given_vectors(file: Path) -> Iterator[tuple[Array, Array]]:
    """What the others are given, by row number."""
    vectors = np.load(file, mmap_mode="r")
    for start in range(0, len(vectors), _CHUNK):
        part = vectors[start : start + _CHUNK]
        yield np.arange(start, start + len(part)), part


def stored_vectors(index: Path) -> Iterator[tuple[Array, Array]]:
    """What our index holds, by the row numbers of passages."""
    from index.dense.vector_rows import read_vectors
    from index.storage.database import DATABASE, open_for_reading

    connection = open_for_reading(index / DATABASE)
    (dimension,) = connection.execute("SELECT value FROM meta WHERE key = 'dimension'").fetchone()
    cursor = connection.execute("SELECT id, vector FROM passages ORDER BY vector")
    while part := cursor.fetchmany(_CHUNK):
        ids, places = np.array(part, dtype=np.int64).T
        yield ids, read_vectors(connection, index, places.tolist(), int(dimension))


def measure(bench: Bench, engine: Engine, queries: Path, right: Sequence[frozenset[int]]) -> dict[str, Any]:
    """Build and ask; `chosen` is the place of the settings to be shown beside the engine's own."""
    found: dict[str, Any] = {"asks": []}
    try:
        found["build"] = bench.build()
        asks = found["asks"]
        for settings in ({}, *engine.asks):
            asks.append(bench.ask(queries, settings, right))
            if asks[0]["recall"] >= _ENOUGH:
                break
        # The fastest of those that find enough, or else the one that finds the most.
        chosen = min(asks, key=lambda ask: (max(0.0, _ENOUGH - ask["recall"]), ask["median_ms"]))
        found["chosen"] = asks.index(chosen)
        if engine.also:
            found["also"] = bench.ask(queries, {**chosen["settings"], **engine.also}, right)
    except FailedError as error:
        found["error"] = str(error)
    bench.discard()
    return found


def compare(given: argparse.Namespace) -> dict[str, Any]:
    """Install, measure, sum up."""
    found = circumstances("engines")
    work = given.work / str(given.size)
    queries = embedded(given.pool, given.work, given.queries)
    asked = np.load(queries)[: given.queries]
    right = nearest(asked, given_vectors(work / "vectors.npy"))
    engines: dict[str, Any] = {}
    for engine in ENGINES:
        if engine.home not in given.engines.split(","):
            continue
        truth = nearest(asked, stored_vectors(work / "corpus" / ".qa")) if engine.home == "ours" else right
        sys.stderr.write(f"{engine.name}\n")
        try:
            python = install(engine.home, given.venvs)
        except FailedError as error:
            engines[engine.name] = {"error": f"not installed: {error}"}
        else:
            bench = Bench(engine, python, work, given.limit)
            engines[engine.name] = measure(bench, engine, queries, truth)
        engines[engine.name]["version"] = "".join(PINS[engine.home][:1])
        sys.stderr.write(f"{json.dumps(engines[engine.name])}\n")
    return found | {
        "size": given.size,
        "queries": given.queries,
        "limit_seconds": given.limit,
        "engines": engines,
    }


def table(results: Sequence[dict[str, Any]]) -> str:
    """Measurements in Markdown: caveats, a table, the commands."""
    on = results[0]["machine"]
    caveats = (
        f"One machine ({on['cpu']}, {on['cores']} cores, {on['memory_gib']} GiB, load {on['load_before']:.1f} before), "
        f"{on['date']}; "
        f"{results[0]['queries']} questions, ten nearest, one at a time; first answer from the start of the process, "
        "files in the page cache; recall against an exact search. Where an engine's own settings find less than 99 %, "
        "the fastest settings tried that do, or those that find the most, have a line of their own. Building ours is "
        "making its search structure, with the seconds of storing the vectors behind the plus."
    )
    lines = [
        "| vectors | engine | settings | build, s | build, peak MiB | disk, MiB | first answer, s | peak MiB "
        "| median ms | p95 ms | recall@10 |",
        "|---:|---|---|" + "---:|" * 8,
    ]
    for result in results:
        for name, found in result["engines"].items():
            lines += [f"| {result['size']:,} | {line} |" for line in _rows(name, found)]
    commands = [f"$ {result['command']}" for result in results]
    return "\n".join([caveats, "", *lines, "", "```console", *commands, "```", ""])


def _rows(name: str, found: dict[str, Any]) -> Iterator[str]:
    built = found.get("build", {})
    kind, _, rest = name.partition(",")
    note = f" ({built['note']})" if "note" in built else ""
    title = f"{kind} {found['version'].partition('==')[2]}".strip() + (f",{rest}" if rest else "") + note
    figures = [_seconds(built), f"{built['peak_mib']:,.0f}", f"{built['disk_bytes'] / _MEBI:,.0f}"] if built else "–––"
    made = " | ".join(figures)
    shown = [ask for place, ask in enumerate(found.get("asks", [])) if place in {0, found.get("chosen", 0)}]
    for ask in (*shown, *([found["also"]] if "also" in found else [])):
        settings = ", ".join(key if value is True else f"{key} {value}" for key, value in ask["settings"].items())
        times = f"{ask['open_seconds']:.2f} | {ask['peak_mib']:,.0f} | {ask['median_ms']:.2f} | {ask['p95_ms']:.2f}"
        yield f"{title} | {settings or 'its own'} | {made} | {times} | {ask['recall']:.3f}"
    if "error" in found:
        yield f"{title} | {found['error'].replace('|', '/')} | {made} | – | – | – | – | –"


def _seconds(built: dict[str, Any]) -> str:
    stored = f" + {built['storing_seconds']:,.1f}" if "storing_seconds" in built else ""
    return f"{built['seconds']:,.1f}{stored}"


def main() -> None:
    """Run the comparison that the command line describes."""
    options = parser(__doc__)
    options.add_argument("pool", type=Path, nargs="?")
    options.add_argument("work", type=Path, nargs="?")
    options.add_argument("--size", type=int, help="how many vectors, as in the folder of WORK")
    options.add_argument("--venvs", type=Path, help="the virtual environments are made in this folder")
    options.add_argument("--engines", default=",".join(PINS))
    options.add_argument("--queries", type=int, default=200)
    options.add_argument("--limit", type=float, default=1200, help="seconds that a process may take")
    options.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="only print figures of earlier runs")
    given = options.parse_args()
    if given.table:
        sys.stdout.write(table([json.loads(file.read_text(encoding="utf-8")) for file in given.table]))
        return
    if not (given.pool and given.work and given.size and given.venvs and given.out):
        options.error("POOL, WORK, --size, --venvs and --out are needed")
    unknown = set(given.engines.split(",")) - set(PINS)
    if unknown:
        options.error(f"there is no engine {', '.join(sorted(unknown))}; there are {', '.join(PINS)}")
    given.venvs = given.venvs.absolute()
    result = compare(given)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(table([result]))


if __name__ == "__main__":
    main()
