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
from tests.benchmarks.postgres_collection import KnownVectors, documents, prepare, prepared, questions
from tests.benchmarks.postgres_faults import kills, readers
from tests.postgres_server import Server, running_server

_QUESTIONS = 200
_ASKED, _READ = 1000, 10_000
_EDITS = 3
_SHARES = (0.001, 0.01, 0.25)
_CLIENTS = (1, 16)
_FIGURES = ("median_ms", "p95_ms", "questions_per_second", "client_cpu_ms", "server_cpu_ms")


def overlap(data: Sequence[Path], server: Server) -> dict[str, Any]:
    """Return for each dataset how similar the first ten passages of both stores are."""
    found = {}
    for number, one in enumerate(data):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name) / "files"
            shutil.copytree(one / "files", root)
            build_index(root)
            copy_index(root, f"{server.url}#overlap{number}")
            texts = [row["question"] for row in read_lines(one / "questions.jsonl")]
            chosen = random.Random(0).sample(texts, min(_QUESTIONS, len(texts)))  # noqa: S311 - the same each time
            with (
                Retriever.open(root, reader=False) as here,
                Retriever.open(store=f"{server.url}#overlap{number}", reader=False) as there,
            ):
                pairs = [[_first(each, text) for each in (here, there)] for text in chosen]
                size = here.snapshot.info.passages
        found[one.name] = {
            "passages": size,
            "questions": len(pairs),
            "overlap": float(np.mean([len({*a} & {*b}) / max(len(a), 1) for a, b in pairs])),
            "first": float(np.mean([a[:1] == b[:1] for a, b in pairs])),
            "same_order_and_scores": float(np.mean([a == b for a, b in pairs])),
        }
    return found


def _first(retriever: Retriever, text: str) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in retriever.search(text, k=10, rerank=False)]


def size(squad: Path, at: Path, asked: int) -> dict[str, Any]:
    """Measure a prepared collection."""
    found: dict[str, Any] = {"machine": machine()}
    texts = questions(squad, asked)
    with prepared(at) as (server, address):
        root = documents(at, address)
        with open_index(root / ".qa") as index:
            encoder = load_encoder(index.info.model, hint=Hint.LATENCY)
            found |= {"passages": index.info.passages, "bytes": index.size()}
            used = time.process_time()
            vectors = {text: encoder.encode_query(text) for text in texts}
            found["model_cpu_ms"] = round(1000 * (time.process_time() - used) / len(texts), 2)
            found["recall_at_10"] = _recall(index, [vectors[text] for text in texts[:40]])
        found["one_file_edited"] = _edits(root, encoder)
        with tempfile.TemporaryDirectory() as name:
            np.save(Path(name) / "known.npy", np.array(list(vectors.values())))
            for known in (None, Path(name) / "known.npy"):
                for clients in _CLIENTS:
                    kind = "with the model" if known is None else "vectors known"
                    found[f"{clients}, {kind}"] = _clients(server, address, texts, clients, known)
    return found


def _edits(root: Path, encoder: Encoder) -> dict[str, float]:
    """Add a passage to a file and remove it again, several times."""
    edited = min(root.rglob("*.md"))
    before = edited.read_text()
    build_index(root, encoder=encoder)
    timed, embedded = [], []
    for number in range(_EDITS):
        longer = f"{before}\n## New\n\nThe passage {time.time_ns()} that was not there before, {number}.\n"
        for text in (longer, before):
            edited.write_text(text)
            began = time.perf_counter()
            embedded.append(build_index(root, encoder=encoder).embedded)
            timed.append(time.perf_counter() - began)
    return {"median_s": round(statistics.median(timed), 2), "most_s": round(max(timed), 2), "embedded": max(embedded)}


def _recall(index: Index, queries: Sequence[Vectors]) -> dict[str, float]:
    """The share of the ten exact nearest passages that is found, among all documents and among some of them."""
    columns = index.columns()
    vectors = index.vectors(columns.vectors.tolist()).astype(np.float32)
    every = np.unique(columns.documents)
    found = {}
    for share in (*_SHARES, 1.0):
        several = [np.random.default_rng(i).permutation(every) for i in range(len(queries))]
        chosen = [frozenset(one[: max(1, round(share * len(every)))].tolist()) for one in several]
        hits = []
        for query, among in zip(queries, chosen, strict=True):
            cosines = np.where(np.isin(columns.documents, list(among)), vectors @ query, -2)
            least = np.partition(cosines, -10)[-10] - 1e-3
            hits += [one.score >= least for one in index.dense(query, 10, documents=None if share == 1 else among)]
        found[f"{share:.1%}"] = round(sum(hits) / (10 * len(queries)), 4)
    return found


