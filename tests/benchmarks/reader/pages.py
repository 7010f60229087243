"""Pages written for the purpose, as people keep them, each with questions that it answers and others that it seems to.

A file of `pages/` holds several: `=== NAME`, the text, `--- questions`, then `Q:` and `A:` in turn. An answer is a
substring of the text, or `-` where the page does not tell. Those of `pages/kept/` are not trained on: confidence is
fitted with them. The pages of a file of `pages/collections/` are easily confused: only the page itself answers its
questions, and none of the file the others.

    python -m tests.benchmarks.reader.pages OUT

writes them to OUT/files and OUT/questions.jsonl, as `qa eval` and `tests.benchmarks.fit_confidence` read them.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from typing import Any

from .examples import UNTOLD, Example, Passages, most_alike, unanswered
from .sources import write_lines
from .wording import as_typed

PAGES = Path(__file__).parent / "pages"
KEPT = PAGES / "kept"
_COLLECTIONS = "collections"
_ASKED = re.compile(r"^Q: (.+)\nA: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """A text, its questions with their answers (None where it has none), and what it is easily confused with."""

    name: str
    text: str
    asked: tuple[tuple[str, str | None], ...]
    collection: str


def read_pages(folder: Path = PAGES) -> Iterator[Page]:
    """All pages, in order.

    Raises:
        ValueError: An answer is not in its page.
    """
    for file in sorted([*folder.glob("*.txt"), *(folder / _COLLECTIONS).glob("*.txt")]):
        for part in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            head, _, questions = part.partition("\n--- questions\n")
            name, _, text = head.partition("\n")
            asked = tuple(
                (question, None if answer == "-" else answer) for question, answer in _ASKED.findall(questions)
            )
            missing = [answer for _, answer in asked if answer is not None and answer not in text]
            if missing or not asked:
                raise ValueError(f"{file.name}, {name}: not in the page: {missing or 'questions'}")
            collection = file.stem if file.parent.name == _COLLECTIONS else f"{file.stem}-{name}"
            yield Page(f"{file.stem}-{name}", text.strip() + "\n", asked, collection)


def page_groups(passages: Passages, random: Random, *, collections: str = "") -> Iterator[list[Example]]:
    """Each question with the passage that answers it, or that is most like it, and others of the same collection.

    With `collections` only those on collections of this name, `*` and `?` standing for others.
    """
    pages = list(read_pages())
    together: Passages = defaultdict(list)
    sizes = Counter(page.collection for page in pages)
    for page in pages:
        together[page.collection] += passages[page.name]
    for page in pages:
        if collections and not (sizes[page.collection] > 1 and fnmatch(page.collection, collections)):
            continue
        parts = together[page.collection]
        for number, (question, answer) in enumerate(page.asked):
            ranked = most_alike(question, parts)
            asked = as_typed(question, random)
            group = f"page-{page.name}-{number}"
            if answer is None:
                first, *_ = ranked
                yield [_miss(group, asked, part) for part in ranked[:2] if part is first or random.random() < 0.3]
                continue
            holding = [part for part in ranked if answer in part["text"] and part in passages[page.name]]
            if not holding:
                continue
            best = holding[0]
            at = best["text"].index(answer)
            context, text = best["context"], best["text"]
            told = Example(group, asked, context, text, at, at + len(answer), True, 1, "page")
            others = [part for part in ranked if answer not in part["text"]][:3]
            chosen = [part for part in others if random.random() < 0.7]
            yield [told, *(unanswered(told, part["context"], part["text"], 0, "page-hard") for part in chosen)]


def _miss(group: str, question: str, part: dict[str, Any]) -> Example:
    return Example(group, question, part["context"], part["text"], -1, -1, False, UNTOLD, "page-miss")


def write_pages(folder: Path, source: Path = PAGES) -> None:
    """Write each page as a file of its own, to be cut by the product."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in read_pages(source):
        (folder / page.name).write_text(page.text, encoding="utf-8")


def _questions(source: Path) -> Iterator[dict[str, Any]]:
    for page in read_pages(source):
        for number, (question, answer) in enumerate(page.asked):
            evidence = [] if answer is None else [{"file": page.name, "text": answer}]
            yield {
                "id": f"{page.name}-{number}",
                "question": question,
                "answerable": answer is not None,
                "evidence": evidence,
            }


def main() -> None:
    """Write the pages that are kept, as a collection with its questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    write_pages(out / "files", KEPT)
    write_lines(out / "questions.jsonl", _questions(KEPT))


if __name__ == "__main__":
    main()
