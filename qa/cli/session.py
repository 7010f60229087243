"""What several commands do with the terminal: open a collection and report what was done to it, draw progress."""

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

# Kept until the process ends: freeing a model takes longer than asking it.
_KEPT: list[object] = []


def style() -> answers.TerminalStyle:
    """Return how to write results."""
    return answers.TerminalStyle.of(sys.stdout)


def as_line(value: dict[str, Any]) -> str:
    """Return a JSON object as a line of results."""
    return answers.as_json(value, sys.stdout) + "\n"


def collection_root(corpus: Path | None, index: Path | None, *, no_update: bool = False) -> Path:
    """Return the collection that --corpus or --index name, or the one around the working directory."""
    if corpus is None:
        return locate.find_index(index=index)
    if index is not None or no_update:
        raise UsageError("--corpus updates its folder and asks it; leave out --index and --no-update.")
    return locate.root_of(corpus)


@contextmanager
def opened(root: Path, *, corpus: bool, update: bool) -> Iterator[Retriever]:
    """Open a collection to ask; what is done to it first is reported on stderr.

    With `corpus` it is built or updated, however much there is to do; with `update` small changes are indexed.
    """
    from qa.collection.build import Refresh, open_collection

    refresh = Refresh.FULL if corpus else Refresh.SMALL if update else Refresh.NONE
    with progress() as tell:
        found = open_collection(root, refresh=refresh, progress=tell)
    _KEPT.append(found.retriever)
    with found.retriever as retriever:
        if found.note:
            answers.note(answers.problem(found.note))
        if found.report is not None:
            style = answers.TerminalStyle.of(sys.stderr)
            answers.note(reports.build(found.report, style) if corpus else reports.refreshed(found.report))
        yield retriever


@contextmanager
def progress(doing: str = "Embedding", unit: str = "B") -> Iterator[ProgressCallback | None]:
    """Draw a progress bar on stderr if that is a terminal; it appears with the first step."""
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
            bars.append(tqdm(initial=now.done, total=now.total, desc=doing, leave=False, **units, **size))
        for bar in bars:
            bar.update(now.done - bar.n)

    try:
        yield draw
    finally:
        for bar in bars:
            bar.close()
