"""Sentence spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.text.sentences import sentence_spans

COLUMNS = "Payroll      Ida Grün     ext. 160", "IT           Tom Ash      ext. 155, 156"


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        (" \n\t\x85", []),
        # Abbreviations
        ("Use e.g. this, i.e. that. Then Fig. 3 shows it.", ["Use e.g. this, i.e. that.", "Then Fig. 3 shows it."]),
        ("He works for Acme Inc. She does not.", ["He works for Acme Inc.", "She does not."]),
        ("Bob et al. 2015 said so. The U.S. is big.", ["Bob et al. 2015 said so.", "The U.S. is big."]),
        # Titles and initials, which end a sentence only before one of the words that often begin one
        (
            "The U.S. Army paid. J.R. Gray left the U.S. In May.",
            ["The U.S. Army paid.", "J.R. Gray left the U.S.", "In May."],
        ),
        ("Cllr. Gray met Capt. Lund.", ["Cllr. Gray met Capt. Lund."]),
        ("It ends at 5 P.M. Boats leave.", ["It ends at 5 P.M.", "Boats leave."]),
        (
            "Müller GmbH & Co. KG pays. Smith & Co. They pay.",
            ["Müller GmbH & Co. KG pays.", "Smith & Co.", "They pay."],
        ),
        # Hours with a time zone
        (
            "It starts at 5 p.m. EST today. At 5 p.m. It ends.",
            ["It starts at 5 p.m. EST today.", "At 5 p.m.", "It ends."],
        ),
        # References
        (
            "They came in 1998.[1] Forty pairs.[2][3] They left.[4, 5] As in [6] it is deep.[^a] End.",
            ["They came in 1998.[1]", "Forty pairs.[2][3]", "They left.[4, 5]", "As in [6] it is deep.[^a]", "End."],
        ),
        # Pasted lists
        ("● pay the rent\n● call Bo\n☐ Bo\n✅ done", ["● pay the rent", "● call Bo", "☐ Bo", "✅ done"]),
        ("a. call Bo\nii. pay the rent", ["a. call Bo", "ii. pay the rent"]),
        # A word before a sentence, an abbreviation before a number
        ("He said no. They left. See no. 5 now.", ["He said no.", "They left.", "See no. 5 now."]),
        ("Customer no. TH-20817. Is it in? No. TV is on.", ["Customer no. TH-20817.", "Is it in?", "No.", "TV is on."]),
        # Tasks with checkboxes
        (
            "July list\n[x] desks out\n[ ] draw the\n    curtain pole",
            ["July list", "[x] desks out", "[ ] draw the\n    curtain pole"],
        ),
        # Lines that say what to do in which case
        (
            "Help\nno bands -> turn it\nround\nsmears → dialyse",
            ["Help", "no bands -> turn it\nround", "smears → dialyse"],
        ),
        # Settings
        ("[server]\nhost = db.lan\nport = 8443", ["[server]", "host = db.lan", "port = 8443"]),
        ("DB_HOST=db.lan\nDB_PORT=5433", ["DB_HOST=db.lan", "DB_PORT=5433"]),
        ("Let x be so that\nx == y holds\nand x == z holds.", ["Let x be so that\nx == y holds\nand x == z holds."]),
        ("It went so: north -> south\nand back again.", ["It went so: north -> south\nand back again."]),
        # Wrapped lines; rows with gaps between the columns
        ("One goes\non here. Two.", ["One goes\non here.", "Two."]),
        (
            f"Call these\nnumbers:\n{COLUMNS[0]}\n{COLUMNS[1]}\nand no\nothers. End.",
            ["Call these\nnumbers:", *COLUMNS, "and no\nothers.", "End."],
        ),
        # Initials
        ("Diederik P. Kingma came. Then J. Ba spoke.", ["Diederik P. Kingma came.", "Then J. Ba spoke."]),
        # The letters of clauses; elsewhere, what is in brackets goes on
        (
            "Dogs stay out. (b) Bikes stay in the yard. (iv) Bins go out on Monday.",
            ["Dogs stay out.", "(b) Bikes stay in the yard.", "(iv) Bins go out on Monday."],
        ),
        ("They took nets, rods, etc. (a) with them.", ["They took nets, rods, etc. (a) with them."]),
        # Dates and ordinals of other languages; a sentence begins after a bare number or with an article
        *(
            (f"{text} Dann.", [text, "Dann."])
            for text in (
                "Sie kam am 5. Okt. und ging.",
                "Delivery on 5. May at noon.",
                "Es liegt im 3. Stock.",
                "Ab 1. Jänner, zu seinem 50. Geburtstag.",
                # Abbreviations in letters and offices
                "Herr Klein, Abt. Vermietung, ca. 5 Mio. Euro inkl. MwSt., bzw. Fr. Roth, z. B. Nr. 4 (vgl. Abs. 2).",
                "Er wohnt, d. h. Str. 4, Tel. 040 5550 321.",
                "Call ext. 4 by 5 p.m. Friday, no. 7, para. 4.",
                "Before 9 a.m. Monday it opens.",
            )
        ),
        ("He won 3. They lost.", ["He won 3.", "They lost."]),
        ("I am 12. Bob is 3.", ["I am 12.", "Bob is 3."]),
        ("Offen bis zum 3. Das Büro nicht.", ["Offen bis zum 3.", "Das Büro nicht."]),
        ("It ended at 5 p.m. They left.", ["It ended at 5 p.m.", "They left."]),
        ("The level rose in 1812. March was dry.", ["The level rose in 1812.", "March was dry."]),
        # The date of an entry, at the start of its line
        (
            "12 Jan 2023. Laser replaced. All fine.\n3 March. Aligned.\n- Monday 14:05. Leak. 19 September. Fixed.",
            [
                "12 Jan 2023. Laser replaced.",
                "All fine.",
                "3 March. Aligned.",
                "- Monday 14:05. Leak.",
                "19 September.",
                "Fixed.",
            ],
        ),
        (
            "2024-03-01T08:00. Start.\n3 May 1999.\nOpen. Then.",
            ["2024-03-01T08:00. Start.", "3 May 1999.", "Open.", "Then."],
        ),
        # No sentence ends inside brackets that are soon closed
        ("She left (It rained. Who knew?) at six. Then.", ["She left (It rained. Who knew?) at six.", "Then."]),
        ("See (a) it. One (of two. Three.", ["See (a) it.", "One (of two.", "Three."]),
        (f"Open (here. {'Word ' * 50}) ends.", ["Open (here.", f"{'Word ' * 50}) ends."]),
        # Decimals, versions, web addresses, file names
        ("It costs 3.14 dollars. Take v2.0.1 now.", ["It costs 3.14 dollars.", "Take v2.0.1 now."]),
        ("See https://a.b/c.d?e=1. Open a.txt! Done", ["See https://a.b/c.d?e=1.", "Open a.txt!", "Done"]),
        # Runs of marks
        ("Wait... What? Wait… what? Really?! Yes", ["Wait...", "What?", "Wait… what?", "Really?!", "Yes"]),
        # Dots that lead to a value, other than those of an ellipsis
        ("Fish soup ........ 14.80", ["Fish soup ........ 14.80"]),
        ("Ferry desk ..... 555 01 22. It shuts at noon.", ["Ferry desk ..... 555 01 22.", "It shuts at noon."]),
        ("Soup . . . . 4.80\nStew . . . . 9.10", ["Soup . . . . 4.80", "Stew . . . . 9.10"]),
        ("Soup … £4.80\nStew … £9.10", ["Soup … £4.80", "Stew … £9.10"]),
        ("Soup ...   Ida Holm\nStew ...   Bo Lind", ["Soup ...   Ida Holm", "Stew ...   Bo Lind"]),
        ("Tides .......... Page 4", ["Tides .......... Page 4"]),
        ("He left… She came. He paused ... She spoke.", ["He left…", "She came.", "He paused ...", "She spoke."]),
        ("I went home.... It rained.", ["I went home....", "It rained."]),
        ("Name ..........\nAddress ..........", ["Name ..........", "Address .........."]),
        ("We use it. .NET is old. . . We go.", ["We use it.", ".NET is old. . . We go."]),
        # Quotes and brackets stay with their sentence
        ("“Yes.” He left. (Really.) And so.", ["“Yes.”", "He left.", "(Really.)", "And so."]),
        ('"Is it?" she asked. "No!" he said.', ['"Is it?" she asked.', '"No!" he said.']),
        # The raised number of a note; a comma is not one
        ("It rains.² They left.”¹,³ Use e.g., this.", ["It rains.²", "They left.”¹,³", "Use e.g., this."]),
        ("Of 10⁶ per kg.³⁻⁵ Never.², ⁴ Then.", ["Of 10⁶ per kg.³⁻⁵", "Never.², ⁴", "Then."]),
        # The same glued to a word, a bracket or a year; no decimals, figures, versions or files
        (
            "It rains.2 They left (at six).13,14 Two fell in 1999.4 Did it?5 No.",
            ["It rains.2", "They left (at six).13,14", "Two fell in 1999.4", "Did it?5", "No."],
        ),
        *(
            (text, [text])
            for text in ("A rise of 3.8 In May", "See Fig.3 The end", "Use ls.1 Or not", "It rains.2 in May")
        ),
        # No sentence ends before a lower-case word
        ("Approx. five. and six. Seven.", ["Approx. five. and six.", "Seven."]),
        ("**May I bring a dog?**\nYes, on a lead.", ["**May I bring a dog?**", "Yes, on a lead."]),
        ("__Note.__ Ask **Dr.** Smith, _not?_ me.", ["__Note.__", "Ask **Dr.** Smith, _not?_ me."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_prices_on_one_line_are_sentences_but_numbers_are_not() -> None:
    mixed = "tea 1.20 / iced tea €1.60 / cake 2\nrolls 3.50"
    assert sentences(mixed) == [mixed]
    assert sentences("tea 1.20 / iced tea €1.60\nrolls 3.50") == ["tea 1.20 /", "iced tea €1.60", "rolls 3.50"]
    assert sentences("passed 12 / failed 3") == ["passed 12 / failed 3"]


def test_list_items_and_blank_lines_end_sentences() -> None:
    """Punctuation does not matter; the number of an item is not a sentence."""
    items = ["- one, two", "- Three", "1. Four.", "Five", "2) Six", "a) six", "(ii) six", "Seven", "Eight"]
    assert sentences("- one, two\n- Three\n1. Four. Five\n 2) Six\na) six\n(ii) six\n\nSeven\n \t\nEight") == items


@pytest.mark.parametrize(
    "expected",
    [
        # Rows with dots between the columns
        [
            "Thresholds",
            *("up to 1,000 ....... direct purchase", "1,001 to 10,000 .... three quotations", "above ....... a tender"),
        ],
        # Fields: a name of up to four words with a value, which may continue on the next line
        ["All about the car", "Make: Vela", "Km when bought: 41,200, and\n  rising", "Garage: Hafenstr. 12"],
        ["**Date of the event:** Tuesday 6 June, 06:42", "**Written by:** Oona, 9 June", "**Status:** closed"],
        ["limits.upload: 20 MB", "limits.download: unlimited", "owner: Ida"],
        ["*Second edition*", "*Drawn up by all of us who were there on that long evening*"],
        # Versions, chats, programmes, recipes and logs
        ["v3.4.1 (2 June 2024) - fixes login", "v3.4.0 (14 May) - dark mode", "v3.3.2 (30 March) - by Tove"],
        ["**[09:12] Farid:** ordered it, comes Thursday", "**[09:14] Wanda:** thanks", "*12.3.2024 09:20* Ole: who"],
        ["12/11/2025, 18:02 - Ida: who can drive\nnext week", "12/11/2025, 18:04 - Tom: I can"],
        ["08:30 Registration", "09:00 - 10:15 Opening\nand music", "10:15 Coffee"],
        ["For one tray", "500 g flour", "250 ml milk, warm", "42 g yeast"],
        ["2025-11-12 18:02:33 started", "[2025-11-12T18:02:34] stopped"],
        # Lines on which the next word would have fitted: a heading without marks, an address, a note
        [
            "Art. 3  Excess",
            "CHF 200 for each event, and 500 for one of nature.",
            "It is paid by you",
            "By 3 May, and in cash.",
        ],
        # Short lines that all begin with a capital or a number
        ["Warden Lea", "2 boats, the Heron and the Dunlin", "Beds 32", "Visitors 2024 1,180"],
        # Prices and numbers without capitals
        ["kiosk (cash only)", "tea 1.20", "hot chocolate 1.90", "bacon roll £3", "please pay at the hatch"],
        ["Tea 1.20", "Large hot chocolate 1.90", "Bacon roll 3.50"],
        ["kayaks 5", "paddles, long 12", "vests 20"],
    ],
)
def test_lines_of_lists_and_tables_are_sentences(expected: list[str]) -> None:
    assert sentences("\n".join(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It was bought by\nIda Grün who has since then moved to 5,\nHill Road",
        # One row of columns, gaps of two spaces, an ellipsis
        f"Call the\n{COLUMNS[0]}\nalways.",
        "We  go\nto  sea.",
        "He waited ...\nand waited ... in vain.",
        # Colons in prose
        "The rule is this: do not\nmake noise at night: it wakes all.",
        "To: Ida\nwho has moved to 5:\nthere.",
        # Numbers at the ends of some lines, and an address
        "in all there were 12\nof us and then 3\nwent home early",
        "it has cost us 12.50\nand we paid\nin cash",
        "Musterweg 5\nBerlin 10115",
        "roses 1\nare red / violets 2",
        # Lines that begin with a number
        "There were men, women and\n14 children on board, at\nleast when it sailed at\n18:00 sharp",
        "It was 3 or\n4 to one",
        "From 1990,\n1991,\n1992 on",
    ],
)
def test_a_wrapped_line_does_not_end_a_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("漢字です。次の文！終わり？Yes", ["漢字です。", "次の文！", "終わり？", "Yes"]),
        ("「はい。」終わり。", ["「はい。」", "終わり。"]),
        ("“好。”他说。完", ["“好。”", "他说。", "完"]),
        ("مرحبا؟ نعم۔ لا", ["مرحبا؟", "نعم۔", "لا"]),
        ("यह है। वह है॥ अब", ["यह है।", "वह है॥", "अब"]),
    ],
)
def test_other_scripts_have_their_own_marks(text: str, expected: list[str]) -> None:
    """Chinese and Japanese need no space after the marks."""
    assert sentences(text) == expected


def test_only_the_given_range_is_searched() -> None:
    """Offsets count from the start of the text."""
    text = "One. Two. Three. Four."
    assert sentence_spans(text, 5, 16) == [(5, 9), (10, 16)]
    assert sentence_spans(text, 6) == [(6, 9), (10, 16), (17, 22)]


PIECES = st.sampled_from([*'Ab3。」.?…"”)( \n\r\x85؟', "Dr", "e.g", "\n\n", "- ", "👍🏽"])


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(0, 20), st.integers(0, 60))
def test_every_visible_character_is_in_one_sentence(text: str, start: int, length: int) -> None:
    """Spans are in order, stripped and inside the range; only white space is left out."""
    first = min(start, len(text))
    stop = min(first + length, len(text))
    at = first
    for begin, end in sentence_spans(text, first, stop):
        assert at <= begin < end <= stop
        assert text[begin:end] == text[begin:end].strip()
        assert not text[at:begin].strip()
        at = end
    assert not text[at:stop].strip()


@pytest.mark.parametrize(
    "text",
    [
        "؟" * 200_000 + "x",
        '"' * 200_000,
        "\n" * 200_000 + "x",
        "(A. b) B. " * 50_000,
    ],
)
def test_hostile_punctuation_takes_linear_time(text: str) -> None:
    """Quadratic time would be hours, and the test would hang; for more, see `tests.robustness.hostile_files`."""
    assert sentence_spans(text)


def test_lines_of_prose_or_verse_are_no_list() -> None:
    """Unless all are short and begin with a capital, and there are at least four."""
    for text in ("The Heron of\nBergen sails\non Sunday to\nDundee", "The Heron and the\nDunlin of Harlow\nSailed on"):
        assert sentences(text) == [text]
    wide = "\n".join([f"{word} is the harbour where the boats of the north lie in winter, says" for word in "ABCD"])
    assert sentences(wide) == [wide]
