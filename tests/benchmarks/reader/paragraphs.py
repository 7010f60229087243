"""Questions written for paragraphs of squad-train-v1, most of which the paragraph only seems to answer.

A file of `paragraphs/` consists of blocks: `@` and the paragraph's id, then a question per line; if the paragraph
answers it, the next line is `= ` and the answer, a substring.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.common import read_lines

from .examples import Example, Passages, answered, most_similar, no_answer, unanswered, with_near_misses
from .sources import DATA, article_of
from .wording import as_typed

PARAGRAPHS = Path(__file__).parent / "paragraphs"
_ANSWER = "= "

# A question, and its answer or None.
Question = tuple[str, str | None]


def read_questions(folder: Path = PARAGRAPHS, *, files: str = "*") -> Iterator[tuple[str, list[Question]]]:
    """Each paragraph's id with its questions, in order; `files` is a pattern of file names without `.txt`."""
    for file in sorted(folder.glob(f"{files}.txt")):
        for block in re.split(r"^@", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            paragraph, *lines = filter(None, map(str.strip, block.splitlines()))
            questions: list[Question] = []
            for line in lines:
                if line.startswith(_ANSWER):
                    questions[-1] = (questions[-1][0], line.removeprefix(_ANSWER))
                else:
                    questions.append((line, None))
            yield paragraph, questions


def paragraph_groups(passages: Passages, random: Random, *, files: str = "*") -> Iterator[list[Example]]:
    """Each question with the passage of its paragraph that answers it, or the most similar one.

    Answered questions also get another passage of the article, and the most similar questions that have no answer.
    """
    texts = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-train-v1/corpus.jsonl")}
    for paragraph, questions in read_questions(files=files):
        article = passages[article_of(paragraph) + ".md"]
        parts = [part for part in article if part["text"].strip() in texts[paragraph]]
        yield from with_near_misses(_groups_of(paragraph, questions if parts else [], parts, article, random))


def _groups_of(
    paragraph: str,
    questions: list[Question],
    parts: list[dict[str, Any]],
    article: list[dict[str, Any]],
    random: Random,
) -> Iterator[list[Example]]:
    for number, (question, answer) in enumerate(questions):
        group = f"paragraph-{paragraph}-{number}"
        typed = as_typed(question, random)
        ranked = most_similar(question, parts)
        if answer is None:
            yield [no_answer(group, typed, ranked[0], "paragraph-miss")]
            continue
        answering = [part for part in ranked if answer in part["text"]]
        if answering:
            example = answered(group, typed, answering[0], answer, "paragraph")
            negatives = [part for part in most_similar(question, article) if answer not in part["text"]]
            yield [example, *(unanswered(example, part, 0, "paragraph-hard") for part in negatives[:1])]
