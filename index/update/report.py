"""The request for an update, its progress reports, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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
    """What an update did.

    Attributes:
        added: How many files are new in the index.
        changed: How many files have other bytes than the indexed ones.
        removed: How many files were removed from the index.
        unchanged: How many files have the same bytes as before.
        skipped: Files and folders that were skipped, and why.
        documents: How many documents are in the index now: a file counts once, or once for each of its records.
        passages: How many passages are in the index now.
        embedded: How many texts were embedded.
        reused: How many passages were written without embedding, as their text was known or occurred more than once.
        seconds: Wall time.
        notes: On files that were read, by path.
        left_out: Generated folders and files: how many of each kind.
    """

    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: tuple[SkippedFile, ...]
    documents: int
    passages: int
    embedded: int
    reused: int
    seconds: float
    notes: tuple[Note, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the object that `qa index --json` prints: contract version 1."""
        skipped = [{"path": file.path, "reason": file.reason} for file in self.skipped]
        notes = [{"path": note.path, "note": note.text} for note in self.notes]
        return {"version": 1} | asdict(self) | {"skipped": skipped, "notes": notes, "left_out": dict(self.left_out)}

    to_dict = as_json


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
