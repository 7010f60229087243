"""The exact output of answers on the screen."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer.results import Alternative, Answer, Highlight, Hit, Location, Source, State
from qa.terminal import answers
from qa.terminal.answers import BOLD, WARN, Places, TerminalStyle, encode_json
from tests.qa.answers import result
from tests.qa.commands import TerminalStream

ROOT = Path("/notes")


def _hit(
    text: str, *, rank: int = 1, path: str = "a.md", state: State = State.VERIFIED, bold: str = "", **more: object
) -> Hit:
    first = 100
    at = text.find(bold)
    lights = (Highlight((first + at, first + at + len(bold)), bold),) if bold else ()
    source = Source(path, "text/markdown", (first, first + len(text)), (3, 9), None, "0" * 64, state)
    return Hit(rank, f"p{rank}", 0.9, text, source=source, highlights=lights, **{"title": "", "heading": (), **more})  # type: ignore[arg-type]


def _shown(*hits: Hit, style: TerminalStyle | None = None, confidence: float = 0.87, **more: Any) -> str:
    value = result(*hits, confidence=confidence, **more)
    return answers.render_result(value, style or TerminalStyle(), Places(ROOT, ROOT))


LIST = """## Winners

The 2025 award went to *Adam*, a method that most of the people who read this have used at least once.
Others were named:

- Bahdanau and others, for a paper on translation that is longer than one line of this screen
  - who waited ten years
- nobody else
"""


@pytest.mark.parametrize(
    ("title", "heading", "trail"),
    [
        ("Harbour Notes", ("Harbour notes", "Tides"), "Harbour notes › Tides"),
        ("Oars", ("Boats",), "Oars › Boats"),
        ("Möwe", ("Boats", "Möwe (row 2)"), "Boats › Möwe (row 2)"),
        ("", ("Boats",), "Boats"),
    ],
)
def test_the_title_is_shown_once(title: str, heading: tuple[str, ...], trail: str) -> None:
    """It may equal the first heading, or the heading of a row, which also has a number."""
    assert f"[1] a.md:3-9  {trail}\n" in _shown(_hit("Nothing new.", title=title, heading=heading))


_PARTS = st.sampled_from(
    ["ab ", "cde fgh ijk lmn op ", "\n", "> ", ">>> ", "- ", "1. ", "# ", "|", "```", "漢", "\t", "\f", "\u2028"]
)


@given(st.lists(_PARTS, min_size=1, max_size=60).map("".join), st.integers(30, 50), st.data())
def test_a_passage_is_shown_unchanged(text: str, width: int, data: st.DataObject) -> None:
    """Nothing is added, and nothing is lost except white space and leading headings."""
    start = data.draw(st.integers(0, len(text)))
    bold = text[start : data.draw(st.integers(start, len(text)))]
    shown = _shown(_hit(text, heading=("ab",), bold=bold), style=TerminalStyle(width=width, styled=True))
    _, _, body = re.sub(r"\x1b\[\d*m", "", shown).partition("[1] a.md:3-9  ab\n")
    visible, original = "".join(body.split()), "".join(text.split())
    assert original.endswith(visible)
    assert set(original[: len(original) - len(visible)]) <= set("ab#`")


def test_answer_golden() -> None:
    """The answer and its confidence come first, then each passage with place, headings, state and other places."""
    locations = (Location("old/b.md", (0, 9), (1, 1), None), Location("c.pdf", (0, 9), (1, 1), 4))
    first = _hit(LIST, title="Awards", heading=("Awards", "Winners"), also_in=locations)
    second = _hit("Nothing new.", rank=2, path="sub/b.md", state=State.CHANGED)
    answer = Answer("The 2025 award went to *Adam*.", (1, 2))
    expected = """\
The 2025 award went to *Adam*. [1] [2]
Confidence: high (87%)

[1] a.md:3-9  Awards › Winners
    The 2025 award went to *Adam*, a method that most of the people who read
    this have used at least once. Others were named:

    - Bahdanau and others, for a paper on translation that is longer than one
      line of this screen
      - who waited ten years
    - nobody else
    also in old/b.md:1, c.pdf, p. 4

[2] sub/b.md:3-9
    ! changed since it was indexed
    Nothing new.
"""
    assert _shown(first, second, answer=answer) == expected


LONG = "First.\n\nSecond line,\nthird line.\nFourth.\nFifth.\n\nLast."


def test_other_passages_are_shown_from_their_best_sentence_on() -> None:
    """The one that answers is shown in full, and all are with `in_full`; a cut is marked, and keeps to a paragraph."""
    first, second = _hit(LONG), _hit(LONG, rank=2, bold="third line.")
    end, near = _hit(LONG, rank=3, bold="Last."), _hit("First.\nSecond.\nThird.\nFourth.", rank=4, bold="Fourth.")
    answer = Answer("Fifth.", (1,))
    indented = "\n".join(f"    {line}".rstrip() for line in LONG.split("\n"))
    whole = "    First.\n    Second.\n    Third.\n    Fourth.\n"
    expected = f"""\
