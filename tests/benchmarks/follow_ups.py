"""How often a follow-up question finds its passage: as typed, as completed by the conversation, and written out.

Usage: python -m tests.benchmarks.follow_ups. Fifty follow-ups on corpus/sample: thirty written before the rules for
completing them and twenty after, for which no rule was made; and ten other questions, which must be asked as typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qa import Retriever, build_index
from qa.conversation.follow_up import Turn, next_turn
from tests.benchmarks.common import copied, read_lines
from tests.paths import REPOSITORY, SAMPLE


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question and its exact answer, the follow-up, the same written out, and a text in the right passage."""

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


def found(retriever: Retriever, questions: Sequence[tuple[str, str]], *, rerank: bool = True) -> tuple[int, int]:
    """How often the passage with a question's evidence comes first, and how often it is among the first three."""
    first = among = 0
    for question, evidence in questions:
        texts = [hit.text.replace("\n", " ") for hit in retriever.ask(question, k=3, rerank=rerank).passages]
        first += evidence in texts[0]
        among += any(evidence in text for text in texts)
    return first, among


def main() -> None:
    """Print the table."""
    rows = [(one, one.evidence) for one in read() if one.evidence is not None]
    with copied(SAMPLE) as root:
        build_index(root)
        with Retriever.open(root) as retriever:
            for how in ("follow_up", "completed", "alone"):
                for held_out in (False, True):
                    asked = [(getattr(one, how), evidence) for one, evidence in rows if one.held_out is held_out]
                    first, among = found(retriever, asked)
                    which = "held out" if held_out else "first"
                    print(f"{how:<10} {which:<9} {len(asked)}: {first} first, {among} of three")


if __name__ == "__main__":
    main()
