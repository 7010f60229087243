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
from tests.index.postings import Held, bm25, change, frequency, once, reader, rows, text, undone

pytestmark = pytest.mark.usefixtures("_small_blocks")

# Words with the same stem, joined and long ones, a script without spaces, and characters that are no part of a word.
WORDS = ("cat", "cats", "dog", "state-of-the-art", "art", "日本語", "Öl", "ä" * 99, "a-" * 20, "a\0b", "\ud800")
VOCABULARY = sorted({*WORDS} | {term for word in WORDS for several in terms(word) for term in several})

texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
short = st.lists(st.sampled_from(WORDS), max_size=1).map(" ".join)
fields = st.builds(Fields, title=short, heading=short, text=texts, path=short)
# What to index by row number, or None to remove it.
changes = st.dictionaries(st.integers(0, 26), st.none() | fields, max_size=12)
queries = st.dictionaries(st.sampled_from([*VOCABULARY, "unicorn"]), st.sampled_from([1.0, 1.8, 2.5]), max_size=5)


def apply(connection: sqlite3.Connection, commits: Sequence[Mapping[int, Fields | None]]) -> Held:
    """Make changes one after another, and return what is indexed in the end."""
    held: Held = {}
    for commit in commits:
        added = {row: fields for row, fields in commit.items() if fields is not None}
        change(connection, add=added, remove={row: held.pop(row) for row in commit if row in held})
        held |= added
    return held


def best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """The best scores up to the limit, and all that tie with the last of them."""
    least = min(sorted(scores.values(), reverse=True)[:limit], default=0.0)
    return {row: score for row, score in scores.items() if score >= least}


@settings(deadline=None)
@given(commits=st.lists(changes, min_size=1, max_size=6), wanted=queries, limit=st.integers(1, 6), data=st.data())
def test_search_equals_brute_force_after_any_changes(
    database: sqlite3.Connection,
    commits: list[dict[int, Fields | None]],
    wanted: dict[str, float],
    limit: int,
    data: st.DataObject,
) -> None:
    """Passages, scores and ties with the last place are right, with and without a selection of passages.

    The rows equal those of the same passages indexed at once in any order, byte for byte.
    """
    with undone(database) as connection:
        held = apply(connection, commits)
        found = reader(connection, len(held))
        chosen = data.draw(st.none() | st.frozensets(st.sampled_from(sorted(held))) if held else st.none())
        among = None if chosen is None else np.array(sorted(chosen), dtype=np.int64)
        ids, got = found.search(wanted, limit, among=among)
        scores = {row: score for row, score in bm25(held, wanted).items() if chosen is None or row in chosen}
        assert dict(zip(ids.tolist(), got.tolist(), strict=True)) == pytest.approx(
            best(scores, limit), rel=1e-12, abs=0
        )
        assert got.tolist() == sorted(got.tolist(), reverse=True)
        assert len(set(ids.tolist())) == len(ids)
        assert found.frequencies(wanted) == {term: frequency(held, term) for term in wanted}
        found.verify()
        updated = rows(connection)
    with undone(database) as connection:
        change(connection, add={row: held[row] for row in data.draw(st.permutations(sorted(held)))})
        assert rows(connection) == updated


def test_terms_with_the_same_hash_are_distinguished(connection: sqlite3.Connection) -> None:
    seen: dict[int, str] = {}
    words = (f"w{number}" for number in range(10_000))
    one, other = next(
        (word, known) for word in words if (known := seen.setdefault(term_hash(term_bytes(word)), word)) != word
    )
    change(connection, add={1: text(one), 2: text(other), 3: text(f"{one} {other}")})
    assert len(rows(connection)[0]) == 1
    found = reader(connection, 3)
    assert set(found.search(once(one), 3)[0].tolist()) == {1, 3}
    assert found.frequencies([one, other]) == {one: 2, other: 2}
    found.verify()
    change(connection, remove={1: text(one), 3: text(f"{one} {other}")})
    assert reader(connection, 1).search(once(one), 3)[0].tolist() == []
    assert reader(connection, 1).search(once(other), 3)[0].tolist() == [2]
    change(connection, remove={2: text(other)})
    assert rows(connection) == [[], []]
