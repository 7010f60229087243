"""Links on citations: their URLs, and which terminals get them."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answer.results import Hit, Source, State
from qa.terminal import answers
from qa.terminal.answers import Places, TerminalStyle
from qa.terminal.hyperlinks import file_url, hyperlink, terminal_shows_links
from qa.terminal.text import cells
from tests.qa.answers import result


def test_a_url_is_the_path_percent_encoded() -> None:
    assert file_url("/notes/a b#1%.md") == "file:///notes/a%20b%231%25.md"
    assert file_url("/n/\x1b]8;;é\udce9.pdf", host="her desk", fragment="page=3") == (
        "file://her%20desk/n/%1B%5D8%3B%3B%C3%A9%E9.pdf#page=3"
    )


def is_file_name(name: bytes) -> bool:
    return b"\0" not in name and b"/" not in name and name not in (b".", b"..")


@given(st.binary(min_size=1, max_size=40).filter(is_file_name))
def test_a_url_can_be_decoded_to_the_file_name(name: bytes) -> None:
    """It has no character that could end the terminal's escape sequence."""
    url = file_url("/" + os.fsdecode(name))
    assert url.isascii()
    assert url.isprintable()
    assert unquote_to_bytes(urlsplit(url).path) == b"/" + name


@pytest.mark.parametrize(
    ("environ", "is_terminal", "expected"),
    [
        ({"TERM": "xterm-256color"}, True, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7003"}, True, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7003"}, False, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, True, False),
        ({"TERM": "xterm-kitty"}, True, True),
        ({"TERM": "dumb", "VTE_VERSION": "7003"}, True, False),
        ({"TERM": "tmux-256color", "VTE_VERSION": "7003"}, True, False),
        ({"TERM": "xterm-kitty", "TMUX": "/run/tmux"}, True, False),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"}, True, False),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, False, True),
        ({"TERM": "xterm-kitty", "FORCE_HYPERLINK": "", "NO_COLOR": "1"}, True, True),
    ],
)
def test_which_terminals_get_links(environ: dict[str, str], is_terminal: bool, expected: bool) -> None:
    """Terminals known to support links, unless FORCE_HYPERLINK decides; NO_COLOR has no effect."""
    assert terminal_shows_links(environ, is_terminal=is_terminal) is expected


def _hit(media_type: str, path: str, page: int | None, state: State = State.VERIFIED) -> Hit:
    source = Source(path, media_type, (0, 4), (3, 3), page, "0" * 64, state)
    return Hit(1, "p1", 0.9, "Text", "", ("A heading that fills the line",), source)


def _shown(hit: Hit, style: TerminalStyle) -> str:
    return answers.render_result(result(hit), style, Places(Path("/notes"), Path("/notes")))


def test_a_citation_is_a_link() -> None:
    """A PDF's link has the page, a slide's has not; a file that is gone has no link."""
    style = TerminalStyle(linked=True)
    link = f"\x1b]8;;file://{os.uname().nodename}/notes/a.pdf#page=3\x1b\\a.pdf, p. 3\x1b]8;;\x1b\\"
    assert f"[1] {link}  A heading" in _shown(_hit("application/pdf", "a.pdf", 3), style)
    assert "/talk.pptx\x1b" in _shown(_hit("application/x-slides", "talk.pptx", 3), style)
    assert "\x1b" not in _shown(_hit("text/markdown", "a.md", None, State.MISSING), style)


@pytest.mark.parametrize("width", range(30, 60))
def test_links_do_not_affect_line_width(width: int) -> None:
    """Lines are broken at the same places with and without links."""
    hit = _hit("text/markdown", "a.md", None)
    url = Places(Path("/notes"), None).url("a.md")
    plain = _shown(hit, TerminalStyle(width=width))
    assert _shown(hit, TerminalStyle(width=width, linked=True)) == plain.replace("a.md:3", hyperlink("a.md:3", url), 1)
    assert all(cells(line) <= width for line in plain.splitlines())


def test_a_url_too_long_for_terminals_is_not_linked() -> None:
    assert hyperlink("text", file_url("/" + "x" * 3000)) == "text"
