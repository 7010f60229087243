"""A collection in PostgreSQL beside the same one in its folder: ranking, seconds, bytes, clients, filters.

    python -m tests.benchmarks.postgres overlap DATA... --out FILE.json      (each with files/ and questions.jsonl)
    python -m tests.benchmarks.postgres size SQUAD --passages 100000 --out FILE.json
    python -m tests.benchmarks.postgres kills WORK --kills 34

`overlap` builds with the real model, copies the index to a server, and asks both 200 questions of each set without
re-ranking. `size` makes passages of two sentences each that occur in the set, with vectors from a random direction for
each word (so no time is the model's), and measures with a server of its own on this machine (fsync off). `kills` ends
the writer, the server and the connection at random moments, so often each, and looks after each what a reader finds.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from index.encoder.protocol import Vectors
from index.stores import open_index, use_store, verify_index
from index.update.copy import copy_index
from qa import Retriever, build_index
from tests.encoders import BagEncoder
from tests.index.postgres import test_store
from tests.postgres_server import Server, running_server

_QUESTIONS = 200
_FILES = 100  # passages in a file
_SHARES = (0.001, 0.01, 0.25)


class WordVectors(BagEncoder):
    """A text is the unit sum of a random direction for each of its words, the rarer the longer."""

    def __init__(self) -> None:
        super().__init__(name="words", fingerprint="w" * 64, max_tokens=100)
        self.dimension = 384
        self._known: dict[str, Vectors] = {}

    def _embed(self, text: str) -> Vectors:
        total = np.full(self.dimension, 1e-6, dtype=np.float32)
        for word in text.lower().split():
            if word not in self._known:
                dice = np.random.default_rng(zlib.crc32(word.encode()))
                self._known[word] = dice.standard_normal(self.dimension).astype(np.float32) * min(len(word), 10)
            total += self._known[word]
        unit: Vectors = total / np.linalg.norm(total)
        return unit


def overlap(data: Sequence[Path], server: Server) -> dict[str, Any]:
    """Return for each set how alike the first ten of both stores are."""
    found = {}
    for number, one in enumerate(data):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name) / "files"
            shutil.copytree(one / "files", root)
            build_index(root)
            copy_index(root, f"{server.url}#overlap{number}")
            texts = [json.loads(line)["question"] for line in (one / "questions.jsonl").read_text().splitlines()]
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


def size(squad: Path, passages: int, server: Server) -> dict[str, Any]:
    """Return what a collection of so many passages costs."""
    found: dict[str, Any] = {"passages": passages}
    address = f"{server.url}#size"
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "docs"
        _make_corpus(squad, root, passages)
        encoder = WordVectors()
        use_store(root / ".qa", address)
        found["build"] = _timed(lambda: build_index(root, encoder=encoder))
        edited = next(root.rglob("*.md"))
        edited.write_text(edited.read_text() + "\n\n## New\n\nA passage that was not there before.\n")
        found["one_file_edited"] = _timed(lambda: build_index(root, encoder=encoder))
        with open_index(root / ".qa") as index:
            found["passages"], found["bytes"] = index.info.passages, index.size()
            tables = "SELECT relname, pg_total_relation_size(oid)::bigint FROM pg_class WHERE relnamespace = "
            tables += "'qa_size'::regnamespace AND relkind = 'r'"
            found["bytes_of"] = {
                str(one): size for one, size in server.run(tables) if isinstance(size, int) and size > 1e5
            }
            found["recall_at_10"] = _recall(index, encoder)
        texts = _questions(squad)
        for clients in (1, 16):
            found[f"clients_{clients}"] = _clients(address, texts, clients)
    return found


def _make_corpus(squad: Path, root: Path, passages: int) -> None:
    texts = [json.loads(line)["text"] for line in (squad / "corpus.jsonl").read_text().splitlines()]
    sentences = [one.strip() for text in texts for one in text.split(". ") if 40 < len(one) < 200]
    dice = random.Random(0)  # noqa: S311 - the same each time
    for number in range(passages // _FILES):
        folder = root / f"f{number % 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        body = (f"## Section {i}\n\n{'. '.join(dice.sample(sentences, 2))}.\n" for i in range(_FILES))
        (folder / f"{number}.md").write_text("\n".join(body))


def _questions(squad: Path) -> list[str]:
    texts = [json.loads(line)["text"] for line in (squad / "queries.jsonl").read_text().splitlines()]
    return random.Random(1).sample(texts, 1000)  # noqa: S311 - the same each time


def _recall(index: Any, encoder: WordVectors) -> dict[str, float]:
    """Of the ten nearest by comparing all, how many are found: of everything, and within some of the documents."""
    columns = index.columns()
    vectors = index.vectors(columns.vectors.tolist()).astype(np.float32)
    documents = np.unique(columns.documents)
    queries = [encoder.encode_query(f"what is {one}") for one in ("the river", "a treaty", "oxygen", "the law")]
    queries += list(vectors[:: len(vectors) // 40])
    found = {}
    for share in (*_SHARES, 1.0):
        several = [np.random.default_rng(i).permutation(documents) for i in range(len(queries))]
        chosen = [frozenset(one[: max(1, round(share * len(documents)))].tolist()) for one in several]
        hits = []
        for query, among in zip(queries, chosen, strict=True):
            inside = np.isin(columns.documents, list(among))
            cosines = np.where(inside, vectors @ query, -2)
            least = np.partition(cosines, -10)[-10] - 1e-3
            answer = index.dense(query, 10, documents=None if share == 1 else among)
            hits += [one.score >= least for one in answer]
        found[f"{share:.1%}"] = round(sum(hits) / (10 * len(queries)), 4)
    return found


def _clients(address: str, texts: list[str], clients: int) -> dict[str, float]:
    parts = [texts[i::clients] for i in range(clients)]
    with ProcessPoolExecutor(clients) as pool:
        list(pool.map(_ask, [address] * clients, [part[:1] for part in parts]))
        began = time.perf_counter()
        spent = [one for several in pool.map(_ask, [address] * clients, parts) for one in several]
        wall = time.perf_counter() - began
    return {"median_ms": round(1000 * float(np.median(spent)), 1), "questions_per_second": round(len(texts) / wall, 1)}


_OPEN: dict[str, Retriever] = {}


def _ask(address: str, texts: list[str]) -> list[float]:
    if address not in _OPEN:
        _OPEN[address] = Retriever.open(store=address, encoder=WordVectors(), reader=False)
    spent = []
    for text in texts:
        began = time.perf_counter()
        _OPEN[address].search(text, k=10, rerank=False)
        spent.append(time.perf_counter() - began)
    return spent


def kills(work: Path, times: int, server: Server) -> dict[str, Any]:
    """Return what was found after so many kills of each kind: the generation that was reported last, or the next."""
    found: dict[str, Any] = {}
    dice = random.Random(0)  # noqa: S311 - the same each time
    for what, kill in test_store.KILLS.items():
        root = work / what
        root.mkdir(parents=True)
        use_store(root / ".qa", f"{server.url}#kill-{what}")
        first, outcomes = 100, []
        for _ in range(times):
            process = test_store.writing(root, first)
            reported, seen = test_store.killed(server, process, kill, root, dice.uniform(0, 0.25))
            intact = verify_index(root / ".qa").problems == ()
            outcomes.append({0: "old", 1: "new"}.get(seen - reported, "WRONG") if intact else "DAMAGED")
            first = reported + 2
        found[what] = dict(Counter(outcomes))
    return found


def _timed(call: Callable[[], object]) -> dict[str, float]:
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    call()
    now = resource.getrusage(resource.RUSAGE_SELF)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return {"seconds": round(time.perf_counter() - began, 2), "client_cpu_seconds": round(cpu, 2)}


def main() -> None:
    """Measure, and write what was found."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=["overlap", "size", "kills"])
    options.add_argument("data", nargs="+", type=Path)
    options.add_argument("--passages", type=int, default=100_000)
    options.add_argument("--kills", type=int, default=34)
    options.add_argument("--out", type=Path)
    chosen = options.parse_args()
    with running_server() as server:
        if chosen.what == "overlap":
            found = overlap(chosen.data, server)
        elif chosen.what == "size":
            found = size(chosen.data[0], chosen.passages, server)
        else:
            found = kills(chosen.data[0], chosen.kills, server)
    text = json.dumps(found, indent=1)
    print(text)
    if chosen.out:
        chosen.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
