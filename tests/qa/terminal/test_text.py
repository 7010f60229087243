"""Cleaning and wrapping text for a terminal."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.terminal.text import cells, clean, clean_line, clean_name, embolden, wrap

_ANY = st.text(st.characters(codec=None))
_HOSTILE = st.text(
    st.sampled_from(
        "a\x1b[]0;\x07\x9b\x9d\x90\x00\r\n\t\x7f\x85\u061c\u200b\u200e\u202e\u2066\u2069\u2028\ufeff\ud800\U000e0041"
    )
)


def _dangerous(text: str) -> list[str]:
    return [c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and c not in "\u200c\u200d"]


@given(_ANY | _HOSTILE)
def test_nothing_dangerous_survives(text: str) -> None:
    assert set(_dangerous(clean(text))) <= {"\n"}
    assert _dangerous(clean_name(text)) == []
    assert _dangerous(clean_line(text)) == []
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs", "M"])))
def test_harmless_text_is_not_changed(text: str) -> None:
    assert clean(text) == clean_name(text) == text


@pytest.mark.parametrize(
    ("text", "in_prose", "in_names"),
    [
        ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇", r"\x1b]52;c;ZXZpbA==\x07"),
        ("\x9b31m", "\ufffd31m", r"\x9b31m"),
        ("safe\rEVIL", "safe EVIL", r"safe\rEVIL"),
        ("a\tb\nc", "a    b\nc", r"a\tb\nc"),
        ("txt.\u202eexe", "txt.exe", r"txt.\u202eexe"),
        ("\ud800", "\ufffd", r"\ud800"),
        ("می\u200cخواهم 👩\u200d🔬", "می\u200cخواهم 👩\u200d🔬", "می\u200cخواهم 👩\u200d🔬"),
    ],
)
def test_known_attacks(text: str, in_prose: str, in_names: str) -> None:
    """Prose has a placeholder for each control character, names spell it out; joiners that scripts need are kept."""
    assert clean(text) == in_prose
    assert clean_name(text) == in_names


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("ｆ", 2)])
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


LETTER = "Dear Ann,\nthe talk is\non Monday.\n\n- one\n- two\n"
CODE = "```\nlong line of code\n\n- not a list at all\n```\n| a | table | row |\n## A long heading\n\n    indented code"


@pytest.mark.parametrize(
    ("text", "width", "wrapped"),
    [
        # Lines that fit are not joined, as line breaks may have a meaning.
        (LETTER, 20, LETTER),
        ("aaa bbb ccc ddd eee\nfff ggg hhh iii jjj\nkkk", 12, "aaa bbb ccc\nddd eee fff\nggg hhh iii\njjj kkk"),
        # If lines were broken on purpose, only the long one is wrapped.
        ("Room: 4\nTopic: aaaa bbbb cccc dddd\nBy: X", 16, "Room: 4\nTopic: aaaa bbbb\ncccc dddd\nBy: X"),
        ("- aaaa bbbb cccc\n  - dddd eeee ffff", 12, "- aaaa bbbb\n  cccc\n  - dddd\n    eeee\n    ffff"),
        ("10. gggg hhhh iiii\n> jjjj kkkk llll mm", 12, "10. gggg\n    hhhh\n    iiii\n> jjjj kkkk\n  llll mm"),
        (CODE, 10, CODE),
        # A Python session is code up to its end, not a quotation in a mail.
        (
            ">>> aaaa(bbbb, cccc)\ndddd eeee ffff\n\n> aaaa bbbb cccc",
            12,
            ">>> aaaa(bbbb, cccc)\ndddd eeee ffff\n\n> aaaa bbbb\n  cccc",
        ),
        # Neither an underlined title of reStructuredText nor an unclosed fence makes the rest code.
        ("Title\n~~~~~\n\naaaa bbbb cccc", 10, "Title\n~~~~~\n\naaaa bbbb\ncccc"),
        ("aaaa\n```\naaaa bbbb cccc", 10, "aaaa\n```\naaaa bbbb\ncccc"),
        # A paragraph indented by four blanks below a list item is part of the item.
        ("1.  aaaa\n\n    bbbb cccc dddd", 12, "1.  aaaa\n\n    bbbb\n    cccc\n    dddd"),
        # An address is not broken, so that it can still be clicked.
        ("see https://example.org/xxxxx there", 20, "see\nhttps://example.org/xxxxx\nthere"),
        # No line begins with closing punctuation.
        ("漢字漢字漢字、漢字", 10, "漢字漢字漢\n字、漢字"),
    ],
)
def test_wrapping(text: str, width: int, wrapped: str) -> None:
    assert "\n".join(wrap(text, width)) == wrapped


_PARTS = st.sampled_from(["aa ", "bbb ", "\n", "> ", ">>> ", "- ", "1. ", "# ", "|", "```", "漢", " "])


@given(st.lists(_PARTS, max_size=40).map("".join), st.integers(5, 30))
def test_wrapping_changes_only_white_space(text: str, width: int) -> None:
    """No other character is lost, moved or added, not even a quote mark before a continued line."""
    assert "".join("".join(wrap(text, width)).split()) == "".join(text.split())


@given(st.text(st.sampled_from("ab\n\t\x1b\u202e漢 -"), max_size=60), st.data())
def test_bold_stays_on_its_characters(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = wrap(clean(text), 10)
    styled = embolden(lines, text, [(start, end)], "<", ">")
    assert [line.replace("<", "").replace(">", "") for line in styled] == lines
    bold = "".join("".join(re.findall("<(.*?)>", line)) for line in styled)
    assert "".join(bold.split()) == "".join(clean(text[start:end]).split())


def test_bold_runs() -> None:
    """Each run is marked once per line, including the spaces between its words."""
    assert embolden(["one two three"], "one two three", [(4, 13)], "<", ">") == ["one <two three>"]
    text = "> one two three four"
    assert embolden(wrap(text, 13), text, [(6, 15)], "<", ">") == ["> one <two>", "  <three> four"]
    assert embolden([""], "", [], "<", ">") == [""]
