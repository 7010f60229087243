"""A collection in PostgreSQL: ranking compared with the embedded index, questions, edits, filters; readers and kills.

    python -m tests.benchmarks.postgres prepare BASE --at DIR --passages 100000
    python -m tests.benchmarks.postgres size SQUAD --at DIR --out FILE.json
    python -m tests.benchmarks.postgres overlap DATA... --out FILE.json      (each with files/ and questions.jsonl)
    python -m tests.benchmarks.postgres readers --questions 10000 --out FILE.json
    python -m tests.benchmarks.postgres kills --kills 17 --out FILE.json

`prepare` creates a server's data from an indexed folder, such as SQuAD's paragraphs: passages of two sentences each,
with vectors mixed from those of real passages (see `postgres_collection`). `size` asks it 1,000 questions of SQuAD,
from 1 and from 16 processes at once, with the model and with precomputed vectors; edits a file; and measures recall
against comparing all vectors. `overlap` builds with the real model, copies the index to a server, and asks both 200
questions of each dataset without re-ranking. For the other two, see `postgres_faults`.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import numpy as np

from index import Encoder, Hint, Index, load_encoder, open_index
from index.storage.vectors import Vectors
from index.update.copy import copy_index
from qa import Retriever, build_index
from tests.benchmarks.common import machine, read_lines, result_parser, write_result
from tests.benchmarks.postgres_collection import KnownVectors, documents, prepare, questions, running_collection
from tests.benchmarks.postgres_faults import kills, readers
from tests.postgres_server import Server, running_server

_QUESTIONS = 200
_SIZE_QUESTIONS, _READER_QUESTIONS = 1000, 10_000
_EDITS = 3
_SHARES = (0.001, 0.01, 0.25)
_CLIENTS = (1, 16)
_FIGURES = ("median_ms", "p95_ms", "questions_per_second", "client_cpu_ms", "server_cpu_ms")


def overlap(data: Sequence[Path], server: Server) -> dict[str, Any]:
    """Compare the first ten passages of both stores for each dataset."""
    result = {}
    for number, dataset in enumerate(data):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name) / "files"
            shutil.copytree(dataset / "files", root)
            build_index(root)
            copy_index(root, f"{server.url}#overlap{number}")
            texts = [row["question"] for row in read_lines(dataset / "questions.jsonl")]
            chosen = random.Random(0).sample(texts, min(_QUESTIONS, len(texts)))  # noqa: S311 - the same each time
            with (
                Retriever.open(root, reader=False) as local,
                Retriever.open(store=f"{server.url}#overlap{number}", reader=False) as remote,
            ):
                pairs = [[_first_hits(retriever, text) for retriever in (local, remote)] for text in chosen]
                size = local.snapshot.info.passages
        result[dataset.name] = {
            "passages": size,
            "questions": len(pairs),
            "overlap": float(np.mean([len({*a} & {*b}) / max(len(a), 1) for a, b in pairs])),
            "first": float(np.mean([a[:1] == b[:1] for a, b in pairs])),
            "same_order_and_scores": float(np.mean([a == b for a, b in pairs])),
        }
    return result


def _first_hits(retriever: Retriever, text: str) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in retriever.search(text, k=10, rerank=False)]


def size(squad: Path, at: Path, count: int) -> dict[str, Any]:
    """Measure a prepared collection."""
    result: dict[str, Any] = {"machine": machine()}
    texts = questions(squad, count)
    with running_collection(at) as (server, address):
        root = documents(at, address)
        with open_index(root / ".qa") as index:
            encoder = load_encoder(index.info.model, hint=Hint.LATENCY)
            result |= {"passages": index.info.passages, "bytes": index.size()}
            started = time.process_time()
            vectors = {text: encoder.encode_query(text) for text in texts}
            result["model_cpu_ms"] = round(1000 * (time.process_time() - started) / len(texts), 2)
            result["recall_at_10"] = _recall(index, [vectors[text] for text in texts[:40]])
        result["one_file_edited"] = _edits(root, encoder)
        with tempfile.TemporaryDirectory() as name:
            np.save(Path(name) / "known.npy", np.array(list(vectors.values())))
            for vectors_file in (None, Path(name) / "known.npy"):
                for clients in _CLIENTS:
                    kind = "with the model" if vectors_file is None else "vectors known"
                    result[f"{clients}, {kind}"] = _clients(server, address, texts, clients, vectors_file)
    return result


def _edits(root: Path, encoder: Encoder) -> dict[str, float]:
    """Add a passage to a file and remove it again, several times."""
    file = min(root.rglob("*.md"))
    before = file.read_text()
    build_index(root, encoder=encoder)
    seconds, embedded = [], []
    for number in range(_EDITS):
        longer = f"{before}\n## New\n\nThe passage {time.time_ns()} that was not there before, {number}.\n"
        for text in (longer, before):
            file.write_text(text)
            started = time.perf_counter()
            embedded.append(build_index(root, encoder=encoder).embedded)
            seconds.append(time.perf_counter() - started)
    median, most = round(statistics.median(seconds), 2), round(max(seconds), 2)
    return {"median_s": median, "most_s": most, "embedded": max(embedded)}


def _recall(index: Index, queries: Sequence[Vectors]) -> dict[str, float]:
    """The share of the ten nearest passages that is found, among all documents and among some of them."""
    columns = index.columns()
    vectors = index.vectors(columns.vectors.tolist()).astype(np.float32)
    documents = np.unique(columns.documents)
    recall = {}
    for share in (*_SHARES, 1.0):
        shuffles = [np.random.default_rng(i).permutation(documents) for i in range(len(queries))]
        chosen = [frozenset(order[: max(1, round(share * len(documents)))].tolist()) for order in shuffles]
        hits = []
        for query, subset in zip(queries, chosen, strict=True):
            cosines = np.where(np.isin(columns.documents, list(subset)), vectors @ query, -2)
            least = np.partition(cosines, -10)[-10] - 1e-3
            hits += [hit.score >= least for hit in index.dense(query, 10, documents=None if share == 1 else subset)]
        recall[f"{share:.1%}"] = round(sum(hits) / (10 * len(queries)), 4)
    return recall


def _clients(server: Server, address: str, texts: list[str], clients: int, vectors: Path | None) -> dict[str, float]:
    """Ask all questions once, divided among processes that are warmed up."""
    context = get_context("spawn")
    barrier, results = context.Barrier(clients + 1), context.Queue()
    for i in range(clients):
        values = ((address, vectors), texts, texts[i::clients], barrier, results)
        context.Process(target=_ask, args=values, daemon=True).start()
    barrier.wait()
    server_seconds, started = server.processor_seconds(), time.perf_counter()
    answers = [results.get() for _ in range(clients)]
    wall, server_seconds = time.perf_counter() - started, server.processor_seconds() - server_seconds
    barrier.wait()  # connections stay open until here
    seconds = [value for values, _ in answers for value in values]
    return {
        "median_ms": round(1000 * statistics.median(seconds), 1),
        "p95_ms": round(1000 * float(np.percentile(seconds, 95)), 1),
        "questions_per_second": round(len(texts) / wall, 1),
        "client_cpu_ms": round(1000 * sum(used for _, used in answers) / len(texts), 2),
        "server_cpu_ms": round(1000 * server_seconds / len(texts), 2),
    }


def _ask(target: tuple[str, Path | None], texts: list[str], part: list[str], barrier: Any, results: Any) -> None:
    """Ask some of the questions once all clients are ready; report the seconds of each and the CPU seconds of all."""
    address, vectors_file = target
    with Retriever.open(store=address, reader=False) as default:
        encoder = default.encoder
        if vectors_file is not None:
            vectors = dict(zip(texts, np.load(vectors_file), strict=True))
            encoder = cast("Encoder", KnownVectors(encoder, vectors))
        with Retriever.open(store=address, encoder=encoder, reader=False) as retriever:
            for text in texts[:5]:
                retriever.search(text, k=10, rerank=False)
            barrier.wait()
            seconds, cpu_started = [], time.process_time()
            for text in part:
                started = time.perf_counter()
                retriever.search(text, k=10, rerank=False)
                seconds.append(time.perf_counter() - started)
            results.put((seconds, time.process_time() - cpu_started))
            barrier.wait()


def table(results: dict[str, Any]) -> str:
    """The measurements in Markdown."""
    size, readers, kills = results["size"], results["readers"], results["kills"]
    rows = [
        "| clients | median, ms | p95, ms | questions/s | client, ms of processor | server, ms of processor |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, figures in size.items():
        if isinstance(figures, dict) and "questions_per_second" in figures:
            rows.append(f"| {name} | " + " | ".join(f"{figures[key]:,.1f}" for key in _FIGURES) + " |")
    edits, cores = size["one_file_edited"], size["machine"]["cores"]
    recall = ", ".join(f"{value:.3f} of {share}" for share, value in size["recall_at_10"].items())
    kills = {name: ", ".join(f"{count} {kind}" for kind, count in counts.items()) for name, counts in kills.items()}
    outcomes = "; ".join(f"{name}: {counts}" for name, counts in kills.items())
    return "\n".join(rows) + (
        f"\n\n{size['passages']:,} passages, {size['bytes'] / 1e6:,.0f} MB, server and clients on the same {cores} "
        f"cores, with a load of {size['machine']['load_before']:.1f} before (where that is not near 0, seconds tell "
        "nothing, and milliseconds of the processor are too many); embedding a question takes "
        f"{size['model_cpu_ms']:.1f} ms of the processor. Recall@10 under filters: "
        f"{recall}. One file edited: {edits['median_s']:.2f} s, {edits['embedded']} passage embedded. "
        f"{readers['questions']:,} questions by {readers['readers']} readers beside a writer of "
        f"{readers['generations']:,} generations: {readers['torn']} torn. Generation after a kill: {outcomes}.\n"
    )


def main() -> None:
    """Run the command line."""
    parser = result_parser(__doc__)
    parser.add_argument("what", choices=["prepare", "size", "overlap", "readers", "kills"])
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--at", type=Path, help="folder of the prepared server")
    parser.add_argument("--passages", type=int, default=100_000)
    counts = f"{_SIZE_QUESTIONS:,} for `size`, {_READER_QUESTIONS:,} for `readers`"
    parser.add_argument("--questions", type=int, help=f"default: {counts}")
    parser.add_argument("--kills", type=int, default=17, help="of each kind and moment")
    options = parser.parse_args()
    if options.what == "prepare":
        prepare(options.data[0], options.at, options.passages)
        return
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CONFIG_HOME"] = name
        result = _measure(options, Path(name))
    write_result(result, options.out)


def _measure(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    if options.what == "size":
        return size(options.data[0], options.at, options.questions or _SIZE_QUESTIONS)
    with running_server() as server:
        if options.what == "overlap":
            return overlap(options.data, server)
        if options.what == "readers":
            return readers(work, options.questions or _READER_QUESTIONS, server)
        return kills(work, options.kills, server)


if __name__ == "__main__":
    main()
