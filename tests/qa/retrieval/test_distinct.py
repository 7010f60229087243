"""One passage of each text; a ranking that does not depend on how much of it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.update.report import Request
from index.update.update import update_index
from qa.answer.results import Mode
from qa.retrieval import distinct, hybrid
from qa.retrieval.distinct import RankedPassage, with_final_scores
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.qa.passages import stored

WORDS = ("red", "fox", "hen", "blue", "fish", "grey", "mouse", "swims", "runs", "far")


@pytest.fixture(scope="module")
def repetitive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    """Short files, many of them copies, and documents that say one thing often, numbered."""
    root = tmp_path_factory.mktemp("repetitive")
    dice = np.random.default_rng(7)
    for number in range(60):
        (root / f"n{number:02}.txt").write_text(" ".join(dice.choice(WORDS, size=dice.integers(1, 4))))
    for name in ("red", "grey"):
        offers = "".join(f"## Offer {number}\n\nThe best {name} fox, offer {number}.\n\n" for number in range(25))
        (root / f"{name}.md").write_text(offers)
    update_index(Request(root, BagEncoder()))
    with Retriever.open(root, encoder=BagEncoder()) as retriever:
        yield retriever


@pytest.mark.parametrize("rerank", [True, False])
@settings(max_examples=40)
@given(
    question=st.lists(st.sampled_from((*WORDS, "offer", "unknown")), min_size=1, max_size=4).map(" ".join),
    mode=st.sampled_from(Mode),
    first=st.integers(3, 40),
    k=st.integers(1, 120),
)
def test_fewer_passages_are_the_first_of_more(
    repetitive: Retriever, *, question: str, mode: Mode, rerank: bool, first: int, k: int
) -> None:
    """With the same scores and highlights, however deep the search must go; so are answer and confidence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hybrid, "POOL_DEPTH", first)
        patch.setattr(distinct, "DEEPEST_POOL", 16 * first)
        whole = repetitive.ask(question, k=1000, mode=mode, rerank=rerank)
        some = repetitive.ask(question, k=k, mode=mode, rerank=rerank)
        assert some.passages == whole.passages[:k]
        assert (some.answer, some.confidence) == (whole.answer, whole.confidence)
        found = repetitive.search(question, k=k, mode=mode, rerank=rerank)
        assert found == tuple(replace(hit, highlights=()) for hit in some.passages)
    scores = [hit.score for hit in whole.passages]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.text for hit in whole.passages}) == len(scores)


def test_as_many_as_asked_for_with_the_same_scores(tmp_path: Path) -> None:
    """They are normalised over the best hundred of each half, for a thousand passages too."""
    dice = np.random.default_rng(3)
    for number in range(400):
        (tmp_path / f"n{number}.txt").write_text(f"{number} " + " ".join(dice.choice(WORDS, size=6)))
    update_index(Request(tmp_path, BagEncoder()))
    with Retriever.open(tmp_path, encoder=BagEncoder()) as retriever:
        for mode in Mode:
            for rerank in (True, False):
                few, many = (retriever.search("a red fox swims", k=k, mode=mode, rerank=rerank) for k in (5, 300))
                assert many[:5] == few
                assert len(many) == 300
        assert len(retriever.search("a red fox swims", k=1000)) == 400


@pytest.mark.parametrize("rerank", [True, False])
def test_near_copies_in_one_document_come_after_all_others(tmp_path: Path, rerank: bool) -> None:
    """A page that says one thing two hundred times, numbered, has one place; its copies fill up what is left.

    Another document that says it, too, has its own.
    """
    stuffed = "".join(f"## Offer {number}\n\nThe best heron photographs, offer {number}.\n\n" for number in range(200))
    (tmp_path / "stuffed.md").write_text(stuffed, encoding="utf-8")
    for number, words in enumerate(
        ("nests by the river", "waits in the shallows", "returns in spring", "photographs, the best offer")
    ):
        (tmp_path / f"{number}.md").write_text(f"The heron {words}.\n", encoding="utf-8")
    update_index(Request(tmp_path, BagEncoder()))
    with Retriever.open(tmp_path, encoder=BagEncoder()) as retriever:
        hits = retriever.search("heron photographs", k=10, rerank=rerank)
    paths = [hit.source.path for hit in hits]
    assert paths.count("stuffed.md") == 6
    assert sorted(paths[:5]) == ["0.md", "1.md", "2.md", "3.md", "stuffed.md"]


def test_each_level_scores_below_the_one_before() -> None:
    """Scaled by the lowest score so far, and rounded."""
    rows = [(0.9, 0), (0.5, 0), (1.0, 1), (0.4, 1), (0.5, 3)]
    found = with_final_scores([RankedPassage(stored("x"), score, 0.0, level) for score, level in rows])
    assert [one.score for one in found] == [0.9, 0.5, 0.5, 0.2, 0.1]
    assert with_final_scores([RankedPassage(stored("x"), 1 / 3, 0.0)])[0].score == 0.333333
