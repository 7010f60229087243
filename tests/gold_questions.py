"""Questions with known evidence."""

from __future__ import annotations

from pathlib import Path

from corpus.discovery.walk import walk
from qa.evaluation import questions
from qa.evaluation.evidence import DocumentLookup, Gold, resolve_evidence


def read_questions(file: Path, root: Path) -> list[Gold]:
    """Read questions, one JSON object per line, and find their evidence in the files under `root`."""
    collection = DocumentLookup(root, [listed.path for listed in walk(root).files])
    return [resolve_evidence(question, collection) for question in questions.read_questions(file)]
