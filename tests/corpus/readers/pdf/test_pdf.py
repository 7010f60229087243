"""The layout of a page shows where a paragraph continues, which lines are headings, and which belong to a figure."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from itertools import chain

import pypdfium2
import pytest

from corpus.loading.sandbox import Sandbox
from corpus.readers.pdf.pdf import read
from corpus.types import BlockKind, Extracted
from tests.corpus.readers.outcome import block_texts, outcome
from tests.corpus.readers.samples.pdf import Words, column, line, make, width

ONE_LINE = [Words(60, 700, "Words on a page that is long enough.")]
BODY = "Gauges on the bank are read at noon, and what they show is written down with care by whoever is there. " * 4
FILLER = "The gauge at the weir was read every morning, and the level went into a book that nobody opened again. "


def text_of(page: Sequence[Words]) -> str:
    """The text of a page, with single spaces."""
    return " ".join(read("a.pdf", make([page])).text.split())


def paper(*lines: Words) -> Extracted:
    """A page of these lines, then a page with five numbered headings, which show how headings are set."""
    second: list[Words] = []
    for i in range(5):
        second.append(Words(60, 720 - 120 * i, f"{i + 1} Reading gauges", 12, bold=True))
        second += column(60, 700 - 120 * i, FILLER * 3, room=460)
    return read("paper.pdf", make([lines, second]))


def test_a_sentence_continues_in_another_font() -> None:
    """A word broken at the change is rejoined; below a short line, the other font begins a paragraph, such as code."""
    code = "gauge.read(now) of the module with the name of the river"
    document = paper(
        Words(60, 700, "Everything that we measured in these years, and the programs for it, are kept at the"),
        Words(60, 688, "example.org/gauges and may be used by all", 9, mono=True),
        Words(60, 600, "Nobody had thought before that the level of the river could be told from sounds at a dis-"),
        Words(60, 588, "tance.example.org", 9, mono=True),
        Words(60, 500, "To read one call"),
        Words(60, 488, code, 9, mono=True),
    )
    first, second, *more = block_texts(document, BlockKind.PARAGRAPH)
    assert first.endswith("are kept at the example.org/gauges and may be used by all")
    assert second.endswith("from sounds at a distance.example.org")
    assert more[:2] == ["To read one call", code]


def test_column_names_are_not_a_heading() -> None:
    """Nor is the name of an axis in another font, if headings are numbered."""
    head = [Words(60 + 90 * i, 700, word, 12, bold=True) for i, word in enumerate(("Station", "Level", "Flow"))]
    document = paper(*head, Words(60, 640, "Model Sizes", 14, mono=True), *column(60, 600, FILLER * 3, room=460))
    assert block_texts(document, BlockKind.HEADING) == [f"{i + 1} Reading gauges" for i in range(5)]


def test_the_labels_of_a_figure_are_one_block() -> None:
    """Each label has a line; they are not separate paragraphs."""
    document = paper(
        *column(60, 720, FILLER * 3, room=460),
        *(Words(100, 600, "Level"), Words(300, 560, "0.5"), Words(120, 520, "Pillnitz")),
        *column(60, 480, FILLER * 3, room=460),
    )
    assert block_texts(document, BlockKind.TABLE) == ["Level\n0.5\nPillnitz"]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("They read the gauge", "4", " of the mill each morning."), "They read the gauge ⁴ of the mill each morning."),
        (("Then it was read.", "12", " Nobody saw it."), "Then it was read.¹² Nobody saw it."),
        (("Jan Migchielsen", "a,1", ", Ann Lee", "b", " and others"), "Jan Migchielsen a,¹, Ann Lee b and others"),
        (("", "3", "We read it in March and again in May."), "³ We read it in March and again in May."),
        # Exponents and ordinals are not marks.
        (("They counted 10", "7", " m", "2", " in the 21", "st", " year."), "They counted 10⁷ m² in the 21st year."),
        (("As L", "A", "TEX sets the half, that is ", "1/2", " of it."), "As LATEX sets the half, that is 1/2 of it."),
    ],
)
def test_a_raised_mark_is_separate_from_its_word(parts: tuple[str, ...], expected: str) -> None:
    """And from its number: 10⁷ is not 107."""
    document = paper(*column(60, 700, FILLER.strip(), room=460), *line(60, 600, *parts))
    assert block_texts(document, BlockKind.PARAGRAPH)[1] == expected


def test_an_exponent_above_an_index_is_part_of_the_line() -> None:
    """Both are drawn after the line; the sentence continues after them."""
    first, second = "The mode has the volume of 4 pi r", " as was told, and so it leaves the small"
    x = 60 + width(first, 10)
    document = paper(
        Words(60, 700, first),
        Words(x, 704, "3", 6),
        Words(x, 697, "0", 6),
        Words(x + 5, 700, second),
        Words(60, 688, "sphere through the field around it, which nobody saw."),
    )
    paragraph = block_texts(document, BlockKind.PARAGRAPH)[0]
    assert paragraph.startswith("The mode has the volume of 4 pi r0³ as was told, and so it leaves the small sphere")


def test_a_short_last_column_is_recognised() -> None:
    """It may end a paper; table cells and short lines on the right are not columns."""
    left = column(54, 700, BODY * 4, room=235)
    mills = "Mills were not measured in that year, as everyone was at the weir to count boats."
    right = column(318, 697, mills, room=235)
    assert mills in text_of([*left, *right])
    assert text_of([*column(54, 760, BODY, room=500), Words(540, 775, "7"), *left, *right]).endswith(mills)
    cells = [Words(400, line.y, "12 boats") for line in left[::6]]
    assert text_of([*left, *cells]).endswith(left[-1].text)


def test_three_columns_are_read_one_after_the_other() -> None:
    """They may be below a line across the page, as in an index; a table of three columns is read by rows."""
    places = {"A": 60, "B": 229, "C": 398}
    columns = chain.from_iterable(column(x, 640, f"{name} heron {BODY}", room=154) for name, x in places.items())
    text = text_of([*column(60, 700, BODY[:150], room=492), *columns])
    assert text == " ".join(f"{BODY[:150]} A heron {BODY} B heron {BODY} C heron {BODY}".split())
    cells = [Words(x, 640 - 12 * row, f"{row} {name}") for name, x in places.items() for row in range(20)]
    assert text_of(cells).startswith("0 A 0 B 0 C 1 A 1 B 1 C")


def test_the_parts_of_a_line_across_columns_stay_together() -> None:
    """For example, the first author comes before the others rather than below them."""
    first, coauthors = Words(176, 679.8, "Jos Migchielsen"), Words(251, 680, ", Ann Radhakrishnan, Valentin Rajagopal")
    columns = [*column(54, 600, BODY * 2, room=235), *column(318, 600, BODY * 2, room=235)]
    assert text_of([coauthors, *columns, first]).startswith("Jos Migchielsen , Ann Radhakrishnan, Valentin Rajagopal")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make([ONE_LINE], locked=True), "encrypted"),
        (make([ONE_LINE])[:120], "damaged or truncated: cannot be opened as a PDF"),
        # The list of pages contains itself.
        (make([ONE_LINE]).replace(b"/Kids [10 0 R]", b"/Kids [2 0 R ]"), "damaged: page 1 cannot be opened"),
    ],
    ids=["locked", "cut", "circle"],
)
def test_pdf_without_readable_text_is_refused(data: bytes, reason: str, sandbox: Sandbox) -> None:
    assert outcome(sandbox, "a.pdf", data) == reason
    assert outcome(sandbox, "a.pdf", make([ONE_LINE])) == ONE_LINE[0].text


def numbered(lines: list[Words], *, x: float, first: int = 1) -> list[Words]:
    """Lines, each with a small number in the margin."""
    numbers = [Words(x, line.y, str(first + i), 6) for i, line in enumerate(lines)]
    return [word for pair in zip(numbers, lines, strict=True) for word in pair]


def test_line_numbers_in_the_margin_are_left_out() -> None:
    """The text keeps its order and its sentences."""
    lines = column(90, 650, (BODY * 3).strip(), room=440)
    pages = [numbered(lines, x=70), numbered(lines, x=70, first=len(lines) + 1)]
    text = read("a.pdf", make(pages)).text
    assert not any(letter.isdigit() for letter in text)
    assert " ".join(text.split()).count("by whoever is there. Gauges on the bank") == 23


def test_other_numbers_at_the_left_are_kept() -> None:
    """Numbers that are not consecutive, or are below other text, are not line numbers."""
    rows = [Words(90, 700 - 14 * i, f"{number} weirs", 10) for i, number in enumerate((3, 9, 4, 1, 8, 2, 7, 5, 6, 11))]
    assert "3 weirs 9 weirs" in text_of(rows)
    head = [Words(60, 760 - 14 * i, "Weirs of the upper river by number", 10) for i in range(3)]
    assert "1 Gauges" in text_of([*head, *numbered(column(90, 700, BODY.strip() * 2, room=300), x=70)])


def test_a_formula_is_not_a_heading_but_numbered_capitals_are() -> None:
    words = [
        Words(60, 740, "A Long Title of the Paper", 20, bold=True),
        Words(60, 700, "1. MANUSCRIPT STYLES"),
        *column(60, 688, BODY, room=400),
        Words(150, 600, "flow = a + b", 14, bold=True),
        *column(60, 580, BODY, room=400),
        Words(60, 500, "2.1. FLOATS"),
        *column(60, 488, BODY, room=400),
    ]
    page = read("a.pdf", make([words]))
    assert block_texts(page, BlockKind.HEADING) == ["A Long Title of the Paper", "1. MANUSCRIPT STYLES", "2.1. FLOATS"]


LONG_TITLE = "Weirs in Winter: a long survey"


@pytest.mark.parametrize(
    ("stated", "lines", "title"),
    [
        ("", [Words(60, 740, "Weir FAQ", 22, bold=True), Words(60, 700, "Ida Gray and the Weir Team", 14)], "Weir FAQ"),
        ("", [Words(60, 740, "Weirs in Winter:", 18, bold=True), Words(60, 710, "a long survey*", 18)], LONG_TITLE),
        ("", [Words(60, 740, "Weirs in Winter and Spring", 10, bold=True)], "Weirs in Winter and Spring"),
        ("weirs_final_v3", [Words(60, 740, "Weirs in Winter and Spring", 18)], "Weirs in Winter and Spring"),
        ("Elsevier", [Words(60, 740, "Weirs in Winter and Spring", 18)], "Weirs in Winter and Spring"),
        ("Of Weirs", [Words(60, 740, "Weirs in Winter and Spring", 18)], "Of Weirs"),
        # The sizes differ by a rounding error.
        ("", [Words(60, 740, "Of All Weirs", 18), Words(60, 560, "All of the Notes", 18.01)], "Of All Weirs"),
        ("", [], ""),
    ],
)
def test_the_title_is_plausible_metadata_or_the_largest_text(stated: str, lines: list[Words], title: str) -> None:
    page = [*lines, *column(60, 650, BODY, room=400), Words(60, 500, "References", 10, bold=True)]
    assert read("a.pdf", make([page], title=stated)).title == title


def test_the_bullets_of_office_programs_begin_items() -> None:
    """Their private use characters, drawn apart from the text, are replaced."""
    items = ("The licence ends in August", "The collars are trampled by sheep")
    lines = [(Words(60, 700 - 12 * i, "*", hebrew=True), Words(72, 700 - 12 * i, item)) for i, item in enumerate(items)]
    document = paper(*chain.from_iterable(lines), Words(72, 676, "every summer."))
    assert block_texts(document, BlockKind.ITEM) == [f"- {items[0]}", f"- {items[1]} every summer."]


@pytest.mark.parametrize(
    ("mark", "after", "is_whole"),
    [
        (("1Measured at the station of Pallas in August.",), "Petrov and Lund (2016).", True),
        (("", "1", "Measured at the station of Pallas in August."), "Petrov and Lund (2016).", True),
        (("1Measured at the station of Pallas in August.",), "Table 3. Lakes of the survey.", False),
        (("12 gauges were read at the station of Pallas.",), "Petrov and Lund (2016).", False),
    ],
)
def test_a_footnote_does_not_break_a_sentence(mark: tuple[str, ...], after: str, is_whole: bool) -> None:
    """The sentence continues on the next page; the note is separate."""
    body = column(60, 300, f"{BODY}They agree with", room=460)
    note = [*line(60, 100, *mark), Words(60, 88, "It was cold.")]
    document = read("a.pdf", make([[*body, *note], [Words(60, 700, after), *column(60, 600, FILLER * 3, room=460)]]))
    paragraphs = block_texts(document, BlockKind.PARAGRAPH)
    assert any(paragraph.endswith(f"They agree with {after}") for paragraph in paragraphs) == is_whole
    if is_whole:
        assert (
            document.text.index("Measured")
            < document.text.index("They agree")
            < document.pages[1]
            <= document.text.index(FILLER)
        )


def two_columns(top: float, left: str, right: str) -> list[Words]:
    return [*column(54, top, left, room=235), *column(318, top, right, room=235)]


def test_a_word_broken_at_the_foot_of_a_column_is_rejoined() -> None:
    """A figure's labels and caption at the head of the next column are not part of it."""
    left = f"{BODY}Nobody came to the weir in this cold win~"
    figure = [Words(350, 640, "Level"), Words(420, 640, "Pillnitz"), Words(318, 610, "Figure 1: The weir in winter.")]
    right = column(318, 570, f"ter at all. {BODY}", room=235)
    document = read("a.pdf", make([[*column(54, 640, left, room=235), *figure, *right]]))
    paragraphs = block_texts(document, BlockKind.PARAGRAPH)
    assert any("to the weir in this cold winter at all. Gauges" in paragraph for paragraph in paragraphs)
    assert "Figure 1: The weir in winter." in paragraphs


