"""Similar passages, topics and maps: topics beside the articles they are made of, and what all of it costs at size.

    python -m tests.benchmarks.explore quality DATA WORK --out FILE.json
    python -m tests.benchmarks.explore size PARAGRAPHS.jsonl WORK --sizes 50000,100000,1000000 --out FILE.json

`quality` takes `files/` of DATA (a folder a set of articles, one a file: SQuAD 2.0 dev), indexes it with the default
model, and compares topics with the articles, timed from the start of the process to its end. Passages that belong to no
topic count as one more cluster.

`size` writes a corpus of that many passages out of PARAGRAPHS (`title`, `text`; SQuAD 1.1 train), repeated with a
number each, and gives each a synthetic vector: the direction of its article with noise, so that cosines within an
article are about .55. Everything else is the real thing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from index.encoder.load import load_encoder
from index.lexical.analyzer import terms
from index.snapshot import Snapshot
from index.storage.vectors import Vectors
from qa import Retriever, build_index
from qa.explore import topics
from qa.explore.grouping import FILE

_TOPICS = 35
_MEASURED = 200
_SECTIONS = 500
# Words of a passage; of more than a hundred thousand passages fewer, so that the index is built in minutes.
_WORDS, _FEW_WORDS = 60, 12


class Timed(NamedTuple):
    """What a whole process cost: seconds by the clock and of all processors, and its peak in MiB."""

    out: str
    seconds: float
    cpu_seconds: float
    peak_mb: float


def timed(command: Sequence[str | Path]) -> Timed:
    """Run a process to its end."""
    with tempfile.TemporaryFile() as out:
        begun = time.perf_counter()
        process = subprocess.Popen([str(part) for part in command], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} ended with {process.returncode}")
        out.seek(0)
        return Timed(out.read().decode(), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def quality(data: Path, work: Path) -> dict[str, Any]:
    """Topics beside what they should be."""
    root = work / "articles"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(data / "files", root)
    build_index(root)
    return ours(root)


def ours(root: Path) -> dict[str, Any]:
    """Our topics, as the command line makes them."""
    command: list[str | Path] = [sys.executable, "-m", "qa", "topics", "--index", root, "--no-update", "--json"]
    result: dict[str, Any] = {}
    numbers: dict[str, list[str]] = {"n = 35": ["-n", str(_TOPICS)], "chosen by the data": []}
    for name, number in numbers.items():
        (root / ".qa" / FILE).unlink(missing_ok=True)
        run, again = timed([*command, *number]), timed([*command, *number])
        answer = json.loads(run.out)["topics"]
        with Snapshot(root / ".qa") as snapshot:
            grouping = topics.find_topics(snapshot, wanted=_TOPICS if number else None)
            paths = paths_of(snapshot)
        result[name] = {
            **agreement(paths, grouping.topics.tolist()),
            "topics": len(grouping.centroids),
            "unassigned": int((grouping.topics < 0).sum()),
            "titled": titled(paths, grouping.topics.tolist(), [one["terms"] for one in answer]),
            **cost(run),
            "again_seconds": again.seconds,
            "labels": [one["label"] for one in answer],
        }
    return result


def cost(run: Timed) -> dict[str, float]:
    """What a process cost, as results keep it."""
    return {"seconds": run.seconds, "cpu_seconds": run.cpu_seconds, "peak_mb": run.peak_mb}


def paths_of(snapshot: Snapshot) -> list[str]:
    """The file of each passage, in the order of documents and of the text."""
    names = {document.id: document.path for document in snapshot.documents()}
    return [names[number] for number in snapshot.columns().documents.tolist()]


def agreement(paths: Sequence[str], labels: Sequence[int]) -> dict[str, float]:
    """How much topics are articles."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    return {
        "nmi": float(normalized_mutual_info_score(paths, labels)),
        "ari": float(adjusted_rand_score(paths, labels)),
    }


def titled(paths: Sequence[str], labels: Sequence[int], names: Sequence[Sequence[str]]) -> float:
    """The share of topics whose label has a word, by its stem, of the title of the article most of them are from."""
    good = 0
    for number, name in enumerate(names):
        own = [path for path, label in zip(paths, labels, strict=True) if label == number]
        main = max(sorted(set(own)), key=own.count, default="")
        good += bool({*terms(Path(main).stem.replace("_", " "))[0]} & {*terms(" ".join(name))[0]})
    return good / max(len(names), 1)


