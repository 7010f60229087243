"""Lines that may be headings, judging by their form."""

from __future__ import annotations

import pytest

from corpus.text.headings import could_be_heading, heading_title, is_clear_heading, is_day


@pytest.mark.parametrize(
    "line",
    [
        *("TAXIS", "The Great Escape Plan.", "3.2 Main Results.", "概要です要約", "Best Practices", "Thanks"),
        "The Herons Should be Counted in the Morning From Two Small Boats.",
        # Titles with a colon
        *("Counting: A Survey", "Herons: How We Counted", "Rivers: Notes From Many Boats"),
        "Meadows: which of them, and why?",
        # Two topics, and a place in capitals
        *("Kites, Boats", "Kite Flying, boats", "HARLOW MILL, NORTH QUAY"),
        # Titles in bold, or with a link
        *("**Agenda**", "**Part 2:** The Herons", "[Draft] Minutes (May)", "[Chorus]", "[Oars](oars.md) and Sails"),
    ],
)
def test_short_lines_that_look_like_headings(line: str) -> None:
    assert could_be_heading(line)


@pytest.mark.parametrize(
    "line",
    [
        # Too short, or too long
        *("x", "ok", "a b", "", "12:30", "Word " * 19, "W" * 121),
        # Sentences, quotes, table rows
        *("lower case begins it", "Ends with a comma,", "To be continued…", "Run for your life!"),
        *("This is only a sentence.", "Sentence.", "“Quoted words", "| Cell |"),
        *("Ann Lee chairs the Board.", "2.1 This Agreement begins on 1 May 2025."),
        # Addresses, lists of names, labels
        *("Guests on the gate. Photo: Cy Day", "Guests on the gate (photo by Cy)"),
        *("See https://example.org", "Write to me@example.org"),
        *(
            "Anna Lees, Boris Xu",
            "A. Lees, Boris van Dam",
            "Ann Lee, Bo Xu and Cy Day",
            "Authors: Kim Lee and Bo Xu",
            "By Kim Lee & Bo Xu",
            "Ann Lee, Bo Xu.",
        ),
        *("Present: Dr. Ann Lee (chair), Bo Xu, Cy Day (minutes)", "Main door: Ann Lee, Bo Xu", "Excused: Bo Xu"),
        *("Next meeting: 16 January", "**Present:** Ann, Bo", "*Excused*: Bo Xu", "__Next meeting:__ 16 January"),
        # Links and images, keywords and drawers of Org
        *("[Home](index.md)", "![logo](logo.png)", "[[Oars and Sails]] | [Log of May](may.md)"),
        *("#+DATE: 16 January", "#+END_SRC", ":PROPERTIES:"),
        # Footnotes
        "15 Adjusted HR 0.61.",
        # Closings of a letter
        *("Regards, Ann", "Best wishes, Dr. A. Lee", "Viele Grüße, Ülo"),
    ],
)
def test_short_lines_that_are_not_headings(line: str) -> None:
    assert not could_be_heading(line)


def test_a_long_line_is_clearly_a_heading_only_as_a_title_or_a_question() -> None:
    assert is_clear_heading("Which of the many ways into the hall is best?")
    assert is_clear_heading("Robust Learning of Very Deep Models From Very Few Clean Labels")
    assert is_clear_heading("Getting around the halls")
    assert not is_clear_heading("Getting around the halls of the venue in the rain")


def test_days_as_lines() -> None:
    """A line that goes on after the day is not one, and neither is a name like that of a month."""
    days = (
        "Tuesday",
        "tuesday 22nd",
        "Day 2: Kites",
        "3 May",
        "Jun 3rd",
        "17 Aug 25",
        "Sat, 5 April 2025",
        "2025-04-02",
    )
    assert all(map(is_day, days))
    others = ("Monday: closed", "Marble 3", "Mar 3 kilos", "Apr 20, 2012 3:13 PM", "Day trip", "Sunday school", "May")
    assert not any(map(is_day, others))


def test_a_title_is_one_line_without_its_colon() -> None:
    assert heading_title("  What to\n  bring: ") == "What to bring"
    assert heading_title(" ... ") == "..."
