"""Paths in a checkout."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SAMPLE = REPOSITORY / "corpus" / "sample"
SAMPLE_QUESTIONS = REPOSITORY / "tests" / "sample_questions.jsonl"
