"""What a commit changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from corpus.types import Passage
from index.storage.metadata import BuildConfig, SkippedRow
from index.storage.rows import StoredDocument


class BuildMode(Enum):
    """How much of the index a build replaces."""

    INCREMENTAL = "what looks new or changed"
    FULL = "everything: each file is read again"


@dataclass(frozen=True, slots=True)
class SplitFile:
    """A file to write to the index, split into passages.

    Attributes:
        document: Its row; the commit gives the id.
        passages: In order.
        digests: The `vector_digest` of each passage.
    """

    document: StoredDocument
    passages: tuple[Passage, ...]
    digests: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What turns one generation into the next, beside the files that are staged.

    Attributes:
        mode: With `FULL`, files that are neither staged nor kept are removed.
        config: What the passages and vectors were made with.
        removed: Paths to remove, with `INCREMENTAL`.
        kept: Paths to carry over, with `FULL`.
        unchanged: Documents whose stat values are to be updated.
        skipped: Everything that was skipped, by path.
    """

    mode: BuildMode
    config: BuildConfig
    removed: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    unchanged: Sequence[StoredDocument] = ()
    skipped: Sequence[SkippedRow] = ()
