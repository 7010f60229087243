"""Running commands in tests, with a retriever that searches by keywords alone."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from click.testing import CliRunner, Result

from index.encoder.model_files import DEFAULT_MODEL
from index.encoder.protocol import Encoder
from index.snapshot import Snapshot
from qa.answer import results
from qa.cli import main
from qa.collection import build
from qa.filters import Filter, select
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.paths import REPOSITORY

TALKS = "# Talks\n\nThe keynote on Monday is about whales.\n\n## Lunch\n\nSoup is served at noon.\n"
TRAVEL = "# Travel\n\nThe train to Lyon leaves at nine.\n"


class WordRetriever:
    """Replaces `Retriever`: returns passages that share words with the question, found if there is one."""

    # The options it was last opened with.
    models: ClassVar[dict[str, object]] = {}

    def __init__(self, root: Path) -> None:
        self.root = root
        self.snapshot = Snapshot(root / ".qa")

    @classmethod
    def open(cls, path: Path, *, encoder: Encoder | None = None, **models: object) -> WordRetriever:
        cls.models = models
        return cls(path)

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        yield self.snapshot

    def reload(self) -> None:
        self.close()
        self.snapshot = Snapshot(self.root / ".qa")

    def __enter__(self) -> WordRetriever:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.snapshot.close()

    def ask(
        self, question: str, *, k: int, mode: results.Mode, only: Filter, rerank: bool, question_id: str | int | None
    ) -> results.Result:
        among = select(self.snapshot, only)
        found = self.snapshot.keyword(question, k, documents=among)
        passages = self.snapshot.passages([candidate.passage for candidate in found])
        hits = tuple(self._hit(rank, passage) for rank, passage in enumerate(passages, 1))
        info = self.snapshot.info
        facts = results.IndexInfo(info.documents, info.passages, info.model, info.generation)
        confidence = 0.9 if hits else 0.1
        return results.Result(question, question_id, bool(hits), confidence, None, hits, facts, {"total": 1.0})

    def _hit(self, rank: int, passage: Any) -> results.Hit:
        file, span = passage.document, (passage.start, passage.end)
        state = results.State.VERIFIED if (self.root / file.path).exists() else results.State.MISSING
        source = results.Source(file.path, "text/markdown", span, passage.lines, None, file.sha256, state)
        return results.Hit(rank, passage.key, 0.5, passage.text, passage.title, passage.heading, source)


class BagRetriever(Retriever):
    """A real retriever with the small encoder."""

    @classmethod
    def open(cls, path: Any = None, *, encoder: Encoder | None = None, **models: Any) -> Retriever:
        return Retriever.open(path, encoder=encoder or BagEncoder(name=DEFAULT_MODEL), **models)


class TerminalStream(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def qa(*args: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main.app, [str(arg) for arg in args], input=stdin, prog_name="qa")


def run_python(*args: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments in this checkout."""
    command, environment = [sys.executable, *map(str, args)], {**os.environ, **environ}
    return subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False, timeout=600
    )


def documents(root: Path) -> list[str]:
    """Paths of the documents in an index."""
    with Snapshot(root / ".qa") as snapshot:
        return sorted(document.path for document in snapshot.documents())


def built_documents(root: Path, **options: Any) -> list[str]:
    """Build the index with these options; return the paths of its documents."""
    build.build_index(root, encoder=BagEncoder(), **options)
    return documents(root)
