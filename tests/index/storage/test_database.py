"""Errors of SQLite, with the cause that it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import StorageError
from index.storage.database import open_for_writing


def test_a_database_that_cannot_be_opened_is_named_with_the_reason(tmp_path: Path) -> None:
    """SQLite itself only says that it cannot open the file."""
    (file := tmp_path / "index.db").mkdir()
    with pytest.raises(StorageError, match=f"refused to read or write {file}: Is a directory. Check space and perm"):
        open_for_writing(file)
