"""Text without markup, or with light markup."""

from __future__ import annotations

import pytest

from corpus.readers.plaintext.plain import read, read_plain
from corpus.types import BlockKind

BODY = "It was a long paragraph, wide enough to be a body of its own, and it went on."


def blocks(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the kind, text and headings of each block."""
    return [(block.kind.value, text[block.start : block.end], block.heading) for block in read_plain(text)[1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Each style of underline is a level, in order of first use; an overline makes another style.
        (
            "Test of time\n========\n\n@\n\nAdam\n----\n\n@\n\nBig\n===\n\n@",
            ["Test of time", "Test of time/Adam", "Big"],
        ),
        ("=====\nTitle\n=====\n@\n\nPart\n=====\n@", ["Title", "Title/Part"]),
        # Rules that are too short for the title, or below an item or another rule; a line too long for a heading.
        *(("A title that is long\n---\n\n@", []), ("- item\n------\n\n@", []), ("***\n---\n\n@", [])),
        ("word " * 80 + "\n" + "=" * 80 + "\n\n@", []),
        ("# One ##\n@\n## About C#\n@\n= Wiki =\n@\n== Sub ==\n@", ["One", "One/About C#", "Wiki", "Wiki/Sub"]),
        ("= = = Deep = = =\n@\n= = Less = =\n@", ["Deep", "Less"]),
        # Lines that only begin like a mark.
        *((f"{line}\n\n@\n# A\n@\n# B\n@", ["A", "B"]) for line in ("#hash", "# " + "w" * 300, "a = b =")),
        # Labels with values are not headings, even if there are two.
        ("Minutes of May\n\nPresent: Ann Lee\nExcused: Bo Xu\n\n@", ["Minutes of May"]),
        # Without marks, capitals need no blank line, and there may be two titles in a row.
        ("GETTING THERE\n@", ["GETTING THERE"]),
        ("@\n\nTest of Time\nPresentations\n\n@", ["Test of Time", "Test of Time/Presentations"]),
        # Above another title they are none, but an entry of a list; the first may be the letterhead.
        ("@\n\nWinner\n\nFog in the Hills\nCyrus Ozols\n\nPrizes\n\n@", ["Winner", "Prizes"]),
        ("Teal Mill\nNorth Quay\n\nPrices\n\n@", ["Teal Mill", "North Quay", "Prices"]),
    ],
)
def test_headings(text: str, expected: list[str]) -> None:
    plain_blocks = read_plain(text.replace("@", BODY))[1]
    assert ["/".join(block.heading) for block in plain_blocks if block.kind is BlockKind.HEADING] == expected


LONG = "The station lies on the neck of the spit, and boats leave it with the tide twice a day, except in winter."
ITEMS = "Mud corer\nWaders in sizes 38 to 46\nTwo drones"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A title above a subtitle, two headings above prose, then also one above a list
        (
            "Teal Station\nKnown to few since 1964\n\nSafety first\n@\n\nHow to book\n@\n\nThings for hire\n#",
            ["Teal Station", "Safety first", "How to book", "Things for hire"],
        ),
        # Wrapped prose is no longer than its first line.
        (
            "Safety first\n@\n\nBoats are repaired in the harbour of the town of\nHarlow in the north.\n\nRates\n@",
            ["Safety first", "Rates"],
        ),
        # A code and names, as in a book of abstracts
        (
            "S4-01\nFog in the hills\nAnn Lee, Bo Xu\n@\n\nS4-02\nMulch of wool\nCy Oz\n@",
            ["S4-01 Fog in the hills", "S4-02 Mulch of wool"],
        ),
        # Headings above a blank line are parents of those directly above their text.
        (
            "Monday\n\nOpening talk\n@\n\nTuesday\n\nSecond talk\n@\n\nThird talk\n@",
            ["Monday", "Monday/Opening talk", "Tuesday", "Tuesday/Second talk", "Tuesday/Third talk"],
        ),
        # So are other headings, up to the next one above a blank line.
        (
            "Methods\n\nThe first site\n@\n\nResults\n\nThe first year\n@\n\nClosing words\n\n@",
            ["Methods", "Methods/The first site", "Results", "Results/The first year", "Closing words"],
        ),
        # Without any blank lines
        (
            "Teal\nFrom a map\n@\nQuick facts\n#\nHistory\n@\n@\nLandmarks\n#\nFestivals\n@\nClimate\n@\n7 Notes\n@",
            ["Teal", "Quick facts", "History", "Landmarks", "Festivals", "Climate"],
        ),
        ("Safety first\n@\nRates of hire\n@\nboats are cheap\n@", []),
        # One may be anything, and a list alone says nothing.
        ("Safety first\n@\n\nThings for hire\n#", []),
        ("Safety first\n#\n\nThings for hire\n#", []),
        # Messages, items, the end of a letter, labels and sentences
        ("Ann Lee 10:32\n@\n\nBo Xu 10:40\n@", []),
        ("* Ann came\n@\n\n* Bo came\n@", []),
        ("Kind regards\n@\n\nThanks\n@", []),
        ("We came late.\n@\n\nIt was dark.\n@", []),
    ],
)
def test_headings_directly_above_their_text(text: str, expected: list[str]) -> None:
    plain_blocks = read_plain(text.replace("@", LONG).replace("#", ITEMS))[1]
    assert ["/".join(block.heading) for block in plain_blocks if block.kind is BlockKind.HEADING] == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.adoc",
            "= Labels\n\n@\n\n== Scope\n@\n\n=== Of it ===\n@\n",
            ["Labels", "Labels/Scope", "Labels/Scope/Of it"],
        ),
        ("a.org", "* Labels\n@\n** TODO Scope\n@\n * an item\n# a note\n", ["Labels", "Labels/TODO Scope"]),
        ("a.org", "* Labels :boats:work:\n@\n* Is 1:2:3 right?\n@", ["Labels", "Is 1:2:3 right?"]),
        ("a.txt", "* Labels\n@\n\n= Scope\n\n@\n# Of it\n@\n# Others\n@", ["Of it", "Others"]),
    ],
)
def test_headings_of_org_and_asciidoc(name: str, text: str, expected: list[str]) -> None:
    """Their marks need no closing marks, and are only for files with these suffixes."""
    extracted = read(name, text.replace("@", BODY).encode())
    assert ["/".join(block.heading) for block in extracted.blocks if block.kind is BlockKind.HEADING] == expected


def test_code_in_asciidoc_has_no_headings() -> None:
    """A line of dashes below text is an underline, and one that is never closed begins no code."""
    code = "----\n# list all files\nls -l\n\n# and more\ndone\n----"
    text = f"Guide\n-----\n\nRun:\n\n[source,sh]\n{code}\n{BODY}\n\n....\nPart\n....\n\nSails\n-----\n{BODY}\n\n----\n"
    parts = [
        (block.kind.value, text[block.start : block.end], block.heading)
        for block in read("a.adoc", text.encode()).blocks
    ]
    assert parts == [
        ("heading", "Guide\n-----", ("Guide",)),
        ("paragraph", "Run:", ("Guide",)),
        ("paragraph", "[source,sh]", ("Guide",)),
        ("code", code, ("Guide",)),
        ("paragraph", BODY, ("Guide",)),
        ("code", "....\nPart\n....", ("Guide",)),
        ("heading", "Sails\n-----", ("Sails",)),
        ("paragraph", BODY, ("Sails",)),
        ("paragraph", "----", ("Sails",)),
    ]


@pytest.mark.parametrize(
    ("lines", "title", "headings"),
    [
        ("#+TITLE: Garden notes\r\n\r\n@", "Garden notes", [(), ()]),
        (":PROPERTIES:\n:ID: 5e3f\n:END:\n#+title: Garden\n#+date: 2024-05-01\n\n@", "Garden", [()] * 6),
        ("#+STARTUP: overview indent\n\n@\n\n@", "", [()] * 3),
    ],
)
def test_the_title_of_org_is_its_keyword(lines: str, title: str, headings: list[tuple[str, ...]]) -> None:
    document = read("a.org", lines.replace("@", BODY).encode())
    assert (document.title, [block.heading for block in document.blocks]) == (title, headings)


def test_items_keep_their_wrapped_lines_and_their_depth() -> None:
    """The depth is the indent in columns; a tab counts four."""
    text = "• one\n  goes on\n  • two\n\t◦ three\n1. four\n(a) five\nback\n"
    plain_blocks = read_plain(text)[1]
    assert [(block.kind.value, text[block.start : block.end], block.depth) for block in plain_blocks] == [
        ("item", "• one\n  goes on", 0),
        ("item", "• two", 2),
        ("item", "◦ three", 4),
        ("item", "1. four", 0),
        ("item", "(a) five", 0),
        ("paragraph", "back", 0),
    ]


@pytest.mark.parametrize("end", ["Thanks", "Viele Grüße"])
def test_the_end_of_a_letter_is_not_a_heading(end: str) -> None:
    text = f"Dear Ann,\n\nwe would need a discount of 5 % to sign.\n\n{end}\nSamir\n\n> We can offer 3 %, no more.\n"
    assert {block.heading for block in read("a.txt", text.encode()).blocks} == {()}


def test_rows_with_bars_or_tabs_are_a_table() -> None:
    text = f"{BODY}\n| a | b |\n| 1 | 2 |\nx\ty\tz\n{BODY}\n"
    assert [kind for kind, _, _ in blocks(text)] == ["paragraph", "table", "paragraph"]
    assert blocks(text)[1][1] == "| a | b |\n| 1 | 2 |\nx\ty\tz"


@pytest.mark.parametrize(
    "table",
    [
        "+------+-------+\n| Boat |   Fee |\n+------+-------+\n| Teal | 120   |\n| Loon | 95    |\n+------+-------+",
        "┌──────┬─────┐\n│ Boat │ Fee │\n├──────┼─────┤\n│ Teal │ 120 │\n└──────┴─────┘",
        "| Boat | Crew   | Fee  |\n|------+--------+------|\n| Teal | 2      | 120  |\n| Loon | 3      | 95   |",
    ],
)
def test_a_table_with_rules_or_drawn_with_boxes_is_one_block(table: str) -> None:
    assert ("table", table) in [block[:2] for block in blocks(f"{BODY}\n\n{table}\n\n{BODY}\n")]


def test_aligned_lines_are_a_table_and_column_names_are_not_a_heading() -> None:
    table = (
        "item        2023    from\n-----------------------\nethanol     38.50   Chemstore\nties        -       Garage"
    )
    all_blocks = blocks(f"ORDERS\n\nAll net.\n{table}\nMore words.\n")
    assert ("table", table, ("ORDERS",)) in [(kind, text.strip(), heading) for kind, text, heading in all_blocks]
    assert [heading for _, _, heading in all_blocks] == [("ORDERS",)] * len(all_blocks)


def test_wrapped_lines_are_one_paragraph_and_short_lines_are_not() -> None:
    """A paragraph continues after a full line, or with a line that begins in lower case."""
    wide = "These words fill the page up to about seventy columns, so it goes on,"
    text = f"{wide}\nEnding here.\nShort line\nAnother one\nwhich goes on\n"
    assert [piece for _, piece, _ in blocks(text)] == [
        f"{wide}\nEnding here.",
        "Short line",
        "Another one\nwhich goes on",
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"Getting around Town\n\n{BODY}", "Getting around Town"),
        (f"\ufeff# Marked\n\n{BODY}", "Marked"),
        (f"Word\n\n{BODY}", ""),
        (f"12\n\nA Second Line\n\n{BODY}", "A Second Line"),
        (f"notes I made on the way to the hall:\n\n{BODY}", "notes I made on the way to the hall"),
        *((f"{line}\n\n{BODY}", "") for line in ("**Present:** Ann Lee, Bo Xu, Cy Day", "[Home](a.md) | [Log](b.md)")),
        ("- item one\n\nTitle Here\n\nbody", ""),
        ("", ""),
    ],
)
def test_the_title_is_one_of_the_first_two_lines(text: str, title: str) -> None:
    assert read_plain(text)[0] == title


def test_windows_newlines_and_form_feeds() -> None:
    r"""Offsets count "\r"; a line of a form feed or NEL alone is a blank line."""
    text = f"Title\r\n=====\r\n\r\n{BODY}\r\n\x0c\r\nNext\r\n----\r\n{BODY}\r\n\x85\r\nEnd.\r\n"
    assert blocks(text) == [
        ("heading", "Title\r\n=====", ("Title",)),
        ("paragraph", BODY, ("Title",)),
        ("heading", "Next\r\n----", ("Title", "Next")),
        ("paragraph", BODY, ("Title", "Next")),
        ("paragraph", "End.", ("Title", "Next")),
    ]


@pytest.mark.parametrize(("word", "title"), [("Harlow", "Harlow"), ("boats", "")])
def test_a_single_word_is_a_title_if_it_is_a_name(word: str, title: str) -> None:
    text = f"{word.title()}\n{LONG}\n\nHow to book\n{LONG} In {word} it is cheap.\n\nThings for hire\nNot in {word}.\n"
    assert read("a.txt", text.encode()).title == title
