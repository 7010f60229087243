"""Score answers against questions whose evidence is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qa import Result

# A highlight longer than this no longer points at anything.
_MOST_HIGHLIGHTED = 400


@dataclass(frozen=True, slots=True)
class Gold:
    """A question and where its answer stands.

    Attributes:
        id: The question's id.
        question: As asked.
        answerable: Whether the collection answers it.
        file: The file that it is about, or the first of its evidence, or "".
        spans: File, first character and one past the last; None for a whole file.
    """

    id: str
    question: str
    answerable: bool
    file: str
    spans: tuple[tuple[str, int | None, int | None], ...]


def read_questions(file: Path, root: Path) -> list[Gold]:
    """Read questions, a JSON object a line; evidence given as text is looked up in the files under `root`."""
    return [_gold(json.loads(line), root) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def _gold(entry: dict[str, Any], root: Path) -> Gold:
    own = entry.get("file", "")
    listed = entry.get("evidence")
    if listed is None:
        listed = [*entry.get("spans", ()), *entry.get("alt_spans", ())] or [entry]
    spans = tuple(_span(place, own, root) for place in listed) if entry["answerable"] else ()
    return Gold(entry["id"], entry["question"], entry["answerable"], own or (spans[0][0] if spans else ""), spans)


def _span(place: Any, own: str, root: Path) -> tuple[str, int | None, int | None]:
    if isinstance(place, list):
        return own, place[0], place[1]
    if place.get("start") is not None:
        return place["file"], place["start"], place["end"]
    if "text" not in place:
        return place["file"], None, None
    start = file_text(root / place["file"]).index(place["text"])
    return place["file"], start, start + len(place["text"])


def file_text(file: Path) -> str:
    """A text file as citations count its characters: UTF-8, newlines untouched."""
    return file.read_bytes().decode("utf-8")


def is_hit(asked: Gold, path: str, chars: tuple[int, int]) -> bool:
    """Whether a place overlaps some evidence by at least half of the shorter of the two."""
    first, last = chars
    for file, start, end in asked.spans:
        if file != path:
            continue
        if start is None or end is None:
            return True
        shared = min(last, end) - max(first, start)
        if shared > 0 and shared >= 0.5 * min(end - start, max(last - first, 1)):
            return True
    return False


def auroc(positive: Iterable[float], negative: Iterable[float]) -> float:
    """How often a positive scores above a negative; a tie counts half."""
    high, low = np.array(list(positive))[:, None], np.array(list(negative))[None, :]
    return float(((high > low) + 0.5 * (high == low)).mean())


def covered(asked: Gold, result: Result, budget: int) -> bool:
    """Whether half of some evidence is reached within the first `budget` characters shown."""
    for hit in result.passages:
        first, last = hit.source.chars
        end_of_budget = min(last, first + budget)
        for file, start, end in asked.spans:
            if file == hit.source.path and (
                start is None or end is None or min(end_of_budget, end) - max(first, start) >= 0.5 * (end - start)
            ):
                return True
        budget -= last - first
        if budget <= 0:
            return False
    return False


def score(questions: Sequence[Gold], results: Sequence[Result], root: Path) -> dict[str, float]:
    """Score results in the order of their questions; fractions of the answerable ones, but for abstention."""
    rows: dict[str, list[bool]] = {}
    for asked, result in zip(questions, results, strict=True):
        if not asked.answerable:
            continue
        hits = [is_hit(asked, hit.source.path, hit.source.chars) for hit in result.passages]
        for k in (1, 3, 5, 10):
            rows.setdefault(f"hit@{k}", []).append(any(hits[:k]))
        rows.setdefault("covered@1000", []).append(covered(asked, result, 1000))
        marks = result.passages[0].highlights[:1] if result.passages else ()
        rows.setdefault("highlight@1", []).append(
            any(
                mark.chars[1] - mark.chars[0] <= _MOST_HIGHLIGHTED
                and is_hit(asked, result.passages[0].source.path, mark.chars)
                for mark in marks
            )
        )
        rows.setdefault("found_when_answerable", []).append(result.found)
    figures = {name: round(float(np.mean(values)), 4) for name, values in rows.items()}
    sure = [result.confidence for asked, result in zip(questions, results, strict=True) if asked.answerable]
    unsure = [result for asked, result in zip(questions, results, strict=True) if not asked.answerable]
    if sure and unsure:
        figures["abstention_auroc"] = round(auroc(sure, [result.confidence for result in unsure]), 4)
        figures["not_found_when_unanswerable"] = round(float(np.mean([not result.found for result in unsure])), 4)
    figures["citations_wrong"] = wrong_citations(results, root)
    return figures


def wrong_citations(results: Sequence[Result], root: Path) -> int:
    """Citations whose passage is not, to the character, what the file says there."""
    texts: dict[str, str] = {}
    wrong = 0
    for result in results:
        for hit in result.passages:
            path = hit.source.path
            text = texts.setdefault(path, file_text(root / path))
            wrong += text[slice(*hit.source.chars)] != hit.text
    return wrong
