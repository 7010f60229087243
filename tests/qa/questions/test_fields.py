"""Fields and cells that a question names instead of one that looks much like them."""

from __future__ import annotations

import pytest

from qa.questions.fields import asked_field, asked_instead

ROTA = "date: 5 Nov\nday doctor: Marchetti\nnight doctor: Lund\nconsultant: Petrou"
TEAMS = "home team: Leeds\naway team: York\ncontact person: Ann\ncontact email: a@x.org\nprice: 3\nlist price: 4"
DOSES = "drug: X\nCrCl > 50: 1 g\nCrCl 30-50: 2 g\n\ndrug: Y\nCrCl 30-50: 3 g"


@pytest.mark.parametrize(
    ("question", "text", "lead", "expected"),
    [
        ("Who is on night duty on 5 November?", ROTA, "day doctor: Marchetti", "night doctor: Lund"),
        ("Who is on day duty on 5 November?", ROTA, "day doctor: Marchetti", "day doctor: Marchetti"),
        ("Who does the day after the night?", ROTA, "day doctor: Marchetti", "day doctor: Marchetti"),
        ("Who is on night duty with Lund?", ROTA, "day doctor: Marchetti", "day doctor: Marchetti"),
        ("Who is the consultant at night?", ROTA, "consultant: Petrou", "consultant: Petrou"),
        ("Which team was away on 5 May?", TEAMS, "home team: Leeds", "away team: York"),
        # Names that end otherwise, or are part of another one
        ("Who should I email?", TEAMS, "contact person: Ann", "contact person: Ann"),
        ("What price is on the list?", TEAMS, "price: 3", "price: 3"),
        # Names with numbers
        ("The dose for a CrCl of 30-50?", DOSES, "CrCl > 50: 1 g", "CrCl 30-50: 2 g"),
        ("The dose for a CrCl of > 50?", DOSES, "CrCl > 50: 1 g\nCrCl 30-50: 2 g", "CrCl > 50: 1 g"),
        ("The dose for a CrCl of 10?", DOSES, "CrCl > 50: 1 g", "CrCl > 50: 1 g"),
        ("The drug for a CrCl of 30-50?", DOSES, "drug: X", "drug: X"),
    ],
)
def test_the_field_that_the_question_names(question: str, text: str, lead: str, expected: str) -> None:
    start = text.index(lead)
    assert text[slice(*asked_field(question, text, (start, start + len(lead))))] == expected


def test_of_several_fields_alike_none_is_asked_for() -> None:
    fields = [("day doctor", "Ann"), ("night doctor", "Bo"), ("Night Doctor", "Cy")]
    assert asked_instead("Who is it at night?", fields, 0) == 0
