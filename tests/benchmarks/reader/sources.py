"""The data that may be trained on, and the data reserved for measuring."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.benchmarks.common import read_lines

# The folder of the public datasets, which are not part of the project.
DATA = Path(os.environ.get("QA_DATA", "data"))
TRAINED_ARTICLES = 20
# Articles of squad-train-v1 without examples: the development set of the training.
HELD_OUT_ARTICLES = 22
# Marks answers in squad-train-v1 whose offset is a guess.
GUESSED = "ambiguous"


def by_digest(names: Iterable[str]) -> list[str]:
    """Names in an arbitrary but fixed order: that of their SHA-256."""
    return sorted(set(names), key=lambda name: hashlib.sha256(name.encode()).hexdigest())


def trained_articles() -> tuple[list[str], list[str]]:
    """Files of squad-dev-v2: the 20 whose unanswerable questions are trained on, and the 15 reserved for measuring."""
    files = by_digest(file.name for file in (DATA / "squad-dev-v2/files").iterdir())
    return sorted(files[:TRAINED_ARTICLES]), sorted(files[TRAINED_ARTICLES:])


def trained_contracts() -> tuple[list[str], list[str]]:
    """Files of legalbench-contractnli: the half that is trained on, and the half reserved for measuring."""
    files = by_digest(row["file"] for row in read_lines(DATA / "legalbench-contractnli/questions.jsonl"))
    half = len(files) // 2
    return sorted(files[:half]), sorted(files[half:])


def held_out_articles(articles: Iterable[str]) -> list[str]:
    """The articles of squad-train-v1 that are reserved for development."""
    return by_digest(articles)[:HELD_OUT_ARTICLES]


def article_of(paragraph: str) -> str:
    """The article of a paragraph or question of squad-train-v1: `t1-001` for `t1-001-004-q2`."""
    return "-".join(paragraph.split("-")[:2])


def write_articles(folder: Path) -> None:
    """Write squad-train-v1 as Markdown files, one per article, with its paragraphs in order."""
    folder.mkdir(parents=True, exist_ok=True)
    for article, rows in squad_paragraphs().items():
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


def squad_paragraphs() -> dict[str, list[dict[str, Any]]]:
    """The articles of squad-train-v1 with their paragraphs."""
    articles: dict[str, list[dict[str, Any]]] = {}
    for row in read_lines(DATA / "squad-train-v1/corpus.jsonl"):
        articles.setdefault(article_of(row["_id"]), []).append(row)
    return articles
