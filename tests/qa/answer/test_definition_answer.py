"""Answers from the definitions of source code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa.answer.exact_answer import exact_answer
from qa.answer.extract import Extract
from qa.answer.heading_answer import prefer_definition
from qa.answer.results import Highlight
from tests.qa.passages import reading, stored

PYTHON = '    def split(self, data: bytes) -> list:\n        """Split a mailbox at each From."""\n'
GO = "// Fetch downloads the forecast.\nfunc (c *Client) Fetch(town string) (Forecast, error) {\n"
SIGNATURE = "def split(self, data: bytes) -> list:"
TYPE = "@dataclass\nclass Mailbox:\n    path: str\n"


def answered(question: str, text: str, heading: tuple[str, ...], *, path: str = "a.py") -> tuple[str, Extract]:
    """The answer from one passage of which the reader likes the last word best, and its extract."""
    passage = replace(stored(text, path=path, start=100), heading=heading)
    last = text.rstrip().rpartition("\n")[2].strip()
    start = text.index(last)
    best = Extract((Highlight((100 + start, 100 + start + len(last)), last),), 1.0, (start, start + len(last)), last)
    result = prefer_definition(question, passage, best)
    read = reading(text, answer=last.split()[-1], answered=3.0)
    answer = exact_answer(question, [passage], {1: result}, {1: read}, {})
    assert answer is not None
    return answer.text, result


@pytest.mark.parametrize(
    ("question", "text", "heading", "path", "answer"),
    [
        ("Which function splits a mailbox?", PYTHON, ("Mailbox", "split"), "a.py", "split"),
        ("What is the method that splits mailboxes?", PYTHON, ("Mailbox", "split"), "a.py", "split"),
        ("in which static method is a mailbox cut?", PYTHON, ("Mailbox", "split"), "a.py", "split"),
        ("Which method downloads the forecast?", GO, ("Client.Fetch",), "a.go", "Fetch"),
        ("Which class has a path?", TYPE, ("Mailbox",), "a.py", "Mailbox"),
    ],
)
def test_the_innermost_definition_answers(
    question: str, text: str, heading: tuple[str, ...], path: str, answer: str
) -> None:
    assert answered(question, text, heading, path=path)[0] == answer


def test_the_defining_line_is_highlighted_first() -> None:
    """At its place in the file, and before the sentences that answer."""
    _, result = answered("Which function splits a mailbox?", PYTHON, ("Mailbox", "split"))
    assert result.highlights[0] == Highlight((104, 104 + len(SIGNATURE)), SIGNATURE)
    assert [mark.text for mark in result.highlights[1:]] == ['"""Split a mailbox at each From."""']
    _, result = answered("Which function splits?", f"{SIGNATURE}\n", ("split",))
    assert [mark.text for mark in result.highlights] == [SIGNATURE]


@pytest.mark.parametrize(
    ("question", "text", "heading", "path"),
    [
        pytest.param("What does the function return?", PYTHON, ("split",), "a.py", id="it asks for something else"),
        pytest.param("Which function does it call?", PYTHON, ("split",), "a.py", id="it asks for another function"),
        pytest.param("Which function calls split?", PYTHON, ("split",), "a.py", id="the question has the name"),
        pytest.param("Which class cuts a mailbox?", PYTHON, ("split",), "a.py", id="it is no class"),
        pytest.param("Which function has a path?", TYPE, ("Mailbox",), "a.py", id="it is no function"),
        pytest.param("Which function cuts?", "    return data\n", ("split",), "a.py", id="it begins elsewhere"),
        pytest.param("Which function is set?", "x = 1\n", (), "a.py", id="it is in no function"),
        pytest.param("Which function cuts it?", PYTHON, ("split",), "a.md", id="it is not source code"),
    ],
)
def test_other_questions_and_passages(question: str, text: str, heading: tuple[str, ...], path: str) -> None:
    assert answered(question, text, heading, path=path)[1].name == ""