def test_a_table_at_the_head_of_a_page_does_not_break_a_sentence() -> None:
    """It comes after the paragraph that began on the page before, so that its page is right."""
    rows = [("Weir", "Level", "Flow"), ("Pillnitz", "412", "77"), ("Meissen", "398", "81"), ("Pirna", "405", "79")]
    cells = [Words(60 + 90 * at, 700 - 14 * n, text) for n, row in enumerate(rows) for at, text in enumerate(row)]
    first = column(60, 700, f"{BODY}Nobody came to the weir of the mill in", room=460)
    second = [*cells, *column(60, 620, f"this winter. {FILLER}", room=460)]
    document = read("a.pdf", make([first, second]))
    (paragraph,) = [text for text in block_texts(document, BlockKind.PARAGRAPH) if "in this winter." in text]
    assert paragraph.startswith("Gauges")
    (table,) = block_texts(document, BlockKind.TABLE)
    assert document.text.index("Nobody") < document.pages[1] <= document.text.index(table)


def test_hyphens_at_line_ends() -> None:
    """A hyphen that is part of a word or address is kept; a range of pages or a telephone number has no space in it."""
    words = [
        Words(60, 700, "They read it, for this is an experi-"),
        Words(60, 688, "ment with state-of-"),
        Words(60, 676, "the-art gauges, as in Lind, pages 44\u2013"),
        Words(60, 664, "58 of the book. Call 044-555-"),
        Words(60, 652, "1234, write to ida-"),
        Words(60, 640, "lind@example.org, or see https://example.org/year-"),
        Words(60, 628, "book.pdf for it."),
    ]
    assert text_of(words) == (
        "They read it, for this is an experiment with state-of-the-art gauges, as in Lind, pages 44–58 of the book. "
        "Call 044-555-1234, write to ida-lind@example.org, or see https://example.org/year-book.pdf for it."
    )


