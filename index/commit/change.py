"""What a commit changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from corpus.types import Passage
from index.storage.metadata import BuildConfig, SkippedRow


class BuildMode(Enum):
    """How much of the index a build replaces."""

    INCREMENTAL = "what looks new or changed"
    FULL = "everything: each file is read again"


@dataclass(frozen=True, slots=True)
class SplitFile:
    """A file to write to the index, split into passages.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        sha256: Digest of the file's bytes, hex.
        size: Bytes, by stat before reading.
        mtime_ns: Time of the last change, by stat before reading.
        checked_ns: When it was read.
        media_type: Such as `text/markdown`.
        title: The file's own title, or "".
        passages: In order.
        digests: The `vector_digest` of each passage.
        records: Number of its records; 0 where it is one document.
    """

    path: str
    sha256: str
    size: int
    mtime_ns: int
    checked_ns: int
    media_type: str
    title: str
    passages: tuple[Passage, ...]
    digests: tuple[bytes, ...]
    records: int = 0


@dataclass(frozen=True, slots=True)
class UnchangedFile:
    """A file that was read again and has the same bytes, with its new stat values."""

    path: str
    size: int
    mtime_ns: int
    checked_ns: int


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What turns one generation into the next, beside the files that are staged.

    Attributes:
        mode: With `FULL`, files that are neither staged nor kept are removed.
        config: What the passages and vectors were made with.
        removed: Paths to remove, with `INCREMENTAL`.
        kept: Paths to carry over, with `FULL`.
        unchanged: Files whose stat values are to be updated.
        skipped: Everything that was skipped, by path.
    """

    mode: BuildMode
    config: BuildConfig
    removed: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    unchanged: Sequence[UnchangedFile] = ()
    skipped: Sequence[SkippedRow] = ()
