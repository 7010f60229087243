"""Shared by commands: find and open a collection, report what was indexed, draw progress."""

# ruff: noqa: PLC0415 - numpy, faiss and tqdm take long to import; what needs them is imported when it is called

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus.errors import CorpusError, NoIndexError, UsageError
from qa import locate
from qa.terminal import answers, reports
from qa.terminal.text import clean_name

if TYPE_CHECKING:
    from index import Progress, ProgressCallback
    from qa.collection.opening import OpenedCollection
    from qa.filters import Filter
    from qa.retrieval.retriever import Retriever

# Kept until the process ends: freeing a model takes longer than using it.
_KEEP_ALIVE: list[object] = []


def style() -> answers.TerminalStyle:
    """Return the style of stdout."""
    return answers.TerminalStyle.of(sys.stdout)


def json_line(value: dict[str, Any]) -> str:
    """Return a JSON object as a line of results."""
    return answers.encode_json(value, sys.stdout) + "\n"


def split_off_folder(words: Sequence[str]) -> tuple[Path | None, tuple[str, ...]]:
    """Split off the folder before a question or place, or after a quoted one; return it, or None, and the other words.

    The first of several bare words may be part of a question. It is a folder only before quoted text, or if it has an
    index and the working directory is in no collection.
    """
    first, *rest = words or ("",)
    is_quoted = len(rest) == 1 and " " in rest[0].strip()
    if first and (_is_path(first) or is_quoted or _is_only_index(first)) and Path(first).is_dir():
        return Path(first), tuple(rest)
    last = rest[0] if len(rest) == 1 and " " in first.strip() else ""
    if last and Path(last).is_dir() and (_is_path(last) or not is_in_collection()):
        return Path(last), (first,)
    return None, tuple(words)


def _is_path(word: str) -> bool:
    return "/" in word or os.sep in word or word in (".", "..")


def refuse_missing_folder(words: Sequence[str], *, is_named: bool) -> None:
    """Raise a UsageError if the word before a question must be a folder but is not, such as "../papres".

    Before quoted text it must be one unless `is_named`: an option names the collection.
    """
    first, *rest = words or ("",)
    path = Path(first)
    is_quoted = len(rest) == 1 and " " in rest[0].strip()
    is_path = ("/" in first or os.sep in first) and " " not in first and (is_quoted or first[0] in "./~")
    is_needed = is_quoted and " " not in first and not is_named and not is_in_collection()
    if is_needed and is_path and path.is_file():
        raise UsageError(f"{first} is a file. Name its folder instead, and the file with --path {path.name}.")
    if not rest or not (is_path or is_needed) or os.path.lexists(path):
        return
    from difflib import get_close_matches

    names: list[str] = []
    with suppress(OSError):
        names = [entry.name for entry in path.parent.iterdir() if entry.is_dir()]
    near = ", ".join(str(path.parent / name) for name in get_close_matches(path.name, names, 3))
    raise UsageError(f"no such folder: {first}.{near and f' Similar: {near}.'}")


def _is_only_index(word: str) -> bool:
    return not is_in_collection() and locate.has_index(Path(word))


def is_in_collection() -> bool:
    """Return whether there is an index in or above the working directory, or the environment names one."""
    try:
        locate.find_index()
    except (NoIndexError, CorpusError):
        return False
    return True


def named_root(folder: Path | None, index: Path | None) -> Path:
    """Return the collection named by an argument or an option, or the one around the working directory."""
    if folder is not None and index is not None:
        raise UsageError("name the collection once: as the first argument or with an option.")
    return locate.find_index(index=folder or index)


def collection_root(
    corpus: Path | None, index: Path | None, *, folder: Path | None = None, no_update: bool = False
) -> Path:
    """Return the collection named by a folder, --corpus or --index, or the one around the working directory."""
    if corpus is None:
        return named_root(folder, index)
    contradictory = {"--index": index is not None, str(folder): folder is not None, "--no-update": no_update}
    if named := [name for name, is_given in contradictory.items() if is_given]:
        raise UsageError(f"--corpus names the folder and updates its index; leave out {' and '.join(named)}.")
    return locate.root_of(corpus)


def part_of_collection(corpus: Path, only: Filter) -> tuple[Path, tuple[str, ...], Filter]:
    """Return the collection that includes the folder of --corpus, the folder in it, and the filter for that folder.

    A folder in no collection is one itself. A note on stderr names the collection above a folder.
    """
    from corpus import literal_pattern
    from qa.collection.named_files import collection_of

    collection = collection_of((corpus,))
    if not collection.paths:
        return collection.root, (), only
    if only.paths:
        root = shlex.quote(str(collection.root))
        raise UsageError(f"{corpus} is part of the collection {collection.root}; with --path, use --corpus {root}.")
    answers.write_stderr(clean_name(collection.note))
    return collection.root, collection.paths, replace(only, paths=tuple(map(literal_pattern, collection.paths)))


