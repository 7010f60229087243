"""Questions become literal words."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.report import Request
from index.snapshot import Snapshot
from index.terms import MAX_TERMS, expression, words
from index.update import update
from tests.encoders import BagEncoder


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the state-of-the-art accuracy?", ("state-of-the-art", "state", "art", "accuracy")),
        ("Version 3.5, or 3.6?", ("version", "3.5", "3.6")),
        ("Don't O'Brien's cats purr?", ("o'brien", "brien", "cats", "purr")),
        ("They'll use Zürich’s tram", ("use", "zürich", "tram")),
        ("who is it?", ("who", "is", "it")),
        ("Cats cats CATS", ("cats",)),
        ('"NEAR(a b)" AND title:x* OR -y', ("near", "b", "title", "x", "y")),
        ("snake_case\0nul", ("snake", "case", "nul")),
        ("cafe\u0301 na\u00efve \ud800", ("caf\u00e9", "na\u00efve")),
        ("हिन्दी", ("हिन्दी",)),
        ("?!… --- '' .", ()),
        ("", ()),
    ],
)
def test_words(question: str, expected: tuple[str, ...]) -> None:
    assert words(question) == expected


def test_expression_quotes_every_word() -> None:
    assert expression(("state-of-the-art", "or")) == '"state-of-the-art" OR "or"'
    assert expression(()) == ""


def test_a_document_pasted_as_a_question_is_capped() -> None:
    assert len(words(" ".join(f"w{number}" for number in range(5000)))) == MAX_TERMS


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text(alphabet="\"'*():^-+{}\0\ud800 ANDORNEAR.titlex'’", max_size=40))
def test_any_question_is_a_valid_expression(question: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(title, text)")
    match = expression(words(question))
    if match:
        connection.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)).fetchall()
    connection.close()


def test_operators_in_a_question_do_nothing(root: Path) -> None:
    """`NOT birds` is about birds, and a quoted phrase is its words."""
    update(Request(root, BagEncoder()))
    with Snapshot(root / ".qa") as snapshot:
        (bird,) = snapshot.keyword("NOT birds", 5)
        for question in ('birds" OR "fish', "birds* NEAR", "text:birds", "birds'); DROP TABLE passages; --"):
            assert bird.passage in [one.passage for one in snapshot.keyword(question, 5)]
