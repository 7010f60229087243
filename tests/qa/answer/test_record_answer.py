"""What happened on a date, and which record says yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.answer.extract import Extract
from qa.answer.heading_answer import prefer_other_fields
from qa.answer.line_answer import named_field
from tests.qa.indexes import build, opened
from tests.qa.passages import stored

LOG = (
    "date: 2026-04-12\nboat: Heron\nremark: lost a rudder pin\n\n"
    "When: Sun 19 April 2026, 10:00 to 12:30 (UTC)\nboat: Loon\nremark: hit a swan\n\n"
    "Meeting: 3 May 2026 was cancelled\nPlace: club house\n\nDate: 9 May 2026"
)


def answer_at(sentence: str) -> Extract:
    at = LOG.index(sentence)
    answer_span = at, LOG.index("\n", at) if "\n" in LOG[at:] else len(LOG)
    return prefer_other_fields(stored(LOG, start=50), Extract(answer_span=answer_span, answer=LOG[slice(*answer_span)]))


@pytest.mark.parametrize(
    ("sentence", "answer"),
    [
        ("date: 2026-04-12", "boat: Heron\nremark: lost a rudder pin"),
        ("When:", "boat: Loon\nremark: hit a swan"),
        ("Meeting:", "Meeting: 3 May 2026 was cancelled"),
        ("Date:", "Date: 9 May 2026"),
    ],
)
def test_a_date_is_answered_with_the_other_fields_of_its_record(sentence: str, answer: str) -> None:
    """A field that says more than the date answers itself, as does one without others."""
    result = answer_at(sentence)
    assert result.answer == answer
    assert all(LOG[mark.chars[0] - 50 : mark.chars[1] - 50] == mark.text for mark in result.highlights)


def test_what_happened_on_a_date_is_in_a_table(tmp_path: Path) -> None:
    rows = "2026-04-12,Heron,lost a pin\n2026-04-19,Loon,collided with a swan\n2026-04-26,Teal,nothing\n"
    build(tmp_path, {"log.csv": f"date,boat,remark\n{rows}"})
    with opened(tmp_path) as retriever:
        result = retriever.ask("What happened on 19 April 2026?").answer
    assert result is not None
    assert result.text == "boat: Loon\nremark: collided with a swan"


def test_the_column_names_of_a_table_that_continues_name_no_row() -> None:
    """The boats of Kite Boat Hire are not asked for, although "boat" is a column, and "mooring" in the context."""
    passage = stored("| Kite Boat Hire | 12 | 40 |\n", context="Fees › Firm | Boat | Mooring fee")
    field = named_field("mooring fee of Kite Boat Hire", [passage])
    assert field is not None
    assert field.extract.name == "40"