def test_a_word_that_is_broken_twice_is_rejoined() -> None:
    """Its parts are no words for this, but "task" and "specific" are; some English words always have a hyphen."""
    broken = (("the har-", "bour is"), ("a har-", "bour of"), ("a task-", "specific boat"), ("a well-", "known self-"))
    words = [Words(60, 700 - 12 * at, text) for at, text in enumerate(part for pair in broken for part in pair)]
    more = (Words(60, 604, "made weir of long-"), Words(60, 592, "itude, where a specific task is done"))
    text = "the harbour is a harbour of a task-specific boat a well-known self-made weir of longitude, where a specific"
    assert text_of([*words, *more]) == f"{text} task is done"


def test_each_reference_and_each_line_of_a_form_is_a_paragraph() -> None:
    """The last line of a reference may be full, and one within it short."""
    entries = [
        Words(60, 700, "[2] C. Fraser. Acoustic monitoring of gravel in rivers of the far north of the country, 2018."),
        Words(60, 688, "[3] F. Lind. Turbulence."),
        Words(75, 676, "Cambridge University Press, 2012."),
    ]
    form = [Words(60, 600 - 12 * i, line) for i, line in enumerate(("Name: Ida Salo", "From: 3 July", "Reason: leave"))]
    document = read("a.pdf", make([[*entries, *form]]))
    assert block_texts(document, BlockKind.PARAGRAPH) == [
        entries[0].text,
        "[3] F. Lind. Turbulence. Cambridge University Press, 2012.",
    ]
    assert block_texts(document, BlockKind.TABLE) == ["Name: Ida Salo\nFrom: 3 July\nReason: leave"]


