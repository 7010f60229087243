"""Answers built without an index."""

from __future__ import annotations

from collections.abc import Sequence

from qa.answer.results import Answer, Highlight, Hit, IndexInfo, Result, Source, State


def hit(
    rank: int,
    path: str,
    chars: tuple[int, int],
    *,
    key: str = "",
    text: str = "",
    highlights: Sequence[tuple[int, int]] = (),
) -> Hit:
    """A passage; its highlights have no text."""
    source = Source(path, "text/plain", chars, (1, 1), None, "", State.VERIFIED)
    marks = tuple(Highlight(mark, "") for mark in highlights)
    return Hit(rank, key, 1.0, text, "", (), source, marks)


def result(
    *hits: Hit, question: str = "?", answer: Answer | None = None, confidence: float = 0.5, found: bool = True
) -> Result:
    """An answer with these passages."""
    return Result(question, None, found, confidence, answer, hits, IndexInfo(1, 1, "m", 1), {})
