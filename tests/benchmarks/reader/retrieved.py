"""Passages as the product cuts them, and what its retriever ranks high: the one file that imports the product.

    python -m tests.benchmarks.reader.retrieved WORK

writes `passages/SET.jsonl` {id, file, start, end, context, text} and `ranked/SET.jsonl` {id, ranked}.
Stopped and started again, the search goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from corpus import load, split
from qa import Retriever, build_index

from .batches import tokenizer
from .pages import write_pages
from .sources import DATA, read_lines, trained_contracts, write_articles, write_lines

# What all-MiniLM-L6-v2 reads of a passage, special tokens not counted.
MAX_TOKENS = 254
DEPTH = 10
SAMPLE = Path(__file__).parents[3] / "corpus/sample"


def cut(folder: Path) -> Iterator[dict[str, Any]]:
    """The passages of all files below a folder, as the reader is given them: `text` begins with their headings."""
    reads = tokenizer()

    def count(texts: Sequence[str]) -> list[int]:
        return [len(found.ids) for found in reads.encode_batch(list(texts), add_special_tokens=False)]

    for file in sorted(path for path in folder.rglob("*") if path.is_file() and ".qa" not in path.parts):
        name = file.relative_to(folder).as_posix()
        for passage in split(load(folder, name), count_tokens=count, max_tokens=MAX_TOKENS):
            yield {
                "id": f"{name}:{passage.start}",
                "file": name,
                "start": passage.start,
                "end": passage.end,
                "context": passage.context,
                "text": passage.text,
            }


def search(folder: Path, questions: list[dict[str, Any]], out: Path, *, seconds: float) -> None:
    """Add to `out` what is ranked high for each question that is not yet in it, until the time is over."""
    done = {row["id"] for row in read_lines(out)} if out.exists() else set()
    until = monotonic() + seconds
    with Retriever.open(folder) as retriever, out.open("a", encoding="utf-8") as lines:
        for question in questions:
            if question["id"] in done:
                continue
            if monotonic() > until:
                break
            hits = retriever.search(question["text"], k=DEPTH, path=question.get("path"), rerank=False)
            places = [[hit.source.path, *hit.source.chars] for hit in hits]
            lines.write(json.dumps({"id": question["id"], "ranked": places}) + "\n")


def _squad_questions() -> list[dict[str, Any]]:
    """Questions in a seeded order, so that a part of them is a fair sample; those of held-out articles too."""
    rows = [{"id": row["_id"], "text": row["text"]} for row in read_lines(DATA / "squad-train-v1/queries.jsonl")]
    random.Random(15).shuffle(rows)  # noqa: S311 - no secret
    return rows


def _contracts(work: Path) -> None:
    """Index the contracts that are trained on, and ask each its own questions."""
    trained = set(trained_contracts()[0])
    folder = work / "contract-files"
    folder.mkdir(exist_ok=True)
    for name in trained:
        (folder / name).write_bytes((DATA / "legalbench-contractnli/files" / name).read_bytes())
    build_index(folder)
    rows = read_lines(DATA / "legalbench-contractnli/questions.jsonl")
    questions = [
        {"id": row["id"], "text": row["question"], "path": "/" + row["file"]} for row in rows if row["file"] in trained
    ]
    search(folder, questions, work / "ranked/contracts.jsonl", seconds=600)


def main() -> None:
    """Cut all sets, then search with the time given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=3600, help="stop searching squad-train after so long")
    options = parser.parse_args()
    articles = options.work / "train-files"
    write_articles(articles)
    pages = options.work / "page-files"
    write_pages(pages)
    contracts = DATA / "legalbench-contractnli/files"
    squad_dev = DATA / "squad-dev-v2/files"
    folders = {
        "squad-train": articles, "squad-dev": squad_dev, "contracts": contracts, "sample": SAMPLE, "pages": pages,
    }  # fmt: skip
    for part in ("passages", "ranked"):
        (options.work / part).mkdir(parents=True, exist_ok=True)
    for name, folder in folders.items():
        out = options.work / "passages" / f"{name}.jsonl"
        if not out.exists():
            write_lines(out, cut(folder))
    _contracts(options.work)
    build_index(articles)
    search(articles, _squad_questions(), options.work / "ranked/squad-train.jsonl", seconds=options.seconds)


if __name__ == "__main__":
    main()
