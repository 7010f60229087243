"""Answerable questions for the articles whose unanswerable questions are trained on.

Without them the reader would learn that no question about these articles has an answer. A file of
`articles/` has the name of its article and consists of blocks: `P:` and the beginning of a paragraph, then pairs of
`Q:` and `A:`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .examples import Example, Passages, answered, most_similar, passages_of, with_hard_negatives
from .sources import DATA
from .wording import as_typed

ARTICLES = Path(__file__).parent / "articles"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer, and the characters of its paragraph in the article."""

    file: str
    question: str
    answer: str
    paragraph: tuple[int, int]


def read_articles(texts: Path, folder: Path = ARTICLES) -> Iterator[Question]:
    """All questions, in order; `texts` is the folder of the articles.

    Raises:
        ValueError: A paragraph is not in its article, or an answer not in its paragraph.
    """
    for file in sorted(folder.glob("*.txt")):
        name = f"{file.stem}.md"
        text = (texts / name).read_bytes().decode("utf-8")
        start = end = 0
        question = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            kind, value = line[:3], line[3:].strip()
            if kind == "P: ":
                # A paragraph begins after a line break or at the beginning of the file.
                start = f"\n{text}".find(f"\n{value}")
                end = text.find("\n", start) if "\n" in text[start:] else len(text)
                if start < 0:
                    raise ValueError(f"{file.name}: no paragraph begins so: {value}")
            elif kind == "Q: ":
                question = value
            elif kind == "A: ":
                if value not in text[start:end]:
                    raise ValueError(f"{file.name}: not in its paragraph: {value}")
                yield Question(name, question, value, (start, end))


def article_groups(work: Path, random: Random, texts: Path = DATA / "squad-dev-v2/files") -> Iterator[list[Example]]:
    """Each question with the passage that answers it and similar passages of its article."""
    passages: Passages = passages_of(work, "squad-dev")
    for number, question in enumerate(read_articles(texts)):
        start, end = question.paragraph
        ranked = most_similar(question.question, passages[question.file])
        parts = [part for part in ranked if part["start"] < end and start < part["end"]]
        answering = [part for part in parts if question.answer in part["text"]]
        if not answering:
            continue
        text = as_typed(question.question, random)
        example = answered(f"article-{number}", text, answering[0], question.answer, "article")
        yield with_hard_negatives(example, ranked, "article-hard", random)
