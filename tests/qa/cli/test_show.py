"""`qa show`: the text around a place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.qa.commands import TALKS, qa


def test_show_lines(indexed: Path) -> None:
    done = qa("show", "talks.md:5-7", "-C", "1")
    assert done.stdout == ("talks.md  as indexed\n  4\n> 5  ## Lunch\n> 6\n> 7  Soup is served at noon.\n")
    assert qa("show", "talks.md:3", "-C", "0").stdout.endswith("\n> 3  The keynote on Monday is about whales.\n")


@pytest.mark.parametrize("command", ["show", "similar"])
def test_names_that_are_not_utf_8(indexed: Path, command: str) -> None:
    """They are never indexed; a text with such bytes is compared without them."""
    assert qa(command, "bad\udcff.md").exit_code == 2
    assert "is not in the collection" in qa(command, "bad\udcff.md:3").stderr
    assert qa("similar", "train to Lyon \udcff").exit_code == 0


def test_show_a_passage(indexed: Path) -> None:
    """Its text is shown where it is now or, if it is gone, from the index."""
    key = json.loads(qa("ask", "--json", "soup").stdout)["passages"][0]["id"]
    assert "> 7  Soup is served at noon.\n" in qa("show", key).stdout
    (indexed / "talks.md").write_text("New first line.\n\n" + TALKS)
    moved = qa("show", key).stdout
    assert moved.startswith("talks.md  changed since it was indexed\n")
    assert "> 9  Soup is served at noon.\n" in moved
    (indexed / "talks.md").write_text("All is different.\n")
    assert qa("show", key).stdout.startswith(
        "talks.md  no longer in the file; this is the indexed text\n> 5  ## Lunch\n"
    )
    (indexed / "talks.md").unlink()
    assert qa("show", key).stdout.startswith("talks.md  the file is missing; this is the indexed text\n> 5")


def test_show_a_whole_document(indexed: Path) -> None:
    """A path alone prints the text and nothing else to stdout."""
    done = qa("show", "talks.md")
    assert (done.stdout, done.stderr) == (TALKS, "")
    (indexed / "talks.md").write_text(TALKS + "More.\n")
    done = qa("show", "talks.md")
    assert (done.stdout, done.stderr) == (TALKS + "More.\n", "talks.md: changed since it was indexed\n")


@pytest.mark.parametrize(
    ("place", "shown"),
    [("../talks.md:3", "../talks.md"), ("travel.md:1", "travel.md"), ("sub/travel.md:1", "travel.md")],
)
def test_show_in_a_subfolder(indexed: Path, monkeypatch: pytest.MonkeyPatch, place: str, shown: str) -> None:
    """A path is relative to the working directory or, failing that, to the collection."""
    monkeypatch.chdir(indexed / "sub")
    assert qa("show", place).stdout.startswith(f"{shown}  as indexed\n")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("talks.md:99", "talks.md has 7 lines; there is no line 99"),
        ("talks.md:0", "there is no line 0; lines count from 1."),
        ("talks.md:5-3", "5-3 is not a range of lines: write the lower number first."),
        ("talks.md#page=4", "talks.md has no numbered parts: write talks.md:LINE, or a passage id"),
        ("gone.md", "gone.md is not in the collection"),
        ("../../etc/passwd", "is not in the collection"),
        (".", "qa: . is a folder. Name a place: qa show notes.md:12"),
        ("sub/", "qa: sub is a folder. Name a place: qa show sub/notes.md:12"),
        ("", "qa: the place is empty. Name a place: qa show notes.md:12"),
        ("a\x00b", "is not in the collection"),
    ],
)
def test_show_a_missing_place(indexed: Path, place: str, words: str) -> None:
    done = qa("show", "--", place)
    assert done.exit_code == 2
    assert words in done.stderr


def test_show_odd_names(indexed: Path) -> None:
    """Names with colons and leading dashes are found; a file that is not indexed is marked as such."""
    (indexed / "a:3").write_text("x\n")
    (indexed / "-x.md").write_text("dash\x1b[2J\n")
    assert qa("show", "--", "-x.md:1").stdout == "./-x.md  not in the index\n> 1  dash␛[2J\n"
    assert qa("show", "a:3").stdout == "x\n"
    assert qa("show", "a:3:1").stdout == "a:3  not in the index\n> 1  x\n"
    (indexed / "p.png").write_bytes(b"\x89PNG")
    assert qa("show", "p.png").stderr == "qa: p.png: format not supported.\n"
