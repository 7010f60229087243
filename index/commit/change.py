"""What a commit is told: the documents to write, those to remove, and what was looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from corpus.types import Passage
from index.storage.metadata import Info


class BuildMode(Enum):
    """How much of the index a build replaces."""

    INCREMENTAL = "what looks new or changed"
    FULL = "everything: each file is read again"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file to be written, its passages cut.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        sha256: Digest of the file's bytes, hex.
        size: Bytes, by stat before reading.
        mtime_ns: Time of the last change, by stat before reading.
        checked_ns: When it was read.
        media_type: Such as `text/markdown`.
        title: The file's own title, or "".
        passages: In order.
        digests: `records.vector_digest` of what the encoder reads of each passage.
        records: Documents of their own that it holds; 0 where it is one itself.
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
    """A file that was read again and found to hold the same bytes."""

    path: str
    size: int
    mtime_ns: int
    checked_ns: int


@dataclass(frozen=True, slots=True)
class BuildConfig:
    """What passages and vectors are made with."""

    model: str
    fingerprint: str
    dimension: int
    splitter: int
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    paths: tuple[str, ...] = ()


def config_of(info: Info) -> BuildConfig:
    """What a generation was made with."""
    return BuildConfig(
        model=info.model,
        fingerprint=info.fingerprint,
        dimension=info.dimension,
        splitter=info.splitter,
        include=info.include,
        exclude=info.exclude,
        paths=info.paths,
    )


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What turns one generation into the next.

    Attributes:
        mode: With `FULL`, documents that are neither in `entries` nor in `kept` go.
        entries: Documents to write, new or in place of the old state.
        paths: Of these documents.
        removed: Paths to remove, with `INCREMENTAL`.
        kept: Paths to carry over, with `FULL`.
    """

    mode: BuildMode
    entries: Iterable[Entry]
    paths: Sequence[str]
    removed: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
