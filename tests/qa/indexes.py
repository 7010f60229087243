"""Folders of documents with an index that a small encoder made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from index.snapshot import Snapshot
from index.update.report import BuildReport, Request
from index.update.update import update_index
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder


def write(root: Path, texts: Mapping[str, str]) -> None:
    """Write files, by their paths in `root`."""
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())


def build(root: Path, texts: Mapping[str, str] = {}) -> BuildReport:
    """Write files, then build or update the index of their folder."""
    write(root, texts)
    return update_index(Request(root, BagEncoder()))


@contextmanager
def built(root: Path, texts: Mapping[str, str] = {}) -> Iterator[Snapshot]:
    """Write files, update the index and open it."""
    build(root, texts)
    with Snapshot(root / ".qa") as snapshot:
        yield snapshot


def opened(root: Path, **options: Any) -> Retriever:
    """A retriever with the small encoder and, unless the options say otherwise, without the reader."""
    return Retriever.open(root, **{"encoder": BagEncoder(), "reader": False, **options})
