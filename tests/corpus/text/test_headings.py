"""Headings without markup: which lines are headings, and how they nest."""

from __future__ import annotations

import pytest

from corpus.text.headings import (
    HeadingCandidate,
    could_be_heading,
    heading_title,
    infer_headings,
    is_sure,
    is_title_case,
    is_upper,
)

BODY = "This paragraph is long enough to be a body of text. " * 5


def paths(*texts: str) -> list[tuple[str, ...] | None]:
    """What is inferred where every line but the bodies stands alone."""
    return infer_headings([HeadingCandidate(text, alone=text != BODY) for text in texts])


@pytest.mark.parametrize(
    "line",
    [
        "Taxis",
        "TAXIS",
        "Which exit?",
        "From the airport and the city",
        "The Great Escape Plan.",
        "3.2 Results",
        "概要です要約",
        "Q&A: Answers",
    ],
)
def test_short_lines_that_look_like_headings(line: str) -> None:
    assert could_be_heading(line)


@pytest.mark.parametrize(
    "line",
    [
        "x",
        "ok",
        "a b",
        "",
        "12:30",
        "lower case begins it",
        "Ends with a comma,",
        "To be continued…",
        "Run for your life!",
        "This is only a sentence.",
        "Sentence.",
        "“Quoted words",
        "| Cell |",
        "See https://example.org",
        "Write to me@example.org",
        "Ann Lee, Bo Xu and Cy Day",
        "Authors: Kim Lee and Bo Xu",
        "By Kim Lee & Bo Xu",
        "Ann Lee, Bo Xu.",
        "Word " * 19,
        "W" * 121,
    ],
)
def test_short_lines_that_are_no_headings(line: str) -> None:
    """Sentences, quotes, table rows, addresses, lists of names, single letters, long lines."""
    assert not could_be_heading(line)


def test_capitals_are_told_by_letters_alone() -> None:
    assert is_upper("PART 2: RULES")
    assert not is_upper("ABC 123")
    assert not is_upper("PART two")


def test_small_words_do_not_count_for_title_case() -> None:
    assert is_title_case("The Art of the Deal")
    assert not is_title_case("The art of making a deal")
    assert not is_title_case("of the 12")


def test_a_long_line_is_sure_only_as_a_title_or_a_question() -> None:
    assert is_sure("Which of the many ways into the hall is best?")
    assert is_sure("Robust Learning of Very Deep Models From Very Few Clean Labels")
    assert is_sure("Getting around the halls")
    assert not is_sure("Getting around the halls of the venue in the rain")


def test_a_title_is_one_line_without_its_colon() -> None:
    assert heading_title("  What to\n  bring: ") == "What to bring"
    assert heading_title(" ... ") == "..."


def test_repeated_headings_belong_to_the_topic_above() -> None:
    """The heading "Context" comes back under every topic; a question that follows it is its sibling."""
    assert paths(
        "Adam", "Context", BODY, "What went wrong?", BODY, "Attention", "Context", BODY, "Was it really new?", BODY
    ) == [
        ("Adam",),
        ("Adam", "Context"),
        None,
        ("Adam", "What went wrong?"),
        None,
        ("Attention",),
        ("Attention", "Context"),
        None,
        ("Attention", "Was it really new?"),
        None,
    ]


def test_a_repeated_heading_without_a_topic_stands_alone() -> None:
    assert paths("Context", BODY, "Context", BODY) == [("Context",), None, ("Context",), None]


def test_a_heading_right_above_another_is_its_parent() -> None:
    """And the parent of those that follow, until it is named again."""
    assert paths("Opening Words", BODY, "Transport", "Taxis", BODY, "Trains", BODY) == [
        ("Opening Words",),
        None,
        ("Transport",),
        ("Transport", "Taxis"),
        None,
        ("Transport", "Trains"),
        None,
    ]


def test_a_new_parent_closes_the_old_one() -> None:
    assert paths("Opening", BODY, "Transport", "Taxis", BODY, "Food", "Lunch", BODY)[5:7] == [
        ("Food",),
        ("Food", "Lunch"),
    ]


