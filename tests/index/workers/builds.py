"""Builds with workers that log what they embed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from index.stores import open_index
from index.update.report import BuildReport, Request
from index.update.update import update_index
from index.workers.workers import WorkerPlan, open_workers
from tests.encoders import BagEncoder
from tests.recorded import load_recorded


def build(root: Path, plan: WorkerPlan | None = None, *, seconds: float = 0.0, fault: str = "") -> BuildReport:
    """Bring an index up to date, with workers that log what they embed."""
    encoder = BagEncoder()
    load = partial(load_recorded, str(log_of(root)), seconds, fault)
    with open_workers(plan, encoder, load) as workers:
        return update_index(Request(root, encoder, workers=workers))


def log_of(root: Path) -> Path:
    """Return the file in which workers log what they embed, next to the folder."""
    return root.with_name(f"{root.name}.log")


def contents(root: Path) -> list[object]:
    """Return all documents, passages and vectors of an index, without modification times."""
    from tests.robustness.picture import listing  # slow to import, and not needed for a build

    with open_index(root / ".qa") as index:
        return [[*document[:3], *document[4:]] for document in listing(index)]


def write(root: Path, files: int) -> Path:
    """Create a folder of files with eight passages each, all different."""
    root.mkdir()
    for number in range(files):
        sections = (f"# Part {number}.{i}\n\nThe ferry {number} left harbour {i}.\n\n" for i in range(8))
        (root / f"{number:02}.md").write_text("".join(sections), encoding="utf-8")
    return root
