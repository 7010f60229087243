"""What an update is asked to do, how it reports progress, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import SkippedFile
from index.encoder.protocol import Embedder, Encoder


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an update is, in bytes of the files that it reads; both are 0 while it looks for them."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Note:
    """What a user should know about how a file was read, such as its encoding."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What an update did."""

    added: int  # files that are new in the index
    changed: int  # files whose bytes differ from the indexed ones
    removed: int  # files that are no longer in the index
    unchanged: int  # files with the same bytes as before
    skipped: tuple[SkippedFile, ...]  # files and folders that were skipped, and why
    documents: int  # documents in the index now: a file counts as many as it has records, or one
    passages: int  # passages in the index now
    embedded: int  # texts that were embedded
    reused: int  # passages that were written without embedding: their text was known, or occurred twice
    seconds: float  # wall time
    notes: tuple[Note, ...] = ()  # on files that were read, by path
    left_out: tuple[tuple[str, int], ...] = ()  # folders and files that no person wrote: how many of each kind


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which files are to be indexed; None for what the last update chose.

    Attributes:
        include: Patterns of the files to index, () for all.
        exclude: Patterns of the files to leave out.
        paths: Limits the collection to these files, and folders with a slash at the end, relative to the root; () for
            all of it.
        formats: Formats of files that their names do not tell.
        from_file: Those of these that a file of settings says; what the last update had from it, and it no longer says,
            is forgotten. None if no file was read.
        more_paths: Adds files and folders to a new or limited collection; one of the whole root has them already.
    """

    include: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    paths: Sequence[str] | None = None
    formats: Sequence[str] | None = None
    from_file: Sequence[str] | None = None
    more_paths: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Request(Choice):
    """What an update is asked to do.

    Attributes:
        root: The corpus root; the index is in its folder `.qa`.
        encoder: Embeds passages.
        allow_empty: Whether an index may lose its last documents.
        retry: Whether files that could not be read are tried again even if they did not change.
        progress: Called with how far it is.
        workers: Embed instead of the encoder, which agrees with them.
    """

    root: Path
    encoder: Encoder
    allow_empty: bool = False
    retry: bool = True
    progress: ProgressCallback | None = None
    workers: Embedder | None = None
