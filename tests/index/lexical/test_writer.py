"""The rows on disk after passages were indexed and removed."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from index.lexical import posting_blocks
from index.lexical.postings import PostingList
from index.lexical.writer import Fields
from tests.index.postings import as_query, body, change, open_reader, passage_lengths, stored_lists, stored_rows

REAL_BLOCK = posting_blocks.BLOCK
pytestmark = pytest.mark.usefixtures("_small_blocks")


def test_rows_have_the_documented_format(connection: sqlite3.Connection) -> None:
    """A position and a small weight share a number, large weights follow; passage lengths are in words, as uint16."""
    change(connection, add={4: Fields("Cat", "", "cats", "cat"), 6: body("cat sea"), 11: body("sea")})
    assert stored_lists(connection) == {
        (1, "cat"): PostingList(2, bytes([0 << 2 | 3, 1 << 2, 4 - 4])),
        (1, "sea"): PostingList(1, bytes([2 << 2])),
        (2, "sea"): PostingList(1, bytes([3 << 2])),
    }
    assert passage_lengths(connection) == {1: [3, 0, 2], 2: [0, 0, 0, 1]}
    # Row 1 * 8192 + CRC-32 of the term modulo 8192; length of the term, term, passages, length of postings, postings.
    assert (9128, b"\3cat\2\3\3\4\0") in [row[:2] for row in stored_rows(connection)[0]]


def test_a_block_is_16384_rows(connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_blocks, "BLOCK", REAL_BLOCK)
    change(connection, add={16_383: body("cat"), 16_384: body("cat")})
    assert stored_lists(connection) == {
        (0, "cat"): PostingList(1, b"\x83\xff\x7c"),  # 16,383 * 4
        (1, "cat"): PostingList(1, b"\0"),
    }
    assert [len(words) for words in passage_lengths(connection).values()] == [16_384, 1]


@pytest.mark.parametrize(
    ("fields", "weight", "words"),
    [
        (body("cat " * 300), 255, 300),
        (Fields("", "", "", "cat " * 128), 255, 128),
        (body("cat " * 65_540), 255, 65_535),
    ],
)
def test_weights_are_capped_at_255_and_lengths_at_65535_and_1(
    connection: sqlite3.Connection, fields: Fields, weight: int, words: int
) -> None:
    change(connection, add={1: fields, 2: body(""), 3: body("dog")})
    assert stored_lists(connection)[0, "cat"] == PostingList(1, bytes([1 << 2 | 3, 0x81, weight - 4 - 0x80]))
    assert passage_lengths(connection) == {0: [0, words, 1, 1]}
    norm = 1.2 * (1 - 0.75 + 0.75 * words / ((words + 2) / 3))
    expected = np.log(2.5 / 1.5) * 2.2 * weight / (weight + norm)
    assert open_reader(connection, 3).search(as_query("cat"), 1)[1].tolist() == pytest.approx([expected], rel=1e-12)
