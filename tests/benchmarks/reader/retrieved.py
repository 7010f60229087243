"""Passages as the product splits them, and those that its retriever ranks high.

    python -m tests.benchmarks.reader.retrieved WORK

writes `passages/SET.jsonl` {id, file, start, end, context, text} and `ranked/SET.jsonl` {id, ranked}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus import load, split
from qa import Retriever, build_index
from tests.benchmarks.common import path_parser, read_lines, write_lines
from tests.paths import SAMPLE

from .batches import tokenizer
from .pages import write_pages
from .sources import DATA, trained_contracts, write_articles
from .squad import DEPTH

# The maximum passage length of all-MiniLM-L6-v2, without special tokens.
MAX_TOKENS = 254


def passages_below(folder: Path) -> Iterator[dict[str, Any]]:
    """The passages of all files below a folder as the reader gets them: `text` begins with their headings."""

    def count(texts: Sequence[str]) -> list[int]:
        return [len(encoded.ids) for encoded in tokenizer().encode_batch(list(texts), add_special_tokens=False)]

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


def search(folder: Path, questions: list[dict[str, Any]], out: Path) -> None:
    """Write the places of the passages ranked high for each question."""
    with Retriever.open(folder) as retriever, out.open("w", encoding="utf-8") as lines:
        for question in questions:
            hits = retriever.search(question["text"], k=DEPTH, path=question.get("path"), rerank=False)
            places = [[hit.source.path, *hit.source.chars] for hit in hits]
            lines.write(json.dumps({"id": question["id"], "ranked": places}) + "\n")


def _search_contracts(work: Path) -> None:
    """Index the contracts that are trained on, and search each for its own questions."""
    trained = set(trained_contracts()[0])
    folder = work / "contract-files"
    folder.mkdir(exist_ok=True)
    for name in trained:
        (folder / name).write_bytes((DATA / "legalbench-contractnli/files" / name).read_bytes())
    build_index(folder)
    rows = [row for row in read_lines(DATA / "legalbench-contractnli/questions.jsonl") if row["file"] in trained]
    questions = [{"id": row["id"], "text": row["question"], "path": "/" + row["file"]} for row in rows]
    search(folder, questions, work / "ranked/contracts.jsonl")


def main() -> None:
    """Split all datasets, then search."""
    options = path_parser(__doc__, "work").parse_args()
    articles, pages = options.work / "train-files", options.work / "page-files"
    write_articles(articles)
    write_pages(pages)
    folders = {
        "squad-train": articles,
        "squad-dev": DATA / "squad-dev-v2/files",
        "contracts": DATA / "legalbench-contractnli/files",
        "sample": SAMPLE,
        "pages": pages,
    }
    for part in ("passages", "ranked"):
        (options.work / part).mkdir(parents=True, exist_ok=True)
    for name, folder in folders.items():
        write_lines(options.work / "passages" / f"{name}.jsonl", passages_below(folder))
    _search_contracts(options.work)
    build_index(articles)
    questions = [{"id": row["_id"], "text": row["text"]} for row in read_lines(DATA / "squad-train-v1/queries.jsonl")]
    search(articles, questions, options.work / "ranked/squad-train.jsonl")


if __name__ == "__main__":
    main()
