"""The request for an update, its progress reports, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import SkippedFile
from index.encoder.protocol import Embedder, Encoder


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an operation is; an update counts bytes of the files it reads, and both are 0 while it looks for files.

    A copy counts passages, and an evaluation questions.
    """

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Note:
    """A remark for the user on how a file was read, such as its encoding."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What an update did."""

    added: int  # files that are new in the index
    changed: int  # files whose bytes differ from the indexed ones
    removed: int  # files that were removed from the index
    unchanged: int  # files with the same bytes as before
    skipped: tuple[SkippedFile, ...]  # files and folders that were skipped, and why
    documents: int  # documents in the index now: a file counts once, or once for each of its records
    passages: int  # passages in the index now
    embedded: int  # texts that were embedded
    reused: int  # passages written without embedding, as their text was known or occurred more than once
    seconds: float  # wall time
    notes: tuple[Note, ...] = ()  # on files that were read, by path
    left_out: tuple[tuple[str, int], ...] = ()  # generated folders and files: how many of each kind


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which files to index; None keeps the choice of the last update.

    Attributes:
        include: Patterns of the files to index, () for all.
        exclude: Patterns of the files to leave out.
        paths: Limits the collection to these files, and folders with a trailing slash, relative to the root; () for
            all of it.
        formats: Formats of files whose names do not show it.
        from_file: Names of the fields above that a settings file sets; a value that the last update took from it is
            dropped if the file no longer sets it. None if no file was read.
        more_paths: Adds files and folders to a new or limited collection; one of the whole root already includes them.
    """

    include: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    paths: Sequence[str] | None = None
    formats: Sequence[str] | None = None
    from_file: Sequence[str] | None = None
    more_paths: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A request for an update.

    Attributes:
        root: The corpus root; the index is in its folder `.qa`.
        encoder: Embeds passages.
        choice: Which files to index.
        allow_empty: Whether an index may lose its last documents.
        retry: Whether files that could not be read are tried again even if they have not changed, and all files that
            may have changed are compared, not only the first 100 MB.
        progress: Called as the update advances.
        workers: Embed instead of the encoder, with which their vectors must agree.
        store: Where to keep the index from now on, as `choose_store` returns it; None for where it is.
    """

    root: Path
    encoder: Encoder
    choice: Choice = Choice()
    allow_empty: bool = False
    retry: bool = True
    progress: ProgressCallback | None = None
    workers: Embedder | None = None
    store: str | None = None
