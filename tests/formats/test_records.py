"""Files of many records: each passage carries the title of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.load import parse
from corpus.split import split
from qa import Retriever, build_index
from tests.documents import count_words
from tests.encoders import BagEncoder

ABSTRACT = (
    "We study {what} on the flooded meadows of three rivers, over many winters and with little money. Our counts were "
    "made by hand, from hides of willow, and are given here in full for the first time. They show what was long held "
    "to be true by the people who live there, and a few things besides."
)
TITLES = (
    "Herons at Dawn",
    "Counting Otters Twice: Observers, Cameras and the Fishermen of the Upper Weir Compared over Eleven Long Winters",
    "Why do Dippers Dive?",
    "On the Sleep of Swans",
)
PAGE = "new\n\nSubscribe\n\nMar 11\n\n" + "".join(
    f"{title}\n\n{ABSTRACT.format(what=title.lower())}\n\n" for title in TITLES
)


def test_a_page_of_abstracts_has_a_title_for_each() -> None:
    """In plain text, as it is copied from a browser."""
    found = split(parse("page.txt", PAGE.encode()), count_tokens=count_words, max_tokens=254)
    titles = [passage.heading[-1].rstrip("?") for passage in found if "flooded meadows" in passage.text]
    assert titles == [title.rstrip("?") for title in TITLES]
    assert all(passage.heading[-1] in passage.context for passage in found if passage.heading)


@pytest.mark.parametrize(
    ("name", "line", "citation"),
    [
        ("birds.csv", "{title},{text}\n", "birds.csv, row 3"),
        ("birds.jsonl", '{{"title": "{title}", "text": "{text}"}}\n', "birds.jsonl, record 2"),
        (
            "birds.mbox",
            "From a Fri Nov 21 10:00:00 2025\nFrom: a@b.org\nSubject: {title}\n\n{text}\n\n",
            "birds.mbox, message 2",
        ),
        ("birds.bib", "@misc{{k,\ntitle = {{{title}}},\nnote = {{{text}}}}}\n\n", "birds.bib:5-7"),
    ],
)
def test_each_record_is_found_under_its_title(name: str, line: str, citation: str, tmp_path: Path) -> None:
    """No passage holds two of them, and the place that is cited is that of the record."""
    records = {"Heron": "Stands in shallow water.", "Otter": "Sleeps in a burrow.", "Swan": "Hisses at kayaks."}
    text = "title,text\n" if name.endswith(".csv") else ""
    text += "".join(line.format(title=title, text=words) for title, words in records.items())
    (tmp_path / name).write_text(text, encoding="utf-8")
    encoder = BagEncoder()
    assert build_index(tmp_path, encoder=encoder).passages == 3
    with Retriever.open(tmp_path, encoder=encoder) as retriever:
        (hit,) = retriever.search("Where does the Otter sleep: in a burrow?", k=1)
    assert (hit.heading, hit.citation) == (("Otter",), citation)
    assert "Sleeps in a burrow." in hit.text
    assert "Stands" not in hit.text
