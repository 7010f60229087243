"""Headings without markup: which lines are headings, and how they nest."""

from __future__ import annotations

import pytest

from corpus.text.headings import (
    HeadingCandidate,
    could_be_heading,
    heading_title,
    infer_headings,
    is_clear_heading,
)

BODY = "This paragraph is long enough to be a body of text. " * 5


def paths(*texts: str) -> list[tuple[str, ...] | None]:
    """Return the inferred heading paths if every line except the body text has blank lines around it."""
    return infer_headings([HeadingCandidate(text, alone=text != BODY) for text in texts])


@pytest.mark.parametrize(
    "line",
    [
        *("TAXIS", "The Great Escape Plan.", "3.2 Main Results.", "概要です要約", "Best Practices", "Thanks"),
        "The Herons Should be Counted in the Morning From Two Small Boats.",
        # Titles with a colon
        *("Counting: A Survey", "Herons: How We Counted", "Rivers: Notes From Many Boats"),
        "Meadows: which of them, and why?",
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
        *("See https://example.org", "Write to me@example.org"),
        *("Ann Lee, Bo Xu and Cy Day", "Authors: Kim Lee and Bo Xu", "By Kim Lee & Bo Xu", "Ann Lee, Bo Xu."),
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


def test_a_title_is_one_line_without_its_colon() -> None:
    assert heading_title("  What to\n  bring: ") == "What to bring"
    assert heading_title(" ... ") == "..."


CAPTION = "How the model sees it in practice"
LONG_TITLE = (
    "Counting Herons Over Twenty Years: A Comparison of Observers, Drones and Acoustic Sensors on the Flooded "
    "Meadows of Three Central European Rivers"
)
SENTENCES = (
    "On the convergence of a method that nobody has used in years",
    "How to train a network of many layers with one label only",
    "Learning from what the model has not seen in training so far",
)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # "Context" recurs under every topic; a question that follows it is its sibling.
        (
            ["Adam", "Context", BODY, "What went wrong?", BODY, "Heads", "Context", BODY, "Was it really?", BODY],
            ["Adam", "Adam/Context", "Adam/What went wrong?", "Heads", "Heads/Context", "Heads/Was it really?"],
        ),
        # A heading right above another is its parent, and the parent of those that follow until there is a new one.
        (
            ["Opening", BODY, "Transport", "Taxis", BODY, "Trains", BODY, "Food", "Lunch", BODY],
            ["Opening", "Transport", "Transport/Taxis", "Transport/Trains", "Food", "Food/Lunch"],
        ),
        # Short lines at the start of a document are its title, subtitle and menu, not parents.
        (
            ["My Great Notes", "A Subtitle Here", "Menu", BODY, "First Topic", BODY],
            ["My Great Notes", "A Subtitle Here", "Menu", "First Topic"],
        ),
        # Four headings in a row are a menu, and a line like a sentence is a caption.
        (
            ["Opening", BODY, "Home", "Talks", "Papers", "People", BODY],
            ["Opening", "Home", "Talks", "Papers", "People"],
        ),
        (["Opening", BODY, CAPTION, "Results", BODY], ["Opening", CAPTION, "Results"]),
        # On a page of abstracts, lines like sentences are titles; among paragraphs they are text.
        ([text for title in SENTENCES for text in (title, BODY)], list(SENTENCES)),
        # On such a page, a title may be longer than headings elsewhere.
        (["Herons and Otters", BODY, LONG_TITLE, BODY, "Dippers", BODY], ["Herons and Otters", LONG_TITLE, "Dippers"]),
        ([BODY, BODY, BODY, SENTENCES[0], BODY, LONG_TITLE, BODY], []),
        ([BODY, "The Last Line"], []),
        ([], []),
    ],
)
def test_headings_are_inferred_and_nested(texts: list[str], expected: list[str]) -> None:
    assert ["/".join(path) for path in paths(*texts) if path is not None] == expected


def test_marked_headings_switch_inference_off() -> None:
    """With two marked headings, other short lines are text."""
    body = HeadingCandidate(BODY, alone=False)
    lines = [HeadingCandidate("Guide", alone=True, level=1), HeadingCandidate("Note This", alone=True), body]
    assert infer_headings(lines) == [("Guide",), ("Guide", "Note This"), None]
    lines += [HeadingCandidate("Usage", alone=True, level=2), body]
    assert infer_headings(lines) == [("Guide",), None, None, ("Guide", "Usage"), None]


def test_lines_inside_text_and_items_are_not_headings() -> None:
    lines = [HeadingCandidate("Some Title", alone=False), HeadingCandidate("Item Title", alone=True, leaf=True)]
    assert infer_headings([*lines, HeadingCandidate(BODY, alone=False)]) == [None, None, None]
