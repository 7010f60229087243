"""Which store an index is kept in, opened behind the seam of `index.protocol`."""

from __future__ import annotations

from pathlib import Path

from index.protocol import Index
from index.snapshot import Snapshot


def open_index(folder: Path) -> Index:
    """Open the newest generation of the index of a folder, `.qa`, for reading.

    Raises:
        NoIndexError: There is no index, or the first build was never finished.
        IncompatibleError: It has another format version.
        DamagedIndexError: It is damaged.
    """
    return Snapshot(folder)
