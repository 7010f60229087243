"""Batches of questions."""

from __future__ import annotations

import pytest

from corpus.errors import UsageError
from qa.cli.batch import BatchItem, parse_batch


def test_lines_of_both_kinds() -> None:
    """Each line is told apart by itself; ids are kept as they are."""
    data = (
        '\ufeffwho won?\r\n{"id": "q7", "question": " when? "}\n{"question": "why", "id": 3}\n{"question":"x"}'.encode()
    )
    assert parse_batch(data) == (
        BatchItem(1, None, "who won?"),
        BatchItem(2, "q7", "when?"),
        BatchItem(3, 3, "why"),
        BatchItem(4, None, "x"),
    )


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_nothing_is_an_empty_batch(data: bytes) -> None:
    """An empty file asks nothing."""
    assert parse_batch(data) == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"id": 1', "batch line 2 starts with { but is not valid JSON"),
        (b'{"a":' * 100_000, "batch line 2 starts with { but is not valid JSON"),
        (b'{"id": 1}', 'batch line 2: "question" must be a string'),
        (b'{"question": 5}', 'batch line 2: "question" must be a string'),
        (b'{"question": "x", "id": 1.5}', 'batch line 2: "id" must be'),
        (b'{"question": "x", "id": true}', 'batch line 2: "id" must be'),
        (b'{"question": "  "}', "batch line 2: the question is empty"),
        (b"   ", "batch line 2: the question is empty"),
        (b"", "batch line 2: the question is empty"),
        (b"\r", "batch line 2: the question is empty"),
        (b"caf\xe9", r"batch line 2 is not UTF-8 \(byte 4 of the line\)"),
    ],
)
def test_a_bad_line_is_named(line: bytes, words: str) -> None:
    """One bad line refuses the batch, by its number."""
    with pytest.raises(UsageError, match=words):
        parse_batch(b"first\n" + line + b"\nthird\n")
