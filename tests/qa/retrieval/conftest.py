"""A small collection, and a retriever with a small encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from qa.answer.results import Result
from qa.reader.reader import Reader
from qa.reader.reading import Reading
from qa.retrieval.retriever import Retriever
from tests.qa.indexes import build, opened

TRAINS = "# Travel\n\nBuses are slow.\n\n## Trains\n\nThe café car opens at noon. A train to Lyon leaves every hour.\n"
SOUP = "Soup is served at noon.\r\nBring a spoon.\r\n"
SHARED = "The harbour closes in winter.\n"
FILES = {
    "travel.md": TRAINS,
    "notes/soup.txt": SOUP,
    "notes/whales.txt": "Whales sing for hours.\n",
    "a.txt": SHARED,
    "old/b.txt": SHARED,
    "notes/numbers.txt": "In 2024 there were 512 visitors.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Six files, seven passages, two of them with the same text."""
    folder = tmp_path / "corpus"
    build(folder, FILES)
    return folder


@pytest.fixture
def retriever(root: Path) -> Iterator[Retriever]:
    with opened(root) as retriever:
        yield retriever


def record_readings(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Reading], Reading] = lambda reading: reading
) -> list[tuple[str, str, str, Reading]]:
    """Return a list that gets all questions, contexts and texts that are read, and their readings, once changed."""
    read: list[tuple[str, str, str, Reading]] = []
    original_read = Reader.read

    def recorded(reader: Reader, requests: Sequence[tuple[str, str, str]]) -> list[Reading]:
        readings = list(map(change, original_read(reader, requests)))
        read.extend((*request, reading) for request, reading in zip(requests, readings, strict=True))
        return readings

    monkeypatch.setattr(Reader, "read", recorded)
    return read


def without_times(result: Result) -> dict[str, Any]:
    return {key: value for key, value in result.as_json().items() if key != "timings_ms"}
