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
    """The progress of an operation: of an update in bytes of the files that it reads, both 0 while it looks for files.

    A copy counts passages, an evaluation questions.
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
    """The result of an update.

    Attributes:
        added: How many files are new in the index.
        changed: How many indexed files have changed.
        removed: How many files were removed from the index.
        unchanged: How many files have the same bytes as before.
        skipped: Files and folders that were skipped, and why.
        documents: How many documents are in the index now: a file counts once, or once for each of its records.
        passages: How many passages are in the index now.
        embedded: How many texts were embedded.
        reused: How many passages were written without embedding, as their vector was stored or shared.
        seconds: Wall time.
        notes: Remarks on files that were read, by path.
        left_out: Kinds of generated folders and files, and how many of each were left out.
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
            the whole root.
        formats: Formats of files whose names do not show it.
        from_file: Names of the fields above that the settings file sets, or None if none was read. A value that the
            last update took from the file is dropped if the file no longer sets it.
        more_paths: Files and folders to add to a new or limited collection; one of the whole root includes them.
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
        retry: Whether unreadable files are tried again even if they have not changed, and all files that may have
            changed are compared, not only the first 100 MB.
        progress: Called as the update advances.
        workers: Embed instead of the encoder; they must return the same vectors.
        store: Where to keep the index from now on, as returned by `choose_store`; None for its current place.
    """

    root: Path
    encoder: Encoder
    choice: Choice = Choice()
    allow_empty: bool = False
    retry: bool = True
    progress: ProgressCallback | None = None
    workers: Embedder | None = None
    store: str | None = None
