"""Questions of squad-train-v1 with a few words changed, so that their passage only seems to answer them.

A line of `edits/` has a question's id and its changes: `3:5 words` replaces the fourth and fifth word. `=` before the
changes means that the answer is still right. Only changes are stored, because the questions are not ours. The style of
original and changed questions is the same, so it gives nothing away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from .examples import UNKNOWN, Example, unanswered
from .squad import Squad
from .wording import as_typed

EDITS = Path(__file__).parent / "edits"
BETWEEN = " | "
_ANSWERED = "="

# Start and end of the replaced words, and their replacement.
Change = tuple[int, int, str]


def read_changes(parts: list[str]) -> list[Change]:
    """Read changes such as `3:5 words`."""
    changes = []
    for part in parts:
        place, _, words = part.partition(" ")
        start, end = map(int, place.split(":"))
        changes.append((start, end, words))
    return changes


def changed(question: str, changes: list[Change]) -> str:
    """Apply changes to a question."""
    words = question.split()
    for start, end, replacement in reversed(changes):
        words[start:end] = replacement.split()
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Edit:
    """The changes of a question, and whether its answer is still right."""

    changes: list[Change]
    is_answered: bool = False


def read_edits(folder: Path = EDITS) -> dict[str, list[Edit]]:
    """All edits by the question's id."""
    found: dict[str, list[Edit]] = defaultdict(list)
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            question, *changes = line.split(BETWEEN)
            is_answered = changes[0] == _ANSWERED
            found[question].append(Edit(read_changes(changes[is_answered:]), is_answered))
    return found


def edit_groups(squad: Squad, random: Random) -> Iterator[list[Example]]:
    """Each question that has edits, with its passage, as it was and after each edit."""
    edits = read_edits()
    for original, _ in squad.answered():
        if original.group not in edits or squad.is_dev(original.group):
            continue
        answered = replace(original, group=f"edit-{original.group}")
        missed = unanswered(answered, {"context": answered.context, "text": answered.text}, UNKNOWN, "edited")
        variants = [(answered, answered.question)]
        for edit in edits[original.group]:
            variants.append((answered if edit.is_answered else missed, changed(answered.question, edit.changes)))
        yield [replace(example, question=as_typed(question, random)) for example, question in variants]
