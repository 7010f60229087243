"""The keyword index by itself: what it finds, what stands on disk, and what it says of damage."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.errors import DamagedIndexError
from index.lexical import posting_blocks
from index.lexical.analyzer import terms
from index.lexical.bm25 import LexicalIndex
from index.lexical.posting_blocks import HASHES, read_blocks, row_checksum, term_bytes, term_hash
from index.lexical.writer import Fields, LexicalWriter
from index.storage.database import open_for_writing

# Stems that fall together, joined words, and writing without spaces.
WORDS = ["cat", "cats", "dog", "sea", "state-of-the-art", "art", "日本語", "日本", "Öl"]
VOCABULARY = sorted({term for word in WORDS for several in terms(word) for term in several})
MOST_ROWS = 26
REAL_BLOCK = posting_blocks.BLOCK

Held = dict[int, Fields]
Change = tuple[int, Fields | None]

texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
short = st.lists(st.sampled_from(WORDS), max_size=1).map(" ".join)
fields = st.builds(Fields, title=short, heading=short, text=texts, path=short)
# A row number and what is to stand there, or None for nothing.
changes = st.lists(st.tuples(st.integers(0, MOST_ROWS), st.none() | fields), max_size=12)
queries = st.dictionaries(st.sampled_from([*VOCABULARY, "unicorn"]), st.sampled_from([1.0, 1.8, 2.5]), max_size=5)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four passages in a block, so that a few passages fill many."""
    monkeypatch.setattr(posting_blocks, "BLOCK", 4)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    with closing(open_for_writing(tmp_path_factory.mktemp("postings") / "index.db")) as connection:
        yield connection


