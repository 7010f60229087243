"""Every error the tool raises on purpose.

They stand in the lowest package because all three raise them; `qa` exports the ones users meet.
"""

from __future__ import annotations

from typing import ClassVar


class QAError(Exception):
    """Root of all errors raised on purpose; the message names the thing and the fix.

    QAError
    ├── UsageError            what was asked cannot be meant: an empty question, k below 1
    │   └── CorpusError       the folder of documents is missing, unreadable or suddenly empty
    ├── NoIndexError          there is no index here yet
    ├── DamagedIndexError     the index does not hold what was written to it
    ├── IncompatibleError     the index was made by another format version or another model
    │   └── ModelError        the model is missing, incomplete or not what its hash promises
    ├── LockedError           another process is writing this index
    └── StorageError          the disk refused: full, read-only, failing

    Attributes:
        exit_code: What the command line exits with.
    """

    exit_code: ClassVar[int] = 74


class UsageError(QAError):
    """What was asked cannot be meant; nothing was done."""

    exit_code = 2


class CorpusError(UsageError):
    """The folder of documents is missing, unreadable, or suddenly empty."""


class NoIndexError(QAError):
    """There is no index at or above this place; build one first."""

    exit_code = 3


class DamagedIndexError(QAError):
    """A checksum or a count does not hold; the index must be repaired or rebuilt."""

    exit_code = 4


class IncompatibleError(QAError):
    """The index was written by another format version, or its vectors come from another model."""

    exit_code = 5


class ModelError(IncompatibleError):
    """The embedding model is missing, incomplete, or its files are not those that were promised."""


class LockedError(QAError):
    """Another process is writing this index."""

    exit_code = 6


class StorageError(QAError):
    """The disk refused to read or write: full, read-only, or failing."""


class Unreadable(Exception):  # noqa: N818 - it is the file that is unreadable, not an error of ours
    """A file that yields no document.

    Attributes:
        reason: In words for a person.
        gone: True where the file is no longer there.
        unknown: True where the file could not be looked at, so that what is indexed of it still counts.
    """

    def __init__(self, reason: str, *, gone: bool = False, unknown: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.gone = gone
        self.unknown = unknown
