"""Questions of squad-train-v1 of which a few words are changed, so that their passage only seems to answer them.

A line of `edits/` has a question's id and its changes: `3:5 words` puts these in place of the fourth and fifth word.
Where `=` is before the changes, the question is still answered, by the same answer. Changes alone are kept, since the
questions are not ours. As original and change sound alike, style tells nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

from .examples import UNTOLD, Example, unanswered
from .squad import Squad
from .wording import as_typed

EDITS = Path(__file__).parent / "edits"
_BETWEEN = " | "
_ANSWERED = "="

# The first word that is replaced, the first that is not, and what stands there instead.
Change = tuple[int, int, str]


def changes_between(question: str, changed: str) -> list[Change]:
    """What makes one question of another."""
    before, after = question.split(), changed.split()
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(start, end, " ".join(after[a:b])) for kind, start, end, a, b in steps if kind != "equal"]


def changed(question: str, changes: list[Change]) -> str:
    """A question with its changes."""
    words = question.split()
    for start, end, instead in reversed(changes):
        words[start:end] = instead.split()
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Edit:
    """What makes another question of one: its changes, and whether the same answer is still right."""

    changes: list[Change]
    answered: bool = False


def as_line(question: str, edit: Edit) -> str:
    """A line of `edits/`, of a question's id."""
    mark = [_ANSWERED] if edit.answered else []
    return _BETWEEN.join((question, *mark, *(f"{start}:{end} {words}".rstrip() for start, end, words in edit.changes)))


def read_edits(folder: Path = EDITS) -> dict[str, list[Edit]]:
    """Edits by the question's id, each of which makes another question."""
    found: dict[str, list[Edit]] = defaultdict(list)
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            question, *changes = line.split(_BETWEEN)
            answered = changes[0] == _ANSWERED
            parts = [change.partition(" ") for change in changes[answered:]]
            places = [(*map(int, place.split(":")), words) for place, _, words in parts]
            found[question].append(Edit(places, answered))  # type: ignore[arg-type]
    return found


def edit_groups(squad: Squad, random: Random) -> Iterator[list[Example]]:
    """Each question that was changed with its passage, and as it is after each change."""
    edits = read_edits()
    for original, _ in squad.answered():
        if original.group not in edits or squad.is_dev(original.group):
            continue
        told = replace(original, group=f"edit-{original.group}")
        missed = unanswered(told, told.context, told.text, UNTOLD, "edited")
        asked = [(told, told.question)]
        asked += [
            (told if edit.answered else missed, changed(told.question, edit.changes)) for edit in edits[original.group]
        ]
        yield [replace(example, question=as_typed(question, random)) for example, question in asked]
