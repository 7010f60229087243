"""An index that somebody else wrote: asked within limits of time and memory, and checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import QAError
from qa.collection import check
from tests.robustness.fork_server import run, value_of
from tests.robustness.picture import Refused
from tests.robustness.samples import Sample
from tests.robustness.trials import MEMORY, SECONDS, Outcome, compare, is_clear

# An id that no table has.
NOWHERE = 10**12


def answers(sample: Sample) -> tuple[Outcome, str, list[str]]:
    """Ask everything within the limits; the outcome, why, and which questions were refused."""
    outcome: tuple[Outcome, str, list[str]] = within_limits(partial(_answers, sample), sample)
    return outcome


def within_limits(task: Callable[[], object], sample: Sample) -> Any:
    """The value of a task that has the time and the memory that a question may need."""
    ended = run(task, seconds=SECONDS, memory=sample.size + MEMORY)
    assert not ended.signal, ended.signal
    assert not ended.error, ended.error
    assert ended.grown < sample.size + MEMORY
    return ended.value


def _answers(sample: Sample) -> tuple[Outcome, str, list[str]]:
    generation, found = sample.ask()
    refused = [name for name, answer in found.items() if isinstance(answer, Refused)]
    return (*compare(sample, generation, found), refused)


def checked(sample: Sample) -> str:
    """What `qa check` says: "" where it finds nothing."""
    said = value_of(partial(_checked, sample.root))
    assert not said.startswith("unclear")
    return said


def _checked(root: Path) -> str:
    try:
        check.check(root)
    except QAError as error:
        return str(error) if is_clear(error) else f"unclear: {error}"
    return ""
