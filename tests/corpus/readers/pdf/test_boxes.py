"""The boxes of an answering sentence on the page of a PDF."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.errors import Unreadable
from corpus.loading.sandbox import Sandbox
from qa import Retriever, build_index
from qa.answer.citation import BoxFinder
from tests.corpus.readers.samples import pdf
from tests.encoders import BagEncoder
from tests.qa.commands import qa

FIRST = "The heron stands in shallow water every morning until noon."
SECOND = "An otter was seen below the weir of Pillnitz in two win~ters out of three."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A paper of two pages, with the sentence about the otter on two lines of the second, and a note."""
    pages = [
        [pdf.Words(60, 700, FIRST)],
        [*pdf.column(60, 600, SECOND, room=280), pdf.Words(60, 500, "Nothing else was seen.")],
    ]
    (tmp_path / "weir.pdf").write_bytes(pdf.make(pages))
    (tmp_path / "note.md").write_text("# Note\n\nSwans are white.\n", encoding="utf-8")
    build_index(tmp_path, encoder=BagEncoder())
    return tmp_path


def test_a_sentence_has_a_box_for_each_line(root: Path) -> None:
    """Boxes enclose the letters, in points from the upper left corner, even of a hyphenated word."""
    with Retriever.open(root, encoder=BagEncoder()) as retriever, BoxFinder(root) as finder:
        result = retriever.ask("Where was an otter seen?", k=1)
        with_boxes = finder.fill(result)
    assert result.passages[0].highlights[0].boxes == ()
    (highlight, *_) = with_boxes.passages[0].highlights
    assert highlight.text == SECOND.replace("~", "")
    first, second = highlight.boxes
    assert (first[0], second[0]) == (2, 2)
    for (_, left, top, right, bottom), baseline in ((first, 600), (second, 588)):
        assert 60 <= left < 62
        assert left < right < 60 + 280
        assert top == pytest.approx(pdf.HEIGHT - baseline - 7, abs=2)
        assert bottom == pytest.approx(pdf.HEIGHT - baseline, abs=3)
    as_json = with_boxes.as_json()["passages"][0]["highlights"][0]
    assert json.loads(json.dumps(as_json))["boxes"][0] == {"page": 2, "box": list(first[1:])}


def test_json_output_has_boxes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa.retrieval.retriever.load_encoder", lambda *_, **__: BagEncoder())
    monkeypatch.chdir(root)
    completed = qa("ask", "--json", "--no-update", "-k", "1", "Where was an otter seen?")
    assert [box["page"] for box in json.loads(completed.stdout)["passages"][0]["highlights"][0]["boxes"]] == [2, 2]


def test_other_formats_and_changed_files_have_no_boxes(root: Path) -> None:
    with Retriever.open(root, encoder=BagEncoder()) as retriever, BoxFinder(root) as finder:
        note = retriever.ask("Are swans white?", k=1)
        assert finder.fill(note) == note
        paper = retriever.ask("Where was an otter seen?", k=1)
        (root / "weir.pdf").write_bytes(pdf.make([[], pdf.column(60, 400, SECOND, room=280)]))
        assert finder.fill(paper) == paper


def test_words_not_on_the_page_have_no_boxes(sandbox: Sandbox) -> None:
    data = pdf.make([[pdf.Words(60, 700, FIRST)]])
    assert sandbox.boxes(data, [(1, "No such words."), (9, FIRST), (1, "…")]) == [(), (), ()]
    with pytest.raises(Unreadable, match=r"^damaged or truncated: cannot be opened as a PDF$"):
        sandbox.boxes(data[:100], [(1, FIRST)])


def test_entries_of_a_form_have_boxes(sandbox: Sandbox) -> None:
    ((box,),) = sandbox.boxes(
        pdf.make([[pdf.Words(60, 700, FIRST)]], entries=[pdf.Words(80, 600, "Ida")]), [(1, "Ida")]
    )
    assert box[:2] == pytest.approx((1, 80), abs=1)
    assert box[4] == pytest.approx(pdf.HEIGHT - 600, abs=1)


def test_a_sentence_over_two_pages_has_boxes_on_both(sandbox: Sandbox) -> None:
    """The page number between its parts has none."""
    pages = [[pdf.Words(60, 60, FIRST[:30]), pdf.Words(300, 30, "17")], [pdf.Words(60, 700, FIRST[30:])]]
    (boxes,) = sandbox.boxes(pdf.make(pages), [(1, FIRST)])
    assert [box[0] for box in boxes] == [1, 2]
