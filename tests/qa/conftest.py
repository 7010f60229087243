"""Collections for tests of the commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa.collection import build, opening
from qa.retrieval import retriever
from tests.encoders import BagEncoder
from tests.qa.commands import TALKS, TRAVEL, BagRetriever
from tests.qa.remembered import REMEMBERED


@pytest.fixture(scope="module", autouse=True)
def _shared_reader(shared_reader_process: None) -> None:
    """For all tests of this folder."""


@pytest.fixture(scope="module")
def remembering() -> Iterator[None]:
    """The real models remember their results, so that each is computed once."""
    with pytest.MonkeyPatch.context() as patch:
        for replacement in REMEMBERED:
            patch.setattr(*replacement)
        yield


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two documents, which is the working directory; models are replaced by doubles."""
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    for path, text in (("talks.md", TALKS), ("sub/travel.md", TRAVEL)):
        (root / path).write_text(text)
        os.utime(root / path, (1_000_000_000, 1_000_000_000))
    monkeypatch.chdir(root)
    monkeypatch.delenv("QA_INDEX", raising=False)
    for module in (build, opening):
        monkeypatch.setattr(module, "load_encoder", lambda name, **_: BagEncoder(name=name))
    monkeypatch.setattr(retriever, "Retriever", BagRetriever)
    return root


@pytest.fixture
def indexed(notes: Path) -> Path:
    """The `notes` folder with an index."""
    build.build_index(notes)
    return notes
