"""Amounts of a question within a band of a passage."""

from __future__ import annotations

import pytest

from qa.questions.bands import hours_on, write_as_bands
from tests.qa.passages import stored

WEIGHTS = """\
| Weight | Dose | CrCl 15–29: dose |
|---|---|---|
| below 50 kg | 40 mg | 30 mg |
| 50–69 kg | 60 mg | 40 mg |
| 70 kg and above | 80 mg | 60 mg |"""
ALIGNED = """\
CrCl (mL/min)   Interval   First level
> 60            24 h       18-22 h
40-60           36 h       24-30 h
< 20            never      -"""
RENAL = "drug: X\nCrCl > 50: 1 g\nCrCl 30-50: 2 g\nCrCl < 10: 3 g"
EGFR = "With an eGFR of 45–59 the most is 2000 mg, with 30–44 it is 1000 mg."
POOL = "Aged 6–17 pay 4 EUR, from 18 to 64 years 8 EUR, 65 years or over 6 EUR. Groups of 10–20 people pay 5 EUR."
CLUB = "The club welcomes everybody aged 6 to 90. Children under 12 pay 60 EUR a year, teenagers pay 84 EUR."
MONEY = "Purchases between £500 and £2,000 need two quotes; over £2,000 the board approves. Open 10-18, 3–7 June."


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        # The same unit
        ("The dose for 75 kg?", WEIGHTS, "The dose for 70 kg and above?"),
        ("The dose for 49.5 kg?", WEIGHTS, "The dose for below 50 kg?"),
        ("The dose for 50 kg?", WEIGHTS, "The dose for 50–69 kg?"),
        ("What does a 20-year-old pay?", POOL, "What does a from 18 to 64 years-old pay?"),
        ("What do 12 people pay?", POOL, "What do 10–20 people pay?"),
        ("Who approves £5,000?", MONEY, "Who approves over £2,000?"),
        ("Who approves £1,200?", MONEY, "Who approves between £500 and £2,000?"),
        # What is so much
        ("The dose with a CrCl of 20, 75 kg?", WEIGHTS, "The dose with a CrCl of 15–29, 70 kg and above?"),
        ("The interval if the CrCl is 45?", ALIGNED, "The interval if the CrCl is 40-60?"),
        ("The interval at 70 mL/min?", ALIGNED, "The interval at > 60 mL/min?"),
        ("The dose with a CrCl of 8?", RENAL, "The dose with a CrCl of < 10?"),
        ("The most with an eGFR of 35?", EGFR, "The most with an eGFR of 30–44?"),
        ("What does a 12-year-old pay?", POOL, "What does a 6–17-year-old pay?"),
        # None, or more than one
        *(
            (question, WEIGHTS, question)
            for question in (
                "The dose for 75 lb?",
                "For a weight of 75 lb?",
                "For 50 of us?",
                "What about 20?",
                "More than 75 kg?",
            )
        ),
        *((question, RENAL, question) for question in ("The dose with a CrCl of 20?", "The dose for 40 kg?")),
        ("What does it cost at 15?", "Under 16 years: 1 EUR. Under 18 years: 2 EUR.", "What does it cost at 15?"),
        ("What does a 14-year-old pay?", CLUB, "What does a 14-year-old pay?"),
        # The amount itself, years, days and times
        ("The dose for 60 kg?", "50–69 kg: 60 mg. At 60 kg: 50 mg.", "The dose for 60 kg?"),
        *(
            (question, MONEY, question)
            for question in ("Open on 5 June?", "Open at 14:00?", "Open in version 11.2.1?", "Open flat 12?")
        ),
        *(
            (question, "Prize 2020–2024: Ann.", question)
            for question in ("Who won the prize in 2022?", "Who won the prize 2022 here?")
        ),
        ("May I keep a cat in 2C?", "Store below 25 °C.", "May I keep a cat in 2C?"),
        ("What prize is above 2022 m?", "Prize 2000–2400 m: Ann.", "What prize is above 2022 m?"),
        ("What prize at 2022 m?", "Prize 2000–2400 m: Ann.", "What prize at 2000–2400 m?"),
    ],
)
def test_an_amount_is_written_as_its_band(question: str, text: str, expected: str) -> None:
    assert write_as_bands(stored(text), question) == expected


def test_the_names_of_columns_in_the_context_are_bands() -> None:
    passage = stored("| Ann | 1 | 2 |\n| Bo | 3 | 4 |", context="Doses › name | CrCl 30-50 | CrCl < 30")
    assert write_as_bands(passage, "Ann with a CrCl of 40?") == "Ann with a CrCl of 30-50?"


@pytest.mark.parametrize(
    ("day", "line", "expected"),
    [
        (
            6,
            "The boat shed is open Monday to Friday from 8.30 to 16.00. It is closed on Sundays.",
            "It is closed on Sundays",
        ),
        (0, "The boat shed: 9–17 on Mondays, 10–16 on Tuesdays and closed on Sundays", "9–17 on Mondays"),
        (1, "The boat shed: 9–17 on Mondays, 10–16 on Tuesdays and closed on Sundays", "10–16 on Tuesdays"),
        (4, "Boat shed: Mon-Fri 9-17, closed on Saturdays and Sundays", "Mon-Fri 9-17"),
        (5, "Boat shed: Mon-Fri 9-17, closed on Saturdays and Sundays", "closed on Saturdays and Sundays"),
        (0, "Boat shed: Mon. 9-17; Sun. 10-12", "Mon. 9-17"),
        # What is before a day is of another one, or of all
        (6, "Boat shed, pier 3: Mon 9-17, Sun by appointment", "Sun by appointment"),
        (1, "Boat shed: Mon 9-12, 14-17, Tue 9-12", "Tue 9-12"),
        # A day that is only mentioned
        (
            1,
            "Boat shed:\n- Tue: lesson 9.50 with Ida (was Thursdays until May)",
            "Tue: lesson 9.50 with Ida (was Thursdays until May)",
        ),
        (3, "Boat shed:\n- Tue: lesson 9.50 with Ida (was Thursdays until May)", None),
        # Neither other days nor what happened on a day
        (2, "Boat shed: Mon-Tue 9-17, closed on Sundays", None),
        (5, "We sold 14 boats from the shed on Saturday.", None),
    ],
)
def test_the_part_of_a_day_has_the_hours_before_it(day: int, line: str, expected: str | None) -> None:
    """Of "closed on Sundays", "Sundays" alone is no answer."""
    hours = hours_on("When is the boat shed open?", day, [stored(line)])
    assert (line[slice(*hours.answer)] if hours and hours.answer else None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mon: 9-12\nTue: 14-17\n\nOn Wednesdays the choir sings from 10:00 to 11:30.", "Tue: 14-17"),
        ("Bus on Sunday, late. Crossed Tue 11.\n\nThe choir sings on Sunday from 10:00 to 11:30.", None),
    ],
)
def test_of_several_places_only_a_block_of_days_has_the_hours(text: str, expected: str | None) -> None:
    """Neither names the shed, which is in the heading."""
    passage = stored(text, context="Boat shed")
    hours = hours_on("When is the boat shed open on Tuesday?", 1, [passage])
    assert (text[slice(*hours.answer)] if hours and hours.answer else None) == expected
