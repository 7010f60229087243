"""A collection with subjects of its own: each word is a direction of the small encoder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from index.update.report import Request
from index.update.update import update_index
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder

SUBJECTS = {
    "whales": "whales sing deep below arctic water krill blubber",
    "trains": "trains leave station platform timetable locomotive carriage ticket",
    "bread": "bakers knead dough yeast oven flour sourdough crust",
}


def sentences(subject: str, count: int, seed: int = 0) -> list[str]:
    """Sentences of a subject, no two the same."""
    random, words = Random(f"{subject} {seed}"), SUBJECTS[subject].split()  # noqa: S311
    return [f"{' '.join(random.sample(words, 5)).capitalize()} n{number}x{seed}." for number in range(count)]


def write(folder: Path, subject: str, count: int, seed: int = 0) -> None:
    """A file of a subject, a section a passage."""
    sections = (f"## Part {number}\n\n{text}\n" for number, text in enumerate(sentences(subject, count, seed)))
    (folder / f"{subject}.md").write_text("\n".join(sections), encoding="utf-8")


def update(folder: Path) -> None:
    update_index(Request(folder, BagEncoder()))


def opened(folder: Path) -> Retriever:
    return Retriever.open(folder, encoder=BagEncoder())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of three subjects, thirty passages each."""
    root = tmp_path / "subjects"
    root.mkdir()
    for subject in SUBJECTS:
        write(root, subject, 30)
    update(root)
    return root


@pytest.fixture
def retriever(folder: Path) -> Iterator[Retriever]:
    with opened(folder) as found:
        yield found
