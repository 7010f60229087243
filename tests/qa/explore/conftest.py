"""A collection of three subjects: each word is a direction of the small encoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from qa.retrieval.retriever import Retriever
from tests.qa.indexes import build, opened

SUBJECTS = {
    "whales": "whales sing deep below arctic water krill blubber",
    "trains": "trains leave station platform timetable locomotive carriage ticket",
    "bread": "bakers knead dough yeast oven flour sourdough crust",
}


def sentences(subject: str, count: int, seed: int = 0) -> list[str]:
    """Return different sentences about a subject."""
    random, words = Random(f"{subject} {seed}"), SUBJECTS[subject].split()  # noqa: S311
    return [f"{' '.join(random.sample(words, 5)).capitalize()} n{number}x{seed}." for number in range(count)]


def write_subject(folder: Path, subject: str, seed: int = 0) -> None:
    """Write a file about a subject with thirty sections, each a passage."""
    sections = (f"## Part {number}\n\n{text}\n" for number, text in enumerate(sentences(subject, 30, seed)))
    (folder / f"{subject}.md").write_text("\n".join(sections), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files about three subjects."""
    root = tmp_path / "subjects"
    root.mkdir()
    for subject in SUBJECTS:
        write_subject(root, subject)
    build(root)
    return root


@pytest.fixture
def retriever(folder: Path) -> Iterator[Retriever]:
    with opened(folder) as retriever:
        yield retriever