Fifth. [1]
Confidence: high (87%)

[1] a.md:3-9
{indented}

[2] a.md:3-9
…   third line.
    Fourth.
    Fifth. …

[3] a.md:3-9
…   Last.

[4] a.md:3-9
{whole}"""
    assert _shown(first, second, end, near, answer=answer) == expected
    refused = _shown(first, second, found=False, confidence=0.1)
    assert "[1] a.md:3-9\n    First. …\n\n[2] a.md:3-9\n…   third line.\n" in refused
    value = result(first, second, found=False, confidence=0.1)
    assert answers.render_result(value, TerminalStyle(), Places(ROOT, ROOT), in_full=True).count(indented) == 2


def test_the_passage_that_is_cited_is_shown_in_full() -> None:
    """Even if another ranks above it."""
    shown = _shown(_hit(LONG), _hit(LONG, rank=2), answer=Answer("Fifth.", (2,)))
    assert "[1] a.md:3-9\n    First. …\n\n[2] a.md:3-9\n    First.\n\n    Second line," in shown


@pytest.mark.parametrize(("width", "separator", "more"), [(80, " > ", "..."), (30, " › ", "…")])
def test_an_excerpt_fits_the_width(width: int, separator: str, more: str) -> None:
    """Sentences are marked in it as in a passage in full."""
    words = "\n".join("word " * 40 for _ in range(3)) + "harbour " * 40
    style = TerminalStyle(width, styled=True, separator=separator)
    shown = _shown(_hit("x"), _hit(words, rank=2, bold="harbour " * 3), style=style).partition("[2]")[2]
    plain = re.sub(r"\x1b\[\d*m", "", shown)
    assert f"{more}   ".replace("...   ", "... ") in plain
    assert f" {more}\n" in plain
    assert max(map(len, plain.split("\n"))) <= width
    assert BOLD in shown.partition("\n")[2]


def test_a_sentence_is_left_out_if_it_adds_no_word() -> None:
    shown = _shown(_hit("**Apache 2.0**."), answer=Answer("Apache 2.0", (1,), "**Apache 2.0**."))
    assert shown.startswith("Apache 2.0 [1]\nConfidence: ")


def test_fields_of_a_record_are_told_apart() -> None:
    record = "Article: WT-101\nMaterial: Oak, oiled\nStock: yes"
    shown = _shown(_hit(record), answer=Answer("WT-101", (1,), record))
    assert shown.startswith("WT-101 [1]\n    Article: WT-101; Material: Oak, oiled; Stock: yes\nConfidence: ")


def test_other_values_are_below_the_answer() -> None:
    alternatives = (Alternative("4", (2,), "earlier"), Alternative("6", (2,), "later"), Alternative("9", (1, 2)))
    answer = Answer("5", (1,), "Put 5 for 4.", alternatives)
    assert _shown(_hit("Put 5 for 4."), _hit("x", rank=2), answer=answer).startswith(
        "5 [1]\n    Put 5 for 4.\nEarlier: 4 [2]\nLater: 6 [2]\nBut another passage says 9 [1] [2]\nConfidence: "
    )


def test_not_found_golden() -> None:
    expected = """\
No passage answers this with confidence (12%). The closest passages:

[1] a.md:3-9
    ! file is missing
    Near.
"""
    assert _shown(_hit("Near.", state=State.MISSING), found=False, confidence=0.12) == expected
    assert _shown(found=False, confidence=0.0) == ("No passage matches the question.\n")
    quoteless = "These passages should contain the answer.\nConfidence: high (87%)\n\n[1] "
    assert _shown(_hit("Here.")).startswith(quoteless)


@pytest.mark.parametrize(
    ("confidence", "words"),
    [
        *((1.0, "high (over 99%)"), (0.8, "high (80%)"), (0.797, "high (80%)"), (0.79, "fair (79%)")),
        *((0.49, "low (49%)"), (0.0, "low (under 1%)")),
    ],
)
def test_confidence_in_words(confidence: float, words: str) -> None:
    """It is never shown as certain."""
    assert f"Confidence: {words}\n" in _shown(_hit("x"), confidence=confidence)


def test_highlighted_sentences_are_bold_only_where_styled() -> None:
    hit, answer = _hit("One. Two is it. Three.", bold="Two is it."), Answer("Two is it.", (1,))
    assert "One. \x1b[1mTwo is it.\x1b[0m Three." in _shown(hit, answer=answer, style=TerminalStyle(styled=True))
    plain = _shown(hit, answer=answer)
    assert "    One. Two is it. Three.\n" in plain
    assert "\x1b" not in plain


@pytest.mark.parametrize(
    ("text", "answer", "shown"),
    [
        ("- Words: FTS5\n  also has *rank*.", "FTS5\n  also has *rank*.", "FTS5 also has *rank*. [1]\n"),
        ("- FTS5\n  also has *rank*.", "- FTS5\n  also has *rank*.", "- FTS5\n  also has *rank*. [1]\n"),
        ("Run this: a:\n\n- b\n- c", "a:\n\n- b\n- c", "a:\n\n- b\n- c [1]\n"),
        ("cd a\ncd b", "cd a\ncd b", "cd a\ncd b [1]\n"),
    ],
)
def test_an_answer_from_within_a_line_is_one_paragraph(text: str, answer: str, shown: str) -> None:
    """Otherwise, its second line would have the file's indentation; items and whole lines are kept."""
    assert _shown(_hit(text), answer=Answer(answer, (1,))).startswith(shown)


