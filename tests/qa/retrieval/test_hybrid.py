"""Candidates from both halves of the index, fused into one ranking."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.snapshot import Snapshot
from qa.answer.results import Mode
from qa.retrieval import hybrid
from qa.retrieval.hybrid import Pool, Retrieved, fuse, min_max, pools, retrieve
from qa.retrieval.query import Query, analyse_question
from qa.stopwatch import Stopwatch
from tests.encoders import BagEncoder
from tests.qa.indexes import built

WORDS = ("red", "fox", "hen", "blue", "fish", "grey", "mouse", "swims", "runs", "far")


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Snapshot]:
    """Four files of two words; each one-line note is titled by its file name."""
    texts = {"a.txt": "red fox", "b.txt": "red hen", "c.txt": "blue fish", "d.txt": "grey mouse"}
    with built(tmp_path, texts) as snapshot:
        yield snapshot


def query_of(snapshot: Snapshot, question: str, mode: Mode, documents: frozenset[int] | None = None) -> Query:
    return analyse_question(
        question, snapshot, BagEncoder(), mode=mode, documents=documents, rerank=False, clock=Stopwatch()
    )


def ask(snapshot: Snapshot, question: str, *, mode: Mode = Mode.HYBRID) -> tuple[Pool, list[str]]:
    """The first pool, and the paths of its passages."""
    pool = next(pools(snapshot, query_of(snapshot, question, mode), Stopwatch()))
    return pool, [passage.document.path for passage in snapshot.passages(pool.ids)]


def test_scores_are_a_convex_combination(four: Snapshot) -> None:
    """Half the normalised cosine, half BM25 relative to the best; ties are broken by key."""
    pool, paths = ask(four, "red fox")
    # BM25 of a word in 1 of 4 passages of the same length is ln(3.5 / 1.5); SQLite floors that of one in 2 of 4.
    fox, red = log(3.5 / 1.5), 1e-6
    assert paths == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert four.passages(pool.ids)[2].key < four.passages(pool.ids)[3].key
    np.testing.assert_allclose(pool.cosines, [1, 0.5, 0, 0], atol=1e-7)
    np.testing.assert_allclose([hit.score for hit in four.keyword("red fox", 9)], [fox + red, red], atol=1e-9)
    np.testing.assert_allclose(pool.scores, [1, 0.5 * 0.5 + 0.5 * red / (fox + red), 0, 0], atol=1e-7)


def test_a_word_of_the_path_counts_twice(four: Snapshot, tmp_path: Path) -> None:
    """A file name is often the best title; for a one-line note it is the title, so it counts once more."""
    with built(tmp_path, {"zebra.txt": "grey horse", "e.txt": "grey zebra"}) as snapshot:
        pool, paths = ask(snapshot, "zebra", mode=Mode.KEYWORD)
    assert paths == ["zebra.txt", "e.txt"]
    # Term frequencies 3 and 1 at average length: 3 * 2.2 / (3 + 1.2) against 1.
    np.testing.assert_allclose(pool.scores, [1, 4.2 / 6.6], atol=1e-6)


def test_a_heading_word_counts_like_a_text_word(tmp_path: Path) -> None:
    with built(tmp_path, {"a.md": "# Zoo\n\n## Zebra\n\ngrey horse\n\n## Horse\n\ngrey zebra"}) as snapshot:
        first, second = (hit.score for hit in snapshot.keyword("zebra", 9))
    assert first == second


def test_a_passage_gets_a_share_of_its_neighbours_keyword_score(tmp_path: Path) -> None:
    """An answer may come below the words of the question: a fifth of the better neighbour's score is added."""
    sections = ["zebra", "stripes", "lions", "manes", "zebra zebra"]
    text = "\n\n".join(f"# {name}\n\nOf {name} this says something." for name in sections)
    with built(tmp_path, {"a.md": text, "b.md": "# stripes\n\nOf stripes this says something.\n"}) as snapshot:
        bm25 = {hit.passage: hit.score for hit in snapshot.keyword("zebra something", 100)}
        pool, paths = ask(snapshot, "zebra something", mode=Mode.KEYWORD)
        passages = snapshot.passages(pool.ids)
    scores = {(path, passage.start): score for path, passage, score in zip(paths, passages, pool.scores, strict=True)}
    alone = {(path, passage.start): bm25[passage.id] for path, passage in zip(paths, passages, strict=True)}
    first, second, third, fourth, fifth = sorted(place for place in scores if place[0] == "a.md")
    # Scores are relative to the best.
    best = alone[fifth] + 0.2 * alone[fourth]
    assert scores[fifth] == 1
    assert scores[second] == pytest.approx((alone[second] + 0.2 * alone[first]) / best)
    assert scores[third] == pytest.approx((alone[third] + 0.2 * max(alone[second], alone[fourth])) / best, abs=1e-9)
    # The only passage of another document has no neighbour.
    assert scores["b.md", 0] == pytest.approx(alone["b.md", 0] / best, abs=1e-9)
    assert scores["b.md", 0] < scores[second]


