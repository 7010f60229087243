"""Make the training examples of one pass, and those of development.

    python -m tests.benchmarks.reader.data WORK --seed 1 --questions 45000

reads what `retrieved.py` wrote and writes `examples-1.jsonl`, `examples-1.npz` (as tokens) and `dev.jsonl`.
Another seed takes other questions first, and other negatives, near misses and paraphrases for each.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

from .batches import tokenise
from .examples import UNTOLD, Example, Passages, passages_of, unanswered
from .notes import pages
from .pages import page_groups
from .sources import (
    DATA,
    GUESSED,
    HELD_OUT_ARTICLES,
    article_of,
    article_text,
    by_digest,
    read_lines,
    squad_paragraphs,
    trained_articles,
    trained_contracts,
    write_lines,
)
from .wording import (
    Entity,
    about_another,
    as_list,
    asks_for_another,
    entities,
    negated,
    paraphrase,
    sentences,
    with_other_answer,
    without_answer,
    word_swapped,
)

# Shares of squad-train-v1's questions that get each.
HARD_NEGATIVE = 0.55
NEAR_MISS = 0.55
PARAPHRASED = 0.25
LISTED = 0.08
OTHER_ANSWER = 0.08


def _holding(rows: list[dict[str, Any]], start: int, end: int) -> dict[str, Any] | None:
    return next((row for row in rows if row["start"] <= start and end <= row["end"]), None)


class Squad:
    """Questions of squad-train-v1 on passages as the product cuts them."""

    def __init__(self, work: Path) -> None:
        self.passages = passages_of(work, "squad-train")
        self._by_end = {(file, row["end"]): row for file, rows in self.passages.items() for row in rows}
        self.ranked = {row["id"]: row["ranked"] for row in read_lines(work / "ranked/squad-train.jsonl")}
        self.questions = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-train-v1/queries.jsonl")}
        self._starts: dict[str, int] = {}
        articles = []
        for article, rows in squad_paragraphs():
            articles.append(article)
            self._starts.update(article_text(rows)[1])
        self.dev_articles = set(by_digest(articles)[:HELD_OUT_ARTICLES])
        self._pools: dict[str, list[Entity]] = {}

    def pool(self, file: str) -> list[Entity]:
        """Names, numbers and dates of an article."""
        if file not in self._pools:
            self._pools[file] = [entity for row in self.passages[file] for entity in entities(row["text"])]
        return self._pools[file]

    def answered(self) -> Iterator[tuple[Example, str]]:
        """Each question with its passage, and the file; guessed offsets and answers across two passages left out."""
        for row in read_lines(DATA / "squad-train-v1/answers.jsonl"):
            file = article_of(row["doc"]) + ".md"
            if row["start_source"] == GUESSED:
                continue
            start = self._starts[row["doc"]] + row["start"]
            answer = row["answers"][0]
            passage = _holding(self.passages[file], start, start + len(answer))
            if passage is None:
                continue
            at = start - passage["start"]
            if passage["text"][at : at + len(answer)] == answer:
                question = self.questions[row["_id"]]
                context, text = passage["context"], passage["text"]
                yield Example(row["_id"], question, context, text, at, at + len(answer), True, 1, "squad"), file

    def hard(self, example: Example) -> list[Example]:
        """Passages ranked high for the question that do not hold the answer."""
        answer = example.text[example.start : example.end].lower()
        found = []
        for file, _, end in self.ranked.get(example.group, ()):
            row = self._by_end.get((file, end))
            train = row is not None and (file[:-3] in self.dev_articles) == self.is_dev(example.group)
            if row is not None and train and row["text"] != example.text and answer not in row["text"].lower():
                found.append(unanswered(example, row["context"], row["text"], 0, "hard"))
        return found

    def is_dev(self, question: str) -> bool:
        """Whether a question is of an article kept for development."""
        return article_of(question) in self.dev_articles


def near_miss(example: Example, pool: list[Entity], random: Random) -> Example | None:
    """A question that the passage seems to answer and does not, or the passage without what answers."""
    answer = example.text[example.start : example.end]
    question, text = example.question, example.text
    ways = ["entity"] * 9 + ["negated"] * 3 + ["word"] * 2 + ["removed"] * 3 + ["passage"] * 4
    random.shuffle(ways)
    for way in dict.fromkeys(ways):
        asked: str | None = question
        shown: str | None = text
        if way == "entity":
            asked = asks_for_another(question, text, answer, pool, random)
        elif way == "negated":
            asked = negated(question, random)
        elif way == "word":
            asked = word_swapped(question, text, answer, random)
        elif way == "removed":
            shown = without_answer(text, answer)
        else:
            shown = about_another(question, text, answer, pool, random)
        if asked is not None and shown is not None:
            missed = unanswered(example, example.context, shown, UNTOLD, f"near-{way}")
            return replace(missed, question=asked)
    return None


def squad_groups(squad: Squad, questions: int, random: Random) -> Iterator[list[Example]]:
    """Questions of squad-train-v1 with a negative, a near miss, or both."""
    rows = [(example, file) for example, file in squad.answered() if not squad.is_dev(example.group)]
    random.shuffle(rows)
    for example, file in rows[:questions]:
        asked = example
        if random.random() < PARAPHRASED:
            asked = replace(example, question=paraphrase(example.question, random), kind="squad-paraphrased")
        group = [_reshaped(asked, squad.pool(file), random)]
        negatives = squad.hard(asked)
        if negatives and random.random() < HARD_NEGATIVE:
            group.append(random.choice(negatives[:6]))
        if random.random() < NEAR_MISS:
            missed = near_miss(asked if random.random() < 0.3 else example, squad.pool(file), random)
            group += [missed] if missed is not None else []
        yield group


def _reshaped(example: Example, pool: list[Entity], random: Random) -> Example:
    draw = random.random()
    if draw < LISTED:
        text, start, end = as_list(example.text, example.start, example.end, random)
        return replace(example, text=text, start=start, end=end)
    if draw < LISTED + OTHER_ANSWER:
        changed = with_other_answer(example.text, example.start, example.end, pool, random)
        if changed is not None:
            return replace(example, text=changed[0], start=changed[1], end=changed[2])
    return example


def human_groups(work: Path) -> Iterator[list[Example]]:
    """The unanswerable questions of the 20 articles, each with the passage of its paragraph that is most like it."""
    passages = passages_of(work, "squad-dev")
    texts = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-dev-v2/corpus.jsonl")}
    trained = set(trained_articles()[0])
    files = {row["id"]: row["file"] for row in read_lines(DATA / "squad-dev-v2/questions.jsonl")}
    asked = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-dev-v2/queries.jsonl")}
    for row in read_lines(DATA / "squad-dev-v2/answers.jsonl"):
        file = files[row["_id"]]
        if row["answerable"] or file not in trained:
            continue
        question = " ".join(asked[row["_id"]].split())
        parts = [part for part in passages[file] if part["text"].strip() in texts[row["doc"]]]
        if not parts:
            continue
        words = set(re.findall(r"\w+", question.lower()))
        best = max(parts, key=lambda part: len(words & set(re.findall(r"\w+", part["text"].lower()))))
        yield [Example(row["_id"], question, best["context"], best["text"], -1, -1, False, UNTOLD, "human")]


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


def cloze_groups(passages: Passages, count: int, random: Random, kind: str) -> Iterator[list[Example]]:
    """Sentences with a blank in the place of a name, number or date; and the passage without that sentence."""
    rows = [(file, at) for file, parts in passages.items() for at in range(len(parts))]
    made = 0
    for number in range(10 * count):
        file, at = random.choice(rows)
        part = passages[file][at]
        example = _cloze(part, random)
        if example is None:
            continue
        answer = part["text"][example.start : example.end]
        example = replace(example, group=f"{kind}-{number}", kind=kind)
        group = [example]
        left = without_answer(part["text"], answer)
        beside = passages[file][at - 1] if at else None
        if left is not None and random.random() < 0.5:
            group.append(unanswered(example, part["context"], left, UNTOLD, kind + "-removed"))
        elif beside is not None and answer.lower() not in beside["text"].lower():
            group.append(unanswered(example, beside["context"], beside["text"], 0, kind + "-beside"))
        yield group
        made += 1
        if made == count:
            return


_BLANKS = {
    "name": ("who or what", "which one", "____", "what"), "year": ("which year", "when", "____"),
    "number": ("how many", "what number", "____"), "month": ("which month", "when", "____"),
    "day": ("which day", "when", "____"), "spelled": ("how many", "____"),
}  # fmt: skip


def _cloze(part: dict[str, Any], random: Random) -> Example | None:
    text = part["text"]
    start, end = random.choice(sentences(text) or [(0, len(text))])
    inside = [entity for entity in entities(text) if start <= entity.start and entity.end <= end]
    words = text[start:end].split()
    if not inside or not 6 <= len(words) <= 40 or "|" in words:
        return None
    entity = random.choice(inside)
    if text[start:end].count(entity.text) != 1:
        return None
    blank = random.choice(_BLANKS[entity.kind])
    question = text[start : entity.start] + f" {blank} " + text[entity.end : end]
    question = " ".join(question.strip("-*•> \n").split()).rstrip(".")
    question = _thinned(question, blank, random)
    if random.random() < 0.5:
        question = paraphrase(question, random)
    return Example("", question, part["context"], text, entity.start, entity.end, True, 1, "")


def _thinned(question: str, blank: str, random: Random) -> str:
    """Some words left out, most of them far from the blank, so that the sentence is not simply found again."""
    keep = random.choice((1.0, 0.85, 0.7))
    before, after = question.split(blank, 1)
    left = [word for word in before.split() if random.random() < keep]
    right = [word for word in after.split() if random.random() < keep]
    return " ".join([*left[-12:], blank, *right[:12]])


def heading_groups(passages: Passages, random: Random) -> Iterator[list[Example]]:
    """Questions made from headings: their own passage answers as a whole, another of the file does not."""
    forms = ("{}", "what about {}?", "notes on {}", "tell me about {}", "What does it say about {}?", "{} overview")
    for file, parts in passages.items():
        for number, part in enumerate(parts):
            heading = part["context"].split(" › ")[-1]
            others = [other for other in parts if heading.lower() not in (other["context"] + other["text"]).lower()]
            if not heading or not others:
                continue
            question = random.choice(forms).format(heading if random.random() < 0.5 else heading.lower())
            group = f"heading-{file}-{number}"
            first = Example(group, question, part["context"], part["text"], -1, -1, True, 1, "heading")
            other = random.choice(others)
            yield [first, unanswered(first, other["context"], other["text"], 0, "heading-other")]


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


def training_groups(work: Path, *, questions: int, seed: int, times: int, page_times: int) -> list[list[Example]]:
    """All groups of one pass, shuffled; groups of one question several times over get names of their own."""
    random = Random(seed)  # noqa: S311 - no secret
    squad = Squad(work)
    shown = {file: rows for file, rows in squad.passages.items() if file[:-3] not in squad.dev_articles}
    sample = passages_of(work, "sample")
    groups = list(squad_groups(squad, questions, random))
    for time in range(times):
        groups += _named(human_groups(work), f"human-{time}")
    for time in range(times):
        groups += _named(contract_groups(work, random), f"contract-{time}")
    for time in range(times):
        groups += _named(heading_groups(sample, random), f"sample-{time}")
    for time in range(page_times):
        groups += _named(page_groups(passages_of(work, "pages"), random), f"page-{time}")
    groups += cloze_groups(shown, questions // 9, random, "cloze")
    groups += cloze_groups(sample, 400, random, "sample-cloze")
    groups += written_groups(questions // 11, random)
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
    parser.add_argument("--times", type=int, default=3, help="each human near miss, contract and heading so often")
    parser.add_argument("--page-times", type=int, default=6, help="each question on a page so often")
    options = parser.parse_args()
    groups = training_groups(
        options.work,
        questions=options.questions,
        seed=options.seed,
        times=options.times,
        page_times=options.page_times,
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
