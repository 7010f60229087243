"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from corpus.text.lazy_pattern import lazy_pattern


def test_a_pattern_behaves_as_if_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    original = re.compile

    def counted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return original(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    number = lazy_pattern(r"(?P<n>\d+)x", re.IGNORECASE)
    assert compiled == []
    match = number.search("a 12X b 3x")
    assert match is not None
    assert (match["n"], number.findall("12X 3x"), number.sub("-", "12X 3x")) == ("12", ["12", "3"], "- -")
    assert (number.pattern, number.groupindex["n"]) == (r"(?P<n>\d+)x", 1)
    assert compiled == [r"(?P<n>\d+)x"]


def test_a_wrong_pattern_is_an_error_when_it_is_used() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.match("a")
