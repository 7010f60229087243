"""SQLite's errors are reported with the cause, which it leaves out."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from corpus.errors import StorageError
from index.storage.database import open_for_reading, open_for_writing, translate_errors


def test_a_refused_database_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite itself only reports that it cannot open the file."""
    file = tmp_path / "missing" / "index.db"
    with pytest.raises(StorageError, match=f"refused to read or write {file}: No such file .*. Check space and perm"):
        open_for_writing(file)
    (file := tmp_path / "index.db").write_bytes(b"")
    monkeypatch.setattr("index.storage.database.os.access", lambda *_: False)
    with pytest.raises(StorageError, match=f"{file}: Permission denied"), translate_errors(file):
        raise _disk_full_error()


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    (file := tmp_path / "index.db").write_bytes(b"")
    with pytest.raises(StorageError, match=f"^the disk with {file} is full. Free space.$"), translate_errors(file):
        raise _disk_full_error()


def test_a_failed_write_keeps_the_locks_of_open_readers(tmp_path: Path) -> None:
    """A process that closes any descriptor of a file loses its locks on it; another process then deletes its log."""
    file = tmp_path / "index.db"
    with closing(open_for_writing(file)) as writer:
        writer.execute("INSERT INTO meta VALUES ('a', '1')")
        reader = open_for_reading(file)
    with closing(reader):
        with pytest.raises(StorageError), translate_errors(file):
            raise _disk_full_error()
        code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('VACUUM'); c.close()"
        subprocess.run([sys.executable, "-c", code, str(file)], check=True)
        assert (tmp_path / "index.db-wal").exists()


def _disk_full_error() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorname = "SQLITE_FULL"
    return error
