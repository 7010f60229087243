"""Similar passages, topics and maps: how well topics match articles, and what everything costs by collection size.

    python -m tests.benchmarks.explore quality DATA WORK --out FILE.json
    python -m tests.benchmarks.explore size PARAGRAPHS.jsonl WORK --sizes 50000,100000,1000000 --out FILE.json

`quality` indexes `files/` of DATA (SQuAD 2.0 dev, one article per file) with the default model, and compares topics
with articles; times are those of the whole process. Passages without a topic count as one more cluster.

`size` writes a corpus of that many passages made from PARAGRAPHS (`title`, `text`; SQuAD 1.1 train), repeated with a
number each, and gives each a synthetic vector: the direction of its article with noise, so that cosines within an
article are about .55. Everything else is real.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from index import Encoder
from index.encoder.load import load_encoder
from index.lexical.analyzer import terms
from index.snapshot import Snapshot
from index.storage.vectors import Vectors
from qa import Retriever, build_index
from qa.explore import topics
from qa.explore.grouping import FILE
from tests.benchmarks.common import EncoderWrapper, path_parser, read_lines, write_result
from tests.benchmarks.peer_tools import Process, finished

_TOPICS = 35
_MEASURED = 200
_SECTIONS = 500
# Words per passage; beyond a hundred thousand passages fewer, so that the index is built in minutes.
_WORDS, _FEW_WORDS = 60, 12


def qa(action: str, root: Path, *options: str) -> tuple[Process, str]:
    """Run a command of qa without updating the index; its cost and its output."""
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-m", "qa", action, "--index", str(root), "--no-update", *options]
        begun = time.perf_counter()
        cost = finished(subprocess.Popen(command, stdout=out), begun)
        out.seek(0)
        return cost, out.read().decode()


def quality(data: Path, work: Path) -> dict[str, Any]:
    """How well topics from the command line match the articles."""
    root = work / "articles"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(data / "files", root)
    build_index(root)
    result: dict[str, Any] = {}
    numbers: dict[str, list[str]] = {"n = 35": ["-n", str(_TOPICS)], "chosen by the data": []}
    for name, number in numbers.items():
        (root / ".qa" / FILE).unlink(missing_ok=True)
        (first, printed), (again, _) = (qa("topics", root, "--json", *number) for _ in range(2))
        answer = json.loads(printed)["topics"]
        with Snapshot(root / ".qa") as snapshot:
            grouping = topics.find_topics(snapshot, wanted=_TOPICS if number else None)
            paths = paths_of(snapshot)
        result[name] = {
            **agreement(paths, grouping.topics.tolist()),
            "topics": len(grouping.centroids),
            "unassigned": int((grouping.topics < 0).sum()),
            "titled": titled(paths, grouping.topics.tolist(), [one["terms"] for one in answer]),
            **costs(first),
            "again_seconds": again.seconds,
            "labels": [one["label"] for one in answer],
        }
    return result


def costs(process: Process, prefix: str = "") -> dict[str, float]:
    """A process's costs as they are stored in the results."""
    named = {"seconds": process.seconds, "cpu_seconds": process.cpu_seconds, "peak_mb": process.peak_mib}
    return {prefix + name: value for name, value in named.items()}


def paths_of(snapshot: Snapshot) -> list[str]:
    """The file of each passage, in document and text order."""
    names = {document.id: document.path for document in snapshot.documents()}
    return [names[number] for number in snapshot.columns().documents.tolist()]


def agreement(paths: Sequence[str], labels: Sequence[int]) -> dict[str, float]:
    """How closely topics match articles."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    return {
        "nmi": float(normalized_mutual_info_score(paths, labels)),
        "ari": float(adjusted_rand_score(paths, labels)),
    }


def titled(paths: Sequence[str], labels: Sequence[int], names: Sequence[Sequence[str]]) -> float:
    """The share of topics whose label has a word (by stem) of the title of the article that most passages are from."""
    good = 0
    for number, name in enumerate(names):
        own = [path for path, label in zip(paths, labels, strict=True) if label == number]
        main = max(sorted(set(own)), key=own.count, default="")
        good += bool({*terms(Path(main).stem.replace("_", " "))[0]} & {*terms(" ".join(name))[0]})
    return good / max(len(names), 1)


class Synthetic(EncoderWrapper):
    """The default model for questions; a passage's vector is that of its article, with noise."""

    def __init__(self) -> None:
        super().__init__(load_encoder())
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
    """Write a corpus of `size` passages: each file repeats the paragraphs of one article with a number."""
    most = _WORDS if size <= 100_000 else _FEW_WORDS
    articles: dict[str, list[str]] = {}
    for row in read_lines(paragraphs):
        articles.setdefault(row["title"], []).append(" ".join(row["text"].split()[:most]))
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
    """What topics, similar passages and maps cost with `size` passages."""
    root = work / f"corpus-{size}"
    if not (root / ".qa" / "index.db").exists():
        shutil.rmtree(root, ignore_errors=True)
        generate(paragraphs, root, size)
        build_index(root, encoder=cast("Encoder", Synthetic()))
    (root / ".qa" / FILE).unlink(missing_ok=True)
    (first, _), (again, printed) = (qa("topics", root, "--json") for _ in range(2))
    found: dict[str, Any] = {**costs(first, "topics_"), **costs(again, "again_")}
    found["topics"] = len(json.loads(printed)["topics"])
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
        found |= costs(qa("map", root, "-o", str(page))[0], "map_")
        found["map_mb"] = page.stat().st_size / 1e6
        found["first_paint_ms"] = first_paint(page, work)
    return found


def first_paint(page: Path, work: Path) -> float | None:
    """Milliseconds until Chromium first paints something, the median of five; None without Chromium."""
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
    """Measure, and write the result or add it to an existing file."""
    parser = path_parser(__doc__)
    parser.add_argument("what", choices=("quality", "size"))
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--sizes", default="50000,100000,1000000")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    result = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    if options.what == "quality":
        result["quality"] = quality(options.data, options.work)
        write_result(result, options.out)
        return
    for size in map(int, options.sizes.split(",")):
        result.setdefault("sizes", {})[str(size)] = at_size(options.data, options.work, size)
        write_result(result, options.out)


if __name__ == "__main__":
    main()
