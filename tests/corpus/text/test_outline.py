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
