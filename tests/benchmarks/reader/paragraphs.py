"""Questions written for paragraphs of squad-train-v1 that only seem to answer them.

A file of `paragraphs/` has blocks: `@` and the paragraph's id, then a question a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .examples import UNTOLD, Example, Passages, most_alike
from .sources import DATA, article_of, read_lines
from .wording import as_typed

PARAGRAPHS = Path(__file__).parent / "paragraphs"


def read_questions(folder: Path = PARAGRAPHS) -> Iterator[tuple[str, list[str]]]:
    """Each paragraph's id with its questions, in order."""
    for file in sorted(folder.glob("*.txt")):
        for block in re.split(r"^@", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            paragraph, *questions = filter(None, map(str.strip, block.splitlines()))
            yield paragraph, questions


def paragraph_groups(passages: Passages, random: Random) -> Iterator[list[Example]]:
    """Each question with the passage of its paragraph that is most like it."""
    texts = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-train-v1/corpus.jsonl")}
    for paragraph, questions in read_questions():
        parts = [part for part in passages[article_of(paragraph) + ".md"] if part["text"].strip() in texts[paragraph]]
        for number, question in enumerate(questions if parts else ()):
            best = most_alike(question, parts)[0]
            group = f"paragraph-{paragraph}-{number}"
            asked = as_typed(question, random)
            yield [Example(group, asked, best["context"], best["text"], -1, -1, False, UNTOLD, "paragraph-miss")]
