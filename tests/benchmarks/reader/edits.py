"""Questions of squad-train-v1 of which a few words are changed, so that their passage only seems to answer them.

A line of `edits/` has a question's id and its changes: `3:5 words` puts these in place of the fourth and fifth word.
Changes alone are kept, since the questions are not ours. As original and change sound alike, style tells nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from random import Random

from .examples import UNTOLD, Example, unanswered
from .squad import Squad
from .wording import as_typed

EDITS = Path(__file__).parent / "edits"
_BETWEEN = " | "

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


def as_line(question: str, changes: list[Change]) -> str:
    """A line of `edits/`, of a question's id."""
    return _BETWEEN.join((question, *(f"{start}:{end} {words}".rstrip() for start, end, words in changes)))


def read_edits(folder: Path = EDITS) -> dict[str, list[list[Change]]]:
    """Changes by the question's id, each of which makes another question."""
    found: dict[str, list[list[Change]]] = defaultdict(list)
    for file in sorted(folder.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            question, *changes = line.split(_BETWEEN)
            parts = [change.partition(" ") for change in changes]
            found[question].append([(*map(int, place.split(":")), words) for place, _, words in parts])  # type: ignore[misc]
    return found


def edit_groups(squad: Squad, random: Random) -> Iterator[list[Example]]:
    """Each question that was changed with its passage, and as it is after each change."""
    edits = read_edits()
    for told, _ in squad.answered():
        if told.group not in edits or squad.is_dev(told.group):
            continue
        missed = unanswered(told, told.context, told.text, UNTOLD, "edited")
        for number, changes in enumerate(edits[told.group]):
            asked = as_typed(changed(told.question, changes), random)
            yield [replace(missed, group=f"edit-{told.group}-{number}", question=asked)]
        yield [replace(told, group=f"edit-{told.group}", question=as_typed(told.question, random))]
