"""What the look of a page says: where a paragraph goes on, what is a heading, what belongs to a figure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from corpus.loading.sandbox import Sandbox
from corpus.readers.pdf.pdf import read
from corpus.types import BlockKind, Extracted
from tests.corpus.readers.outcome import outcome
from tests.corpus.readers.samples import pdf

ONE_LINE = [pdf.Words(60, 700, "Words on a page that is long enough.")]
FILLER = "The gauge at the weir was read every morning, and the level went into a book that nobody opened again. "


def paper(*lines: pdf.Words) -> Extracted:
    """A page of these lines, then a page of text with five numbered headings that says what headings look like."""
    second: list[pdf.Words] = []
    for i in range(5):
        second.append(pdf.Words(60, 720 - 120 * i, f"{i + 1} Reading gauges", 12, bold=True))
        second += pdf.column(60, 700 - 120 * i, FILLER * 3, room=460)
    return read("paper.pdf", pdf.make([lines, second]))


def texts(found: Extracted, kind: BlockKind) -> Sequence[str]:
    return [found.text[block.start : block.end] for block in found.blocks if block.kind is kind]


def test_a_sentence_goes_on_in_another_font() -> None:
    """A line in a typewriter's font is of another height; a word broken before it is whole again."""
    found = paper(
        pdf.Words(60, 700, "Everything that we measured in these years, and the programs for it, are kept at the"),
        pdf.Words(60, 688, "example.org/gauges and may be used by all", 8, typed=True),
        pdf.Words(60, 600, "Nobody had thought before that the level of the river could be told from sounds at a dis-"),
        pdf.Words(60, 588, "tance.example.org", 8, typed=True),
    )
    first, second, *_ = texts(found, BlockKind.PARAGRAPH)
    assert first.endswith("are kept at the example.org/gauges and may be used by all")
    assert second.endswith("from sounds at a distance.example.org")


def test_a_short_line_above_another_font_ends() -> None:
    """Where a line is not full, what follows in another font is something else, such as code below it."""
    found = paper(
        pdf.Words(60, 700, "Everything that we measured in these years, and the programs for it, is kept there."),
        pdf.Words(60, 688, "To read one call"),
        pdf.Words(60, 676, "gauge.read(now) of the module with the name of the river", 8, typed=True),
    )
    assert texts(found, BlockKind.PARAGRAPH)[1].startswith("gauge.read(now)")


def test_the_head_of_a_table_is_no_heading() -> None:
    """Nor is the bold name of an axis in another font than headings have, where headings are numbered."""
    head = [pdf.Words(60 + 90 * i, 700, word, 12, bold=True) for i, word in enumerate(("Station", "Level", "Flow"))]
    found = paper(
        *head,
        pdf.Words(60, 640, "Model Sizes", 14, typed=True),
        *pdf.column(60, 600, FILLER * 3, room=460),
    )
    assert texts(found, BlockKind.HEADING) == [f"{i + 1} Reading gauges" for i in range(5)]


def test_the_words_of_a_figure_stay_together() -> None:
    """One block with a line each, not a paragraph each."""
    found = paper(
        *pdf.column(60, 720, FILLER * 3, room=460),
        pdf.Words(100, 600, "Level"),
        pdf.Words(300, 560, "0.5"),
        pdf.Words(120, 520, "Pillnitz"),
        *pdf.column(60, 480, FILLER * 3, room=460),
    )
    assert texts(found, BlockKind.TABLE) == ["Level\n0.5\nPillnitz"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf.make([ONE_LINE], locked=True), "encrypted"),
        (pdf.make([ONE_LINE])[:120], "damaged or truncated: cannot be opened as a PDF"),
        # The list of pages has itself among them.
        (pdf.make([ONE_LINE]).replace(b"/Kids [10 0 R]", b"/Kids [2 0 R ]"), "damaged: page 1 cannot be opened"),
    ],
    ids=["locked", "cut", "circle"],
)
def test_a_pdf_without_text_that_can_be_read_is_refused(data: bytes, reason: str, sandbox: Sandbox) -> None:
    assert outcome(sandbox, "a.pdf", data) == reason
    assert outcome(sandbox, "a.pdf", pdf.make([ONE_LINE])) == ONE_LINE[0].text
