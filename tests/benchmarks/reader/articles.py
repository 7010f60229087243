"""Questions written for the articles whose unanswerable questions are trained on, which they do answer.

Without them the reader learns by heart that whatever is asked about these articles has no answer in them. A file of
`articles/`, named as its article, has blocks: `P:` and how a paragraph begins, then `Q:` and `A:` in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .examples import Example, Passages, most_alike, passages_of, unanswered
from .sources import DATA
from .wording import as_typed

ARTICLES = Path(__file__).parent / "articles"
# Other passages of the article that are trained on with a question, at most, and how often each of them is.
_OTHERS = 3
_OFTEN = 0.7


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer, and the characters of its paragraph in the article."""

    file: str
    question: str
    answer: str
    paragraph: tuple[int, int]


def read_articles(texts: Path, folder: Path = ARTICLES) -> Iterator[Asked]:
    """All questions, in order; `texts` has the articles.

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
                # A paragraph begins behind the end of a line; the first one of a file may begin it.
                start = f"\n{text}".find(f"\n{value}")
                end = text.find("\n", start) if "\n" in text[start:] else len(text)
                if start < 0:
                    raise ValueError(f"{file.name}: no paragraph begins so: {value}")
            elif kind == "Q: ":
                question = value
            elif kind == "A: ":
                if value not in text[start:end]:
                    raise ValueError(f"{file.name}: not in its paragraph: {value}")
                yield Asked(name, question, value, (start, end))


def article_groups(work: Path, random: Random, texts: Path = DATA / "squad-dev-v2/files") -> Iterator[list[Example]]:
    """Each question with the passage that answers it, and others of its article."""
    passages: Passages = passages_of(work, "squad-dev")
    for number, asked in enumerate(read_articles(texts)):
        start, end = asked.paragraph
        ranked = most_alike(asked.question, passages[asked.file])
        here = [part for part in ranked if part["start"] < end and start < part["end"] and asked.answer in part["text"]]
        if not here:
            continue
        best = here[0]
        at = best["text"].index(asked.answer)
        question = as_typed(asked.question, random)
        group = f"article-{number}"
        told = Example(group, question, best["context"], best["text"], at, at + len(asked.answer), True, 1, "article")
        others = [part for part in ranked if asked.answer not in part["text"]][:_OTHERS]
        chosen = [part for part in others if random.random() < _OFTEN]
        yield [told, *(unanswered(told, part["context"], part["text"], 0, "article-hard") for part in chosen)]
