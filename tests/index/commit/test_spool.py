"""Entries set aside on disk: they come back as they were, and nothing stays behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.errors import CorpusError, StorageError
from corpus.types import Passage
from index.commit.change import Entry
from index.commit.spool import Spool
from tests.marks import needs_limits
from tests.robustness.growth import growing_to

numbers = st.integers(0, 2**63 - 1)
# As a file is decoded: any character, but no half of a pair.
texts = st.text(st.characters(exclude_categories=["Cs"]))
# As the system gives names: bytes that are not UTF-8 come as lone surrogates.
paths = st.binary(min_size=1).map(os.fsdecode) | texts
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
)
entries = st.builds(
    Entry,
    path=paths,
    sha256=st.binary(min_size=32, max_size=32).map(bytes.hex),
    size=numbers,
    mtime_ns=st.integers(-(2**63), 2**63 - 1),
    checked_ns=numbers,
    media_type=texts,
    title=texts,
    passages=st.lists(passages, max_size=3).map(tuple),
    digests=st.lists(st.binary(min_size=16, max_size=16), max_size=3).map(tuple),
)


def entry(path: str, text: str = "text") -> Entry:
    passage = Passage(0, len(text), text, 0, "", ("Heading",), "", (1, 1))
    return Entry(path, "0" * 64, 1, 2, 3, "text/plain", "", (passage,), (b"0" * 16,))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(given_entries=st.lists(entries, max_size=5))
def test_entries_come_back_as_they_were_as_often_as_asked(tmp_path: Path, given_entries: list[Entry]) -> None:
    """In their order, tuples as tuples and bytes as bytes; more may be added after they were read."""
    with Spool(tmp_path) as spool:
        for one in given_entries:
            spool.add(one)
        assert list(spool) == given_entries
        assert list(spool) == given_entries
        assert spool.paths == [one.path for one in given_entries]
        spool.add(entry("last"))
        assert list(spool) == [*given_entries, entry("last")]


@pytest.mark.parametrize(
    "text", ["a\nb", "a\rb", "a\r\nb", "a\x0bb\x0cc\x1cd\x85e\u2028f", "\0", "\N{GRINNING FACE}", '"\\']
)
def test_no_character_ends_an_entry(tmp_path: Path, text: str) -> None:
    with Spool(tmp_path) as spool:
        spool.add(entry(text, text))
        spool.add(entry("b"))
        assert list(spool) == [entry(text, text), entry("b")]


def test_an_empty_spool_has_no_entries(tmp_path: Path) -> None:
    with Spool(tmp_path) as spool:
        assert list(spool) == []


@pytest.mark.skipif(os.name == "nt", reason="a file without a name is one that Windows deletes when it is closed")
def test_nothing_is_seen_in_the_folder_and_nothing_stays(tmp_path: Path) -> None:
    """Not while entries lie there, not afterwards, and not after an error."""
    with Spool(tmp_path) as spool:
        spool.add(entry("a", "text " * 10_000))
        list(spool)
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyError), Spool(tmp_path) as spool:  # noqa: PT012 - it is the spool that is tested
        spool.add(entry("a"))
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="closed"):
        list(spool)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=f"cannot keep what was read in .*{tmp_path.name}.*gone"):
        Spool(tmp_path / "gone")


@pytest.fixture(params=[0, 50_001])
def space(request: pytest.FixtureRequest) -> int:
    """How far a file may grow."""
    found: int = request.param
    return found


def fill(spool: Spool, size: int) -> None:
    for number in range(size // 400):
        spool.add(entry(str(number), "x" * 100))


@needs_limits
def test_a_full_disk_is_said_so(tmp_path: Path, space: int) -> None:
    """Whether entries are added or read."""
    for size in (space + 20_000, space + 400):
        with growing_to(space), Spool(tmp_path) as spool:
            with pytest.raises(StorageError, match=r"File too large\. Free space"):  # noqa: PT012
                fill(spool, size)
                list(spool)
            with pytest.raises(StorageError):
                list(spool)


@needs_limits
@pytest.mark.parametrize("error", [CorpusError, KeyboardInterrupt])
def test_a_full_disk_hides_no_other_error(tmp_path: Path, error: type[BaseException]) -> None:
    """What is still in the buffer is of no use to anyone once the spool is left."""
    with growing_to(0), pytest.raises(error), Spool(tmp_path) as spool:  # noqa: PT012 - it is the spool that is tested
        spool.add(entry("a"))
        raise error


@needs_limits
def test_a_full_disk_is_said_so_to_the_end(tmp_path: Path, space: int) -> None:
    with growing_to(space), pytest.raises(StorageError), Spool(tmp_path) as spool:  # noqa: PT012 - it is the spool
        fill(spool, space + 400)
        list(spool)
