"""What several commands do with the terminal: open a collection and say what was done to it, draw progress."""

# ruff: noqa: PLC0415 - numpy, faiss and tqdm take long to import; what needs them is imported when it is called

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.errors import UsageError
from qa import locate
from qa.terminal import answers, reports

if TYPE_CHECKING:
    from index import Progress, ProgressCallback
    from qa.retrieval.retriever import Retriever

# What lives as long as the process.
_HELD: list[object] = []


def style() -> answers.TerminalStyle:
    """How to write results."""
    return answers.TerminalStyle.of(sys.stdout)


def as_line(value: dict[str, Any]) -> str:
    """A JSON object as a line of results."""
    return answers.as_json(value, sys.stdout) + "\n"


def require_one_collection(corpus: Path | None, index: Path | None, *, no_update: bool) -> None:
    """Refuse options that contradict each other.

    Raises:
        UsageError: They do.
    """
    if corpus is not None and (index is not None or no_update):
        raise UsageError("--corpus brings its folder up to date and asks it; leave out --index and --no-update")


@contextmanager
def opened(root: Path, *, corpus: bool, update: bool) -> Iterator[Retriever]:
    """Open a collection to ask; what was done to it on the way goes to stderr.

    Args:
        root: The corpus root.
        corpus: Whether to index it first, however much there is to do.
        update: Whether to look for changed files.
    """
    from qa.collection import build

    with progress() as tell:
        if corpus:
            found = build.build_and_open(root, progress=tell)
        elif update:
            found = build.open_current(root, progress=tell)
        else:
            found = build.open_as_is(root)
    # To the end of the process: taking a model apart takes longer than asking it.
    _HELD.append(found.retriever)
    with found.retriever as retriever:
        if found.note:
            answers.note(answers.problem(found.note))
        if found.report is not None:
            words = reports.build if corpus else reports.refreshed
            answers.note(words(found.report, answers.TerminalStyle.of(sys.stderr)))
        yield retriever


def root_to_ask(corpus: Path | None, index: Path | None) -> Path:
    """The collection that --corpus or --index name, or the one around the working directory.

    Raises:
        NoIndexError: There is none.
    """
    return locate.root_of(corpus) if corpus is not None else locate.find_index(None, index=index)


@contextmanager
def progress(doing: str = "Embedding", unit: str = "B") -> Iterator[ProgressCallback | None]:
    """A progress bar on stderr, if that is a terminal; it appears with the first step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bars: list[Any] = []

    def draw(now: Progress) -> None:
        if not bars and now.done < now.total:
            from tqdm import tqdm

            # A terminal may claim to have no columns and rows.
            size = {"ncols": answers.TerminalStyle.of(sys.stderr).width - 1, "nrows": 20}
            units = {"unit": unit, "unit_scale": bool(unit)}
            bar = tqdm(initial=now.done, total=now.total, desc=doing, leave=False, **units, **size)
            bars.append(bar)
        for bar in bars:
            bar.update(now.done - bar.n)

    try:
        yield draw
    finally:
        for bar in bars:
            bar.close()
