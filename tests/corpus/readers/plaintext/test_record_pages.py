"""Pages of records in plain text: which texts are such pages, and their records."""

from __future__ import annotations

import pytest

from tests.documents import check_passages, count_words, document

TITLES = (
    "Herons of the Flooded Meadows",
    "How Otters Learn to Open Mussels",
    "A Long Count of Dippers under the Ice",
    "Why do Swans Hiss at Kayaks?",
    "Weirs, Ladders and the Return of the Salmon",
    "On the Sleep of Grebes in Winter",
    "Kingfishers at Dusk: Eleven Years by the Old Mill",
)
MANY = tuple(f"{title}, Part {part}" for title in TITLES for part in ("One", "Two"))
BODY = (
    "We looked at {} over many winters and with little money. Our counts were made by hand, from hides of willow, and "
    "are given here in full for the first time. They show what was long held to be true by the people who live there."
)
MASTHEAD = "new\n\nSubscribe\n\nMar 11\n\n"


def body(title: str) -> str:
    return BODY.format(title.lower())


def page(titles: tuple[str, ...] = TITLES, *, between: str = "{title}\n\n{body}\n\n", head: str = "") -> str:
    return head + "".join(between.format(title=title, body=body(title)) for title in titles)


SHAPES = {
    "authors between them": "{title}\n\nAda Reed, Jonas Marsh and Ida Sedge\n\n{body}\n\n",
    "a line of links below": "{title}\n\n{body}\n\nPDF: https://example.org/7\n\n",
    "other newlines": "{title}\r\n\r\n{body}\r\n\r\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_record_of_a_page_begins_with_its_title(shape: str) -> None:
    parsed = document(page(between=SHAPES[shape]))
    assert [record.title for record in parsed.records] == [title.rstrip(":.") for title in TITLES]
    assert [parsed.text[record.start :].startswith(record.title) for record in parsed.records] == [True] * len(TITLES)


def test_lines_before_the_first_record_belong_to_none() -> None:
    """They have the title of the file, which is empty here."""
    parsed = document(page(head=MASTHEAD))
    assert parsed.records[0].start == len(MASTHEAD)
    passages = check_passages(parsed, count_tokens=count_words, max_tokens=254)
    assert {passage.title for passage in passages if passage.start < len(MASTHEAD)} == {""}
    assert [passage.title for passage in passages if passage.start >= len(MASTHEAD)] == list(TITLES)


def test_the_title_of_the_page_is_not_the_title_of_a_record() -> None:
    """It is in the context of all records, unlike the title of the first record."""
    named = document(page(head="Talks of the River Conference\n\nHeld in Dresden, in the spring of 2025.\n\n"))
    assert named.title == "Talks of the River Conference"
    assert len(named.records) == len(TITLES)
    last = check_passages(named, count_tokens=count_words, max_tokens=254)[-1]
    assert (last.title, last.context) == (TITLES[-1], f"{named.title} › {TITLES[-1]}")
    unnamed = document(page())
    assert unnamed.title == ""
    assert check_passages(unnamed, count_tokens=count_words, max_tokens=254)[-1].context == TITLES[-1]


def test_headings_right_above_the_first_record_are_part_of_it() -> None:
    """Otherwise they would be a passage without text."""
    parsed = document(page(head="Accepted Papers\n\n"))
    assert (parsed.title, parsed.records[0].start, parsed.records[0].title) == ("Accepted Papers", 0, TITLES[0])
    passages = check_passages(parsed, count_tokens=count_words, max_tokens=254)
    assert (len(passages), passages[0].title) == (len(TITLES), TITLES[0])
    assert passages[0].text.startswith(f"Accepted Papers\n\n{TITLES[0]}\n\nWe looked")


def test_one_record_of_many_may_have_another_shape() -> None:
    """Here it has two paragraphs."""
    text = page(MANY).replace(body(MANY[4]), f"{body(MANY[4])}\n\n{body('the same again')}")
    assert [record.title for record in document(text).records] == list(MANY)


NOT_PAGES = {
    "too few": page(TITLES[:5]),
    "an article: short headings": page(
        ("Introduction", "Background", "Our Method", "Results", "Discussion", "Outlook")
    ),
    "two paragraphs each": page(between="{title}\n\n{body}\n\n{body}\n\n"),
    "a short text each": "".join(f"{title}\n\nIt was counted twice.\n\n" for title in TITLES),
    "an item each": page(between="{title}\n\n- {body}\n\n"),
    "headings with a mark": page(between="# {title}\n\n{body}\n\n"),
    "headings below them": page(between="{title}\n\nSummary\n\n{body}\n\n"),
    "the last sections of a long text": f"{body('rivers')}\n\n" * 40 + page(),
    "every other one is longer": "".join(
        f"{title}\n\n{body(title)}\n\n" + f"{body('more')}\n\n" * (number % 2) for number, title in enumerate(MANY)
    ),
    "no headings": f"{body('rivers')}\n\n" * 12,
    "nothing": "",
}


@pytest.mark.parametrize("name", NOT_PAGES)
def test_texts_that_are_not_record_pages_stay_one_document(name: str) -> None:
    parsed = document(NOT_PAGES[name])
    assert parsed.records == ()
    passages = check_passages(parsed, count_tokens=count_words, max_tokens=254)
    assert {passage.title for passage in passages} <= {parsed.title}


@pytest.mark.parametrize("path", ["a.md", "a.rst"])
def test_only_plain_text_is_split_into_records(path: str) -> None:
    """A file with markup for headings is one document."""
    assert document(page(), path=path).records == ()
