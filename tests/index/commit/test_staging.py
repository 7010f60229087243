"""Staged entries come back as they were, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.errors import StorageError
from corpus.types import Passage
from index.commit.change import Entry
from index.commit.staging import Staging
from index.commit.store import Store
from tests.marks import needs_limits
from tests.robustness.program import growing_to

numbers = st.integers(0, 2**63 - 1)
# As a file is decoded: any character, but no half of a pair.
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
    lines=st.tuples(numbers, numbers),
    page=st.none() | numbers,
)
digests = st.binary(min_size=16, max_size=16)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    pairs = draw(st.lists(st.tuples(passages, digests), max_size=3))
    sha256 = draw(st.binary(min_size=32, max_size=32)).hex()
    found, keys = tuple(one for one, _ in pairs), tuple(key for _, key in pairs)
    return Entry(draw(texts), sha256, draw(numbers), -7, 3, draw(texts), draw(texts), found, keys, draw(numbers))


def entry(path: str, size: int = 4) -> Entry:
    passage = Passage(0, size, "x" * size, 0, "", ("Heading",), "", (1, 1))
    return Entry(path, "0" * 64, 1, 2, 3, "text/plain", "", (passage,), (b"0" * 16,))


def fill(staging: Staging) -> None:
    for number in range(2000):
        staging.add(entry(str(number), 10_000))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as store:
        yield store


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(given_entries=st.lists(entries(), max_size=5))
def test_entries_come_back_as_they_were_as_often_as_asked(store: Store, given_entries: list[Entry]) -> None:
    """In their order, tuples as tuples and bytes as bytes; the next staging begins empty."""
    staging = store.stage()
    for one in given_entries:
        staging.add(one)
    assert list(staging) == list(staging) == given_entries
    assert staging.paths == [one.path for one in given_entries]
    assert list(store.stage()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at open files")
def test_what_is_staged_goes_to_a_file_without_a_name(store: Store, tmp_path: Path) -> None:
    """Memory stays small, and a killed process leaves nothing behind."""
    before = sorted(tmp_path.iterdir())
    staging = store.stage()
    fill(staging)
    opened = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert any("etilqs" in name and name.endswith("(deleted)") for name in opened)
    assert sorted(tmp_path.iterdir()) == before


@needs_limits
def test_a_full_disk_is_reported(store: Store) -> None:
    staging = store.stage()
    with growing_to(100_000), pytest.raises(StorageError, match="Free space where temporary files go"):
        fill(staging)
