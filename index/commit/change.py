"""What a commit changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus.types import Passage
from index.storage.metadata import BuildConfig, SkippedRow
from index.storage.rows import StoredDocument, StoredPassage

# How many unused vectors are kept for undo; if more are in use, as many as these.
SPARE_VECTORS = 10_000


class BuildMode(StrEnum):
    """How much of the index a build replaces."""

    INCREMENTAL = "incremental"  # files that look new or changed
    FULL = "full"  # all files, which are read again


@dataclass(frozen=True, slots=True)
class SplitFile:
    """A file to write to the index, split into passages."""

    document: StoredDocument  # its row; the commit assigns the id
    passages: Sequence[Passage | StoredPassage]  # in order
    digests: tuple[bytes, ...]  # the `vector_digest` of each passage


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The changes from one generation to the next, apart from the staged files."""

    mode: BuildMode  # with `FULL`, files that are neither staged nor kept are removed
    config: BuildConfig  # the settings that passages and vectors were built with
    removed: frozenset[str] = frozenset()  # paths to remove, with `INCREMENTAL`
    kept: frozenset[str] = frozenset()  # paths to carry over, with `FULL`
    unchanged: Sequence[StoredDocument] = ()  # documents that need only their stat values updated
    skipped: Sequence[SkippedRow] = ()  # everything that was skipped, by path