@contextmanager
def undone(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Empty tables; what happens to them is taken back."""
    database.execute("BEGIN")
    try:
        yield database
    finally:
        database.execute("ROLLBACK")


@pytest.fixture
def connection(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    with undone(database) as tables:
        yield tables


def writer(connection: sqlite3.Connection) -> LexicalWriter:
    return LexicalWriter(connection, Path("index.db"))


def reader(connection: sqlite3.Connection, passages: int) -> LexicalIndex:
    return LexicalIndex(connection, Path("index.db"), passages)


def enter(connection: sqlite3.Connection, held: Mapping[int, Fields]) -> None:
    target = writer(connection)
    for row, one in held.items():
        target.add(row, one)
    target.flush()


def rows(connection: sqlite3.Connection) -> list[list[tuple[Any, ...]]]:
    """All that stands on disk."""
    return [
        connection.execute("SELECT id, data, checksum FROM posting_lists ORDER BY id").fetchall(),
        connection.execute("SELECT block, lengths, hashes, checksum FROM blocks ORDER BY block").fetchall(),
    ]


def stored(connection: sqlite3.Connection) -> dict[tuple[int, str], bytes]:
    """What is kept of each term in each block."""
    return {
        (row[0] // HASHES, name.decode("utf-8", "surrogatepass")): data
        for row in rows(connection)[0]
        for name, data in posting_blocks.posting_lists_in(row, Path("index.db")).items()
    }


def lengths(connection: sqlite3.Connection) -> dict[int, list[int]]:
    """Words of the passages of each block."""
    return {number: block.lengths.tolist() for number, block in read_blocks(connection, Path("index.db")).items()}


def row_id(block: int, term: str) -> int:
    return posting_blocks.row_id(block, term_hash(term_bytes(term)))


def text(words: str) -> Fields:
    return Fields("", "", words, "")


def weighed(one: Fields) -> tuple[Counter[str], int]:
    """Weights of terms and number of words, counted anew: a word of the path counts twice, none counts as one."""
    weights: Counter[str] = Counter()
    words = 0
    for part, weight in ((one.title, 1), (one.heading, 1), (one.text, 1), (one.path, 2)):
        simple, joined = terms(part)
        words += len(simple)
        for term in simple + joined:
            weights[term] += weight
    return weights, max(words, 1)


def frequency(held: Held, term: str) -> int:
    return sum(term in weighed(one)[0] for one in held.values())


def _once(*terms: str) -> dict[str, float]:
    """A question that says each term once."""
    return dict.fromkeys(terms, 1.0)


def bm25(held: Held, wanted: Mapping[str, float]) -> dict[int, float]:
    """The score of every passage that has any of the terms."""
    weights = {row: weighed(one)[0] for row, one in held.items()}
    words = {row: weighed(one)[1] for row, one in held.items()}
    mean = sum(words.values()) / max(len(held), 1)
    scores: dict[int, float] = {}
    for term in wanted:
        count = frequency(held, term)
        idf = max(float(np.log((len(held) - count + 0.5) / (count + 0.5))), 1e-6)
        for row in held:
            if weight := weights[row][term]:
                norm = 1.2 * (1 - 0.75 + 0.75 * words[row] / mean)
                scores[row] = scores.get(row, 0.0) + wanted[term] * idf * (1.2 + 1) * weight / (weight + norm)
    return scores


def best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """The best so many, and all that tie with the last of them."""
    least = min(sorted(scores.values(), reverse=True)[:limit], default=0.0)
    return {row: score for row, score in scores.items() if score >= least}


def apply(connection: sqlite3.Connection, held: Held, commits: Sequence[Sequence[Change]]) -> None:
    """Bring what stands on disk and what is `held` to the same state, one change after another."""
    for commit in commits:
        target = writer(connection)
        fresh: set[int] = set()
        for row, one in commit:
            if row in fresh:
                target.flush()
                fresh.clear()
            if row in held:
                target.remove(row, held.pop(row))
            if one is not None:
                target.add(row, one)
                held[row] = one
                fresh.add(row)
        target.flush()


@settings(max_examples=150, deadline=None)
@given(commits=st.lists(changes, min_size=1, max_size=5), wanted=queries, limit=st.integers(1, 6), data=st.data())
def test_search_equals_brute_force_after_any_changes(
    database: sqlite3.Connection, commits: list[list[Change]], wanted: dict[str, float], limit: int, data: st.DataObject
) -> None:
    """Same passages, same scores, all that tie with the last, with and without a choice of passages."""
    held: Held = {}
    with undone(database) as connection:
        apply(connection, held, commits)
        found = reader(connection, len(held))
        scores = bm25(held, wanted)
        chosen = data.draw(st.none() | st.frozensets(st.sampled_from(sorted(held))) if held else st.none())
        among = None if chosen is None else np.array(sorted(chosen), dtype=np.int64)
        ids, got = found.search(wanted, limit, among=among)
        expected = best({row: score for row, score in scores.items() if chosen is None or row in chosen}, limit)
        assert dict(zip(ids.tolist(), got.tolist(), strict=True)) == pytest.approx(expected, rel=1e-12, abs=0)
        assert got.tolist() == sorted(got.tolist(), reverse=True)
        assert len(set(ids.tolist())) == len(ids)
        assert found.frequencies(wanted) == {term: frequency(held, term) for term in wanted}
        found.verify()


@settings(max_examples=100, deadline=None)
@given(commits=st.lists(changes, min_size=1, max_size=6), order=st.randoms(use_true_random=False))
def test_what_stands_on_disk_does_not_depend_on_history(
    database: sqlite3.Connection, commits: list[list[Change]], order: Random
) -> None:
    """After any changes the rows are those of passages entered at once, in any order, byte for byte."""
    held: Held = {}
    with undone(database) as connection:
        apply(connection, held, commits)
        updated = rows(connection)
    mixed = sorted(held)
    for _ in range(2):
        with undone(database) as connection:
            enter(connection, {row: held[row] for row in mixed})
            assert rows(connection) == updated
        order.shuffle(mixed)


def test_everything_removed_leaves_no_row(connection: sqlite3.Connection) -> None:
    held = {row: text("cat dog") for row in (1, 2, 9)}
    enter(connection, held)
    target = writer(connection)
    for row, one in held.items():
        target.remove(row, one)
    target.flush()
    assert rows(connection) == [[], []]
    assert reader(connection, 0).search(_once("cat"), 5)[0].tolist() == []


def test_clear_takes_out_what_is_written_and_what_is_not(connection: sqlite3.Connection) -> None:
    enter(connection, {1: text("cat")})
    target = writer(connection)
    target.add(2, text("dog"))
    target.clear()
    target.flush()
    assert rows(connection) == [[], []]


def test_a_passage_may_go_before_it_was_written(connection: sqlite3.Connection) -> None:
    target = writer(connection)
    target.add(1, text("cat dog"))
    target.add(2, text("cat"))
    target.remove(1, text("cat dog"))
    target.flush()
    assert stored(connection) == {(0, "cat"): b"\2\0\1"}
    assert [row[:2] for row in rows(connection)[1]] == [(0, b"\0\0\0\0\1\0")]


def test_rows_are_as_the_format_says(connection: sqlite3.Connection) -> None:
    """Places as uint16 and weights as uint8 behind them; words of each passage as uint16, 0 where there is none."""
    enter(connection, {4: Fields("Cat", "", "cats", "cat"), 6: text("cat sea"), 11: text("sea")})
    assert {key: data.hex() for key, data in stored(connection).items()} == {
        (1, "cat"): "000002000401",
        (1, "sea"): "020001",
        (2, "sea"): "030001",
    }
    assert lengths(connection) == {1: [3, 0, 2], 2: [0, 0, 0, 1]}
    # Row 1 * 65,536 + CRC-32 of the name modulo 65,536; bytes of the name, passages, name, places, weights.
    data = bytes.fromhex("030000000200" + b"cat".hex() + "000002000401")
    assert (82_856, data) in [row[:2] for row in rows(connection)[0]]


def test_a_block_is_16384_rows(connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_blocks, "BLOCK", REAL_BLOCK)
    enter(connection, {16_383: text("cat"), 16_384: text("cat")})
    assert stored(connection) == {(0, "cat"): b"\xff\x3f\1", (1, "cat"): b"\0\0\1"}
    assert [len(words) for words in lengths(connection).values()] == [16_384, 1]


def test_every_word_of_title_headings_and_text_weighs_one_and_of_the_path_two(connection: sqlite3.Connection) -> None:
    enter(connection, {1: Fields("sea", "art", "dog", "cat"), 2: text("oak")})
    weights = {term: data[-1] for (_, term), data in stored(connection).items()}
    assert weights == {"sea": 1, "art": 1, "dog": 1, "cat": 2, "oak": 1}


@pytest.mark.parametrize(("one", "words"), [(text("cat " * 300), 300), (Fields("", "", "", "cat " * 128), 128)])
def test_weights_are_capped_at_255(connection: sqlite3.Connection, one: Fields, words: int) -> None:
    enter(connection, {1: one, 2: text("dog"), 3: text("dog")})
    assert stored(connection)[0, "cat"] == b"\1\0\xff"
    norm = 1.2 * (1 - 0.75 + 0.75 * words / ((words + 2) / 3))
    expected = np.log(2.5 / 1.5) * 2.2 * 255 / (255 + norm)
    assert reader(connection, 3).search(_once("cat"), 1)[1].tolist() == pytest.approx([expected], rel=1e-12)


def test_lengths_are_capped_at_65535_and_are_at_least_1(connection: sqlite3.Connection) -> None:
    enter(connection, {1: text("cat " * 65_540), 2: text(""), 3: text("dog")})
    assert lengths(connection) == {0: [0, 65_535, 1, 1]}
    norm = 1.2 * (1 - 0.75 + 0.75 * 65_535 / (65_537 / 3))
    expected = np.log(2.5 / 1.5) * 2.2 * 255 / (255 + norm)
    assert reader(connection, 3).search(_once("cat"), 1)[1].tolist() == pytest.approx([expected], rel=1e-12)


def test_a_word_that_nearly_all_have_still_counts_a_little(connection: sqlite3.Connection) -> None:
    """Among passages with nothing else in common, the shorter comes first."""
    enter(connection, {1: text("cat dog dog dog"), 2: text("cat"), 3: text("cat cat")})
    ids, scores = reader(connection, 3).search(_once("cat"), 3)
    assert set(ids.tolist()) == {1, 2, 3}
    assert all(0 < score < 1e-5 for score in scores.tolist())


def test_many_ties_and_many_blocks_keep_exactly_those_that_tie(connection: sqlite3.Connection) -> None:
    """A hundred passages in 25 blocks, of which nine are better: the 10th place is shared by all the others."""
    better = {row: text("cat cat sea") for row in range(5, 100, 11)}
    held = {row: text("cat sea sea") for row in range(100)} | better | {row: text("oak") for row in range(200, 400)}
    enter(connection, held)
    found = reader(connection, len(held))
    assert len(better) == 9
    assert set(found.search(_once("cat"), 9)[0].tolist()) == set(better)
    assert set(found.search(_once("cat"), 10)[0].tolist()) == set(range(100))
    assert set(found.search(_once("cat"), 5)[0].tolist()) == set(better)


SMALL = {1: text("cat dog"), 2: text("dog sea"), 6: text("cat sea"), 13: Fields("dog", "sea", "cat", "art")}


def flips(data: bytes) -> Iterator[bytes]:
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        yield bytes(changed)
    yield from (data[:-1], data + b"\0", b"")


def searched(connection: sqlite3.Connection, block: int, term: str) -> None:
    reader(connection, len(SMALL)).search(_once(term or "dog"), 5)


def verified(connection: sqlite3.Connection, block: int, term: str) -> None:
    reader(connection, len(SMALL)).verify()


def added_to(connection: sqlite3.Connection, block: int, term: str) -> None:
    target = writer(connection)
    target.add(4 * block + 3, text(term or "oak"))
    target.flush()


def removed_from(connection: sqlite3.Connection, block: int, term: str) -> None:
    target = writer(connection)
    for row, one in SMALL.items():
        if row // 4 == block and term in ("", *weighed(one)[0]):
            target.remove(row, one)
    target.flush()


READS = pytest.mark.parametrize("reads", [searched, verified, added_to, removed_from])
Read = Callable[[sqlite3.Connection, int, str], None]


@READS
def test_a_changed_byte_in_any_row_is_noticed_when_the_row_is_read(connection: sqlite3.Connection, reads: Read) -> None:
    """Every byte of the data of every bucket, and its checksum; undamaged, all of it can be read."""
    enter(connection, SMALL)
    for block, term in stored(connection):
        number = row_id(block, term)
        ((data, check),) = connection.execute(
            "SELECT data, checksum FROM posting_lists WHERE id = ?", (number,)
        ).fetchall()
        for values in (*((changed, check) for changed in flips(data)), (data, check ^ 1)):
            connection.execute("SAVEPOINT whole")
            connection.execute("UPDATE posting_lists SET data = ?, checksum = ? WHERE id = ?", (*values, number))
            with pytest.raises(DamagedIndexError, match=rf"the keyword index \(block {block}\)"):
                reads(connection, block, term)
            connection.execute("ROLLBACK TO whole")
    reads(connection, 0, "dog")


@READS
@pytest.mark.parametrize("column", ["lengths", "hashes"])
def test_a_changed_byte_in_what_is_known_of_a_block_is_noticed(
    connection: sqlite3.Connection, column: str, reads: Read
) -> None:
    enter(connection, SMALL)
    for block, old in connection.execute(f"SELECT block, {column} FROM blocks").fetchall():  # noqa: S608 - from above
        for changed in list(flips(old))[:: max(1, len(old) // 60)]:
            connection.execute("SAVEPOINT whole")
            connection.execute(f"UPDATE blocks SET {column} = ? WHERE block = ?", (changed, block))  # noqa: S608
            with pytest.raises(DamagedIndexError, match=rf"the keyword index \(block {block}\)"):
                reads(connection, block, "")
            connection.execute("ROLLBACK TO whole")


@READS
def test_a_lost_row_never_passes_for_a_word_that_stands_nowhere(connection: sqlite3.Connection, reads: Read) -> None:
    enter(connection, SMALL)
    for block, term in stored(connection):
        connection.execute("SAVEPOINT whole")
        connection.execute("DELETE FROM posting_lists WHERE id = ?", (row_id(block, term),))
        with pytest.raises(DamagedIndexError, match="the keyword index"):
            reads(connection, block, term)
        connection.execute("ROLLBACK TO whole")


def test_words_of_one_bucket_are_told_apart(connection: sqlite3.Connection) -> None:
    """Two words whose hashes are equal."""
    seen: dict[int, str] = {}
    words = (f"w{number}" for number in range(10_000))
    one, other = next(
        (word, known) for word in words if (known := seen.setdefault(term_hash(term_bytes(word)), word)) != word
    )
    before = rows(connection)
    enter(connection, {1: text(one), 2: text(other), 3: text(f"{one} {other}")})
    assert len(rows(connection)[0]) == 1
    found = reader(connection, 3)
    assert set(found.search(_once(one), 3)[0].tolist()) == {1, 3}
    assert found.frequencies([one, other]) == {one: 2, other: 2}
    found.verify()
    target = writer(connection)
    for row, both in ((1, one), (3, f"{one} {other}")):
        target.remove(row, text(both))
    target.flush()
    assert reader(connection, 1).search(_once(one), 3)[0].tolist() == []
    assert reader(connection, 1).search(_once(other), 3)[0].tolist() == [2]
    target.remove(2, text(other))
    target.flush()
    assert rows(connection) == before


def test_a_row_in_another_place_is_noticed(connection: sqlite3.Connection) -> None:
    enter(connection, SMALL)
    connection.execute("UPDATE posting_lists SET id = ? WHERE id = ?", (row_id(0, "oak"), row_id(0, "cat")))
    connection.execute("UPDATE posting_lists SET id = ? WHERE id = ?", (row_id(1, "dog"), row_id(3, "dog")))
    for term in ("cat", "dog"):
        with pytest.raises(DamagedIndexError):
            reader(connection, len(SMALL)).search(_once(term), 5)
    with pytest.raises(DamagedIndexError):
        reader(connection, len(SMALL)).verify()


@pytest.mark.parametrize(("places", "reads"), [(b"\3\0\1", verified), (b"\x09\0\1", verified), (b"\x09\0\1", searched)])
def test_a_posting_of_a_passage_that_is_not_there_is_noticed(
    connection: sqlite3.Connection, places: bytes, reads: Read
) -> None:
    enter(connection, {1: text("cat"), 2: text("dog"), 4: text("dog"), 5: text("dog")})
    data = (3).to_bytes(4, "little") + (1).to_bytes(2, "little") + b"cat" + places
    number = row_id(0, "cat")
    values = (data, row_checksum(number, data), number)
    connection.execute("UPDATE posting_lists SET data = ?, checksum = ? WHERE id = ?", values)
    with pytest.raises(DamagedIndexError):
        reads(connection, 0, "cat")


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff\1\0cat\1\0\1", b"\3\0\0\0\xff\xffcat", b"\3\0"])
def test_a_row_that_was_never_written_so_is_refused_whatever_its_checksum(
    connection: sqlite3.Connection, data: bytes
) -> None:
    enter(connection, {1: text("cat")})
    number = row_id(0, "cat")
    values = (data, row_checksum(number, data), number)
    connection.execute("UPDATE posting_lists SET data = ?, checksum = ? WHERE id = ?", values)
    for read in (lambda one: one.search(_once("cat"), 3), LexicalIndex.verify):
        with pytest.raises(DamagedIndexError):
            read(reader(connection, 1))


def test_a_lost_block_is_noticed(connection: sqlite3.Connection) -> None:
    """By a search that has to do with other blocks too, and by verification."""
    enter(connection, SMALL)
    for block in (0, 1, 3):
        connection.execute("SAVEPOINT whole")
        connection.execute("DELETE FROM blocks WHERE block = ?", (block,))
        for ask in (lambda one: one.search(_once("dog", "cat"), 5), LexicalIndex.verify):
            with pytest.raises(DamagedIndexError, match="the number of passages"):
                ask(reader(connection, len(SMALL)))
        connection.execute("ROLLBACK TO whole")


def test_a_lost_block_is_noticed_where_nothing_else_is_read(connection: sqlite3.Connection) -> None:
    enter(connection, SMALL | {20: text("oak")})
    connection.execute("DELETE FROM blocks WHERE block = 5")
    with pytest.raises(DamagedIndexError):
        reader(connection, len(SMALL) + 1).search(_once("oak"), 5)


@pytest.mark.parametrize("changed", [added_to, removed_from])
def test_a_lost_block_is_noticed_by_a_change(
    connection: sqlite3.Connection,
    changed: Callable[[sqlite3.Connection, int, str], None],
) -> None:
    enter(connection, SMALL)
    connection.execute("DELETE FROM blocks WHERE block = 0")
    with pytest.raises(DamagedIndexError):
        changed(connection, 0, "cat")


ODD = {
    "surrogate": "\ud800",
    "NUL": "\0",
    "NUL inside": "a\0b",
    "long": "x" * 10_000,
    "long and not ASCII": "ä" * 10_000,
    "long and joined": "a-" * 5_000,
    "quote": "'",
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_odd_text_is_entered_found_and_removed(connection: sqlite3.Connection, odd: str) -> None:
    """Its terms, whatever they are, find it and nothing else; as a term itself it is looked up without an error."""
    one = Fields(odd, odd, f"dog {odd} {odd}y", odd)
    enter(connection, SMALL)
    before = rows(connection)
    enter(connection, {7: one})
    found = reader(connection, len(SMALL) + 1)
    for term in weighed(one)[0]:
        assert 7 in found.search(_once(term), 9)[0].tolist()
    assert found.search(_once(odd), 9)[0].tolist() == ([7] if odd in weighed(one)[0] else [])
    found.verify()
    target = writer(connection)
    target.remove(7, one)
    target.flush()
    assert rows(connection) == before


@pytest.mark.parametrize("term", [*ODD, "cat\ud800", '"', "%", "1", "null", ""])
def test_a_term_that_no_passage_has_is_in_none(connection: sqlite3.Connection, term: str) -> None:
    term = ODD.get(term, term)
    enter(connection, SMALL)
    assert reader(connection, len(SMALL)).frequencies([term, "dog"]) == {term: 0, "dog": 3}
    assert reader(connection, len(SMALL)).search(_once(term), 5)[0].tolist() == []
