"""Dates in questions, and the forms in which the collection has them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qa.language.dates import (
    Period,
    add_date_forms,
    asked_period,
    asked_time,
    dates_in,
    spell_out_dates,
    without_time,
)
from qa.retrieval.retriever import Retriever
from tests.qa.indexes import build, opened

BOOKINGS = "\n".join(
    ["Date,Room,Who"]
    + [f"2024-06-{day:02},Hall,Guest {day}" for day in range(1, 21)]
    + [f"{day:02}/06/2024,Kitchen,Cook {day}" for day in range(21, 31)]
    + ["24.12.2023,Hall,Choir", "2024-04-06,Hall,Board", "7/24/2024,Hall,Auditor", "12. März 2025,Hall,Prüfer"]
)


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder = tmp_path_factory.mktemp("bookings")
    plan = "On 24 December there is a party. On 3 May 2024 we meet.\n"
    build(folder, {"bookings.csv": BOOKINGS, "plan.txt": plan, "daily/2024-08-09.md": "Rain.\n"})
    with opened(folder) as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("on 4 June", (4, 6, 0)),
        ("on 4th of June 2024.", (4, 6, 2024)),
        ("on June 4th, 2024", (4, 6, 2024)),
        ("on Sept. 4", (4, 9, 0)),
        ("2024-06-04", (4, 6, 2024)),
        ("the 04/06/2024", (4, 6, 2024)),
        ("4.6.2024.", (4, 6, 2024)),
        ("am 5. Mai 2023", (5, 5, 2023)),
        ("am 12. März", (12, 3, 0)),
        ("1. Okt. 2023", (1, 10, 2023)),
        ("on 6/24/2024", (24, 6, 2024)),
        ("6-24-2024", (24, 6, 2024)),
        ("2024-06-04-standup.md, 2024-06-04-0012", (4, 6, 2024)),
        ("notes/2024-06-04.md 2024-06-04_rain.md", (4, 6, 2024)),
        ("2024-06-04T10:15:02Z ERROR", (4, 6, 2024)),
        ("4 march 2024", (4, 3, 2024)),
        ("on march 4th", (4, 3, 0)),
        ("on the 4th of may?", (4, 5, 0)),
        ("may 4, 2024", (4, 5, 2024)),
        ("am 04.06.24", (4, 6, 2024)),
        ("of 9 members 4 may vote", None),
        ("section 10.12.94, 1.2.20, 04.06.24.1", None),
        ("in June 2024", None),
        ("version 1.2.20245", None),
        ("4.13.2024, 41 June, 4/6-2024", None),
        ("TM-2024-06-04", None),
        ("he may 4 times", None),
        ("6.24.2024", None),
    ],
)
def test_dates_in_a_text(text: str, date: tuple[int, int, int] | None) -> None:
    assert [date[:3] for date in dates_in(text)] == ([] if date is None else [date])


@pytest.mark.parametrize(
    ("question", "searched"),
    [
        ("who has the hall on 4 June?", "who has the hall on 4 June (2024-06-04)?"),
        ("the hall on June 4th, 2024", "the hall on June 4th, 2024 (2024-06-04)"),
        ("the kitchen on 2024-06-22", "the kitchen on 2024-06-22 (22/06/2024)"),
        ("6 April or 6 June", "6 April (2024-04-06) or 6 June (2024-06-06)"),
        ("the 24.12.2023", "the 24.12.2023 (24 December)"),
        ("on 2024-05-03", "on 2024-05-03 (3 May 2024)"),
        ("the hall on 4 June 2023", "the hall on 4 June 2023"),
        ("the hall in June", "the hall in June"),
        ("on 3 May", "on 3 May"),
        ("am 3. Mai", "am 3. Mai (3 May 2024)"),
        ("on 24 Dec", "on 24 Dec (24.12.2023, 24 December)"),
        ("the hall on 12 March 2025", "the hall on 12 March 2025 (12. März 2025)"),
        ("the hall on 24 July 2024", "the hall on 24 July 2024 (7/24/2024)"),
        ("who came on 9 August 2024?", "who came on 9 August 2024 (2024-08-09)?"),
        ("am 24. Juli 2024", "am 24. Juli 2024 (7/24/2024)"),
    ],
)
def test_a_date_is_followed_by_the_other_forms_that_the_collection_has(
    retriever: Retriever, question: str, searched: str
) -> None:
    """Forms of the same day; without a year in the question, any year matches."""
    assert add_date_forms(question, retriever.snapshot, None) == searched


def test_dates_in_words() -> None:
    """Those that have a year, and are not in words yet."""
    text = "Log › 2024-06-04 and 24.12.2023; 5 May 2022, May 5, 04/06/2024."
    assert spell_out_dates(text) == "Log › 4 June 2024 and 24 December 2023; 5 May 2022, May 5, 4 June 2024."


@pytest.mark.parametrize(
    ("question", "who"), [("who has the hall on 4 June", "Guest 4"), ("who cooks on June 22, 2024", "Cook 22")]
)
def test_a_row_is_found_by_its_date(retriever: Retriever, question: str, who: str) -> None:
    """The result keeps the question as it was asked."""
    result = retriever.ask(question)
    assert result.passages[0].text.endswith(who)
    assert (result.question, result.corrections) == (question, ())


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("what did we decide in March?", Period(0, 3)),
        ("what did we decide in March 2026", Period(2026, 3)),
        ("2026-03: what was decided?", Period(2026, 3)),
        ("who came on 4 June?", Period(0, 6, 4)),
        ("who came on 2024-06-04?", Period(2024, 6, 4)),
        ("who may come?", None),
        ("who came between 4 June and 5 June?", None),
        ("who has paid since March?", None),
        ("who pays until 4 June?", None),
    ],
)
def test_asked_period(question: str, period: Period | None) -> None:
    assert asked_period(question) == period


@pytest.mark.parametrize(
    ("question", "period", "rest"),
    [
        ("who rang in 2019?", Period(2019, 0), "who rang?"),
        ("who rang during 2019?", Period(2019, 0), "who rang?"),
        ("who rang in May 2019?", Period(2019, 5), "who rang?"),
        ("who rang before 2019?", None, "who rang before 2019?"),
        ("who rang in 2019 or in 2020?", None, "who rang or?"),
        ("who bought model 2019?", None, "who bought model 2019?"),
    ],
)
def test_the_time_that_is_asked_about_may_be_a_year(question: str, period: Period | None, rest: str) -> None:
    assert (asked_time(question), without_time(question)) == (period, rest)


def test_days_months_and_years_exclude_each_other_only_by_what_both_give() -> None:
    day = Period(2025, 3, 9)
    assert all(map(day.excludes, (Period(0, 5), Period(2024, 0), Period(0, 3, 8))))
    assert not any(map(day.excludes, (Period(0, 3), Period(2025, 0))))
    assert not Period(2025, 0).excludes(Period(0, 5))
