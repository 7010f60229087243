"""Headings without markup: which lines are headings, and how they nest."""

from __future__ import annotations

import pytest

from corpus.text.outline import HeadingCandidate, infer_headings

BODY = "This paragraph is long enough to be a body of text. " * 5


def paths(*texts: str) -> list[tuple[str, ...] | None]:
    """Return the inferred heading paths if every line except the body text has blank lines around it."""
    return infer_headings([HeadingCandidate(text, alone=text != BODY) for text in texts])


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


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # Topics, also after a colon
        ([BODY, "Kites, Ropes and Rust", BODY], ["Kites, Ropes and Rust"]),
        ([BODY, "Mill Talk: Bread, Salt and Flour", BODY], ["Mill Talk: Bread, Salt and Flour"]),
        # Names: below a title, without text below them, after a label of one word
        (["Fog in the Hills", "Lee, Xu and Oz", BODY], ["Fog in the Hills"]),
        ([BODY, "Lee, Xu and Oz", "Bread", BODY], ["Bread"]),
        ([BODY, "Helpers: Ann, Bo and Cy", BODY], []),
        # An abbreviation above text or a question, but not above another heading
        ([BODY, "FAQ", BODY, "Q&A", "Where is the mill?", BODY], ["FAQ", "Q&A", "Q&A/Where is the mill?"]),
        ([BODY, "Place of the meeting", "TBC", "Time", BODY], ["Place of the meeting", "Time"]),
    ],
)
def test_topics_are_headings_and_names_are_not(texts: list[str], expected: list[str]) -> None:
    assert ["/".join(path) for path in paths(*texts) if path is not None] == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # Days are parents of what is below them, if some are right above other headings.
        (
            [BODY, "Monday: Mill", "Bread", BODY, "Salt", BODY, "Tuesday: Kites", BODY, "Ropes", BODY],
            ["Monday: Mill", "Monday: Mill/Bread", "Monday: Mill/Salt", "Tuesday: Kites", "Tuesday: Kites/Ropes"],
        ),
        (["Jun 3", BODY, "Bread", BODY, "Wed 4 Jun", BODY, "Salt", BODY], ["Jun 3", "Bread", "Wed 4 Jun", "Salt"]),
        (["Day 2", BODY, "2025-04-02 Wed", BODY], ["Day 2", "2025-04-02 Wed"]),
        # The date of a page, a rota, one day only, what only begins like a day
        (["Sept 14", "Bread at Home", BODY, "Salt", BODY], ["Bread at Home", "Salt"]),
        (["Our Rota", "Monday: Ann", "Tuesday: Bo", "Friday: Cy", BODY], ["Our Rota"]),
        (["Bread", BODY, "Monday: Closed", BODY], ["Bread"]),
        (["Monday: closed", BODY, "Jun 3", BODY], []),
    ],
)
def test_days(texts: list[str], expected: list[str]) -> None:
    assert ["/".join(path) for path in paths(*texts) if path is not None] == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # The line below what is in a picture is its caption, as is that below "A miller in a red hat".
        ([BODY, "Two people holding a kite", "Ann and the kite", "Ropes", BODY], ["Ropes"]),
        ([BODY, "Ann Lee, laughing, holding a kite", BODY], []),
        ([BODY, "Ann Lee holding a kite at the Mill.", "The mill at noon", BODY], ["The mill at noon"]),
        ([BODY, "Ann Lee holding a kite at the Mill.", "Our Mill", BODY], []),
        ([BODY, "A miller in a red hat", "Our miller", "Ropes", BODY], ["Ropes"]),
        # Headings and sentences
        ([BODY, "A miller in a red hat", BODY], ["A miller in a red hat"]),
        ([BODY, "A short guide to booking the mill", BODY], ["A short guide to booking the mill"]),
        (["A short guide to the mill", "Ropes", BODY], ["A short guide to the mill", "Ropes"]),
        ([BODY, "Red Kites during the winter", BODY], ["Red Kites during the winter"]),
        ([BODY, "A crew was waiting at the gate.", "Ropes", BODY], ["Ropes"]),
        ([BODY, "Ann Lee holding a kite at the Mill was late.", "Our Mill", BODY], ["Our Mill"]),
        ([BODY, "A bell rang, calling the crew.", "Ropes", BODY], ["Ropes"]),
        (
            [BODY, "A: Everyone flying a kite to the mill", "Ropes", BODY],
            ["A: Everyone flying a kite to the mill", "Ropes"],
        ),
    ],
)
def test_pictures_and_their_captions_are_not_headings(texts: list[str], expected: list[str]) -> None:
    found = [path[-1] for path in paths(*texts) if path is not None]
    assert found == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # The winner of an award: with details, or below several awards
        (["Kite Medal", "Ann Lee (Harlow)", BODY, "Ropes", BODY], ["Kite Medal", "Ropes"]),
        (
            [BODY, "Kite Medal 2024", "The red kite", BODY, "Rope Runner-Up", "Our blue rope", BODY],
            ["Kite Medal 2024", "Rope Runner-Up"],
        ),
        # Other lines below awards, and lines below other headings
        ([BODY, "Kite Medal", "Deadline", BODY], ["Kite Medal", "Kite Medal/Deadline"]),
        (
            [BODY, "Kite Medal", "Deadline", BODY, "Rope Prize", "Deadline", BODY],
            ["Kite Medal", "Kite Medal/Deadline", "Rope Prize", "Rope Prize/Deadline"],
        ),
        (
            [BODY, "Kite Medal", "Winner", BODY, "Rope Prize", "Best of Two", BODY],
            ["Kite Medal", "Kite Medal/Winner", "Rope Prize", "Rope Prize/Best of Two"],
        ),
        ([BODY, "Prizes", "Kites (big)", BODY], ["Prizes", "Prizes/Kites (big)"]),
        # The only parent of a document is not that of all headings that follow, but of the places below the first.
        (
            [BODY, "Best Kite", "Winner", BODY, "Runners-Up", BODY, "Ropes", BODY, "Bread", BODY, "Salt", BODY],
            ["Best Kite", "Best Kite/Winner", "Best Kite/Runners-Up", "Ropes", "Bread", "Salt"],
        ),
        (
            [BODY, "Parting Words", "To the young", BODY, "To the elders", BODY],
            ["Parting Words", "Parting Words/To the young", "Parting Words/To the elders"],
        ),
    ],
)
def test_awards_and_parents(texts: list[str], expected: list[str]) -> None:
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
