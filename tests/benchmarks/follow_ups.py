"""How often a follow-up question of a conversation finds its passage: as typed, completed, and asked on its own.

Usage: python -m tests.benchmarks.follow_ups. Fifty questions on corpus/sample: thirty were written before there was a
rule, twenty after, for which none was made; and ten that are no follow-ups, which must be asked as they are.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from qa import Retriever, build_index
from qa.conversation.follow_up import Turn, completed
from tests.paths import REPOSITORY, SAMPLE


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question and its exact answer, what is asked next, the same on its own, and what the right passage says."""

    before: str
    answer: str
    follow_up: str
    alone: str
    evidence: str | None
    held_out: bool

    @property
    def completed(self) -> str:
        """What is asked in a conversation."""
        return completed(self.follow_up, Turn(self.before, self.answer))


def read() -> list[FollowUp]:
    """The whole set."""
    file = REPOSITORY / "tests" / "qa" / "conversation" / "follow_ups.jsonl"
    return [FollowUp(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def found(retriever: Retriever, questions: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Of questions with what the right passage says: how often it is first, and among the first three."""
    first = among = 0
    for question, evidence in questions:
        texts = [hit.text.replace("\n", " ") for hit in retriever.ask(question, k=3).passages]
        first += evidence in texts[0]
        among += any(evidence in text for text in texts)
    return first, among


def main() -> None:
    """Print the table."""
    rows = [(one, one.evidence) for one in read() if one.evidence is not None]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "sample"
        shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(".qa"))
        build_index(root)
        with Retriever.open(root) as retriever:
            for how in ("follow_up", "completed", "alone"):
                for held_out in (False, True):
                    asked = [(getattr(one, how), says) for one, says in rows if one.held_out is held_out]
                    first, among = found(retriever, asked)
                    which = "held out" if held_out else "first"
                    print(f"{how:<10} {which:<9} {len(asked)}: {first} first, {among} of three")


if __name__ == "__main__":
    main()
