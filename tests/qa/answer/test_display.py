"""How Python and notebooks show a result."""

from __future__ import annotations

import json
from dataclasses import replace

from qa.answer.results import Alternative, Answer, Highlight, Hit, IndexInfo, Result, Source, State

_TEXT = "Soup <b>is</b> served & eaten at noon."
_SOURCE = Source("a<b>.md", "text/markdown", (10, 10 + len(_TEXT)), (3, 4), None, "0" * 64, State.VERIFIED)
_HIT = Hit(1, "p1", 0.9, _TEXT, "Talks", ("Talks", "Lunch\x1b[2J"), _SOURCE, (Highlight((10, 24), _TEXT[:14]),))
_RESULT = Result("q", None, True, 0.87, Answer(_TEXT[:14], (1,)), (_HIT,), IndexInfo(1, 1, "m", 1), {"total": 1.0})


def test_text() -> None:
    """The text has the answer and the citations, without control sequences."""
    assert str(_RESULT) == "Soup <b>is</b> [1]\nConfidence: high (87%)\n[1] a<b>.md:3-4  Talks › Lunch[2J"
    assert str(replace(_RESULT, found=False)).startswith(
        "No passage answers this with confidence.\nConfidence: high (87%)\n[1]"
    )
    assert str(replace(_RESULT, passages=())).startswith("No passage matches the question.")
    assert str(replace(_RESULT, answer=None)).startswith("See the passages below.")


def test_other_values_and_the_number_of_further_items_are_below_the_answer() -> None:
    answer = Answer("noon", (1,), alternatives=(Alternative("1 pm", (1,)),), more=3)
    shown = replace(_RESULT, answer=answer)
    assert str(shown).startswith("noon [1]\nand 3 more\nBut another passage says 1 pm [1]\nConfidence: ")
    assert "But another passage says 1 pm [1]" in shown._repr_html_()


def test_html_is_escaped() -> None:
    """Markup in a document is escaped, and the answer is marked."""
    page = _RESULT._repr_html_()
    assert "<b>a&lt;b&gt;.md:3-4</b> Talks › Lunch" in page
    assert "<mark>Soup &lt;b&gt;is&lt;/b&gt;</mark> served &amp; eaten at noon.</blockquote>" in page
    assert "<b>is" not in page


def test_a_single_passage() -> None:
    """It shows its citation and text, and says if its file has changed."""
    changed = replace(_HIT, source=replace(_SOURCE, state=State.CHANGED), title="Notes")
    assert str(_HIT) == f"[1] a<b>.md:3-4  Talks › Lunch[2J\n{_TEXT}"
    assert str(changed).startswith("[1] a<b>.md:3-4  Notes › Talks › Lunch[2J  (changed since it was indexed)\n")
    assert changed._repr_html_() in replace(_RESULT, passages=(changed,))._repr_html_()
    assert "Lunch\x1b[2J <i>(changed since it was indexed)</i><blockquote" in changed._repr_html_()
    assert "(changed since it was indexed)" in str(replace(_RESULT, passages=(changed,)))


def test_as_a_dictionary() -> None:
    """`to_dict` gives what `qa ask --json` prints, for a result and for a passage."""
    assert json.loads(json.dumps(_RESULT.to_dict())) == _RESULT.as_json()
    assert _HIT.to_dict() == _RESULT.to_dict()["passages"][0]
    assert _HIT.to_dict()["source"]["state"] == "verified"


def test_results_are_hashable() -> None:
    """And equal if they differ in nothing but the time they took."""
    assert len({_RESULT, replace(_RESULT, timings_ms={"total": 2.0}), replace(_RESULT, question="r")}) == 2
