"""Generate the training examples of one pass, and the development examples.

    python -m tests.benchmarks.reader.data WORK --seed 1 --questions 45000

reads the output of `retrieved.py` and writes `examples-1.jsonl`, `examples-1.npz` (as tokens) and `dev.jsonl`.
Another seed chooses other questions, negatives, near misses and paraphrases.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.common import path_parser, read_lines, write_lines

from .articles import article_groups
from .batches import tokenise
from .cloze import cloze_groups, heading_groups
from .edits import edit_groups
from .examples import UNKNOWN, Example, passages_of, unanswered
from .human import human_groups
from .notes import pages
from .off_topic import add_off_topic
from .pages import page_groups
from .paragraphs import paragraph_groups
from .sources import DATA, trained_contracts
from .squad import HARD_NEGATIVE, NEAR_MISS, Squad, near_miss, squad_groups
from .tables import table_groups
from .wording import paraphrase


def contract_groups(work: Path, random: Random) -> Iterator[list[Example]]:
    """Questions on the contracts of the first half, with passages of the same contract that do not answer."""
    passages = passages_of(work, "contracts")
    trained = set(trained_contracts()[0])
    ranked = {row["id"]: row["ranked"] for row in read_lines(work / "ranked/contracts.jsonl")}
    for row in read_lines(DATA / "legalbench-contractnli/questions.jsonl"):
        if row["file"] not in trained:
            continue
        question = row["question"]
        if random.random() < 0.5:
            question = question.split(";", 1)[-1].strip()
        spans = [(span["start"], span["end"]) for span in row["spans"]]
        parts = [(part, *_inside(part, spans)) for part in passages[row["file"]]]
        group = [
            Example(row["id"], question, part["context"], part["text"], start, end, True, 1, "contract")
            for part, start, end in parts
            if end > start
        ]
        if not group:
            continue
        first = random.choice(group)
        ends = {end for _, _, end in ranked.get(row["id"], ())}
        negatives = [part for part, start, end in parts if end <= start and part["end"] in ends]
        random.shuffle(negatives)
        yield [first, *(unanswered(first, part, 0, "contract-hard") for part in negatives[:2])]


def _inside(part: dict[str, Any], spans: list[tuple[int, int]]) -> tuple[int, int]:
    """The longest part of a span within a passage; (-1, -1) if it is shorter than 40 characters."""
    best = (-1, -1)
    for start, end in spans:
        a, b = max(start, part["start"]), min(end, part["end"])
        if b - a > max(39, best[1] - best[0]):
            best = (a - part["start"], b - part["start"])
    return best


def written_groups(count: int, random: Random) -> Iterator[list[Example]]:
    """Notes and other pages of made-up facts."""
    for number, group in enumerate(pages(count, random)):
        rows, name = [], f"written-{number}"
        for question in group:
            text = paraphrase(question.question, random) if random.random() < 0.2 else question.question
            answered, relevant, kind = (True, 1, "written") if question.start >= 0 else (False, UNKNOWN, "written-miss")
            span = (question.start, question.end)
            rows.append(Example(name, text, question.context, question.text, *span, answered, relevant, kind))
        yield rows


def training_groups(options: argparse.Namespace) -> list[list[Example]]:
    """All groups of a pass, shuffled; each repetition of a question has its own group."""
    random = Random(options.seed)  # noqa: S311 - not for secrets
    squad = Squad(options.work)
    passages = {file: rows for file, rows in squad.passages.items() if file[:-3] not in squad.dev_articles}
    sample_passages, page_passages = passages_of(options.work, "sample"), passages_of(options.work, "pages")
    groups = list(squad_groups(squad, options.questions, options.hard, options.near, random))
    for turn in range(options.times):
        groups += _renamed(human_groups(options.work), f"human-{turn}")
        groups += _renamed(article_groups(options.work, random), f"article-{turn}")
        groups += _renamed(contract_groups(options.work, random), f"contract-{turn}")
        groups += _renamed(heading_groups(sample_passages, random), f"sample-{turn}")
    for turn in range(options.page_times):
        groups += _renamed(page_groups(page_passages, random), f"page-{turn}")
    for turn, pattern in enumerate(options.collections):
        groups += _renamed(page_groups(page_passages, random, collections=pattern), f"collection-{turn}")
    for turn in range(options.yes_no_times):
        groups += _renamed(page_groups(page_passages, random, yes_no=True), f"yes-no-{turn}")
    groups += paragraph_groups(squad.passages, random, files=options.paragraphs)
    groups += [group for group in edit_groups(squad, random) if random.random() < options.edits]
    groups += cloze_groups(passages, options.questions // 9, random, "cloze")
    groups += cloze_groups(sample_passages, 400, random, "sample-cloze")
    groups += written_groups(options.questions // 11, random)
    groups += table_groups(options.tables, random)
    add_off_topic(groups, passages | page_passages, options.off_topic, random)
    random.shuffle(groups)
    return groups


def _renamed(groups: Iterator[list[Example]], prefix: str) -> list[list[Example]]:
    return [[replace(example, group=f"{prefix}-{example.group}") for example in group] for group in groups]


def development_groups(work: Path, *, count: int = 500) -> list[list[Example]]:
    """Questions of the held-out articles, each with its passage, up to four hard negatives and a near miss."""
    random = Random(0)  # noqa: S311 - not for secrets
    squad = Squad(work)
    rows = [(example, file) for example, file in squad.answered() if squad.is_dev(example.group)]
    random.shuffle(rows)
    groups = []
    for example, file in rows[:count]:
        near = near_miss(example, squad.pool(file), random)
        groups.append([example, *squad.hard_negatives(example)[:4], *([] if near is None else [near])])
    return groups


def _write(groups: list[list[Example]], out: Path) -> None:
    write_lines(out, (asdict(example) for group in groups for example in group))


def main() -> None:
    """Run the command line."""
    parser = path_parser(__doc__, "work")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, default=45_000, help="questions of squad-train-v1 in this pass")
    parser.add_argument("--hard", type=float, default=HARD_NEGATIVE, help="share of these with a hard negative")
    parser.add_argument("--near", type=float, default=NEAR_MISS, help="share of these with a near miss made by rules")
    parser.add_argument("--times", type=int, default=3, help="repetitions of human near misses, contracts etc.")
    parser.add_argument("--page-times", type=int, default=6, help="repetitions of questions on pages")
    parser.add_argument(
        "--collections", nargs="*", default=(), metavar="PATTERN", help="names of collections, once for each pattern"
    )
    parser.add_argument("--yes-no-times", type=int, default=1, help="repetitions of yes/no questions on collections")
    parser.add_argument("--paragraphs", default="*", help="pattern of the names of the files of `paragraphs/`")
    parser.add_argument("--edits", type=float, default=1.0, help="share of the questions with changed words")
    parser.add_argument(
        "--off-topic", type=float, default=0.07, help="share of questions with another subject's passage"
    )
    parser.add_argument("--tables", type=int, default=0, help="made-up tables, with about eight questions each")
    options = parser.parse_args()
    groups = training_groups(options)
    print(Counter(example.kind for group in groups for example in group))
    examples = options.work / f"examples-{options.seed}.jsonl"
    _write(groups, examples)
    tokenise(examples)
    _write(development_groups(options.work), options.work / "dev.jsonl")


if __name__ == "__main__":
    main()
