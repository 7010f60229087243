"""Running heads, running feet and page numbers are left out, or kept once; lines that only look like them are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from corpus.readers.pdf.pdf import read
from corpus.types import BlockKind
from tests.corpus.readers.outcome import block_texts
from tests.corpus.readers.samples.pdf import Words, column, make

NAMES = ("heron", "otter", "swan", "beaver", "eel", "trout")


def pages(*heads: Callable[[int], Words], top: float = 660) -> list[Sequence[Words]]:
    """Pages, each with its heads and its own animal; the sentence continues on the next page."""
    return [
        [*(head(at) for head in heads), *column(60, top, f"was seen here and the {name} was counted, as", room=460)]
        for at, name in enumerate(NAMES)
    ]


def text_of(pages_of_words: Sequence[Sequence[Words]]) -> str:
    return " ".join(read("a.pdf", make(pages_of_words)).text.split())


@pytest.mark.parametrize(
    "head",
    [
        lambda at: Words(60, 30, f"Page {['iii', 'iv', 'v', 'vi', 'vii', 'viii'][at]}"),
        lambda at: Words(60, 760, f"{at + 3} Ida Gray and others" if at % 2 else f"Weirs of the Elbe {at + 3}"),
        lambda at: Words(60, 760, f"Weirs of the Elbe in winter {at + 3}", bold=True),
        # LaTeX sets heads further from the edge, apart from the text.
        lambda at: Words(60, 690, f"{at + 3} Ida Gray and others" if at % 2 else f"Weirs of the Elbe {at + 3}"),
        lambda at: Words(300, 110, f"{at + 3}"),
    ],
)
def test_heads_are_left_out_and_sentences_continue(head: Callable[[int], Words]) -> None:
    body = " ".join(f"was seen here and the {name} was counted, as" for name in NAMES)
    blocks = block_texts(read("a.pdf", make(pages(head))), BlockKind.PARAGRAPH)
    # The first head of each text is kept before the sentence, unless it is only a number.
    assert (blocks or [""])[-1] == body
    assert len(blocks) <= 3


def test_a_head_that_adds_to_the_text_is_kept_once() -> None:
    """It becomes a paragraph below the title or at the end of its page; heads that repeat the title are left out."""
    document = read(
        "a.pdf",
        make(
            [
                [
                    Words(60, 770, "Document number: WO-17-B"),
                    *([Words(60, 700, "Care of the weir", 18)] if at == 0 else []),
                    *column(60, 660, f"The {name} is counted each morning, and it is fed at noon.", room=460),
                    Words(60, 40, "Weir Office, 4 Mill Lane"),
                    Words(60, 20, f"Care of the weir - page {at + 1} of 6"),
                ]
                for at, name in enumerate(NAMES)
            ]
        ),
    )
    assert block_texts(document) == [
        "Care of the weir",
        "Document number: WO-17-B",
        "Weir Office, 4 Mill Lane",
        "The heron is counted each morning, and it is fed at noon.",
        *(f"The {name} is counted each morning, and it is fed at noon." for name in NAMES[1:]),
    ]


@pytest.mark.parametrize("foot", ["Contract Gray  Page {} of 6", "Page {} of 6 | Contract Gray"])
def test_a_head_is_kept_without_its_page_number(foot: str) -> None:
    """The number is not added to the last clause of the page either."""
    title = Words(60, 700, "Contract of employment", 18)
    with_foot = pages(lambda at: Words(60, 30, foot.format(at + 1)))
    document = read("a.pdf", make([[title, *with_foot[0]], *with_foot[1:]]))
    assert block_texts(document)[:2] == ["Contract of employment", "Contract Gray"]
    assert document.text.count("Contract Gray") == 1
    assert "6" not in document.text


def test_pages_with_only_a_head_keep_it() -> None:
    head = "Weirs of the Elbe and of the rivers that flow into it"
    assert text_of([[Words(60, 760, head)] for _ in NAMES]) == head


def test_a_head_is_not_put_below_a_heading() -> None:
    """It is put above a heading at the foot of the page before, as it would otherwise be part of that section."""
    first, *later = pages(lambda _: Words(60, 760, "Weir Office, 4 Mill Lane"))
    document = read("a.pdf", make([[*first[1:], Words(60, 300, "Counting of animals", 18)], *later]))
    assert document.text.index("Weir Office") < document.text.index("Counting of animals") < document.pages[1]


def test_heads_of_later_chapters_are_left_out() -> None:
    text = text_of(pages(lambda at: Words(60, 760, "Weirs of the Elbe" if at < 4 else "Weirs of the Oder")))
    assert text.count("Weirs of the Elbe") == 1
    assert "Oder" not in text


@pytest.mark.parametrize(
    "head",
    [
        lambda at: Words(60, 760, f"Day {at + 1}", bold=True),
        lambda at: Words(60, 760, f"{9 - at} boats at the weir"),
        lambda at: Words(60, 760, "Results" if at in {1, 2, 4} else f"All about the {NAMES[at]}", 18),
        # At a different height on each page.
        lambda at: Words(60, 750 - 11 * at, "None was seen"),
    ],
)
def test_other_lines_at_the_top_are_kept(head: Callable[[int], Words]) -> None:
    text = text_of(pages(head))
    assert all(head(at).text in text for at in range(len(NAMES)))
    assert text.count("Results") in {0, 3}


def test_a_single_page_keeps_all_its_text() -> None:
    page = [Words(60, 770, "Weir Office"), Words(60, 700, "The weir is closed in May."), Words(60, 20, "Page 1 of 1")]
    assert text_of([page]) == "Weir Office The weir is closed in May. Page 1 of 1"


def test_the_column_names_of_a_printed_table_are_kept_once() -> None:
    """They are at the top of each page; rows that differ only in numbers are not running heads."""
    names = ("Sample", "Material", "Mass", "Site")
    table = [
        [Words(60 + 100 * at, 770, name) for at, name in enumerate(names)]
        + [
            Words(60 + 100 * at, 750 - 14 * row, cell)
            for row in range(50)
            for at, cell in enumerate((f"S{50 * page + row}", "Gravel", f"{(row * 37 + page) % 90}", "Pirna"))
        ]
        for page in range(3)
    ]
    (text,) = block_texts(read("a.pdf", make(table)), BlockKind.TABLE)
    rows = text.splitlines()
    assert rows[0] == "Sample | Material | Mass | Site"
    assert len(rows) == 151
    assert all(row.startswith(f"S{at} | Gravel") for at, row in enumerate(rows[1:]))
