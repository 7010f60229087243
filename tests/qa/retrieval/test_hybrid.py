"""Candidates of both halves of the index in one ranking."""

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
from index.update.report import Request
from index.update.update import update_index
from qa.answer.results import Mode
from qa.retrieval import hybrid
from qa.retrieval.hybrid import Pool, Retrieved, fuse, min_max, pools, retrieve
from qa.retrieval.query import Query, analyse_question
from qa.retrieval.stopwatch import Stopwatch
from tests.encoders import BagEncoder

WORDS = ("red", "fox", "hen", "blue", "fish", "grey", "mouse", "swims", "runs", "far")


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Snapshot]:
    """Four files of two words; a note of one line is titled by the word of its path."""
    texts = {"a.txt": "red fox", "b.txt": "red hen", "c.txt": "blue fish", "d.txt": "grey mouse"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        yield snapshot


def query_of(snapshot: Snapshot, question: str, mode: Mode, documents: frozenset[int] | None = None) -> Query:
    encoder = BagEncoder()
    return analyse_question(
        question, snapshot, encoder, mode=mode, documents=documents, rerank=False, clock=Stopwatch()
    )


def ask(
    snapshot: Snapshot, question: str, *, mode: Mode = Mode.HYBRID, path: str | None = None
) -> tuple[Pool, list[str]]:
    """The first pool, and the paths of its passages."""
    documents = None if path is None else snapshot.match_paths(path)
    found = next(pools(snapshot, query_of(snapshot, question, mode, documents), Stopwatch()))
    return found, [passage.document.path for passage in snapshot.passages(found.ids)]


def test_scores_are_a_convex_combination(four: Snapshot) -> None:
    """Half the normalised cosine, half BM25 over the best one's; ties by key."""
    found, paths = ask(four, "red fox")
    # BM25 of a word in 1 of 4 passages of the same length is ln(3.5 / 1.5); SQLite floors that of one in 2 of 4.
    fox, red = log(3.5 / 1.5), 1e-6
    assert paths == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert four.passages(found.ids)[2].key < four.passages(found.ids)[3].key
    np.testing.assert_allclose(found.cosines, [1, 0.5, 0, 0], atol=1e-7)
    np.testing.assert_allclose(found.keyword, [fox + red, red, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.scores, [1, 0.5 * 0.5 + 0.5 * red / (fox + red), 0, 0], atol=1e-7)


def test_a_word_of_the_path_counts_twice(four: Snapshot, tmp_path: Path) -> None:
    """A file's name is often its best title; of a note of one line it is, and so counts once more."""
    (tmp_path / "zebra.txt").write_text("grey horse")
    (tmp_path / "e.txt").write_text("grey zebra")
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        found, paths = ask(snapshot, "zebra", mode=Mode.KEYWORD)
    assert paths == ["zebra.txt", "e.txt"]
    # Term frequencies 3 and 1 at average length: 3 * 2.2 / (3 + 1.2) against 1.
    np.testing.assert_allclose(found.scores, [1, 4.2 / 6.6], atol=1e-6)


def test_a_word_of_a_heading_counts_as_one_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Zoo\n\n## Zebra\n\ngrey horse\n\n## Horse\n\ngrey zebra")
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        one, other = (found.score for found in snapshot.keyword("zebra", 9))
    assert one == other


def test_a_passage_shares_in_the_keyword_score_of_the_one_beside_it(tmp_path: Path) -> None:
    """The answer stands below the words of the question; a fifth of the better neighbour's score comes over."""
    sections = ["zebra", "stripes", "lions", "manes", "zebra zebra"]
    text = "\n\n".join(f"# {name}\n\nOf {name} this says something." for name in sections)
    (tmp_path / "a.md").write_text(text)
    (tmp_path / "b.md").write_text("# stripes\n\nOf stripes this says something.\n")
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        own = {one.passage: one.score for one in snapshot.keyword("zebra something", 100)}
        found, paths = ask(snapshot, "zebra something")
        passages = snapshot.passages(found.ids)
    scores = {(path, one.start): score for path, one, score in zip(paths, passages, found.keyword, strict=True)}
    alone = {(path, one.start): own[one.id] for path, one in zip(paths, passages, strict=True)}
    first, second, third, fourth, fifth = sorted(place for place in scores if place[0] == "a.md")
    assert scores[second] == pytest.approx(alone[second] + 0.2 * alone[first])
    assert scores[third] == pytest.approx(alone[third] + 0.2 * max(alone[second], alone[fourth]))
    assert scores[fifth] == pytest.approx(alone[fifth] + 0.2 * alone[fourth])
    # Nothing stands beside the only passage of another document.
    assert scores["b.md", 0] == alone["b.md", 0] < scores[second]


def test_a_neighbour_is_of_the_same_document(tmp_path: Path) -> None:
    """The characters of another document are counted anew, so its passages may seem near."""
    (tmp_path / "a.txt").write_text("zebra")
    (tmp_path / "b.md").write_text("# lion\n\nlion\n\n# zebra\n\nzebra here")
    update_index(Request(tmp_path, BagEncoder()))
    with Snapshot(tmp_path / ".qa") as snapshot:
        own = [one.score for one in snapshot.keyword("zebra", 9)]
        assert ask(snapshot, "zebra", mode=Mode.KEYWORD)[0].keyword.tolist() == own


def test_scores_that_differ_by_rounding_alone_are_ties(four: Snapshot) -> None:
    asked = query_of(four, "red fox", Mode.DENSE)
    links = retrieve(four, asked, 4, Stopwatch()).links
    order = sorted(links, key=lambda number: links[number].key)
    cosines = dict(zip(order, (0.9, 0.9 + 1e-11, 0.2, 0.1), strict=True))
    found = fuse(four, asked, Retrieved(links, {}, cosines), 4)
    assert list(found.ids) == order
    assert found.scores[0] == found.scores[1] == 1


def test_nothing_matches(four: Snapshot) -> None:
    """The keyword half alone may find nothing; the dense half then still ranks, all alike."""
    none, paths = ask(four, "unknown", mode=Mode.KEYWORD)
    assert (none.ids, none.scores.shape, none.cosines.shape, none.keyword.shape) == ((), (0,), (0,), (0,))
    assert paths == []
    assert ask(four, "?!", mode=Mode.KEYWORD)[0].ids == ()
    alike, paths = ask(four, "unknown")
    assert alike.scores.tolist() == [0.5] * 4
    assert paths == sorted(paths, key=lambda path: four.passages_of(path)[0].key)


def test_min_max() -> None:
    """The lowest becomes 0, the highest 1; equal values all become 1."""
    assert min_max(np.array([0.25, 0.75, 0.5])).tolist() == [0, 1, 0.5]
    assert min_max(np.array([-2.0, 2.0])).tolist() == [0, 1]
    assert min_max(np.array([0.3, 0.3])).tolist() == [1, 1]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    """Forty short files of ten words, some of them equal."""
    root = tmp_path_factory.mktemp("many")
    dice = np.random.default_rng(7)
    for number in range(40):
        (root / f"n{number:02}.txt").write_text(" ".join(dice.choice(WORDS, size=dice.integers(1, 6))))
    update_index(Request(root, BagEncoder()))
    with Snapshot(root / ".qa") as snapshot:
        yield snapshot


@given(
    words=st.lists(st.sampled_from((*WORDS, "unknown")), min_size=1, max_size=5),
    mode=st.sampled_from(Mode),
    depth=st.integers(1, 50),
    scope=st.none() | st.sets(st.integers(1, 40)),
)
def test_against_numpy(many: Snapshot, words: list[str], mode: Mode, depth: int, scope: set[int] | None) -> None:
    """Whatever is asked, the ranking is that of a matrix product over all passages and a full sort."""
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
    keyword = {one.passage: one.score for one in ranked[:depth] if mode is not Mode.DENSE}
    by_cosine = sorted(passages, key=lambda number: (-round(cosine[number], 12), passages[number].key))
    ids = set(keyword) | set(by_cosine[:depth] if mode is not Mode.KEYWORD else ())
    asked = query_of(many, question, mode, documents)
    found = fuse(many, asked, retrieve(many, asked, depth, Stopwatch()), depth)
    assert set(found.ids) == ids
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
    assert list(found.ids) == sorted(ids, key=lambda number: (-expected[number], passages[number].key))
    np.testing.assert_allclose(found.scores, [expected[number] for number in found.ids], atol=2e-9)
    np.testing.assert_allclose(found.cosines, [cosine[number] for number in found.ids], atol=1e-12)


def test_pools_grow_deeper_up_to_all_there_are(many: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their depths depend on nothing that is asked for; the last one has fewer candidates than it may."""
    monkeypatch.setattr(hybrid, "POOL_DEPTH", 5)
    found = list(pools(many, query_of(many, "red fox", Mode.DENSE), Stopwatch()))
    assert [(pool.depth, len(pool.ids)) for pool in found] == [(5, 5), (20, 20), (80, 40)]
    assert all(set(one.ids) <= set(other.ids) for one, other in pairwise(found))
