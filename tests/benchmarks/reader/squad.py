"""Examples from SQuAD: questions with their answers, hard negatives, and near misses by rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.common import read_lines

from .examples import UNKNOWN, Example, most_similar, passages_of, unanswered
from .paragraphs import read_questions
from .sources import DATA, GUESSED, article_of, article_text, held_out_articles, squad_paragraphs
from .wording import (
    Entity,
    about_another,
    as_list,
    asks_for_another,
    entities,
    negated,
    paraphrase,
    with_other_answer,
    without_answer,
    word_swapped,
)

# Shares of squad-train-v1's questions.
HARD_NEGATIVE = 0.55
NEAR_MISS = 0.55
# Number of passages ranked high, among which hard negatives are.
DEPTH = 10
PARAPHRASED = 0.25
LISTED = 0.08
OTHER_ANSWER = 0.08


def _passage_around(rows: list[dict[str, Any]], start: int, end: int) -> dict[str, Any] | None:
    return next((row for row in rows if row["start"] <= start and end <= row["end"]), None)


class Squad:
    """Questions of squad-train-v1 on passages as the product splits them."""

    def __init__(self, work: Path) -> None:
        self.passages = passages_of(work, "squad-train")
        self._by_end = {(file, row["end"]): row for file, rows in self.passages.items() for row in rows}
        self.ranked = {row["id"]: row["ranked"] for row in read_lines(work / "ranked/squad-train.jsonl")}
        self.questions = {row["_id"]: row["text"] for row in read_lines(DATA / "squad-train-v1/queries.jsonl")}
        articles = squad_paragraphs()
        self._starts = {key: start for rows in articles.values() for key, start in article_text(rows)[1].items()}
        self.dev_articles = set(held_out_articles(articles))
        self._pools: dict[str, list[Entity]] = {}

    def pool(self, file: str) -> list[Entity]:
        """Names, numbers and dates of an article."""
        if file not in self._pools:
            self._pools[file] = [entity for row in self.passages[file] for entity in entities(row["text"])]
        return self._pools[file]

    def answered(self) -> Iterator[tuple[Example, str]]:
        """Each question with its passage, and the file; not if its offset is a guess or its answer is split."""
        for row in read_lines(DATA / "squad-train-v1/answers.jsonl"):
            file = article_of(row["doc"]) + ".md"
            if row["start_source"] == GUESSED:
                continue
            start = self._starts[row["doc"]] + row["start"]
            answer = row["answers"][0]
            passage = _passage_around(self.passages[file], start, start + len(answer))
            if passage is None:
                continue
            at = start - passage["start"]
            if passage["text"][at : at + len(answer)] == answer:
                question = self.questions[row["_id"]]
                context, text = passage["context"], passage["text"]
                yield Example(row["_id"], question, context, text, at, at + len(answer), True, 1, "squad"), file

    def hard_negatives(self, example: Example) -> list[Example]:
        """Passages ranked high for the question that do not contain the answer.

        For a question that `retrieved.py` has not reached, those of its article with the most words in common.
        """
        answer = example.text[example.start : example.end].lower()
        if example.group in self.ranked:
            places = self.ranked[example.group]
            ranked = [row for file, _, end in places if (row := self._by_end.get((file, end))) is not None]
        else:
            ranked = most_similar(example.question, self.passages[article_of(example.group) + ".md"])[:DEPTH]
        negatives = []
        for row in ranked:
            same_split = (row["file"][:-3] in self.dev_articles) == self.is_dev(example.group)
            if same_split and row["text"] != example.text and answer not in row["text"].lower():
                negatives.append(unanswered(example, row, 0, "hard"))
        return negatives

    def is_dev(self, question: str) -> bool:
        """Whether a question is of an article kept for development."""
        return article_of(question) in self.dev_articles


def near_miss(example: Example, pool: list[Entity], random: Random) -> Example | None:
    """A changed question that the passage only seems to answer, or a changed passage without the answer."""
    answer = example.text[example.start : example.end]
    question, text = example.question, example.text
    changes = ["entity"] * 9 + ["negated"] * 3 + ["word"] * 2 + ["removed"] * 3 + ["passage"] * 4
    random.shuffle(changes)
    for change in dict.fromkeys(changes):
        new_question: str | None = question
        new_text: str | None = text
        if change == "entity":
            new_question = asks_for_another(question, text, answer, pool, random)
        elif change == "negated":
            new_question = negated(question, random)
        elif change == "word":
            new_question = word_swapped(question, text, answer, random)
        elif change == "removed":
            new_text = without_answer(text, answer)
        else:
            new_text = about_another(question, text, answer, pool, random)
        if new_question is not None and new_text is not None:
            miss = unanswered(example, {"context": example.context, "text": new_text}, UNKNOWN, f"near-{change}")
            return replace(miss, question=new_question)
    return None


def squad_groups(squad: Squad, questions: int, hard: float, near: float, random: Random) -> Iterator[list[Example]]:
    """Questions of squad-train-v1, some with a hard negative or a near miss.

    Questions on paragraphs that also have questions in `paragraphs/` come first.
    """
    rows = [(example, file) for example, file in squad.answered() if not squad.is_dev(example.group)]
    random.shuffle(rows)
    written = {paragraph for paragraph, _ in read_questions()}
    rows.sort(key=lambda row: row[0].group.rpartition("-")[0] not in written)
    for example, file in rows[:questions]:
        variant = example
        if random.random() < PARAPHRASED:
            variant = replace(example, question=paraphrase(example.question, random), kind="squad-paraphrased")
        group = [_reshape(variant, squad.pool(file), random)]
        negatives = squad.hard_negatives(variant)
        if negatives and random.random() < hard:
            group.append(random.choice(negatives[:6]))
        if random.random() < near:
            miss = near_miss(variant if random.random() < 0.3 else example, squad.pool(file), random)
            group += [miss] if miss is not None else []
        yield group


def _reshape(example: Example, pool: list[Entity], random: Random) -> Example:
    draw = random.random()
    if draw < LISTED:
        text, start, end = as_list(example.text, example.start, example.end, random)
        return replace(example, text=text, start=start, end=end)
    if draw < LISTED + OTHER_ANSWER:
        changed = with_other_answer(example.text, example.start, example.end, pool, random)
        if changed is not None:
            return replace(example, text=changed[0], start=changed[1], end=changed[2])
    return example
