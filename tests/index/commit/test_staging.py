"""Staged files can be read unchanged, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import SplitFile
from index.commit.staging import Staging
from index.storage.database import open_for_writing
from index.storage.rows import StoredDocument
from tests.marks import needs_limits
from tests.robustness.program import file_size_limit


def split_file(path: str, size: int = 4) -> SplitFile:
    passage = Passage(0, size, "x" * size, 0, "", ("Heading",), "", (1, 1))
    return SplitFile(StoredDocument(0, path, "0" * 64, 1, 2, 3, "text/plain", "", 1), (passage,), (b"0" * 16,))


def fill(staging: Staging) -> None:
    for number in range(2000):
        staging.add(split_file(str(number), 10_000))


@pytest.fixture
def staging(tmp_path: Path) -> Iterator[Staging]:
    with closing(open_for_writing(tmp_path / "index.db")) as connection:
        yield Staging(connection, tmp_path / "index.db")


def test_staged_files_can_be_read_repeatedly(staging: Staging) -> None:
    """In order, with the same types; none is left after clearing."""
    passages = (
        Passage(1, 5, "é\0😀\n", 2, "Title", ("One", "Two"), "One › Two", (1, 3), 7, "#here"),
        Passage(5, 2**63 - 1, "", 0, "", (), "", None, None, None),
    )
    document = StoredDocument(0, "b.txt", "0" * 64, 2**63 - 1, -7, 3, "text/plain", "\u2028", 2, 1, '[["a", "b"]]')
    files = [SplitFile(document, passages, (b"\xff" * 16, b"\0" * 16)), split_file("a.txt")]
    for file in files:
        staging.add(file)
    assert list(staging) == list(staging) == files
    assert staging.paths == ["b.txt", "a.txt"]
    staging.clear()
    assert (list(staging), staging.paths) == ([], [])


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files")
def test_staged_files_are_written_to_an_unnamed_file(staging: Staging, tmp_path: Path) -> None:
    """So memory use stays small, and a killed process leaves nothing behind."""
    before = sorted(tmp_path.iterdir())
    fill(staging)
    opened = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert any("etilqs" in name and name.endswith("(deleted)") for name in opened)
    assert sorted(tmp_path.iterdir()) == before


@needs_limits
def test_a_full_disk_is_reported(staging: Staging) -> None:
    with file_size_limit(100_000), pytest.raises(StorageError, match="Free space where temporary files go"):
        fill(staging)
