"""Lines, paragraphs and blanks around characters of a text."""

from __future__ import annotations

import pytest

from qa.language.spans import lines_of, paragraph_around, trimmed


@pytest.mark.parametrize(
    ("part", "chars", "expected"),
    [("\n  oars \n", None, "oars"), ("\n  oars \n", "\n", "  oars "), ("oars", None, "oars"), ("", None, "")],
)
def test_a_span_is_trimmed(part: str, chars: str | None, expected: str) -> None:
    text = f"x {part} x"
    start, end = trimmed(text, (2, 2 + len(part)), chars)
    assert text[start:end] == expected


def test_a_span_of_blanks_ends_where_it_did() -> None:
    assert trimmed("x \n x", (1, 4)) == (4, 4)


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [("a\n\nbc", 0, [(0, 1), (2, 2), (3, 5)]), ("a\nbc\n", 2, [(2, 4), (5, 5)]), ("", 0, [(0, 0)])],
)
def test_lines_have_no_line_breaks(text: str, start: int, expected: list[tuple[int, int]]) -> None:
    assert list(lines_of(text, start)) == expected


@pytest.mark.parametrize(
    ("words", "body", "expected"),
    [
        ("three", 0, "two\nthree four"),
        ("one", 0, "one"),
        ("five", 0, "five\n"),
        # Not in the headings, even if they are part of the paragraph.
        ("one", 2, "e"),
        ("four", 7, "o\nthree four"),
    ],
)
def test_a_paragraph_is_between_blank_lines(words: str, body: int, expected: str) -> None:
    text = "one\n\ntwo\nthree four\n\nfive\n"
    start = text.index(words)
    first, last = paragraph_around(text, (start, start + len(words)), body)
    assert text[first:last] == expected
