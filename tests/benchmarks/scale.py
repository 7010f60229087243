"""The cost of building, updating and asking, from a thousand passages to a million.

    python -m tests.benchmarks.pool DATA POOL
    python -m tests.benchmarks.scale POOL WORK --out FILE.json [--sizes 1000,10000,100000,1000000]

The corpus consists of the pool's texts in random order: each is a section, with a hundred sections per Markdown file
and a hundred files per folder. Texts of more than 600 characters are left out, as the splitter might cut them. If there
are not enough texts, the remaining passages join three short ones; their vector is the normalised sum of the three with
some noise (0.02 per dimension), so neighbourhoods are denser than real ones. Passages' vectors are precomputed, so
build times cover reading, splitting and writing but not the model. Everything else is real: the command line, the
files, and the model for the questions, which are real ones of 10 to 15 words.

Each size is measured in separate processes. Peak memory of a build includes the precomputed vectors, mapped from a
file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from index.encoder.load import load_encoder
from index.encoder.protocol import Encoder
from index.integrity.verify import verify
from index.storage.database import DATABASE, open_for_reading
from index.storage.vectors import Vectors, read_vectors
from qa import Retriever, build_index
from tests.benchmarks.common import EncoderWrapper, read_lines, result_parser, write_result
from tests.benchmarks.peer_tools import wait_for

_SECTIONS = 100
_FILES = 100
_JOINED = 3
_NOISE = 0.02
# The splitter does not cut texts up to this number of characters.
_LONGEST = 600
_QUESTIONS = 200
_COLD_RUNS = 5

Array = npt.NDArray[Any]


class Precomputed(EncoderWrapper):
    """The default model with precomputed vectors of passages."""

    def __init__(self, work: Path) -> None:
        super().__init__(load_encoder())
        self._digests: Array = np.load(work / "digests.npy", mmap_mode="r")
        self._vectors: Array = np.load(work / "vectors.npy", mmap_mode="r")

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        unknown = []
        for row, text in enumerate(texts):
            digest = _digest(text.partition("\n")[2] or text)
            place = int(np.searchsorted(self._digests, digest))
            if place < len(self._digests) and self._digests[place] == digest:
                vectors[row] = self._vectors[place]
            else:
                unknown.append(row)  # a text that the splitter has cut
        if unknown:
            vectors[unknown] = self._model.encode_passages([texts[row] for row in unknown])
        return vectors


def _digest(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(" ".join(text.split()).encode(), digest_size=8).digest(), "big"))


def generate(work: Path, pool: Path) -> dict[str, Any]:
    """Write a corpus of as many passages as the name of `work` says, and their vectors in order of digest."""
    size = int(work.name)
    rng = np.random.default_rng(size)
    texts = read_lines(pool / "texts.jsonl")
    pool_vectors: Array = np.load(pool / "vectors.npy", mmap_mode="r")
    usable = np.array([place for place, text in enumerate(texts) if len(text) <= _LONGEST])
    short = np.array([place for place, text in enumerate(texts) if len(text) <= _LONGEST / _JOINED])
    order = rng.permutation(usable)[:size]
    joined = rng.choice(short, (size - len(order), _JOINED))
    digests = np.empty(size, dtype=np.uint64)
    shape = (size, pool_vectors.shape[1])
    vectors = np.lib.format.open_memmap(work / "unsorted.npy", mode="w+", dtype=np.float32, shape=shape)

    def passages() -> Iterator[tuple[str, Array]]:
        for place in order:
            yield texts[place], pool_vectors[place]
        for places in joined:
            noise = rng.standard_normal(pool_vectors.shape[1], dtype=np.float32) * _NOISE
            total: Array = pool_vectors[places].sum(axis=0) + noise
            yield " ".join(texts[place] for place in places), total / np.linalg.norm(total)

    shuffled = rng.permutation(size)
    file: Any = None
    text_bytes = 0
    # A file's sections come from all datasets, although the pool is sorted by dataset.
    for number, (text, vector) in enumerate(passages()):
        if number % _SECTIONS == 0:
            if file is not None:
                file.close()
            folder = work / "corpus" / f"{number // (_SECTIONS * _FILES):03}"
            folder.mkdir(parents=True, exist_ok=True)
            file = (folder / f"{number // _SECTIONS:05}.md").open("w", encoding="utf-8")
        file.write(f"## Section {shuffled[number]}\n\n{text}\n\n")
        text_bytes += len(text.encode())
        digests[number], vectors[number] = _digest(text), vector
    file.close()
    by_digest = np.argsort(digests, kind="stable")
    np.save(work / "digests.npy", digests[by_digest])
    sorted_vectors = np.lib.format.open_memmap(work / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)
    for start in range(0, size, 100_000):
        sorted_vectors[start : start + 100_000] = vectors[by_digest[start : start + 100_000]]
    (work / "unsorted.npy").unlink()
    (work / "corpus.json").write_text(json.dumps({"bytes": text_bytes}), encoding="utf-8")
    return {"bytes": text_bytes}


def build(work: Path, _: Path) -> dict[str, Any]:
    """Build from scratch, then again after editing and deleting a file, and after no change."""
    root = work / "corpus"
    shutil.rmtree(root / ".qa", ignore_errors=True)
    encoder = cast("Encoder", Precomputed(work))
    report = build_index(root, encoder=encoder)
    first_build = {"build_seconds": report.seconds, "passages": report.passages, "peak_mb": _peak()}
    files = sorted(root.rglob("*.md"))
    steps = {}
    before = files[0].read_text(encoding="utf-8")
    files[0].write_text(before.replace("## Section", "One sentence more.\n\n## Section", 1), encoding="utf-8")
    steps["edit_seconds"] = build_index(root, encoder=encoder).seconds
    files[len(files) // 2].unlink()
    steps["delete_seconds"] = build_index(root, encoder=encoder).seconds
    steps["nothing_seconds"] = build_index(root, encoder=encoder).seconds
    disk = sum(file.stat().st_size for file in (root / ".qa").iterdir())
    text = json.loads((work / "corpus.json").read_text(encoding="utf-8"))["bytes"]
    return {**first_build, **steps, "bytes_a_passage_beside_the_text": (disk - text) / report.passages}


def _questions(pool: Path) -> list[str]:
    return [row["question"] for row in read_lines(pool / "questions.jsonl")]


def ask(work: Path, pool: Path) -> dict[str, Any]:
    """Time keyword search, dense search and answers in one process; measure the recall of dense search.

    The first search for a question may have to read from disk, so searches are timed a second time.
    """
    questions = _questions(pool)[: _QUESTIONS + 20]
    root = work / "corpus"
    figures: dict[str, Any] = {}
    with Retriever.open(root) as retriever:
        snapshot, encoder = retriever.snapshot, load_encoder()
        for question in questions[_QUESTIONS:]:
            retriever.ask(question)
        questions = questions[:_QUESTIONS]
        vectors = [encoder.encode_query(question) for question in questions]
        del encoder
        for name in ("keyword_first_ms", "keyword_ms"):
            figures[name] = _spread([_timed(snapshot.keyword, question, 100) for question in questions])
        for name in ("dense_first_ms", "dense_ms"):
            figures[name] = _spread([_timed(snapshot.dense, vector, 10) for vector in vectors])
        figures["ask_ms"] = _spread([_timed(retriever.ask, question) for question in questions])
        for question in questions:
            retriever.ask(question, rerank=False)
        figures["quick_ms"] = _spread([_timed(retriever.ask, question, rerank=False) for question in questions])
        dense = [[hit.passage for hit in snapshot.dense(vector, 10)] for vector in vectors]
    exact = _exact_search(root, np.stack(vectors))
    pairs = list(zip(dense, exact, strict=True))
    figures["recall_at_10"] = float(np.mean([len(set(hits) & nearest) / 10 for hits, nearest in pairs]))
    return figures


def _exact_search(root: Path, queries: Array) -> list[set[int]]:
    """The ten passages with the nearest stored vectors, by brute force."""
    connection = open_for_reading(root / ".qa" / DATABASE)
    rows = connection.execute("SELECT min(id), vector FROM passages GROUP BY vector ORDER BY vector").fetchall()
    best: list[list[tuple[float, int]]] = [[] for _ in queries]
    for start in range(0, len(rows), 50_000):
        part = rows[start : start + 50_000]
        vectors = read_vectors(connection, root, [row[1] for row in part], queries.shape[1]).astype(np.float32)
        scores = queries @ (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).T
        for query, row in enumerate(scores):
            top = np.argpartition(row, -min(10, len(row)))[-10:]
            best[query] = sorted([*best[query], *((float(row[i]), part[i][0]) for i in top)], reverse=True)[:10]
    connection.close()
    return [{number for _, number in passages} for passages in best]


def cold(work: Path, pool: Path) -> dict[str, Any]:
    """Time whole processes of `qa ask`, including the check for changed files."""
    costs = []
    for question in _questions(pool)[-_COLD_RUNS - 1 :]:
        command = [sys.executable, "-m", "qa", "ask", "--index", str(work / "corpus"), question]
        started = time.perf_counter()
        costs.append(wait_for(subprocess.Popen(command, stdout=subprocess.DEVNULL), started, accepted=(0, 1)))
    # The first one warms the page cache.
    seconds = float(np.median([cost.seconds for cost in costs[1:]]))
    return {"cold_seconds": seconds, "cold_peak_mb": max(cost.peak_mib for cost in costs)}


def check(work: Path, _: Path) -> dict[str, Any]:
    """Time `qa check`."""
    started = time.perf_counter()
    problems = verify(work / "corpus" / ".qa").problems
    if problems:
        raise SystemExit(f"{work}: {problems}")
    return {"check_seconds": time.perf_counter() - started}


_STEPS = (generate, build, ask, cold, check)
STEPS: dict[str, Callable[[Path, Path], dict[str, Any]]] = {step.__name__: step for step in _STEPS}


def _timed(call: Any, *values: Any, **options: Any) -> float:
    started = time.perf_counter()
    call(*values, **options)
    return 1000 * (time.perf_counter() - started)


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": round(float(np.median(values)), 2), "p95": round(float(np.percentile(values, 95)), 2)}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _run_step(name: str, options: argparse.Namespace, size: int) -> dict[str, Any]:
    """Run a step in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.scale", str(options.pool), str(options.work), "--step", name]
    done = subprocess.run([*command, "--sizes", str(size)], stdout=subprocess.PIPE, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    sys.stderr.write(f"{size:,} {name}: {json.dumps(figures)}\n")
    return figures


def _value(figures: dict[str, Any], step: str, name: str) -> float:
    """A figure of a step: the median of a spread, and milliseconds for whole processes."""
    value = figures[step][name]
    if isinstance(value, dict):
        return float(value["median"])
    return 1000 * float(value) if name == "cold_seconds" else float(value)


def table(result: dict[str, Any]) -> str:
    """The results in Markdown, with a column for each size."""
    sizes = sorted(int(size) for size in result["sizes"])
    figures = [result["sizes"][str(size)] for size in sizes]

    def row(name: str, step: str, key: str, form: str) -> str:
        return f"| {name} | " + " | ".join(form.format(_value(column, step, key)) for column in figures) + " |"

    rows = [
        "| passages | " + " | ".join(f"{column['build']['passages']:,}" for column in figures) + " |",
        "|---|" + "---:|" * len(figures),
        row("build, vectors known, s", "build", "build_seconds", "{:.1f}"),
        row("one file edited, s", "build", "edit_seconds", "{:.2f}"),
        row("one file deleted, s", "build", "delete_seconds", "{:.2f}"),
        row("nothing changed, s", "build", "nothing_seconds", "{:.3f}"),
        row("keyword half, best 100, ms", "ask", "keyword_ms", "{:.1f}"),
        row("the same, asked for the first time, ms", "ask", "keyword_first_ms", "{:.1f}"),
        row("dense half, best 10, ms", "ask", "dense_ms", "{:.1f}"),
        row("the same, asked for the first time, ms", "ask", "dense_first_ms", "{:.1f}"),
        row("its recall@10 against exact search", "ask", "recall_at_10", "{:.4f}"),
        row("one more question, no re-ranking, ms", "ask", "quick_ms", "{:.1f}"),
        row("one more question, ms", "ask", "ask_ms", "{:.0f}"),
        row("question from the shell, ms", "cold", "cold_seconds", "{:.0f}"),
        row("its peak memory, MB", "cold", "cold_peak_mb", "{:.0f}"),
        row("peak memory of the build, MB", "build", "peak_mb", "{:.0f}"),
        row("`qa check`: everything, s", "check", "check_seconds", "{:.1f}"),
        row("disk a passage beside the text, bytes", "build", "bytes_a_passage_beside_the_text", "{:,.0f}"),
    ]
    return "\n".join(rows) + "\n"


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__, "pool", "work")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    if options.step:
        work = options.work / str(sizes[0])
        work.mkdir(parents=True, exist_ok=True)
        json.dump(STEPS[options.step](work, options.pool), sys.stdout)
        return
    result: dict[str, Any] = {"cores": os.cpu_count(), "sizes": {}}
    for size in sizes:
        if not (options.work / str(size) / "corpus.json").is_file():
            _run_step("generate", options, size)
        result["sizes"][str(size)] = {step: _run_step(step, options, size) for step in STEPS if step != "generate"}
    write_result(result, options.out)


if __name__ == "__main__":
    main()
