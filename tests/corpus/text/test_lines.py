"""Line numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.text.lines import LineMap


@pytest.mark.parametrize(("text", "count"), [("", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n", 1), ("\n\n", 2)])
def test_a_final_newline_does_not_start_a_line(text: str, count: int) -> None:
    assert len(LineMap(text)) == count


def test_only_a_newline_ends_a_line() -> None:
    r"""A lone "\r", a form feed, NEL and U+2028 do not; the "\r" of "\r\n" is part of its line."""
    lines = LineMap("a\rb\x0cc\x85d\u2028e\r\nf")
    assert len(lines) == 2
    assert lines.span(1) == (0, 10)
    assert lines.span(2) == (11, 12)


@pytest.mark.parametrize("line", [0, -1, 4])
def test_a_missing_line_is_an_error(line: int) -> None:
    with pytest.raises(IndexError):
        LineMap("ab\n\ncd\n").span(line)


def test_a_range_includes_the_line_of_its_last_character() -> None:
    """Line numbers are inclusive; an empty range is on the line of its start."""
    lines = LineMap("ab\ncd\nef")
    assert lines.range_of(0, 2) == (1, 1)
    assert lines.range_of(0, 3) == (1, 1)
    assert lines.range_of(0, 4) == (1, 2)
    assert lines.range_of(3, 3) == (2, 2)


@given(st.text(alphabet="ab\n\r\x85", max_size=40), st.integers(0, 40))
def test_the_line_of_a_character_counts_the_newlines_before_it(text: str, offset: int) -> None:
    at = min(offset, len(text))
    assert LineMap(text).line_of(at) == text.count("\n", 0, at) + 1