def test_highlight_in_the_heading_keeps_it() -> None:
    """A heading line that repeats the heading above is dropped, unless it contains the answer."""
    text = "# Room 4\n\nBring tea."
    assert _shown(_hit(text, heading=("Plan", "Room 4"))).endswith("[1] a.md:3-9  Plan › Room 4\n    Bring tea.\n")
    assert "    # Room 4\n" in _shown(_hit(text, heading=("Room 4",), bold="Room 4"))
    assert "    # Room 4\n" in _shown(_hit("# Room 4\n", heading=("Room 4",)))


@pytest.mark.parametrize("line", ["====", "~~~~", '""""', "--"])
def test_setext_heading_is_dropped_with_its_underline(line: str) -> None:
    assert _shown(_hit(f"Plan\n{line}\n\nTea.", heading=("Plan",))).endswith("[1] a.md:3-9  Plan\n    Tea.\n")


def test_long_heading_is_below_the_place() -> None:
    """The place is on the first line and not broken, so that it can be clicked."""
    shown = _shown(_hit("x", heading=("A long heading " * 5,)), style=TerminalStyle(width=40))
    assert "[1] a.md:3-9\n    A long heading A long heading A long\n    heading" in shown


def test_also_in_many_places() -> None:
    places = tuple(Location(f"{name}.md", (0, 1), (1, 2), None) for name in "bcdefg")
    assert "    also in b.md:1-2, c.md:1-2, d.md:1-2 and 3 more\n" in _shown(_hit("x", also_in=places))


@pytest.mark.parametrize(
    ("here", "shown"),
    [
        ("/notes", "talks/a.md"),
        ("/notes/talks", "a.md"),
        ("/notes/travel", "../talks/a.md"),
        ("/", "notes/talks/a.md"),
        ("/x/y/z", "/notes/talks/a.md"),
    ],
)
def test_place_opens_from_here(here: str, shown: str) -> None:
    """A path is relative to the working directory, but absolute if it has nothing in common with that."""
    assert Places(ROOT, Path(here))("talks/a.md") == shown


def test_place_that_looks_like_an_option() -> None:
    """A name with a leading dash can be pasted after a command."""
    assert Places(ROOT, ROOT)("-rf.md") == "./-rf.md"
    assert Places(ROOT, None)("-rf.md") == "/notes/-rf.md"


def test_json_is_exact_and_safe() -> None:
    value = {"text": "é漢\x1b\x9b\u202e\ud800\U000e0041😀"}
    text = encode_json(value, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert text == '{"text": "é漢\\u001b\\u009b\\u202e\\ud800\\udb40\\udc41😀"}'
    assert json.loads(text) == value


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_json_for_narrow_streams(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert encode_json({"a": "漢"}, stream) == '{"a": "\\u6f22"}'
    assert encode_json({"a": "x"}, stream) == '{"a": "x"}'


@given(st.text(st.characters(codec=None)))
def test_json_round_trip(text: str) -> None:
    assert json.loads(encode_json({"t": text}, None)) == json.loads(json.dumps({"t": text}))


def test_style_of_streams() -> None:
    """Text is styled on a terminal that is not dumb; NO_COLOR only disables colour."""
    environments: list[dict[str, str]] = [{}, {"NO_COLOR": ""}, {"NO_COLOR": "1"}, {"TERM": "dumb"}]
    styles = [TerminalStyle.of(TerminalStream(), environ) for environ in environments]
    assert [style.paint("x", BOLD) != "x" for style in styles] == [True, True, True, False]
    assert [style.paint("x", WARN) != "x" for style in styles] == [True, True, False, False]
    assert not any(TerminalStyle.of(stream, {}).styled for stream in (io.StringIO(), None))
    assert TerminalStyle.of(io.TextIOWrapper(io.BytesIO(), encoding="ascii"), {}).separator == " > "


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("300", 100), ("5", 30)])
def test_width_has_limits(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert TerminalStyle.of(None, {}).width == width
