"""A result as Python and notebooks show it."""

from __future__ import annotations

from dataclasses import replace

from qa.answer.results import Answer, Highlight, Hit, IndexInfo, Result, Source, State

_TEXT = "Soup <b>is</b> served & eaten at noon."
_SOURCE = Source("a<b>.md", "text/markdown", (10, 10 + len(_TEXT)), (3, 4), None, "0" * 64, State.VERIFIED)
_HIT = Hit(1, "p1", 0.9, _TEXT, "Talks", ("Talks", "Lunch\x1b[2J"), _SOURCE, (Highlight((10, 24), _TEXT[:14]),))
_RESULT = Result("q", None, True, 0.87, Answer(_TEXT[:14], (1,)), (_HIT,), IndexInfo(1, 1, "m", 1), {"total": 1.0})


def test_text() -> None:
    """The answer and the places, and nothing that drives a terminal."""
    assert str(_RESULT) == "Soup <b>is</b> [1]\nConfidence: 87%\n[1] a<b>.md:3-4  Talks › Lunch[2J"
    assert str(replace(_RESULT, found=False)).startswith(
        "No passage answers this with confidence.\nConfidence: 87%\n[1]"
    )
    assert str(replace(_RESULT, passages=())).startswith("No passage matches the question.")
    assert str(replace(_RESULT, answer=None)).startswith("These passages should answer it.")


def test_html_is_escaped() -> None:
    """No markup of a document is markup of the page; what answers is marked."""
    page = _RESULT._repr_html_()
    assert "<b>a&lt;b&gt;.md:3-4</b> Talks › Lunch" in page
    assert "<mark>Soup &lt;b&gt;is&lt;/b&gt;</mark> served &amp; eaten at noon.</blockquote>" in page
    assert "<b>is" not in page


def test_results_are_hashable() -> None:
    assert len({_RESULT, replace(_RESULT, timings_ms={"total": 2.0}), replace(_RESULT, question="r")}) == 3
