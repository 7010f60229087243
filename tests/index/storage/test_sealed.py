"""Sealed files have a checksum and one writer, and count as missing if damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.errors import LockedError, StorageError
from index.storage.locking import writer_lock
from index.storage.sealed import read_sealed, write_derived


def test_a_file_can_be_replaced_and_read(tmp_path: Path) -> None:
    write_derived(tmp_path / "topics.bin", b"one")
    write_derived(tmp_path / "topics.bin", b"")
    assert read_sealed(tmp_path / "topics.bin") == b""
    assert read_sealed(tmp_path / "other.bin") is None


@pytest.mark.parametrize("size", [0, 31, 34])
def test_a_truncated_file_counts_as_missing(tmp_path: Path, size: int) -> None:
    write_derived(tmp_path / "topics.bin", b"one")
    file = tmp_path / "topics.bin"
    file.write_bytes(file.read_bytes()[:size])
    assert read_sealed(tmp_path / "topics.bin") is None


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with writer_lock(tmp_path), pytest.raises(LockedError):
        write_derived(tmp_path / "topics.bin", b"one")
    assert read_sealed(tmp_path / "topics.bin") is None


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        write_derived(tmp_path / "none" / "topics.bin", b"one")
