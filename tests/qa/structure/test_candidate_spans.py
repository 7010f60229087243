"""The spans of a passage that may answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus import is_code
from qa.structure.candidate_spans import candidate_spans
from tests.qa.passages import stored


def spans(text: str, path: str = "x.txt", media_type: str = "text/plain") -> list[str]:
    """The texts of the candidate spans of a passage."""
    passage = stored(text, path=path)
    passage = replace(passage, document=replace(passage.document, media_type=media_type))
    return [text[start:end] for start, end in candidate_spans(passage)]


def test_the_rows_of_a_table_are_spans() -> None:
    """Without the bars at both ends; neither the column names nor the rule below them is one."""
    text = "Fees. All of them.\n\n| Boat | Fee. |\n|---|---|\n| red kayak | 5 |\n| ferry | 7 |\n\nThe end."
    assert spans(text) == ["Fees.", "All of them.", "red kayak | 5", "ferry | 7", "The end."]


@pytest.mark.parametrize(("media_type", "mark"), [("text/markdown", "#"), ("text/x-org", "*"), ("text/asciidoc", "=")])
def test_headings_begin_spans_without_their_marks(media_type: str, mark: str) -> None:
    """Each below another is a span of its own."""
    text = f"Bring\n{mark} Opening up\n{mark}{mark} TODO water\n{mark}{mark} Oil the locks\n\nUse {mark} two. Wait"
    rows = "\n\n| Boat | Fee |\n|---|---|\n| kayak | 5 |\n\n"
    expected = [
        "Bring",
        "Opening up",
        "TODO water",
        "Oil the locks",
        f"Use {mark} two.",
        "Wait",
        "kayak | 5",
        "Fees",
        "10",
    ]
    assert spans(f"{text}{rows}{mark} Fees\n\n10", media_type=media_type) == expected


def test_marks_of_headings_mean_nothing_in_plain_text() -> None:
    assert spans("# it is cold\n# in May") == ["# it is cold\n# in May"]


@pytest.mark.parametrize("marker", ["- ", "* ", "+ ", "• ", "– ", "1. ", "12) ", "(3) ", "b) ", "(ii) ", "xiv) "])
def test_list_markers_are_left_out(marker: str) -> None:
    assert spans(f"{marker}red fox\n\n{marker}blue hen") == ["red fox", "blue hen"]


def test_the_mark_between_a_title_that_asks_and_its_text_is_left_out() -> None:
    assert spans("Why so slow? : We measured it. Then: rest.") == ["Why so slow?", "We measured it.", "Then: rest."]


def test_the_day_of_a_date_is_not_a_marker() -> None:
    assert spans("5. Mai 2023: Besuch.\n\n6. Maier kam.") == ["5. Mai 2023: Besuch.", "Maier kam."]


@pytest.mark.parametrize("text", ["-5 degrees at night", "1998 was cold", "3.5 metres of snow"])
def test_numbers_that_only_look_like_a_marker_stay(text: str) -> None:
    assert spans(text) == [text]


def test_long_sentences_are_cut_between_words() -> None:
    """Into pieces of at most 400 characters, losing only the blanks in between."""
    text = "filler " * 150 + "needle" + " filler" * 20
    assert spans(text) == [text[:398], text[399:797], text[798:]]


@pytest.mark.parametrize("before", ["; or (ii) ", ", (b) ", ": and (3) ", "; "])
def test_a_long_sentence_is_cut_at_its_clauses(before: str) -> None:
    """Before the last item or after the last semicolon that fits, but not at commas and brackets alone."""
    first = "owls " * 20 + "owls"
    second = "needle, foxes (see a) " * 8 + "hens " * 30 + "hens"
    assert spans(f"{first}{before}{second}.")[1].startswith(f"{before} needle".strip("; :,").replace("  ", " "))


def test_a_word_longer_than_a_span_is_cut() -> None:
    """Without a blank it is cut anywhere, and no piece is empty."""
    assert spans("x" * 400 + " " + "y" * 900) == ["x" * 400, "y" * 400, "y" * 400, "y" * 100]


@pytest.mark.parametrize("before", ["Yes.", "No!", "text: Yes.", "Anna: Of course."])
def test_a_mere_yes_or_no_is_one_span_with_the_next_sentence(before: str) -> None:
    assert spans(f"{before} The cellar is dry. It is cold.") == [f"{before} The cellar is dry.", "It is cold."]
    assert spans(f"{before}\n\nThe cellar is dry.") == [before, "The cellar is dry."]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("etc/kiosk_config", "Port 8302\nAllowGuests no\nMaxTries 4\nBanner none\n", "MaxTries 4"),
        ("kiosk.conf", "http {\n    timeout 40s;\n    max_tries 4;\n}\n", "max_tries 4;"),
        ("run.sh", 'set -eu\nMAX_TRIES=4\ntar cf - "$1" | gzip > out.gz\n', "MAX_TRIES=4"),
        ("kiosk.service", "[Service]\nRestart=always\nMaxTries=4\n", "MaxTries=4"),
        # A comment of several lines is split into sentences.
        (
            "run.sh",
            "# It is closed\n# for tries. Then it opens.\nset -eu\n",
            "# It is closed\n# for tries.",
        ),
    ],
)
def test_each_line_of_code_or_settings_is_a_span(path: str, text: str, line: str) -> None:
    assert line in spans(text, path)


def test_prose_without_a_suffix_is_not_split_into_lines() -> None:
    text = "The shop is closed in May and in June because\nof the max tries of the owner. Ask him.\nSo it is then.\n"
    assert not is_code("README", text)
    assert is_code("README", "Port 80\nTries 4\n")
    assert not is_code("README.txt", "Port 80\nTries 4\n")


def test_lines_of_code_are_spans_and_fences_are_none() -> None:
    """A hash in code is no mark of a heading."""
    text = "Open it. Then\n\n```sh\n# twice\n$ gate open\n  gate wait\n```\nWait. Done"
    expected = ["Open it.", "Then", "# twice", "gate open", "gate wait", "Wait.", "Done"]
    assert spans(text, "a.md", "text/markdown") == expected