def test_a_masthead_is_no_parent() -> None:
    """Short lines at the head of a document are its title, its subtitle, its menu."""
    assert paths("My Great Notes", "A Subtitle Here", "Menu", BODY, "First Topic", BODY) == [
        ("My Great Notes",),
        ("A Subtitle Here",),
        ("Menu",),
        None,
        ("First Topic",),
        None,
    ]


def test_a_run_of_captions_is_no_parent() -> None:
    """Four headings in a row are a menu, and a sentence-like line is a caption."""
    assert paths("Opening", BODY, "Home", "Talks", "Papers", "People", BODY)[2:6] == [
        ("Home",),
        ("Talks",),
        ("Papers",),
        ("People",),
    ]
    caption = "How the model sees it in practice"
    assert paths("Opening", BODY, caption, "Results", BODY)[2:4] == [(caption,), ("Results",)]


def test_marked_headings_switch_inference_off() -> None:
    """Two marks are enough: short lines of such a document are only short."""
    lines = [
        HeadingCandidate("Guide", alone=True, level=1),
        HeadingCandidate("Note This", alone=True),
        HeadingCandidate(BODY, alone=False),
    ]
    assert infer_headings(lines) == [("Guide",), ("Guide", "Note This"), None]
    assert infer_headings(
        [*lines, HeadingCandidate("Usage", alone=True, level=2), HeadingCandidate(BODY, alone=False)]
    ) == [
        ("Guide",),
        None,
        None,
        ("Guide", "Usage"),
        None,
    ]


def test_marked_headings_nest_by_level() -> None:
    levels = [("A", 1), ("B", 2), ("C", 3), ("D", 2), ("E", 1), ("F", 3)]
    assert infer_headings([HeadingCandidate(title, alone=True, level=level) for title, level in levels]) == [
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        ("E",),
        ("E", "F"),
    ]


def test_a_page_of_abstracts() -> None:
    """Where most long paragraphs have a line above them, long sentence-like lines are titles too."""
    titles = [
        "On the convergence of a method that nobody has used in years",
        "How to train a network of many layers with one label only",
        "Learning from what the model has not seen in training so far",
    ]
    found = paths(titles[0], BODY, titles[1], BODY, titles[2], BODY)
    assert found == [(titles[0],), None, (titles[1],), None, (titles[2],), None]


def test_a_very_long_title_on_a_page_of_abstracts() -> None:
    """Longer than headings are elsewhere, and written like the titles around it."""
    long = (
        "Counting Herons Over Twenty Years: A Comparison of Observers, Drones and Acoustic Sensors on the Flooded "
        "Meadows of Three Central European Rivers"
    )
    found = paths("Herons and Otters", BODY, long, BODY, "Dippers under Ice", BODY)
    assert found == [("Herons and Otters",), None, (long,), None, ("Dippers under Ice",), None]
    assert paths(BODY, BODY, BODY, long, BODY) == [None, None, None, None, None]
    assert paths("Herons and Otters", BODY, long + ".", BODY, "Dippers", BODY)[2] is None


def test_a_sentence_among_paragraphs_is_no_title() -> None:
    """The same line is text where few paragraphs have one above them."""
    title = "On the convergence of a method that nobody has used in years"
    assert paths(BODY, BODY, BODY, title, BODY) == [None, None, None, None, None]


def test_the_last_line_and_lines_inside_text_are_no_headings() -> None:
    assert (
        infer_headings(
            [
                HeadingCandidate("Some Title", alone=False),
                HeadingCandidate(BODY, alone=False),
                HeadingCandidate("The Last Line", alone=True),
            ]
        )
        == [None] * 3
    )
    assert infer_headings(
        [HeadingCandidate("Item Title", alone=True, leaf=True), HeadingCandidate(BODY, alone=False)]
    ) == [None, None]


def test_nothing_has_no_headings() -> None:
    assert infer_headings([]) == []
