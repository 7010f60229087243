"""Similar passages, topics and maps: how good beside BERTopic, and what they cost at size.

    python -m tests.benchmarks.explore quality DATA WORK --bertopic VENV/bin/python --out FILE.json
    python -m tests.benchmarks.explore size PARAGRAPHS.jsonl WORK --sizes 50000,100000,1000000 --out FILE.json

`quality` takes `files/` of DATA (a folder a set of articles, one a file: SQuAD 2.0 dev), indexes it with the default
model, and compares topics with the articles. BERTopic gets the same passages and the same vectors. Both are timed from
the start of their process to its end. Passages that belong to no topic count as one more cluster, for both.

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
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from index.encoder.load import load_encoder
from index.encoder.protocol import Vectors
from index.lexical.analyzer import terms
from index.snapshot import Snapshot
from qa import Retriever, build_index
from qa.explore import topics
from qa.explore.grouping import FILE, Grouping
from qa.explore.items import Items

DRIVER = Path(__file__).with_name("engine_drivers") / "bertopic_driver.py"
_TOPICS = 35
_SIMILAR = 5
_EDITED = 0.01
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


def quality(data: Path, work: Path, bertopic: Path) -> dict[str, Any]:
    """Everything that has a truth to compare with."""
    root = work / "articles"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(data / "files", root)
    build_index(root)
    found: dict[str, Any] = {"passages": 0, "ours": ours(root), "bertopic": others(root, work, bertopic)}
    with Retriever.open(root) as retriever:
        found["passages"] = retriever.snapshot.info.passages
        found["similar"] = similar_share(retriever)
    found["stability"] = stability(root)
    return found


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


def others(root: Path, work: Path, python: Path) -> dict[str, Any]:
    """BERTopic's topics of the same passages and vectors."""
    with Snapshot(root / ".qa") as snapshot:
        columns = snapshot.columns()
        paths = paths_of(snapshot)
        np.save(work / "vectors.npy", snapshot.vectors(columns.vectors.tolist()).astype(np.float32))
        texts = [one.text[one.body :] for one in snapshot.passages(columns.passages.tolist())]
        (work / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    result = {}
    for kind in ("default", "reduced", "kmeans"):
        run = timed([python, DRIVER, work, kind, str(_TOPICS)])
        answer = json.loads(run.out.splitlines()[-1])
        words = [answer["words"][str(number)] for number in range(len(answer["words"]))]
        result[kind] = {
            **agreement(paths, answer["labels"]),
            "topics": len(words),
            "unassigned": answer["labels"].count(-1),
            "titled": titled(paths, answer["labels"], words),
            **cost(run),
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


def similar_share(retriever: Retriever) -> dict[str, float]:
    """Of the five most similar passages, the share that is from the same article; passages beside are left out."""
    snapshot = retriever.snapshot
    columns = snapshot.columns()
    passages = snapshot.passages(columns.passages.tolist())
    vectors = snapshot.vectors(columns.vectors.tolist()).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    place = {passage.key: number for number, passage in enumerate(passages)}
    files = columns.documents
    exact, own = [], []
    for number, passage in enumerate(passages):
        order = [other for other in np.argsort(-cosines[number], kind="stable") if abs(int(other) - number) > 1]
        exact.append(np.mean(files[order[:_SIMILAR]] == files[number]))
        hits = retriever.similar(passage.key, k=_SIMILAR + 2).passages or ()
        found = [place[hit.id] for hit in hits if abs(place[hit.id] - number) > 1][:_SIMILAR]
        own.append(np.mean(files[found] == files[number]))
    return {"exact_plain": float(np.mean(exact)), "ours": float(np.mean(own))}


def stability(root: Path) -> dict[str, Any]:
    """One passage of a hundred edited: how many passages keep their topic, how many topics their label."""
    with Snapshot(root / ".qa") as snapshot:
        before = topics.find_topics(snapshot, wanted=_TOPICS)
        old = placed(snapshot, before)
        texts = [one.text for one in snapshot.passages(snapshot.columns().passages.tolist())]
        paths = paths_of(snapshot)
    random = np.random.default_rng(3)
    for number in sorted(random.choice(len(texts), int(len(texts) * _EDITED) + 1, replace=False).tolist()):
        file = root / paths[number]
        words = texts[number].split(" ")
        other = texts[int(random.integers(len(texts)))].split()
        half = len(words) // 2
        edited = " ".join([*words[:half], *other[: max(len(words) - half, 0)]])
        file.write_text(file.read_text(encoding="utf-8").replace(texts[number], edited), encoding="utf-8")
    report = build_index(root)
    result: dict[str, Any] = {"embedded": report.embedded}
    with Snapshot(root / ".qa") as snapshot:
        result["as used"] = kept(before, old, topics.find_topics(snapshot, wanted=_TOPICS), snapshot)
        items = Items.read(snapshot, "passages")
        improved = topics._improved(before, items.sample(snapshot), np.unique(items.vectors))
        improved = topics._assigned(snapshot, items, improved)
        improved = replace(improved, terms=topics._named(snapshot, improved, before.terms))
        result["improved"] = kept(before, old, improved, snapshot)
        result["from nothing"] = kept(before, old, topics._made(snapshot, items, _TOPICS, None), snapshot)
    return result


def placed(snapshot: Snapshot, found: Grouping) -> dict[tuple[str, int], int]:
    """The topic of each passage, by its file and its number there."""
    seen: dict[str, int] = {}
    places = {}
    for path, topic in zip(paths_of(snapshot), found.topics.tolist(), strict=True):
        seen[path] = seen.get(path, -1) + 1
        places[path, seen[path]] = topic
    return places


def kept(before: Grouping, old: dict[tuple[str, int], int], after: Grouping, snapshot: Snapshot) -> dict[str, float]:
    """Shares that stay the same; topics are matched by the passages they share."""
    from scipy.optimize import linear_sum_assignment

    new = placed(snapshot, after)
    count = len(before.centroids)
    shared = np.zeros((count, len(after.centroids)))
    for place, topic in old.items():
        if topic >= 0 and new.get(place, -1) >= 0:
            shared[topic, new[place]] += 1
    match = dict(zip(*(side.tolist() for side in linear_sum_assignment(-shared)), strict=True)) | {-1: -1}
    same = [match.get(topic) == new.get(place) for place, topic in old.items()]
    labels = [after.terms[match[topic]] == before.terms[topic] for topic in range(count) if topic in match]
    return {"passages": float(np.mean(same)), "labels": float(np.mean(labels))}


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


def table(measured: dict[str, Any]) -> str:
    """The measurements in Markdown."""
    quality_of, sizes = measured["quality"], measured["sizes"]
    rows = [
        "| topics of 35 articles | topics | NMI | ARI | in none | with a word of the title "
        "| s from process start | CPU s | MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    runs = [*((f"qa, {name}", one) for name, one in quality_of["ours"].items())]
    runs += [(f"BERTopic, {name}", one) for name, one in quality_of["bertopic"].items()]
    for name, one in runs:
        rows.append(
            f"| {name} | {one['topics']} | {one['nmi']:.3f} | {one['ari']:.3f} | {one['unassigned']} "
            f"| {one['titled']:.2f} | {one['seconds']:.1f} | {one['cpu_seconds']:.1f} | {one['peak_mb']:,.0f} |"
        )
    rows += ["", "| one passage of a hundred edited | passages in the same topic | topics with the same label |"]
    rows += ["|---|---:|---:|"]
    for name in ("as used", "improved", "from nothing"):
        one = quality_of["stability"][name]
        rows.append(f"| {name} | {one['passages']:.3f} | {one['labels']:.3f} |")
    share = quality_of["similar"]
    rows += [
        "",
        f"Of the five most similar passages {share['ours']:.4f} are from the same article; {share['exact_plain']:.4f}",
    ]
    rows[-1] += " with exhaustive search over plain vectors.\n"
    columns = [sizes[key] for key in sorted(sizes, key=int)]
    rows += ["| passages | " + " | ".join(f"{one['passages']:,}" for one in columns) + " |"]
    rows += ["|---|" + "---:|" * len(columns)]
    lines = {
        "`qa topics`, s from process start": ("topics_seconds", "{:.1f}"),
        "its CPU s": ("topics_cpu_seconds", "{:.1f}"),
        "its peak, MiB": ("topics_peak_mb", "{:,.0f}"),
        "again, kept with the index, s": ("again_seconds", "{:.2f}"),
        "`similar`, five of a passage, ms": ("similar_ms", "{:.1f}"),
        "p95, ms": ("similar_p95_ms", "{:.1f}"),
        "`qa map`, s": ("map_seconds", "{:.1f}"),
        "the map's CPU s": ("map_cpu_seconds", "{:.1f}"),
        "the map's peak, MiB": ("map_peak_mb", "{:,.0f}"),
        "the page, MB": ("map_mb", "{:.1f}"),
        "first paint in Chromium, ms": ("first_paint_ms", "{:,.0f}"),
    }
    for name, (key, form) in lines.items():
        cells = [form.format(one[key]) if one.get(key) is not None else "–" for one in columns]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Measure, and write or extend a file of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("quality", "size"))
    parser.add_argument("data", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--bertopic", type=Path, help="the Python of an environment with bertopic")
    parser.add_argument("--sizes", default="50000,100000,1000000")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    found = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    if given.what == "quality":
        found["quality"] = quality(given.data, given.work, given.bertopic)
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    for size in map(int, given.sizes.split(",")):
        found.setdefault("sizes", {})[str(size)] = at_size(given.data, given.work, size)
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
