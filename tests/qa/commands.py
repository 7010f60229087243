"""Running commands in tests, with a retriever that has a small encoder."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from index.encoder.model_files import DEFAULT_MODEL
from index.encoder.protocol import Encoder
from index.snapshot import Snapshot
from qa.cli import main
from qa.collection import build
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.paths import REPOSITORY

TALKS = "# Talks\n\nThe keynote on Monday is about whales.\n\n## Lunch\n\nSoup is served at noon.\n"
TRAVEL = "# Travel\n\nThe train to Lyon leaves at nine.\n"


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
