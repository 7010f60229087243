"""The commands as tests run them, over a retriever that searches by words alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from click.testing import CliRunner, Result

from index.encoder.protocol import Encoder
from index.snapshot import Snapshot
from qa.answer import results
from qa.cli import main
from qa.filters import Filter, select

TALKS = "# Talks\n\nThe keynote on Monday is about whales.\n\n## Lunch\n\nSoup is served at noon.\n"
TRAVEL = "# Travel\n\nThe train to Lyon leaves at nine.\n"


class WordRetriever:
    """Stands for a `Retriever`: passages that share words with the question, found if there is one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.snapshot = Snapshot(root / ".qa")

    # What it was opened with, the last time.
    models: ClassVar[dict[str, object]] = {}

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
        self,
        question: str,
        *,
        k: int,
        mode: results.Mode,
        only: Filter,
        rerank: bool,
        question_id: str | int | None,
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
        there = (self.root / passage.document.path).exists()
        state = results.State.VERIFIED if there else results.State.MISSING
        span = (passage.start, passage.end)
        source = results.Source(
            passage.document.path, "text/markdown", span, passage.lines, None, passage.document.sha256, state
        )
        return results.Hit(rank, passage.key, 0.5, passage.text, passage.title, passage.heading, source)


def qa(*args: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main.app, [str(arg) for arg in args], input=stdin, prog_name="qa")


def documents(root: Path) -> list[str]:
    """Paths of the documents in an index."""
    with Snapshot(root / ".qa") as snapshot:
        return sorted(document.path for document in snapshot.documents())