def store_root(store: str, *folders: object) -> Path:
    """Return a folder in place of that of a collection used without its files; naming one is a UsageError."""
    if any(folder not in (None, False) for folder in folders):
        raise UsageError("--store names the collection, without its files; leave out folders, --corpus and --index.")
    return locate.working_directory() or Path(os.sep)


def root_around(place: str, index: Path | None) -> Path:
    """Return the collection that contains a place: the one named, or the nearest at or above the place."""
    if index is None and not os.environ.get(locate.INDEX_VARIABLE):
        for start in (Path(place).parent, Path(place)):
            with suppress(NoIndexError):
                return locate.find_index(start)
        if Path(place).is_absolute():
            raise NoIndexError(f"{place} is in no collection.")
    return locate.find_index(index=index)


def rerank_choice(rerank: bool | None, rerank_model: str | None) -> bool | None:  # noqa: FBT001 - of options
    """Return whether the options enable re-ranking; None if they leave it open."""
    if rerank is False and rerank_model is not None:
        raise UsageError("--rerank-model re-ranks; leave out --no-rerank.")
    return rerank if rerank_model is None else True


@contextmanager
def open_retriever(
    root: Path,
    *,
    corpus: bool,
    update: bool,
    reader: bool = True,
    rerank_model: str | None = None,
    device: str = "auto",
    ahead: bool = True,
    store: str | None = None,
    paths: Sequence[str] = (),
) -> Iterator[Retriever]:
    """Open a collection in a folder or a store for questions; report on stderr what was indexed first.

    With `corpus`, build or update it, however long that takes, and add `paths` if it is limited to some; with `update`,
    index small changes. With `ahead`, start loading what a question needs.
    """
    from index import Device
    from qa.retrieval.retriever import Retriever

    model_device = Device(device)
    opening = partial(Retriever.open, reader=reader, rerank_model=rerank_model, device=model_device, ahead=ahead)
    # Before other imports, which take as long as loading the models.
    opened = None if corpus else opening(store=store) if store is not None else opening(root)
    from qa.collection.opening import OpenedCollection, build_and_open, refresh_if_small

    with progress() as callback:
        if opened is None:
            collection = build_and_open(root, opening, callback, model_device, paths=paths)
        elif update and store is None:
            collection = refresh_if_small(opened, progress=callback, device=model_device)
        else:
            collection = OpenedCollection(opened)
    _KEEP_ALIVE.append(collection.retriever)
    with collection.retriever as retriever:
        _report(collection, is_build=corpus)
        yield retriever


class Refresher:
    """Indexes small changes between questions, as `open_retriever` does before the first; repeats no note."""

    def __init__(self, retriever: Retriever, device: str) -> None:
        self._retriever, self._device = retriever, device
        self._last_note = ""

    def __call__(self) -> None:
        """Index small changes and switch to the newest generation."""
        from index import Device
        from qa.collection.opening import refresh_if_small

        self._retriever.reload()
        with progress() as callback:
            collection = refresh_if_small(self._retriever, progress=callback, device=Device(self._device))
        _report(collection if collection.note != self._last_note else replace(collection, note=""), is_build=False)
        self._last_note = collection.note


def _report(collection: OpenedCollection, *, is_build: bool) -> None:
    if collection.note:
        answers.write_stderr(answers.error_line(collection.note))
    if (report := collection.report) is not None:
        style = answers.TerminalStyle.of(sys.stderr)
        answers.write_stderr(reports.render_build(report, style) if is_build else reports.render_changes(report))


def is_interactive() -> bool:
    """Return whether stdin and stdout are terminals."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


@contextmanager
def progress(description: str = "Embedding", unit: str = "B") -> Iterator[ProgressCallback | None]:
    """Draw a progress bar on stderr if that is a terminal; it appears with the first step."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bars: list[Any] = []

    def draw(step: Progress) -> None:
        if not bars:
            if step.total and step.done >= step.total:
                return
            from tqdm import tqdm

            # A terminal may report 0 columns and rows.
            size = {"ncols": answers.TerminalStyle.of(sys.stderr).width - 1, "nrows": 20}
            bars.append(tqdm(desc="Looking for changes", bar_format="{desc}", leave=False, unit=unit, **size))
        for bar in bars:
            if step.total and bar.total != step.total:
                bar.bar_format, bar.unit_scale, bar.total, bar.n = None, bool(unit), step.total, step.done
                bar.set_description(description)
            bar.update(step.done - bar.n)

    try:
        yield draw
    finally:
        for bar in bars:
            bar.close()