CLAUSES = (
    "2.1 The weir keeper is paid 40 euros for each night on which the river is above the mark.",
    "2.2 Boats pay at the lock.",
    "(a) The fee is due when the boat leaves; it is paid in cash, unless the keeper agrees to a bill, or",
    "(b) by card in summer.",
    "(iii) Clause 2.1 holds in winter, too, for all of those who live above the weir and below the old mill.",
    "2.3 Nets are not allowed.",
)


SENTENCE = (
    "The keeper may close the lock at any time of the day, but only for the reasons that are stated in clause",
    "2.1 There is no other way, except for boats that carry the mail, which are named in the list below under",
    "(b) and for the ferry, which is let through at night.",
)


@pytest.mark.parametrize(("lines", "expected"), [(CLAUSES, CLAUSES), (SENTENCE, (" ".join(SENTENCE),))])
def test_each_clause_is_a_paragraph(lines: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """Even if clauses are no further apart than lines; but a sentence may refer to the number of a clause."""
    document = paper(*(Words(60, 700 - 24 * at, text) for at, text in enumerate(lines)))
    assert tuple(block_texts(document, BlockKind.PARAGRAPH)[: len(expected)]) == expected


def test_a_clause_begins_a_page_with_other_columns() -> None:
    """The line before counts as short by the columns of its own page."""
    first = two_columns(700, BODY * 2, f"{BODY}Nobody pays in winter")
    second = [Words(60, 700, "(b) Boats pay at the lock."), *column(60, 660, BODY, room=460)]
    document = read("a.pdf", make([first, second]))
    assert "(b) Boats pay at the lock." in block_texts(document, BlockKind.PARAGRAPH)


def test_a_watermark_is_left_out() -> None:
    text = column(60, 700, BODY.strip(), room=460)
    assert text_of([*text, Words(120, 672, "DRAFT", 90)]) == BODY.strip()


def test_consecutive_row_numbers_are_kept() -> None:
    """They are not line numbers, as only cells are beside them."""
    rows = [(str(100 + row), "Gravel", str(37 * row % 90)) for row in range(10)]
    text = text_of(
        [Words(60 + 70 * at, 700 - 14 * n, text) for n, row in enumerate(rows) for at, text in enumerate(row)]
    )
    assert all(f"{number} | Gravel" in text for number, _, _ in rows)


@pytest.mark.parametrize("places", [(60, 90, 400), (60, 250, 90)])
def test_row_numbers_beside_a_long_and_a_short_cell_are_kept(places: tuple[int, ...]) -> None:
    """Only if the short cells are the last of their rows, unlike short lines in a column of text."""
    tasks = [("Call the supplier about the broken compressor", name) for name in ("Ida", "Bo", "Tom Lind", "Eva") * 3]
    rows = [
        Words(x, 700 - 14 * n, text)
        for n, (task, name) in enumerate(tasks, 1)
        for x, text in zip(places, (str(n), task, name), strict=True)
    ]
    assert ("7 Call" in text_of([*rows, *column(90, 400, BODY, room=460)])) is (places[2] > places[1])


def test_line_numbers_on_both_sides_of_two_columns_are_left_out() -> None:
    """The second column and the numbers on the right are not cells beside the numbers on the left."""
    left, right = (column(x, 650, (BODY * 2).strip(), room=200) for x in (90, 310))
    outer = [Words(530, line.y, str(100 + i), 6) for i, line in enumerate(right)]
    words = [*numbered(left, x=70), *(word for pair in zip(right, outer, strict=True) for word in pair)]
    assert text_of(words).startswith(BODY.strip())


def test_a_numbered_heading_is_not_the_title() -> None:
    heads = [Words(60, 740, "1 How Gauges Are Read", 14, bold=True), Words(60, 560, "2 Where They Are", 14, bold=True)]
    page = [*heads, *column(60, 700, BODY, room=460), *column(60, 540, BODY, room=460)]
    assert read("a.pdf", make([page])).title == ""


def test_the_stated_author_is_a_field() -> None:
    """It can be used as in `--where author=ida`."""
    assert read("a.pdf", make([ONE_LINE], author="Ida Gray")).metadata == (("author", "Ida Gray"),)
    assert read("a.pdf", make([ONE_LINE])).metadata == ()


@pytest.mark.parametrize("rotation", [0, 90])
@pytest.mark.parametrize("angle", [0, 0.5, -0.5, 3, 90, 180, 270])
def test_a_page_is_read_in_the_direction_of_most_of_its_text(angle: float, rotation: int) -> None:
    """It may be a crooked scan or in landscape format, and shown rotated or not; other directions are left out."""
    lines = ("The heron stands in shallow water.", "The otter sleeps below the weir.", "Swans are counted in May.")
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    page = [Words(300 + 12 * n * sine, 400 - 12 * n * cosine, text, angle=angle) for n, text in enumerate(lines)]
    assert cropped([*page, Words(100, 100, "No. 17-B", angle=angle + 90)], rotation=rotation) == " ".join(lines)


def cropped(page: Sequence[Words], *, rotation: int = 0, box: tuple[int, ...] = (0, 0, 612, 792)) -> str:
    """The text of a page that is shown rotated and cropped to a box."""
    document, data = pypdfium2.PdfDocument(make([page])), io.BytesIO()
    document[0].set_rotation(rotation)
    document[0].set_cropbox(*box)
    document.save(data)
    return read("a.pdf", data.getvalue()).text.replace("\n\n", " ")


def test_cropped_text_is_left_out() -> None:
    """Text that runs over the edge of the paper is kept."""
    left, right = "The left page of a book has two lines.", "The right page of a book has two, too."
    page = [*column(60, 700, left, room=120), *column(360, 700, right, room=120)]
    assert cropped(page, box=(0, 0, 306, 792)) == left
    assert cropped(page, box=(306, 0, 612, 792)) == right
    assert text_of([*page[:2], Words(590, 688, "return gauge(height)")]).endswith("return gauge(height)")


def test_entries_of_a_form_are_read() -> None:
    labels = [Words(60, 700, "Name of the keeper:"), Words(60, 640, "Name of the boat, if there is one:")]
    entries = [Words(260, 700, "Ida Salo"), Words(260, 640, "Heron")]
    document = read("a.pdf", make([labels], entries=entries))
    text = "Name of the keeper: Ida Salo Name of the boat, if there is one: Heron"
    assert " ".join(document.text.split()) == text


@pytest.mark.parametrize("value", ["0117 496 0123", "Lock 7", "Python"])
def test_a_value_above_its_label_is_not_a_mark(value: str) -> None:
    """A form's values may be a little higher than their labels, in a type of the same size."""
    labels = [Words(60, 700, "Telephone, address or language"), Words(60, 640, "Place and date")]
    values = [Words(300, 703, value), Words(300, 643, "Pirna, 2024")]
    text = f"Telephone, address or language {value} Place and date Pirna, 2024"
    assert text_of([*labels, *values]) == text
