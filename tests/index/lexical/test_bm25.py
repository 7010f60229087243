"""The results and scores of a keyword search."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.lexical.analyzer import terms
from index.lexical.posting_blocks import term_bytes, term_hash
from index.lexical.writer import Fields
from tests.index.postings import Indexed, as_query, bm25, body, change, frequency, open_reader, rollback, stored_rows

pytestmark = pytest.mark.usefixtures("_small_blocks")

# Words with the same stem, joined and long ones, a script without spaces, and characters that are not part of a word.
WORDS = ("cat", "cats", "dog", "state-of-the-art", "art", "日本語", "Öl", "ä" * 99, "a-" * 20, "a\0b", "\ud800")
VOCABULARY = sorted({*WORDS} | {term for word in WORDS for group in terms(word) for term in group})

texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
short = st.lists(st.sampled_from(WORDS), max_size=1).map(" ".join)
fields = st.builds(Fields, title=short, heading=short, text=texts, path=short)
# Fields to index by row id, or None to remove a passage.
changes = st.dictionaries(st.integers(0, 26), st.none() | fields, max_size=12)
queries = st.dictionaries(st.sampled_from([*VOCABULARY, "unicorn"]), st.sampled_from([1.0, 1.8, 2.5]), max_size=5)


def apply_commits(connection: sqlite3.Connection, commits: Sequence[Mapping[int, Fields | None]]) -> Indexed:
    """Apply changes one after another, and return the passages indexed at the end."""
    indexed: Indexed = {}
    for commit in commits:
        added = {row: fields for row, fields in commit.items() if fields is not None}
        change(connection, add=added, remove={row: indexed.pop(row) for row in commit if row in indexed})
        indexed |= added
    return indexed


def best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """Return the best scores up to the limit, and all that tie with the last."""
    least = min(sorted(scores.values(), reverse=True)[:limit], default=0.0)
    return {row: score for row, score in scores.items() if score >= least}


@settings(deadline=None)
@given(commits=st.lists(changes, min_size=1, max_size=6), query=queries, limit=st.integers(1, 6), data=st.data())
def test_search_equals_brute_force_after_any_changes(
    database: sqlite3.Connection,
    commits: list[dict[int, Fields | None]],
    query: dict[str, float],
    limit: int,
    data: st.DataObject,
) -> None:
    """Passages, scores and ties with the last place are right, with and without a selection of passages.

    The rows are the same, byte for byte, as if the passages had been indexed at once in any order.
    """
    with rollback(database) as connection:
        indexed = apply_commits(connection, commits)
        index = open_reader(connection, len(indexed))
        selected = data.draw(st.none() | st.frozensets(st.sampled_from(sorted(indexed))) if indexed else st.none())
        among = None if selected is None else np.array(sorted(selected), dtype=np.int64)
        ids, scores = index.search(query, limit, among=among)
        all_scores = bm25(indexed, query).items()
        expected = best({row: score for row, score in all_scores if selected is None or row in selected}, limit)
        assert dict(zip(ids.tolist(), scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-12, abs=0)
        assert scores.tolist() == sorted(scores.tolist(), reverse=True)
        assert len(set(ids.tolist())) == len(ids)
        assert index.frequencies(query) == {term: frequency(indexed, term) for term in query}
        index.verify()
        rows_after_updates = stored_rows(connection)
    with rollback(database) as connection:
        change(connection, add={row: indexed[row] for row in data.draw(st.permutations(sorted(indexed)))})
        assert stored_rows(connection) == rows_after_updates


def test_terms_with_the_same_hash_are_distinguished(connection: sqlite3.Connection) -> None:
    words: dict[int, str] = {}
    candidates = (f"w{number}" for number in range(10_000))
    first, second = next(
        (word, other) for word in candidates if (other := words.setdefault(term_hash(term_bytes(word)), word)) != word
    )
    change(connection, add={1: body(first), 2: body(second), 3: body(f"{first} {second}")})
    assert len(stored_rows(connection)[0]) == 1
    index = open_reader(connection, 3)
    assert set(index.search(as_query(first), 3)[0].tolist()) == {1, 3}
    assert index.frequencies([first, second]) == {first: 2, second: 2}
    index.verify()
    change(connection, remove={1: body(first), 3: body(f"{first} {second}")})
    assert open_reader(connection, 1).search(as_query(first), 3)[0].tolist() == []
    assert open_reader(connection, 1).search(as_query(second), 3)[0].tolist() == [2]
    change(connection, remove={2: body(second)})
    assert stored_rows(connection) == [[], []]
