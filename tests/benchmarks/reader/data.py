"""Make the training examples of one pass, and those of development.

    python -m tests.benchmarks.reader.data WORK --seed 1 --questions 45000

reads what `retrieved.py` wrote and writes `examples-1.jsonl`, `examples-1.npz` (as tokens) and `dev.jsonl`.
Another seed takes other questions first, and other negatives, near misses and paraphrases for each.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

from .articles import article_groups
from .batches import tokenise
from .cloze import cloze_groups, heading_groups
from .edits import edit_groups
from .examples import UNTOLD, Example, passages_of, unanswered
from .notes import pages
from .pages import page_groups
from .paragraphs import paragraph_groups
from .sources import DATA, read_lines, trained_contracts, write_lines
from .squad import HARD_NEGATIVE, NEAR_MISS, Squad, human_groups, near_miss, squad_groups
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
        rows = passages[row["file"]]
        spans = [(span["start"], span["end"]) for span in row["spans"]]
        answering = [(part, *_inside(part, spans)) for part in rows]
        group = []
        for part, start, end in (found for found in answering if found[2] > found[1]):
            group.append(Example(row["id"], question, part["context"], part["text"], start, end, True, 1, "contract"))
        if not group:
            continue
        first = random.choice(group)
        ends = {end for _, _, end in ranked.get(row["id"], ())}
        negatives = [part for part, start, end in answering if end <= start and part["end"] in ends] or rows[:0]
        random.shuffle(negatives)
        others = [unanswered(first, part["context"], part["text"], 0, "contract-hard") for part in negatives[:2]]
        yield [first, *others]


def _inside(part: dict[str, Any], spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Where the longest stretch of the spans stands in a passage; (-1, -1) where less than 40 characters do."""
    best = (-1, -1)
    for start, end in spans:
        a, b = max(start, part["start"]), min(end, part["end"])
        if b - a > max(39, best[1] - best[0]):
            best = (a - part["start"], b - part["start"])
    return best


def written_groups(count: int, random: Random) -> Iterator[list[Example]]:
    """Texts written for the purpose, as notes."""
    for number, group in enumerate(pages(count, random)):
        rows = []
        for asked in group:
            question = paraphrase(asked.question, random) if random.random() < 0.2 else asked.question
            told = asked.start >= 0
            kind = "written" if told else "written-miss"
            relevant = 1 if told else UNTOLD
            rows.append(
                Example(
                    f"written-{number}",
                    question,
                    asked.context,
                    asked.text,
                    asked.start,
                    asked.end,
                    told,
                    relevant,
                    kind,
                )
            )
        yield rows


def training_groups(
    work: Path,
    *,
    questions: int,
    hard: float,
    near: float,
    seed: int,
    times: int,
    page_times: int,
    collection_times: int,
    collections: str,
    paragraph_times: int,
    paragraphs: str,
    edit_times: int,
    tables: int,
) -> list[list[Example]]:
    """All groups of one pass, shuffled; groups of one question several times over get names of their own."""
    random = Random(seed)  # noqa: S311 - no secret
    squad = Squad(work)
    shown = {file: rows for file, rows in squad.passages.items() if file[:-3] not in squad.dev_articles}
    sample = passages_of(work, "sample")
    groups = list(squad_groups(squad, questions, hard, near, random))
    for time in range(times):
        groups += _named(human_groups(work), f"human-{time}")
        groups += _named(article_groups(work, random), f"article-{time}")
    for time in range(times):
        groups += _named(contract_groups(work, random), f"contract-{time}")
    for time in range(times):
        groups += _named(heading_groups(sample, random), f"sample-{time}")
    for time in range(page_times):
        groups += _named(page_groups(passages_of(work, "pages"), random), f"page-{time}")
    for time in range(collection_times):
        together = page_groups(passages_of(work, "pages"), random, collections=collections)
        groups += _named(together, f"collection-{time}")
    for time in range(paragraph_times):
        groups += _named(paragraph_groups(squad.passages, random, files=paragraphs), f"paragraph-{time}")
    for time in range(edit_times):
        groups += _named(edit_groups(squad, random), f"edit-{time}")
    groups += cloze_groups(shown, questions // 9, random, "cloze")
    groups += cloze_groups(sample, 400, random, "sample-cloze")
    groups += written_groups(questions // 11, random)
    groups += table_groups(tables, random)
    random.shuffle(groups)
    return groups


def _named(groups: Iterator[list[Example]], name: str) -> list[list[Example]]:
    return [[replace(example, group=f"{name}-{example.group}") for example in group] for group in groups]


def development_groups(work: Path, *, count: int = 500) -> list[list[Example]]:
    """Questions of the articles held out, each with its passage, up to four hard negatives, and a near miss."""
    random = Random(0)  # noqa: S311 - no secret
    squad = Squad(work)
    rows = [(example, file) for example, file in squad.answered() if squad.is_dev(example.group)]
    random.shuffle(rows)
    groups = []
    for example, file in rows[:count]:
        missed = near_miss(example, squad.pool(file), random)
        groups.append([example, *squad.hard(example)[:4], *([missed] if missed is not None else [])])
    return groups


def main() -> None:
    """Write one pass of examples, and those of development."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--questions", type=int, default=45_000, help="of squad-train-v1, in this pass")
    parser.add_argument("--hard", type=float, default=HARD_NEGATIVE, help="share of them with a hard negative")
    parser.add_argument("--near", type=float, default=NEAR_MISS, help="share of them with a near miss made by rules")
    parser.add_argument("--times", type=int, default=3, help="each human near miss, contract and heading so often")
    parser.add_argument("--page-times", type=int, default=6, help="each question on a page so often")
    parser.add_argument("--collection-times", type=int, default=0, help="each on a collection so often besides")
    parser.add_argument("--collections", default="*", help="those of this name")
    parser.add_argument("--paragraph-times", type=int, default=1, help="each question on a paragraph so often")
    parser.add_argument("--paragraphs", default="*", help="those of the files of this name")
    parser.add_argument("--edit-times", type=int, default=1, help="each question with changed words so often")
    parser.add_argument("--tables", type=int, default=0, help="made up, with some eight questions each")
    options = parser.parse_args()
    groups = training_groups(
        options.work,
        questions=options.questions,
        hard=options.hard,
        near=options.near,
        seed=options.seed,
        times=options.times,
        page_times=options.page_times,
        collection_times=options.collection_times,
        collections=options.collections,
        paragraph_times=options.paragraph_times,
        paragraphs=options.paragraphs,
        edit_times=options.edit_times,
        tables=options.tables,
    )
    out = options.work / f"examples-{options.seed}.jsonl"
    write_lines(out, (asdict(example) for group in groups for example in group))
    print(Counter(example.kind for group in groups for example in group))
    tokenise(out)
    dev = options.work / "dev.jsonl"
    write_lines(dev, (asdict(example) for group in development_groups(options.work) for example in group))
    tokenise(dev)


if __name__ == "__main__":
    main()
