"""What may be trained on, which part of it, and what is kept for measuring only."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# The folder of the public sets, which are no part of the project.
DATA = Path(os.environ.get("QA_DATA", "data"))
TRAINED_ARTICLES = 20
# Articles of squad-train-v1 that no example is made from: the development set of the training itself.
HELD_OUT_ARTICLES = 22
# Answers of which squad-train-v1 states a guessed offset.
GUESSED = "ambiguous"


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write_lines(file: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write a JSON-lines file; how many lines it has."""
    count = 0
    with file.open("w", encoding="utf-8") as out:
        for count, row in enumerate(rows, start=1):  # noqa: B007 - it is returned
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return count


def by_digest(names: Iterable[str]) -> list[str]:
    """Names in an order that nobody chose: that of their SHA-256."""
    return sorted(set(names), key=lambda name: hashlib.sha256(name.encode()).hexdigest())


def trained_articles(data: Path = DATA) -> tuple[list[str], list[str]]:
    """Files of squad-dev-v2: the 20 whose unanswerable questions are trained on, and the 15 kept for measuring."""
    files = by_digest(file.name for file in (data / "squad-dev-v2/files").iterdir())
    return sorted(files[:TRAINED_ARTICLES]), sorted(files[TRAINED_ARTICLES:])


def trained_contracts(data: Path = DATA) -> tuple[list[str], list[str]]:
    """Files of legalbench-contractnli: the half that is trained on, and the half kept for measuring."""
    files = by_digest(row["file"] for row in read_lines(data / "legalbench-contractnli/questions.jsonl"))
    half = len(files) // 2
    return sorted(files[:half]), sorted(files[half:])


def held_out(article: str, articles: Iterable[str]) -> bool:
    """Whether an article of squad-train-v1 is kept for development."""
    return article in by_digest(articles)[:HELD_OUT_ARTICLES]


def article_of(paragraph: str) -> str:
    """The article that a paragraph (or question) of squad-train-v1 is of: `t1-001-004-q2` is of `t1-001`."""
    return "-".join(paragraph.split("-")[:2])


def write_articles(folder: Path, data: Path = DATA) -> None:
    """Write squad-train-v1 as a folder of Markdown files, one an article, its paragraphs in order."""
    folder.mkdir(parents=True, exist_ok=True)
    articles: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(data / "squad-train-v1/corpus.jsonl"):
        articles.setdefault(article_of(row["_id"]), []).append(row)
    for article, rows in articles.items():
        (folder / f"{article}.md").write_text(article_text(rows)[0], encoding="utf-8")


def article_text(rows: list[dict[str, Any]]) -> tuple[str, dict[str, int]]:
    """An article's Markdown, and where each paragraph begins in it."""
    text = f"# {rows[0]['title']}\n"
    starts: dict[str, int] = {}
    for row in rows:
        text += "\n"
        starts[row["_id"]] = len(text)
        text += row["text"] + "\n"
    return text, starts


def squad_paragraphs(data: Path = DATA) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Articles of squad-train-v1 with their paragraphs."""
    articles: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(data / "squad-train-v1/corpus.jsonl"):
        articles.setdefault(article_of(row["_id"]), []).append(row)
    yield from articles.items()
