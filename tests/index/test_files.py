"""Atomic writes and the writer lock."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corpus.errors import LockedError, StorageError
from index.files import make_folder, write_atomically, writer_lock
from index.report import Request
from index.update import update
from tests.encoders import BagEncoder

HOLD = """
import sys, time
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from index.files import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_write_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old, and longer")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write_atomically(path, b"old")

    def failing(self: Path, target: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(StorageError, match=r"cannot write .*a: Input/output error"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot create"):
        make_folder(tmp_path / "missing" / ".qa")


def test_the_lock_names_its_holder_and_frees_itself(tmp_path: Path) -> None:
    with (
        writer_lock(tmp_path),
        pytest.raises(LockedError, match=f"process {os.getpid()} on {socket.gethostname()}"),
        writer_lock(tmp_path),
    ):
        pass
    with writer_lock(tmp_path):
        pass


def test_a_second_process_is_refused_and_a_killed_one_holds_nothing(root: Path) -> None:
    folder = root / ".qa"
    make_folder(folder)
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder), *sys.path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder, holder.stdout:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockedError, match=f"process {holder.pid} on"):
            update(Request(root, BagEncoder()))
        holder.kill()
        holder.wait()
    started = time.monotonic()
    assert update(Request(root, BagEncoder())).documents == 3
    assert time.monotonic() - started < 5


def test_left_over_temporary_files_are_swept(root: Path) -> None:
    make_folder(root / ".qa")
    (root / ".qa" / ".vectors-1.faiss.abc.tmp").write_bytes(b"half")
    update(Request(root, BagEncoder()))
    assert sorted(path.name for path in (root / ".qa").iterdir()) == [
        ".gitignore",
        "index.db",
        "lock",
        "vectors-1-1.faiss",
    ]