def test_a_neighbour_is_in_the_same_document(tmp_path: Path) -> None:
    """Offsets start again in each document, so its passages may seem close to those of another."""
    with built(tmp_path, {"a.txt": "zebra", "b.md": "# lion\n\nlion\n\n# zebra\n\nzebra here"}) as snapshot:
        bm25 = [hit.score for hit in snapshot.keyword("zebra", 9)]
        scores = ask(snapshot, "zebra", mode=Mode.KEYWORD)[0].scores
    assert scores.tolist() == pytest.approx([score / bm25[0] for score in bm25])


def test_scores_that_differ_only_by_rounding_are_ties(four: Snapshot) -> None:
    query = query_of(four, "red fox", Mode.DENSE)
    links = retrieve(four, query, 4, Stopwatch()).links
    order = sorted(links, key=lambda number: links[number].key)
    cosines = dict(zip(order, (0.9, 0.9 + 1e-11, 0.2, 0.1), strict=True))
    pool = fuse(four, query, Retrieved(links, {}, cosines), 4)
    assert list(pool.ids) == order
    assert pool.scores[0] == pool.scores[1] == 1


def test_nothing_matches(four: Snapshot) -> None:
    """Keyword search may find nothing; in a hybrid search the dense half then still ranks, with equal scores."""
    none, paths = ask(four, "unknown", mode=Mode.KEYWORD)
    assert (none.ids, none.scores.shape, none.cosines.shape) == ((), (0,), (0,))
    assert paths == []
    assert ask(four, "?!", mode=Mode.KEYWORD)[0].ids == ()
    alike, paths = ask(four, "unknown")
    assert alike.scores.tolist() == [0.5] * 4
    assert paths == sorted(paths, key=lambda path: four.passages_of(path)[0].key)


def test_min_max() -> None:
    """The lowest value becomes 0 and the highest 1; equal values all become 1."""
    assert min_max(np.array([0.25, 0.75, 0.5])).tolist() == [0, 1, 0.5]
    assert min_max(np.array([-2.0, 2.0])).tolist() == [0, 1]
    assert min_max(np.array([0.3, 0.3])).tolist() == [1, 1]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    """Forty short files of ten words, some of them equal."""
    dice = np.random.default_rng(7)
    texts = {f"n{number:02}.txt": " ".join(dice.choice(WORDS, size=dice.integers(1, 6))) for number in range(40)}
    with built(tmp_path_factory.mktemp("many"), texts) as snapshot:
        yield snapshot


@given(
    words=st.lists(st.sampled_from((*WORDS, "unknown")), min_size=1, max_size=5),
    mode=st.sampled_from(Mode),
    depth=st.integers(1, 50),
    scope=st.none() | st.sets(st.integers(1, 40)),
)
def test_against_numpy(many: Snapshot, words: list[str], mode: Mode, depth: int, scope: set[int] | None) -> None:
    """The ranking of any question equals a matrix product over all passages and a full sort."""
    question = " ".join(words)
    query = BagEncoder().encode_query(question)
    documents = None if scope is None else frozenset(scope)
    passages = {
        passage.id: passage
        for document in many.documents()
        if scope is None or document.id in scope
        for passage in many.passages_of(document.path)
    }
    texts = [passage.encoder_text for passage in passages.values()]
    stored = many.vectors([passage.vector for passage in passages.values()]).astype(np.float64)
    np.testing.assert_allclose(stored, BagEncoder().encode_passages(texts), atol=5e-4)  # kept as float16
    products = stored @ query.astype(np.float64) / np.linalg.norm(stored, axis=1)
    cosine = dict(zip(passages, products, strict=True))
    ranked = many.keyword(question, 1000, documents=documents)
    keyword = {hit.passage: hit.score for hit in ranked[:depth] if mode is not Mode.DENSE}
    by_cosine = sorted(passages, key=lambda number: (-round(cosine[number], 12), passages[number].key))
    ids = set(keyword) | set(by_cosine[:depth] if mode is not Mode.KEYWORD else ())
    searched = query_of(many, question, mode, documents)
    pool = fuse(many, searched, retrieve(many, searched, depth, Stopwatch()), depth)
    assert set(pool.ids) == ids
    if not ids:
        return
    share = {Mode.HYBRID: 0.5, Mode.DENSE: 1.0, Mode.KEYWORD: 0.0}[mode]
    low, high = min(cosine[number] for number in ids), max(cosine[number] for number in ids)
    top = max(keyword.values(), default=1.0)
    expected = {
        number: round(
            share * ((cosine[number] - low) / (high - low) if high - low > 1e-12 else 1.0)
            + (1 - share) * keyword.get(number, 0.0) / top,
            9,
        )
        for number in ids
    }
    assert list(pool.ids) == sorted(ids, key=lambda number: (-expected[number], passages[number].key))
    np.testing.assert_allclose(pool.scores, [expected[number] for number in pool.ids], atol=2e-9)
    np.testing.assert_allclose(pool.cosines, [cosine[number] for number in pool.ids], atol=1e-12)


def test_pools_grow_until_they_have_all_passages(many: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """The depths do not depend on the request; the last pool has fewer candidates than its depth."""
    monkeypatch.setattr(hybrid, "POOL_DEPTH", 5)
    deeper = list(pools(many, query_of(many, "red fox", Mode.DENSE), Stopwatch()))
    assert [(pool.depth, len(pool.ids)) for pool in deeper] == [(5, 5), (20, 20), (80, 40)]
    assert all(set(pool.ids) <= set(next_pool.ids) for pool, next_pool in pairwise(deeper))
