"""Batches of questions."""

from __future__ import annotations

import pytest

from corpus.errors import UsageError
from qa.cli.batch import BatchItem, parse_batch
from qa.retrieval.query import ask_text


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


def test_long_question_is_cut() -> None:
    """10,000 characters are searched, and what is left out is counted."""
    assert ask_text("x" * 10_000) == ("x" * 10_000, 0)
    assert ask_text(" " + "x" * 10_007) == ("x" * 10_000, 7)


def test_question_is_whole_unicode() -> None:
    """Lone surrogates are replaced, pairs are joined; everything else is literal."""
    assert ask_text("a\udce9b \ud83d\ude00 \x00'\"*") == ("a\ufffdb 😀 \x00'\"*", 0)


@pytest.mark.parametrize("text", ["", " \t\n", "\u3000"])
def test_empty_question(text: str) -> None:
    """Nothing but white space is no question."""
    with pytest.raises(UsageError, match="the question is empty"):
        ask_text(text)