class Synthetic:
    """The default model for questions; a passage's vector is that of its article, with noise."""

    def __init__(self) -> None:
        model = load_encoder()
        self.encode_query, self.encode_query_tokens = model.encode_query, model.encode_query_tokens
        self.encode_passage_tokens, self.unknown_token_ratio = model.encode_passage_tokens, model.unknown_token_ratio
        self.name, self.fingerprint, self.dimension = model.name, model.fingerprint, model.dimension
        self.max_tokens = model.max_tokens
        self._centres = np.random.default_rng(0).standard_normal((1000, self.dimension), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [text.count(" ") + 1 for text in texts]

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        found = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            match = re.search(r"Article (\d+), part (\d+)", text)
            article, part = map(int, match.groups()) if match else (0, 0)
            noise = np.random.default_rng(part).standard_normal(self.dimension, dtype=np.float32)
            found[row] = self._centres[article] + 0.9 * noise
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found


def generate(paragraphs: Path, root: Path, size: int) -> None:
    """Write a corpus of so many passages: files of one article each, its paragraphs repeated with a number."""
    most = _WORDS if size <= 100_000 else _FEW_WORDS
    articles: dict[str, list[str]] = {}
    for line in paragraphs.open(encoding="utf-8"):
        one = json.loads(line)
        articles.setdefault(one["title"], []).append(" ".join(one["text"].split()[:most]))
    names = list(articles)
    for number in range(-(-size // _SECTIONS)):
        article = number % len(names)
        texts = articles[names[article]]
        first = number * _SECTIONS
        sections = (
            f"## Article {article}, part {part}\n\n{texts[part % len(texts)]} No. {part}.\n"
            for part in range(first, min(first + _SECTIONS, size))
        )
        folder = root / f"{number // 100:03}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:05}.md").write_text("\n".join(sections), encoding="utf-8")


def at_size(paragraphs: Path, work: Path, size: int) -> dict[str, Any]:
    """What exploring costs."""
    root = work / f"corpus-{size}"
    if not (root / ".qa" / "index.db").exists():
        shutil.rmtree(root, ignore_errors=True)
        generate(paragraphs, root, size)
        build_index(root, encoder=Synthetic())
    (root / ".qa" / FILE).unlink(missing_ok=True)
    command: list[str | Path] = [sys.executable, "-m", "qa"]
    where: list[str | Path] = ["--index", root, "--no-update"]
    found: dict[str, Any] = {}
    run = timed([*command, "topics", *where, "--json"])
    found |= {f"topics_{name}": value for name, value in cost(run).items()}
    run = timed([*command, "topics", *where, "--json"])
    found |= {f"again_{name}": value for name, value in cost(run).items()}
    found["topics"] = len(json.loads(run.out)["topics"])
    with Retriever.open(root) as retriever:
        found["passages"] = retriever.snapshot.info.passages
        ids = retriever.snapshot.columns().passages
        chosen = np.random.default_rng(5).choice(ids, _MEASURED + 20, replace=False).tolist()
        keys = [passage.key for passage in retriever.snapshot.passages(chosen)]
        taken = []
        for key in keys:
            begun = time.perf_counter()
            retriever.similar(key)
            taken.append(1000 * (time.perf_counter() - begun))
        found["similar_ms"] = float(np.median(taken[20:]))
        found["similar_p95_ms"] = float(np.percentile(taken[20:], 95))
    if size <= 100_000:
        page = work / f"map-{size}.html"
        run = timed([*command, "map", *where, "-o", page])
        found |= {f"map_{name}": value for name, value in cost(run).items()}
        found["map_mb"] = page.stat().st_size / 1e6
        found["first_paint_ms"] = first_paint(page, work)
    return found


def first_paint(page: Path, work: Path) -> float | None:
    """Milliseconds until something is seen in Chromium; the median of five, None without one."""
    from tests.browser import PROGRAM, browser

    if PROGRAM is None:
        return None
    seen = []
    for number in range(5):
        with browser(work / f"profile-{number}") as window:
            window.open(page)
            seen.append(window.run("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        shutil.rmtree(work / f"profile-{number}", ignore_errors=True)
    return float(np.median(seen))


def main() -> None:
    """Measure, and write or extend a file of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "size"))
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--sizes", default="50000,100000,1000000")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    found = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    if given.what == "quality":
        found["quality"] = quality(given.data, given.work)
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    for size in map(int, given.sizes.split(",")):
        found.setdefault("sizes", {})[str(size)] = at_size(given.data, given.work, size)
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
