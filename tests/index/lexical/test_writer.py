"""What is on disk after passages were indexed and removed."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from index.lexical import posting_blocks
from index.lexical.writer import Fields, LexicalWriter
from tests.index.postings import FILE, change, lengths, once, reader, rows, stored, text

REAL_BLOCK = posting_blocks.BLOCK
pytestmark = pytest.mark.usefixtures("_small_blocks")


def test_a_passage_may_be_removed_before_it_was_written(connection: sqlite3.Connection) -> None:
    target = LexicalWriter(connection, FILE)
    target.add(1, text("cat dog"))
    target.add(2, text("cat"))
    target.remove(1, text("cat dog"))
    target.flush()
    assert stored(connection) == {(0, "cat"): b"\2\0\1"}
    assert [row[:2] for row in rows(connection)[1]] == [(0, b"\0\0\0\0\1\0")]


def test_rows_are_as_the_format_says(connection: sqlite3.Connection) -> None:
    """Positions as uint16 and weights as uint8 behind them; words of each passage as uint16, 0 for none."""
    change(connection, add={4: Fields("Cat", "", "cats", "cat"), 6: text("cat sea"), 11: text("sea")})
    assert {key: data.hex() for key, data in stored(connection).items()} == {
        (1, "cat"): "000002000401",
        (1, "sea"): "020001",
        (2, "sea"): "030001",
    }
    assert lengths(connection) == {1: [3, 0, 2], 2: [0, 0, 0, 1]}
    # Row 1 * 65,536 + CRC-32 of the term modulo 65,536; bytes of the term, postings, term, positions, weights.
    data = bytes.fromhex("030000000200" + b"cat".hex() + "000002000401")
    assert (82_856, data) in [row[:2] for row in rows(connection)[0]]


def test_a_block_is_16384_rows(connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_blocks, "BLOCK", REAL_BLOCK)
    change(connection, add={16_383: text("cat"), 16_384: text("cat")})
    assert stored(connection) == {(0, "cat"): b"\xff\x3f\1", (1, "cat"): b"\0\0\1"}
    assert [len(words) for words in lengths(connection).values()] == [16_384, 1]


@pytest.mark.parametrize(
    ("one", "weight", "words"),
    [
        (text("cat " * 300), 255, 300),
        (Fields("", "", "", "cat " * 128), 255, 128),
        (text("cat " * 65_540), 255, 65_535),
    ],
)
def test_weights_are_capped_at_255_and_lengths_at_65535_and_1(
    connection: sqlite3.Connection, one: Fields, weight: int, words: int
) -> None:
    change(connection, add={1: one, 2: text(""), 3: text("dog")})
    assert stored(connection)[0, "cat"] == bytes([1, 0, weight])
    assert lengths(connection) == {0: [0, words, 1, 1]}
    norm = 1.2 * (1 - 0.75 + 0.75 * words / ((words + 2) / 3))
    expected = np.log(2.5 / 1.5) * 2.2 * weight / (weight + norm)
    assert reader(connection, 3).search(once("cat"), 1)[1].tolist() == pytest.approx([expected], rel=1e-12)
