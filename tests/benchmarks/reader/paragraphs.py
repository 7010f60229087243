"""Questions written for paragraphs of squad-train-v1 that only seem to answer them, and beside these some that they do.

A file of `paragraphs/` has blocks: `@` and the paragraph's id, then a question a line; where the paragraph answers it,
the next line is `= ` and the answer, a substring.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .examples import UNTOLD, Example, Passages, most_alike, unanswered
from .sources import DATA, article_of, read_lines
from .wording import as_typed

PARAGRAPHS = Path(__file__).parent / "paragraphs"
_ANSWER = "= "

# A question, and its answer; None where the paragraph has none.
Asked = tuple[str, str | None]


def read_questions(folder: Path = PARAGRAPHS, *, files: str = "*") -> Iterator[tuple[str, list[Asked]]]:
    """Each paragraph's id with its questions, in order; of the files of this name, without `.txt`."""
    for file in sorted(folder.glob(f"{files}.txt")):
        for block in re.split(r"^@", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            paragraph, *lines = filter(None, map(str.strip, block.splitlines()))
            asked: list[Asked] = []
            for line in lines:
                if line.startswith(_ANSWER):
                    asked[-1] = (asked[-1][0], line.removeprefix(_ANSWER))
                else:
                    asked.append((line, None))
            yield paragraph, asked


def paragraph_groups(passages: Passages, random: Random, *, files: str = "*") -> Iterator[list[Example]]:
    """Each question with the passage of its paragraph that answers it, or that is most like it.

    An answered one has another passage of its article beside it.
    """
    texts = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-train-v1/corpus.jsonl")}
    for paragraph, questions in read_questions(files=files):
        article = passages[article_of(paragraph) + ".md"]
        parts = [part for part in article if part["text"].strip() in texts[paragraph]]
        for number, (question, answer) in enumerate(questions if parts else ()):
            group = f"paragraph-{paragraph}-{number}"
            asked = as_typed(question, random)
            ranked = most_alike(question, parts)
            if answer is None:
                (best, *_) = ranked
                yield [Example(group, asked, best["context"], best["text"], -1, -1, False, UNTOLD, "paragraph-miss")]
                continue
            holding = [part for part in ranked if answer in part["text"]]
            if not holding:
                continue
            best = holding[0]
            at = best["text"].index(answer)
            told = Example(group, asked, best["context"], best["text"], at, at + len(answer), True, 1, "paragraph")
            other = next((part for part in most_alike(question, article) if answer not in part["text"]), None)
            yield [
                told,
                *([] if other is None else [unanswered(told, other["context"], other["text"], 0, "paragraph-hard")]),
            ]
