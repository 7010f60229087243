"""Questions with passages on other subjects, whole or just a line of them.

Without these, a reader that was trained on near misses answers questions that have nothing to do with a passage.
"""

from __future__ import annotations

from random import Random

from .examples import Example, Passages, unanswered

# Share of the passages that are cut to one line with its heading, as short passages are: a date, an item of a list.
_ONE_LINE = 0.4


def add_off_topic(groups: list[list[Example]], passages: Passages, share: float, random: Random) -> None:
    """Add to this share of the groups their question with a random passage of a random file."""
    files = list(passages)
    for group in groups:
        if random.random() >= share:
            continue
        example = random.choice(group)
        passage = random.choice(passages[random.choice(files)])
        text = passage["text"]
        if random.random() < _ONE_LINE:
            text = random.choice([line for line in text.splitlines() if line.strip()] or [text])
        if passage["text"] != example.text:
            group.append(unanswered(example, {"context": passage["context"], "text": text}, 0, "off-topic"))
