"""How answers and passages are shown on the page."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from qa.answer.results import Alternative, Answer, Correction, Location
from qa.web.page.content import PageContent
from qa.web.page.present import passage
from qa.web.page.render import render
from qa.web.page.state import PageState
from tests.qa.answers import hit, result

SWANS = hit(1, "birds.txt", (0, 16), text="Swans are white.", highlights=[(0, 16)])


def visible_text(content: PageContent) -> str:
    """Return the visible text of a page's results."""
    page = render("page.html", PageState("?"), content)
    results = page.partition('id="results" tabindex="-1">')[2].partition("</main>")[0]
    return " ".join(re.sub("<[^>]*>", " ", results).split())


def test_uncited_answer_is_not_marked_in_any_passage() -> None:
    pieces = passage(SWANS, Answer("Swans", ()))
    assert [(piece.text, piece.mark) for piece in pieces] == [("Swans are white.", "sentence")]


def test_everything_that_qualifies_an_answer_is_shown() -> None:
    """That is the note on the index, other answers, corrections, and other locations of its passage."""
    places = tuple(Location(f"{name}.txt", (0, 16), (1, 1), None) for name in "abcde")
    second = replace(SWANS, rank=2, also_in=places)
    answer = Answer("white", (1, 2), "Swans are white.", (Alternative("black", (2,)),))
    search_result = replace(result(SWANS, second, answer=answer), corrections=(Correction("swns", "swans"),))
    text = visible_text(PageContent(result=search_result, note="files are <new>.", more=12))
    for earlier, later in pairwise(
        [
            "Note: files are &lt;new&gt;.", "Answer white Swans are white", "Fair confidence (50%)",
            "in 1 birds.txt:1 2",
            "But another passage says black 2 birds.txt:1", "Searched for swans instead of swns",
            "Also in a.txt:1 , b.txt:1 , c.txt:1 and 2 more", "More passages",
        ]
    ):  # fmt: skip
        assert -1 < text.find(earlier) < text.find(later), text
    assert "Note" not in visible_text(PageContent(result=search_result))


def test_an_answer_that_cannot_be_quoted_is_its_passages() -> None:
    text = visible_text(PageContent(result=result(SWANS)))
    assert text.startswith("? Answer Fair confidence (50%) Passages 1 birds.txt:1")
