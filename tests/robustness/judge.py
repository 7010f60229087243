"""What is wrong with an index after something happened to whoever wrote it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from corpus.errors import QAError
from index.dense.vector_rows import vector_digest
from tests.robustness.contents import content, difference, logical, stored_digests, strays
from tests.robustness.forks import in_fork
from tests.robustness.scenarios import Expected, bring_up_to_date

_SECONDS = 60.0


def look(root: Path, expected: Expected, *, done: bool) -> list[str]:
    """Open it, bring it up to date, compare; in a process of its own.

    Args:
        root: The folder of documents.
        expected: What is allowed.
        done: Whether the operation said that it was done.

    Returns:
        What is wrong, nothing if all is well.
    """
    looked = in_fork(partial(_look, root, expected, done=done), seconds=_SECONDS)
    if looked.status or looked.error or looked.late:
        return [f"looking: {looked}"]
    found: list[str] = looked.value
    return found


def _look(root: Path, expected: Expected, *, done: bool) -> list[str]:
    wrong = _state(root, expected, done=done)
    stored = expected.digests | stored_digests(root)
    _, encoder = bring_up_to_date(root)
    again = [text for text in encoder.embedded if vector_digest(encoder.fingerprint, text).hex() in stored]
    if again:
        wrong.append(f"embedded again: {again}")
    if differs := difference(logical(content(root)), expected.clean):
        wrong.append(f"brought up to date, it differs from a first build in: {differs}")
    if names := strays(root):
        wrong.append(f"stray files: {names}")
    return wrong


def _state(root: Path, expected: Expected, *, done: bool) -> list[str]:
    """Old or new, complete, or a typed error that names the index and what to do."""
    try:
        found: dict[str, Any] = content(root)
    except QAError as error:
        wrong = [f"opening: {type(error).__name__}: {error}"] if done or not isinstance(error, expected.interim) else []
        return wrong if ".qa" in str(error) and "`qa " in str(error) else [*wrong, f"names no fix: {error}"]
    from_new = difference(found, expected.new)
    if not from_new:
        return []
    if done or expected.old is None:
        return [f"differs from the new generation in: {from_new}"]
    from_old = difference(found, expected.old)
    return [f"neither old nor new; it differs from them in: {from_old}; {from_new}"] if from_old else []
