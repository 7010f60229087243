"""Pages written for training, like those people keep, with questions that they answer or only seem to answer.

A file of `pages/` holds several: `=== NAME`, the text, `--- questions`, then pairs of `Q:` and `A:`. An answer is a
substring of the text, or `-` if there is none. Pages in `pages/kept/` are not trained on: confidence is fitted with
them. The pages of one file of `pages/collections/` are easily confused: only the page itself answers its questions, and
no page of the file answers those marked `-`. A file of `pages/yes_no/` has more questions on these pages, without their
texts: the answer is what decides between yes and no.

    python -m tests.benchmarks.reader.pages OUT

writes the kept pages to OUT/files and OUT/questions.jsonl, for `qa eval` and `tests.benchmarks.fit_confidence`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.common import path_parser, write_lines

from .examples import Example, Passages, answered, most_similar, no_answer, with_hard_negatives, with_near_misses
from .wording import as_typed

PAGES = Path(__file__).parent / "pages"
RESERVED = PAGES / "kept"
_COLLECTIONS = "collections"
_YES_NO = "yes_no"
_QUESTION = re.compile(r"^Q: (.+)\nA: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """A text, its questions with their answers (None without one), and its collection of easily confused pages."""

    name: str
    text: str
    questions: tuple[tuple[str, str | None], ...]
    collection: str


def read_pages(folder: Path = PAGES) -> Iterator[Page]:
    """All pages, in order.

    Raises:
        ValueError: An answer is not in its page.
    """
    for file in sorted([*folder.glob("*.txt"), *(folder / _COLLECTIONS).glob("*.txt")]):
        for name, block in _blocks(file):
            text, _, questions = block.partition("\n--- questions\n")
            collection = file.stem if file.parent.name == _COLLECTIONS else f"{file.stem}-{name}"
            pairs = _pairs(file, name, text, questions)
            yield Page(f"{file.stem}-{name}", text.strip() + "\n", pairs, collection)


def read_yes_no() -> Iterator[Page]:
    """The pages that have yes/no questions, without their other questions.

    Raises:
        ValueError: An answer is not in its page.
    """
    pages = {page.name: page for page in read_pages()}
    for file in sorted((PAGES / _YES_NO).glob("*.txt")):
        for name, questions in _blocks(file):
            yield replace(pages[name], questions=_pairs(file, name, pages[name].text, questions))


def _blocks(file: Path) -> Iterator[tuple[str, str]]:
    """The name and the block of each page in a file."""
    for part in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, block = part.partition("\n")
        yield name, block


def _pairs(file: Path, name: str, text: str, questions: str) -> tuple[tuple[str, str | None], ...]:
    pairs = tuple((question, None if answer == "-" else answer) for question, answer in _QUESTION.findall(questions))
    missing = [answer for _, answer in pairs if answer is not None and answer not in text]
    if missing or not pairs:
        raise ValueError(f"{file.name}, {name}: not in the page: {missing or 'questions'}")
    return pairs


def page_groups(
    passages: Passages, random: Random, *, collections: str = "", yes_no: bool = False
) -> Iterator[list[Example]]:
    """Each question with the passage that answers it or the most similar one, and with others of the same collection.

    Those without an answer are beside the one of their page that is most like them.

    `collections` is a pattern of names that limits them to collections of several pages; `yes_no` limits them to yes/no
    questions.
    """
    pages = list(read_pages())
    by_collection: Passages = defaultdict(list)
    sizes = Counter(page.collection for page in pages)
    for page in pages:
        by_collection[page.collection] += passages[page.name]
    for page in read_yes_no() if yes_no else pages:
        if collections and not (sizes[page.collection] > 1 and fnmatch(page.collection, collections)):
            continue
        yield from with_near_misses(_groups_of(page, by_collection[page.collection], passages[page.name], random))


def _groups_of(
    page: Page, parts: list[dict[str, Any]], own_parts: list[dict[str, Any]], random: Random
) -> Iterator[list[Example]]:
    """A page's questions with passages of its collection."""
    for number, (question, answer) in enumerate(page.questions):
        ranked = most_similar(question, parts)
        typed = as_typed(question, random)
        group = f"page-{page.name}-{number}"
        if answer is None:
            chosen = [part for part in ranked[:2] if part is ranked[0] or random.random() < 0.3]
            yield [no_answer(group, typed, part, "page-miss") for part in chosen]
            continue
        answering = [part for part in ranked if answer in part["text"] and part in own_parts]
        if answering:
            example = answered(group, typed, answering[0], answer, "page")
            yield with_hard_negatives(example, ranked, "page-hard", random)


def write_pages(folder: Path, source: Path = PAGES) -> None:
    """Write each page to a file of its own, to be split by the product."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in read_pages(source):
        (folder / page.name).write_text(page.text, encoding="utf-8")


def _questions(source: Path) -> Iterator[dict[str, Any]]:
    for page in read_pages(source):
        for number, (question, answer) in enumerate(page.questions):
            evidence = [] if answer is None else [{"file": page.name, "text": answer}]
            yield {
                "id": f"{page.name}-{number}",
                "question": question,
                "answerable": answer is not None,
                "evidence": evidence,
            }


def main() -> None:
    """Run the command line."""
    out = path_parser(__doc__, "out").parse_args().out
    write_pages(out / "files", RESERVED)
    write_lines(out / "questions.jsonl", _questions(RESERVED))


if __name__ == "__main__":
    main()
