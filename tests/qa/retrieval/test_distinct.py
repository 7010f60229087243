"""Each text appears once, and the ranking does not depend on how many passages are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa.answer.results import Mode
from qa.retrieval import distinct, hybrid
from qa.retrieval.distinct import RankedPassage, with_final_scores
from qa.retrieval.retriever import Retriever
from tests.qa.indexes import build, opened
from tests.qa.passages import stored

pytestmark = pytest.mark.usefixtures("remembering")

WORDS = ("red", "fox", "hen", "blue", "fish", "grey", "mouse", "swims", "runs", "far")


@pytest.fixture(scope="module")
def repetitive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    """Short files, many of them copies, and two documents that repeat one numbered sentence."""
    root = tmp_path_factory.mktemp("repetitive")
    dice = np.random.default_rng(7)
    files = {f"n{number:02}.txt": " ".join(dice.choice(WORDS, size=dice.integers(1, 4))) for number in range(60)}
    build(root, files | {f"{name}.md": offers(f"{name} fox", 25) for name in ("red", "grey")})
    with opened(root, reader=True) as retriever:
        yield retriever


def offers(what: str, count: int) -> str:
    return "".join(f"## Offer {number}\n\nThe best {what}, offer {number}.\n\n" for number in range(count))


@pytest.mark.parametrize("rerank", [True, False])
@settings(max_examples=20)
@given(
    question=st.lists(st.sampled_from((*WORDS, "offer", "unknown")), min_size=1, max_size=4).map(" ".join),
    mode=st.sampled_from(Mode),
    first=st.integers(3, 40),
    k=st.integers(1, 120),
)
def test_asking_for_fewer_passages_only_cuts_the_list(
    repetitive: Retriever, *, question: str, mode: Mode, rerank: bool, first: int, k: int
) -> None:
    """Scores, highlights, answer and confidence are the same, however deep the search must go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hybrid, "POOL_DEPTH", first)
        patch.setattr(distinct, "DEEPEST_POOL", 16 * first)
        whole = repetitive.ask(question, k=1000, mode=mode, rerank=rerank)
        some = repetitive.ask(question, k=k, mode=mode, rerank=rerank)
        assert some.passages == whole.passages[:k]
        assert (some.answer, some.confidence) == (whole.answer, whole.confidence)
        hits = repetitive.search(question, k=k, mode=mode, rerank=rerank)
        assert hits == tuple(replace(hit, highlights=()) for hit in some.passages)
    scores = [hit.score for hit in whole.passages]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.text for hit in whole.passages}) == len(scores)


def test_lines_that_differ_in_the_asked_number_are_no_copies(tmp_path: Path) -> None:
    lines = (f"2024-05-{day:02} 10:00 pump {day} serviced, pressure {3 * day} kPa\n" for day in range(1, 31))
    build(tmp_path, {"service.log": "".join(lines)})
    with opened(tmp_path, reader=True) as retriever:
        for pump in (3, 12, 28):
            result = retriever.ask(f"what is the pressure of pump {pump}?")
            assert result.answer is not None
            assert f"{3 * pump} kPa" in result.answer.text


@pytest.mark.parametrize("rerank", [True, False])
def test_near_copies_in_one_document_come_after_all_others(tmp_path: Path, rerank: bool) -> None:
    """A page that repeats a sentence two hundred times gets one place, and its copies only fill what is left.

    Another document with the same words keeps its place.
    """
    sentences = ("nests by the river", "waits in the shallows", "returns in spring", "photographs, the best offer")
    files = {f"{number}.md": f"The heron {words}.\n" for number, words in enumerate(sentences)}
    build(tmp_path, files | {"stuffed.md": offers("heron photographs", 200)})
    with opened(tmp_path, reader=True) as retriever:
        hits = retriever.search("heron photographs", k=10, rerank=rerank)
    paths = [hit.source.path for hit in hits]
    assert paths.count("stuffed.md") == 6
    assert sorted(paths[:5]) == ["0.md", "1.md", "2.md", "3.md", "stuffed.md"]


def test_each_level_scores_below_the_one_before() -> None:
    """Scores of a level are scaled by the lowest score before it, and rounded."""
    rows = [(0.9, 0), (0.5, 0), (1.0, 1), (0.4, 1), (0.5, 3)]
    scaled = with_final_scores([RankedPassage(stored("x"), score, 0.0, level) for score, level in rows])
    assert [hit.score for hit in scaled] == [0.9, 0.5, 0.5, 0.2, 0.1]
    assert with_final_scores([RankedPassage(stored("x"), 1 / 3, 0.0)])[0].score == 0.333333
