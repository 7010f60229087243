"""Pages written for the purpose, as people keep them, each with questions that it answers and others that it seems to.

A file of `pages/` holds several: `=== NAME`, the text, `--- questions`, then `Q:` and `A:` in turn. An answer is a
substring of the text, or `-` where the page does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from .examples import UNTOLD, Example, Passages, unanswered
from .wording import paraphrase

PAGES = Path(__file__).parent / "pages"
_ASKED = re.compile(r"^Q: (.+)\nA: (.+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """A text, and its questions with their answers; None where it has none."""

    name: str
    text: str
    asked: tuple[tuple[str, str | None], ...]


def read_pages(folder: Path = PAGES) -> Iterator[Page]:
    """All pages, in order.

    Raises:
        ValueError: An answer is not in its page.
    """
    for file in sorted(folder.glob("*.txt")):
        for part in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, questions = part.partition("\n--- questions\n")
            name, _, text = head.partition("\n")
            asked = tuple(
                (question, None if answer == "-" else answer) for question, answer in _ASKED.findall(questions)
            )
            missing = [answer for _, answer in asked if answer is not None and answer not in text]
            if missing or not asked:
                raise ValueError(f"{file.name}, {name}: not in the page: {missing or 'questions'}")
            yield Page(f"{file.stem}-{name}", text.strip() + "\n", asked)


def page_groups(passages: Passages, random: Random) -> Iterator[list[Example]]:
    """Each question with the passage that answers it, or that is most like it, and others of the same page."""
    for page in read_pages():
        parts = passages[page.name]
        for number, (question, answer) in enumerate(page.asked):
            words = set(_WORD.findall(question.lower()))
            ranked = sorted(parts, key=lambda part: -_shared(words, part))
            asked = _reworded(question, random)
            group = f"page-{page.name}-{number}"
            if answer is None:
                first, *_ = ranked
                yield [_miss(group, asked, part) for part in ranked[:2] if part is first or random.random() < 0.3]
                continue
            holding = [part for part in ranked if answer in part["text"]]
            if not holding:
                continue
            best = holding[0]
            at = best["text"].index(answer)
            context, text = best["context"], best["text"]
            told = Example(group, asked, context, text, at, at + len(answer), True, 1, "page")
            others = [part for part in ranked if answer not in part["text"]][:2]
            chosen = [part for part in others if random.random() < 0.6]
            yield [told, *(unanswered(told, part["context"], part["text"], 0, "page-hard") for part in chosen)]


def _miss(group: str, question: str, part: dict[str, Any]) -> Example:
    return Example(group, question, part["context"], part["text"], -1, -1, False, UNTOLD, "page-miss")


def _shared(words: set[str], part: dict[str, Any]) -> int:
    return len(words & set(_WORD.findall(f"{part['context']} {part['text']}".lower())))


def _reworded(question: str, random: Random) -> str:
    draw = random.random()
    if draw < 0.15:
        return paraphrase(question, random)
    if draw < 0.35:
        return question.lower().rstrip("?")
    return question


def write_pages(folder: Path) -> None:
    """Write each page as a file of its own, to be cut by the product."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in read_pages():
        (folder / page.name).write_text(page.text, encoding="utf-8")
