"""All errors raised on purpose, defined in the lowest package because all three raise them."""

from __future__ import annotations

from typing import ClassVar


class QAError(Exception):
    """Root of all errors raised on purpose; the message names the cause and the fix.

    QAError
    ├── UsageError            invalid request: an empty question, k below 1
    │   └── CorpusError       the folder of documents is missing, unreadable or suddenly empty
    ├── NoIndexError          there is no index here yet
    ├── DamagedIndexError     a checksum or a count of the index does not match
    ├── IncompatibleError     the index was made by another format version or another model
    │   └── ModelError        the model is missing, incomplete or fails its hash check
    ├── LockedError           another process or thread is writing this index
    └── StorageError          the disk is full, read-only or failing; a server or workers are gone

    Attributes:
        exit_code: Exit code of the command line.
    """

    exit_code: ClassVar[int] = 74


class UsageError(QAError):
    """The request is invalid; nothing was done."""

    exit_code = 2


class CorpusError(UsageError):
    """The folder of documents is missing, unreadable or suddenly empty."""


class NoIndexError(QAError):
    """There is no index in or above this folder."""

    exit_code = 3


class DamagedIndexError(QAError):
    """A checksum or a count does not match; the index must be repaired or rebuilt."""

    exit_code = 4


class IncompatibleError(QAError):
    """The index was written by another format version, or its vectors come from another model."""

    exit_code = 5


class ModelError(IncompatibleError):
    """The embedding model is missing, incomplete or fails its hash check."""


class LockedError(QAError):
    """Another process or thread is writing this index."""

    exit_code = 6


class StorageError(QAError):
    """The disk is full, read-only or failing, or a server or the workers of a build are gone."""


class Unreadable(Exception):  # noqa: N818 - it is the file that is unreadable, not an error of ours
    """A file yields no document; `reason` is shown to users.

    Attributes:
        gone: The file no longer exists.
        unknown: The file could not be examined, so the index must keep its passages.
    """

    def __init__(self, reason: str, *, gone: bool = False, unknown: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.gone = gone
        self.unknown = unknown
