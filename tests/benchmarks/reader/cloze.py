"""Questions made from passages: sentences with a blank, and headings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from .examples import UNKNOWN, Example, Passages, unanswered
from .wording import entities, paraphrase, sentences, without_answer


def cloze_groups(passages: Passages, count: int, random: Random, kind: str) -> Iterator[list[Example]]:
    """Sentences with a blank for a name, number or date; some also with a passage without the answer."""
    rows = [(file, at) for file, parts in passages.items() for at in range(len(parts))]
    yielded = 0
    for number in range(10 * count):
        file, at = random.choice(rows)
        part = passages[file][at]
        example = _cloze(part, random)
        if example is None:
            continue
        answer = part["text"][example.start : example.end]
        example = replace(example, group=f"{kind}-{number}", kind=kind)
        group = [example]
        shortened = without_answer(part["text"], answer)
        previous = passages[file][at - 1] if at else None
        if shortened is not None and random.random() < 0.5:
            group.append(unanswered(example, {**part, "text": shortened}, UNKNOWN, kind + "-removed"))
        elif previous is not None and answer.lower() not in previous["text"].lower():
            group.append(unanswered(example, previous, 0, kind + "-beside"))
        yield group
        yielded += 1
        if yielded == count:
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
    question = _thin_out(question, blank, random)
    if random.random() < 0.5:
        question = paraphrase(question, random)
    return Example("", question, part["context"], text, entity.start, entity.end, True, 1, "")


def _thin_out(question: str, blank: str, random: Random) -> str:
    """Leave out some words, mostly far from the blank, so that the sentence cannot simply be matched."""
    keep = random.choice((1.0, 0.85, 0.7))
    before, after = question.split(blank, 1)
    words_before = [word for word in before.split() if random.random() < keep]
    words_after = [word for word in after.split() if random.random() < keep]
    return " ".join([*words_before[-12:], blank, *words_after[:12]])


def heading_groups(passages: Passages, random: Random) -> Iterator[list[Example]]:
    """Questions made from headings, answered by their passages, and with another passage of the file."""
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
            yield [first, unanswered(first, random.choice(others), 0, "heading-other")]
