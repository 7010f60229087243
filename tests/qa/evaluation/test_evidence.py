"""Measures of the passages found for a question: what counts as an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from qa.answer.results import Hit, Location
from qa.evaluation.evidence import DocumentLookup, resolve_evidence
from qa.evaluation.questions import read_questions
from qa.evaluation.scoring import TimedResult, score
from tests.qa.answers import hit, result

FILES = ("a.md", "sub/b.txt", "sub/deep/c.txt")
# Takes a question's line and passages, returns the measures.
Measure = Callable[..., dict[str, float]]


@pytest.fixture
def measure(tmp_path: Path) -> Measure:
    """A function that scores the passages found for a question."""

    def values(question: dict[str, Any], *hits: Hit, k: int = 10) -> dict[str, float]:
        file = tmp_path / "questions.jsonl"
        file.write_text(json.dumps({"question": "?"} | question), encoding="utf-8")
        (parsed,) = read_questions(file)
        gold = resolve_evidence(parsed, DocumentLookup(tmp_path, FILES))
        (row,) = score([TimedResult(gold, result(*hits), 1.0)], k=k)
        return row.values

    return values


def span(start: int, end: int, file: str = "a.md") -> dict[str, Any]:
    return {"file": file, "start": start, "end": end}


@pytest.mark.parametrize(
    ("gold", "shown", "is_hit"),
    [
        # At least half of the shorter of the two.
        (span(0, 10), ("a.md", (5, 100)), True),
        (span(0, 10), ("a.md", (6, 100)), False),
        (span(0, 100), ("a.md", (90, 110)), True),
        (span(0, 100), ("a.md", (91, 111)), False),
        (span(0, 10), ("sub/b.txt", (0, 10)), False),
        # Anywhere in a file without characters.
        ({"file": "b.txt"}, ("sub/b.txt", (700, 701)), True),
        ({"file": "b.txt"}, ("sub/deep/c.txt", (0, 10)), False),
        # Any piece, in any of its places.
        ({"evidence": [span(50, 60), span(0, 10)]}, ("a.md", (0, 10)), True),
        ({"alt_spans": [span(50, 60), span(0, 10)]}, ("a.md", (0, 10)), True),
    ],
)
def test_what_a_passage_hits(measure: Measure, gold: dict[str, Any], shown: tuple[Any, Any], is_hit: bool) -> None:
    assert measure(gold, hit(1, *shown))["hit@1"] == is_hit


def test_ranks(measure: Measure) -> None:
    """A question's rank is that of the first passage that hits; for recall, each piece has its own."""
    two = {"evidence": [span(0, 10), span(100, 110)]}
    hits = [hit(rank, "a.md", chars) for rank, chars in enumerate([(30, 40), (0, 10), (0, 10)], 1)]
    values = measure(two, *hits)
    assert [values[f"hit@{k}"] for k in (1, 3, 5, 10)] == [0, 1, 1, 1]
    assert [values[f"recall@{k}"] for k in (1, 3, 5, 10)] == [0, 0.5, 0.5, 0.5]
    assert (values["MRR@10"], measure(two, hits[1], hits[0], hits[2])["MRR@10"]) == (0.5, 1)
    late = measure(two, *[hit(1, "sub/b.txt", (0, 10))] * 10, hit(11, "a.md", (30, 40)), *hits, k=20)
    assert (late["MRR@10"], late["file@10"], late["file@20"], late["hit@10"], late["hit@20"]) == (0, 0, 1, 0, 1)
    either = measure({"alt_spans": two["evidence"]}, hit(1, "a.md", (100, 110)))
    assert (either["recall@1"], either["nDCG@10"]) == (1, 1)


@pytest.mark.parametrize(
    ("shown", "is_covered"),
    [
        ([(700, 800), (0, 105)], True),
        ([(700, 800), (0, 104)], False),  # less than half
        ([(2000, 2895), (0, 110)], True),  # half of it is within 1,000 characters
        ([(2000, 2896), (0, 110)], False),
        ([(2000, 3000), (100, 110)], False),
    ],
)
def test_covered_within_a_thousand_characters(measure: Measure, shown: list[tuple[int, int]], is_covered: bool) -> None:
    hits = [hit(rank, "a.md", chars) for rank, chars in enumerate(shown, 1)]
    assert measure(span(100, 110), *hits)["covered@1000"] == is_covered
    if is_covered:
        assert measure({"file": "a.md"}, *hits)["covered@1000"] == 1
        assert measure(span(100, 110, "sub/b.txt"), *hits)["covered@1000"] == 0


@pytest.mark.parametrize(
    ("lights", "is_highlighted"),
    [([], 0), ([(0, 10)], 1), ([(50, 60), (0, 10)], 0), ([(0, 400)], 1), ([(0, 401)], 0)],
)
def test_the_first_highlight_hits_and_is_short(
    measure: Measure, lights: list[tuple[int, int]], is_highlighted: int
) -> None:
    assert measure(span(0, 10), hit(1, "a.md", (0, 900), highlights=lights))["highlight@1"] == is_highlighted
    assert measure(span(0, 10))["highlight@1"] == 0


def test_one_passage_with_every_piece_is_a_perfect_ranking(measure: Measure) -> None:
    """Separate passages at ranks 1 and 3 are not."""
    evidence = [{"file": "a.md", "start": 0, "end": 9}, {"file": "a.md", "start": 20, "end": 29}]
    both = measure({"evidence": evidence}, hit(1, "a.md", (0, 40)))
    apart = measure(
        {"evidence": evidence}, hit(1, "a.md", (0, 9)), hit(2, "sub/b.txt", (0, 9)), hit(3, "a.md", (20, 40))
    )
    assert both["nDCG@10"] == 1
    assert apart["nDCG@10"] == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))


def test_documents_rank_by_their_best_passage(measure: Measure) -> None:
    """If paths are graded, further passages of a document take up no ranks."""
    hits = (hit(1, "sub/deep/c.txt", (0, 5)), hit(2, "sub/deep/c.txt", (5, 9)), hit(3, "a.md", (0, 5)))
    values = measure({"relevant": {"sub/b.txt": 1, "a.md": 3}}, *hits)
    assert (values["MRR@10"], values["hit@1"], values["hit@3"]) == (0.5, 0, 1)
    assert values["recall@10"] == 0.5
    assert values["nDCG@10"] == pytest.approx((3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert not {"covered@1000", "highlight@1", "file@1"} & values.keys()


@pytest.mark.parametrize("relevant", [{"sub/b.txt": 1}, {"a.md": 1}, {"a.md": 1, "sub/b.txt": 1}])
def test_the_same_text_in_a_graded_document_counts(measure: Measure, relevant: dict[str, int]) -> None:
    """One passage finds each document that has its text."""
    shared = replace(hit(1, "a.md", (0, 5)), also_in=(Location("sub/b.txt", (7, 12), None, None),))
    values = measure({"relevant": relevant}, hit(1, "sub/deep/c.txt", (0, 5)), shared)
    assert (values["MRR@10"], values["hit@3"], values["recall@3"]) == (0.5, 1, 1)


def test_measures_are_limited_to_the_first_k(measure: Measure) -> None:
    hits = (hit(1, "sub/b.txt", (0, 5)), hit(2, "a.md", (0, 5)))
    values = measure({"file": "a.md"}, *hits, k=1)
    names = {"hit@1", "file@1", "recall@1", "MRR@1", "nDCG@1"}
    assert values == dict.fromkeys(names, 0) | {"covered@1000": 1, "highlight@1": 0}
