"""An index that somebody else wrote: asked within limits of time and memory, and checked."""

from __future__ import annotations

from corpus.errors import QAError
from qa import check
from tests.damage.forks import in_child, run
from tests.damage.picture import Refused
from tests.damage.samples import Sample
from tests.damage.trials import MEMORY, SECONDS, Outcome, compare, is_clear

# An id that no table has.
NOWHERE = 10**12


def answers(sample: Sample) -> tuple[Outcome, str, list[str]]:
    """Ask everything within the limits; the outcome, why, and which questions were refused."""

    def task() -> tuple[Outcome, str, list[str]]:
        generation, found = sample.ask()
        refused = [name for name, answer in found.items() if isinstance(answer, Refused)]
        return (*compare(sample, generation, found), refused)

    ended = run(task, seconds=SECONDS, memory=sample.size + MEMORY)
    assert not ended.signal, ended.signal
    assert not ended.error, ended.error
    assert ended.grown < sample.size + MEMORY
    outcome: tuple[Outcome, str, list[str]] = ended.value
    return outcome


def checked(sample: Sample) -> str:
    """What `qa check` says: "" where it finds nothing."""

    def task() -> str:
        try:
            check.check(sample.root)
        except QAError as error:
            return str(error) if is_clear(error) else f"unclear: {error}"
        return ""

    said = in_child(task)
    assert not said.startswith("unclear")
    return said
