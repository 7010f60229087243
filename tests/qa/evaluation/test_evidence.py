"""What counts as answered, checked against a second implementation that works character by character."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer.results import Hit
from qa.evaluation.evidence import DocumentLookup, GoldSpan, resolve_evidence
from qa.evaluation.questions import read_questions
from qa.evaluation.scoring import QuestionScore, TimedResult, score
from tests.qa.answers import hit, result

FILES = ("a.md", "sub/b.txt", "sub/deep/c.txt")
ROOT = Path("nowhere")


def judged(question: dict[str, Any], hits: tuple[Hit, ...], *, k: int = 10) -> QuestionScore:
    """The tool's score of a question's line and the passages found."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "questions.jsonl")
        file.write_text(json.dumps(question), encoding="utf-8")
        (asked,) = read_questions(file)
    (row,) = score([TimedResult(resolve_evidence(asked, DocumentLookup(ROOT, FILES)), result(*hits), 1.0)], k=k)
    return row


# The second implementation


def pieces(question: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The pieces of a question's evidence, each with the places that contain it."""
    if "alt_spans" in question:
        return [question["alt_spans"]]
    return [[place] for place in question.get("evidence", [question])]


def characters(start: int, end: int) -> set[int]:
    return set(range(start, end))


def meets(gold: dict[str, Any], path: str, start: int, end: int) -> bool:
    """Whether two spans share half of the shorter one; files are matched by name."""
    if PurePosixPath(gold["file"]).name != PurePosixPath(path).name:
        return False
    if gold.get("start") is None:
        return True
    wanted, shown = characters(gold["start"], gold["end"]), characters(start, end)
    shared = len(wanted & shown)
    return shared > 0 and 2 * shared >= min(len(wanted), len(shown))


def reads(golds: list[dict[str, Any]], hits: tuple[Hit, ...], budget: int) -> bool:
    """Whether one of the passages, read in order up to `budget` characters, shows half of a place."""
    for one in hits:
        start, end = one.source.chars
        seen = characters(start, min(end, start + budget))
        budget -= end - start
        for gold in golds if seen else ():
            wanted = seen if gold.get("start") is None else characters(gold["start"], gold["end"])
            same_file = PurePosixPath(gold["file"]).name == PurePosixPath(one.source.path).name
            if same_file and 2 * len(wanted & seen) >= len(wanted):
                return True
    return False


def reference(question: dict[str, Any], hits: tuple[Hit, ...]) -> dict[str, float]:
    golds = [place for piece in pieces(question) for place in piece]
    met = [any(meets(gold, one.source.path, *one.source.chars) for gold in golds) for one in hits]
    found = {f"hit@{k}": float(any(met[:k])) for k in (1, 3, 5, 10)}
    found["MRR@10"] = next((1 / rank for rank, one in enumerate(met[:10], 1) if one), 0.0)
    found["covered@1000"] = float(reads(golds, hits, 1000))
    first = hits[0].highlights[0].chars if hits and hits[0].highlights else None
    found["highlight@1"] = float(
        first is not None
        and first[1] - first[0] <= 400
        and any(meets(gold, hits[0].source.path, *first) for gold in golds)
    )
    return found


def recall(question: dict[str, Any], hits: tuple[Hit, ...], k: int) -> float:
    """The share of pieces that one of the first k passages meets."""
    met = [
        any(meets(gold, one.source.path, *one.source.chars) for gold in piece for one in hits[:k])
        for piece in pieces(question)
    ]
    return sum(met) / len(met)


spans = st.tuples(st.integers(0, 1200), st.integers(1, 600)).map(lambda pair: (pair[0], pair[0] + pair[1]))
files = st.sampled_from(FILES)
names = files | st.sampled_from([PurePosixPath(path).name for path in FILES])


@st.composite
def places(draw: st.DrawFn, *, whole: bool = False) -> dict[str, Any]:
    if whole and draw(st.booleans()):
        return {"file": draw(names)}
    start, end = draw(spans)
    return {"file": draw(names), "start": start, "end": end}


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    """Questions with several pieces of evidence, with alternatives for one piece, and with a place of their own."""
    evidence = st.lists(places(whole=True), min_size=1, max_size=4)
    alternatives = st.lists(places(), min_size=1, max_size=4)
    forms = st.fixed_dictionaries({"evidence": evidence}) | st.fixed_dictionaries({"alt_spans": alternatives})
    return {"id": "1", "question": "?"} | draw(forms | places(whole=True))


@st.composite
def rankings(draw: st.DrawFn) -> tuple[Hit, ...]:
    shown = draw(st.lists(st.tuples(files, spans, st.lists(spans, max_size=2)), max_size=12))
    return tuple(
        hit(rank, path, chars, highlights=[(chars[0], chars[0] + 401), *marks] if draw(st.booleans()) else marks)
        for rank, (path, chars, marks) in enumerate(shown, 1)
    )


@given(lines(), rankings())
def test_scores_agree_with_the_second_implementation(line: dict[str, Any], hits: tuple[Hit, ...]) -> None:
    values = judged(line, hits).values
    expected = reference(line, hits)
    assert {name: values[name] for name in expected} == expected
    recalls = {f"recall@{k}": recall(line, hits, k) for k in (1, 3, 5, 10)}
    assert {name: values[name] for name in recalls} == pytest.approx(recalls)


@pytest.mark.parametrize(
    ("span", "shown", "is_hit"),
    [((0, 10), (5, 100), True), ((0, 10), (6, 100), False), ((0, 100), (90, 110), True), ((0, 100), (91, 111), False)],
)
def test_half_of_the_shorter_span_is_a_hit(span: tuple[int, int], shown: tuple[int, int], is_hit: bool) -> None:
    assert GoldSpan("a", span).is_hit("a", *shown) is is_hit


def test_one_passage_with_every_piece_is_a_perfect_ranking() -> None:
    """Separate passages at ranks 1 and 3 are not."""
    evidence = [{"file": "a.md", "start": 0, "end": 9}, {"file": "a.md", "start": 20, "end": 29}]
    line = {"question": "?", "evidence": evidence}
    both = judged(line, (hit(1, "a.md", (0, 40)),))
    apart = judged(line, (hit(1, "a.md", (0, 9)), hit(2, "sub/b.txt", (0, 9)), hit(3, "a.md", (20, 40))))
    assert both.values["nDCG@10"] == 1
    assert apart.values["nDCG@10"] == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))


def test_documents_rank_by_their_best_passage() -> None:
    """If paths are graded, further passages of a document take up no ranks."""
    line = {"question": "?", "relevant": {"sub/b.txt": 1, "a.md": 3}}
    hits = (hit(1, "sub/deep/c.txt", (0, 5)), hit(2, "sub/deep/c.txt", (5, 9)), hit(3, "a.md", (0, 5)))
    values = judged(line, hits).values
    assert (values["MRR@10"], values["hit@1"], values["hit@3"]) == (0.5, 0, 1)
    assert values["recall@10"] == 0.5
    assert values["nDCG@10"] == pytest.approx((3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert not {"covered@1000", "highlight@1", "file@1"} & values.keys()


def test_measures_are_limited_to_the_first_k() -> None:
    hits = (hit(1, "sub/b.txt", (0, 5)), hit(2, "a.md", (0, 5)))
    values = judged({"question": "?", "file": "a.md"}, hits, k=1).values
    names = {"hit@1", "file@1", "recall@1", "MRR@1", "nDCG@1"}
    assert values == dict.fromkeys(names, 0) | {"covered@1000": 1, "highlight@1": 0}