def _clients(server: Server, address: str, texts: list[str], clients: int, known: Path | None) -> dict[str, float]:
    """Ask all questions once, divided among processes that are warmed up."""
    own = get_context("spawn")
    barrier, results = own.Barrier(clients + 1), own.Queue()
    for i in range(clients):
        values = ((address, known), texts, texts[i::clients], barrier, results)
        own.Process(target=_ask, args=values, daemon=True).start()
    barrier.wait()
    server_used, began = server.processor_seconds(), time.perf_counter()
    answers = [results.get() for _ in range(clients)]
    wall, server_used = time.perf_counter() - began, server.processor_seconds() - server_used
    barrier.wait()  # connections stay open until here
    spent = [one for each, _ in answers for one in each]
    return {
        "median_ms": round(1000 * statistics.median(spent), 1),
        "p95_ms": round(1000 * float(np.percentile(spent, 95)), 1),
        "questions_per_second": round(len(texts) / wall, 1),
        "client_cpu_ms": round(1000 * sum(used for _, used in answers) / len(texts), 2),
        "server_cpu_ms": round(1000 * server_used / len(texts), 2),
    }


def _ask(how: tuple[str, Path | None], texts: list[str], part: list[str], barrier: Any, results: Any) -> None:
    """Ask some of the questions once all clients are ready; puts the seconds of each and the CPU seconds of all."""
    address, known = how
    with Retriever.open(store=address, reader=False) as opened:
        encoder = opened.encoder
        if known is not None:
            vectors = dict(zip(texts, np.load(known), strict=True))
            encoder = cast("Encoder", KnownVectors(encoder, vectors))
        with Retriever.open(store=address, encoder=encoder, reader=False) as asked:
            for text in texts[:5]:
                asked.search(text, k=10, rerank=False)
            barrier.wait()
            spent, used = [], time.process_time()
            for text in part:
                began = time.perf_counter()
                asked.search(text, k=10, rerank=False)
                spent.append(time.perf_counter() - began)
            results.put((spent, time.process_time() - used))
            barrier.wait()


def table(results: dict[str, Any]) -> str:
    """The measurements in Markdown."""
    size, readers, kills = results["size"], results["readers"], results["kills"]
    rows = [
        "| clients | median, ms | p95, ms | questions/s | client, ms of processor | server, ms of processor |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, one in size.items():
        if isinstance(one, dict) and "questions_per_second" in one:
            rows.append(f"| {name} | " + " | ".join(f"{one[key]:,.1f}" for key in _FIGURES) + " |")
    edited, cores = size["one_file_edited"], size["machine"]["cores"]
    recall = ", ".join(f"{found:.3f} of {share}" for share, found in size["recall_at_10"].items())
    outcomes = "; ".join(f"{what}: {', '.join(f'{n} {kind}' for kind, n in of.items())}" for what, of in kills.items())
    return "\n".join(rows) + (
        f"\n\n{size['passages']:,} passages, {size['bytes'] / 1e6:,.0f} MB, server and clients on the same {cores} "
        f"cores, with a load of {size['machine']['load_before']:.1f} before (where that is not near 0, seconds tell "
        "nothing, and milliseconds of the processor are too many); embedding a question takes "
        f"{size['model_cpu_ms']:.1f} ms of the processor. Recall@10 under filters: "
        f"{recall}. One file edited: {edited['median_s']:.2f} s, {edited['embedded']} passage embedded. "
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
    parser.add_argument("--questions", type=int, help=f"default: {_ASKED:,} for `size`, {_READ:,} for `readers`")
    parser.add_argument("--kills", type=int, default=17, help="of each kind and moment")
    given = parser.parse_args()
    if given.what == "prepare":
        prepare(given.data[0], given.at, given.passages)
        return
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CONFIG_HOME"] = name
        found = _measured(given, Path(name))
    write_result(found, given.out)


def _measured(given: argparse.Namespace, work: Path) -> dict[str, Any]:
    if given.what == "size":
        return size(given.data[0], given.at, given.questions or _ASKED)
    with running_server() as server:
        if given.what == "overlap":
            return overlap(given.data, server)
        if given.what == "readers":
            return readers(work, given.questions or _READ, server)
        return kills(work, given.kills, server)


if __name__ == "__main__":
    main()
