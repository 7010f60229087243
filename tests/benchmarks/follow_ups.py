"""How often a follow-up question finds its passage: as typed, as completed by the conversation, and written out.

Usage: python -m tests.benchmarks.follow_ups. Fifty follow-ups on corpus/sample: thirty written before the rules for
completing them and twenty after, for which no rule was made; and ten other questions, which must be asked as typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qa import Retriever, build_index
from qa.conversation.follow_up import Turn, next_turn
from tests.benchmarks.common import read_lines, temporary_copy
from tests.paths import REPOSITORY, SAMPLE


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question, its exact answer, a follow-up, the follow-up written out, and a text in the right passage."""

    before: str
    answer: str
    follow_up: str
    alone: str
    evidence: str | None
    held_out: bool

    @property
    def completed(self) -> str:
        """The question as the conversation asks it."""
        return next_turn(self.follow_up, Turn(self.before, self.answer)).question


def read() -> list[FollowUp]:
    """All follow-ups."""
    return [FollowUp(**row) for row in read_lines(REPOSITORY / "tests" / "qa" / "conversation" / "follow_ups.jsonl")]


def count_found(retriever: Retriever, questions: Sequence[tuple[str, str]], *, rerank: bool = True) -> tuple[int, int]:
    """Count the questions whose evidence is in the first passage, and those with it in the first three."""
    first = among = 0
    for question, evidence in questions:
        texts = [hit.text.replace("\n", " ") for hit in retriever.ask(question, k=3, rerank=rerank).passages]
        first += evidence in texts[0]
        among += any(evidence in text for text in texts)
    return first, among


def main() -> None:
    """Print the table."""
    rows = [(row, row.evidence) for row in read() if row.evidence is not None]
    with temporary_copy(SAMPLE) as root:
        build_index(root)
        with Retriever.open(root) as retriever:
            for form in ("follow_up", "completed", "alone"):
                for held_out in (False, True):
                    questions = [(getattr(row, form), evidence) for row, evidence in rows if row.held_out is held_out]
                    first, among = count_found(retriever, questions)
                    part = "held out" if held_out else "first"
                    print(f"{form:<10} {part:<9} {len(questions)}: {first} first, {among} of three")


if __name__ == "__main__":
    main()
