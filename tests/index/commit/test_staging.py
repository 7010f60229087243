"""Staged files can be read unchanged, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import SplitFile
from index.commit.staging import Staging
from index.storage.database import open_for_writing
from index.storage.rows import StoredDocument
from tests.marks import needs_limits
from tests.robustness.program import growing_to

numbers = st.integers(0, 2**63 - 1)
# Any decoded text, so no surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]))
passages = st.builds(
    Passage,
    start=numbers,
    end=numbers,
    text=texts,
    body=numbers,
    title=texts,
    heading=st.lists(texts, max_size=3).map(tuple),
    context=texts,
    lines=st.none() | st.tuples(numbers, numbers),
    page=st.none() | numbers,
    anchor=st.none() | texts,
)
digests = st.binary(min_size=16, max_size=16)


@st.composite
def split_files(draw: st.DrawFn) -> SplitFile:
    pairs = draw(st.lists(st.tuples(passages, digests), max_size=3))
    document = StoredDocument(0, draw(texts), "0" * 64, draw(numbers), -7, 3, "text/plain", draw(texts), len(pairs))
    return SplitFile(document, tuple(one for one, _ in pairs), tuple(key for _, key in pairs))


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


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(files=st.lists(split_files(), max_size=5))
def test_staged_files_can_be_read_repeatedly(staging: Staging, files: list[SplitFile]) -> None:
    """In order, with the same types; none is left after clearing."""
    for one in files:
        staging.add(one)
    assert list(staging) == list(staging) == files
    assert staging.paths == [one.document.path for one in files]
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
    with growing_to(100_000), pytest.raises(StorageError, match="Free space where temporary files go"):
        fill(staging)
