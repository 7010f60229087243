"""Dated records: which one a question is about, and that it answers before others; with the real models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qa import Retriever, build_index
from qa.answer.dated_records import asks_for_last, edition_of, own_period, without_record
from qa.language.dates import Period
from tests.qa.indexes import write
from tests.qa.passages import stored

# Each announces the next: the date, or month, of a meeting is in the minutes of the one before, too.
MINUTES = {
    "board/minutes-2026-02-10.md": "Present: Ida, Jon\n\nIt was decided that the fence is painted green.\n\n"
    "Next meeting: 12 March 2026, library\n",
    "board/minutes-2026-03-12.md": "Present: Kay, Liv\n\nIt was decided that the fee rises to 35 euros.\n\n"
    "Next meeting: 14 April 2026, town hall\n",
    "board/minutes-2026-04-14.md": "Present: Ida, Liv\n\nIt was decided that the piano is sold.\n\n"
    "Next meeting: 11 May 2026, boathouse\n",
}
DIARY = (
    "# Meetings of the house\n\n## 3 June 2025\n\nPresent: Abel, Berg. The gate is mended by Cole. Next: 2 July.\n\n"
    "## 2 July 2025\n\nPresent: Dahl, Eide. The cellar gets a lamp. Next: 6 August.\n\n"
    "## 6 August 2025\n\nPresent: Falk, Gran. The bins are moved to the side door.\n\n## Rules\n\nNobody parks here.\n"
)
PRICES = {
    f"prices/{year}.md": f"# Boat hire {year}\n\nA kayak costs {price} euros an hour. {name} is the treasurer.\n"
    for year, price, name in ((2022, 18, "Ida"), (2023, 20, "Jon"), (2024, 22, "Kay"), (2025, 25, "Liv"))
}

# Minutes of one month with the figures of the one before.
FIGURES = {
    f"kiosk/kiosk-2026-{month:02}-05.txt": f"Kiosk meeting, 5 {name} 2026\n\nPresent: Ute, Sven\n\n"
    f"{heading}\nWaffles sold: {waffles}. Broken cups: {cups}.\n\n2. Other\nThe awning is washed.\n"
    for month, name, heading, waffles, cups in (
        (3, "March", "1. Figures for February", 812, 4),
        (4, "April", "1. Figures for March", 954, 7),
        (5, "May", "Figures for April:", 1077, 2),
    )
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("records")
    minutes = {path: f"# Minutes of {path[14:24]}\n\n{text}" for path, text in MINUTES.items()}
    write(
        folder,
        {**minutes, **PRICES, **FIGURES, "house.md": DIARY, "rules.md": "# Rules\n\nThe board meets on Tuesdays.\n"},
    )
    build_index(folder)
    with Retriever.open(folder) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "path", "answer"),
    [
        ("What was decided on 12 March 2026?", "board/minutes-2026-03-12.md", "35 euros"),
        ("What did the board decide in March?", "board/minutes-2026-03-12.md", "35 euros"),
        ("What was decided on 14 April?", "board/minutes-2026-04-14.md", "piano"),
        ("What was decided at the last board meeting?", "board/minutes-2026-04-14.md", "piano"),
        ("What was decided at the first board meeting?", "board/minutes-2026-02-10.md", "green"),
        ("Where is the next board meeting?", "board/minutes-2026-04-14.md", "boathouse"),
        ("Who was present at the latest meeting?", "house.md", "Falk, Gran"),
        ("Who was present at the first meeting?", "house.md", "Abel, Berg"),
        # The newest edition, unless another is asked for.
        ("How much is a kayak?", "prices/2025.md", "25 euros"),
        ("How much is a kayak in 2023?", "prices/2023.md", "20 euros"),
        ("Who is treasurer in the latest edition?", "prices/2025.md", "Liv"),
        # What a line above says that the figures are about.
        ("How many waffles were sold in March?", "kiosk/kiosk-2026-04-05.txt", "954"),
        ("How many waffles were sold in April?", "kiosk/kiosk-2026-05-05.txt", "1077"),
        # What the minutes of another month say about the asked date.
        ("Where is the meeting on 11 May?", "board/minutes-2026-04-14.md", "boathouse"),
    ],
)
def test_the_record_of_the_asked_date_answers(retriever: Retriever, question: str, path: str, answer: str) -> None:
    result = retriever.ask(question, path=path.partition("/")[0])
    assert result.answer is not None
    assert (result.passages[0].source.path, answer in result.answer.text) == (path, True)
    assert retriever.search(question, path=path.partition("/")[0])[0].id == result.passages[0].id
    scores = [hit.score for hit in result.passages]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.id for hit in result.passages}) == len(result.passages)


def test_a_record_outside_the_filter_does_not_answer(retriever: Retriever) -> None:
    result = retriever.ask("What was decided at the last board meeting?", path="board/minutes-2026-0[23]*")
    assert result.passages[0].source.path == "board/minutes-2026-03-12.md"
    assert {hit.source.path for hit in result.passages} == {
        "board/minutes-2026-02-10.md",
        "board/minutes-2026-03-12.md",
    }


@pytest.mark.parametrize(
    ("path", "heading", "title", "period"),
    [
        ("a.md", ("Log 2024", "5 May 2024", "Afternoon"), "6 May", Period(2024, 5, 5)),
        ("2024-05-07.md", ("Log",), "Visit of 6 May 2023", Period(2023, 5, 6)),
        ("log/2024-05-07-visit.md", (), "Visit", Period(2024, 5, 7)),
        ("log/visit 20240507.txt", (), "", Period(2024, 5, 7)),
        ("log/2024_05_07.txt", (), "", Period(2024, 5, 7)),
        ("log/may-2024.txt", (), "", Period(2024, 5)),
        ("log/12345678.txt", (), "", None),
        ("a.md", ("3 May to 5 May",), "", None),
        ("a.md", (), "", None),
    ],
)
def test_own_period(path: str, heading: tuple[str, ...], title: str, period: Period | None) -> None:
    assert own_period(replace(stored("x", path=path), heading=heading, record_title=title)) == period


@pytest.mark.parametrize(
    ("path", "heading", "edition"),
    [
        ("prices 2024.md", ("Prices",), ("prices .md\n", 2024)),
        ("2024/prices.md", (), ("/prices.md\n", 2024)),
        ("prices.md", ("Hire", "Prices 2024", "Boats"), ("prices.md\nPrices \n", 2024)),
        ("prices 2024.md", ("Prices since 2019",), ("prices .md\n", 2024)),
        ("prices 2023-2024.md", (), None),
        ("minutes-2024-05-07.md", (), None),
        ("prices.md", ("5 May 2024",), None),
        ("20245.md", (), None),
    ],
)
def test_editions(path: str, heading: tuple[str, ...], edition: tuple[str, int] | None) -> None:
    assert edition_of(replace(stored("x", path=path), heading=heading)) == edition


def test_papers_of_one_author_are_no_editions() -> None:
    first, second = (stored("x", path=f"Keller{year}.pdf") for year in (2020, 2022))
    titled = [
        replace(passage, document=replace(passage.document, title=title))
        for passage, title in ((first, "Snow"), (second, "Ice"), (first, "Ice of 2020"), (second, "Ice of 2022"))
    ]
    names = [edition[0] for passage in titled if (edition := edition_of(passage)) is not None]
    assert [name == names[1] for name in names] == [False, True, False, False]
    assert names[2] == names[3]


@pytest.mark.parametrize(
    ("question", "record"),
    [
        ("what was decided at the last meeting?", "last"),
        ("who sent the most recent monthly report?", "last"),
        ("when is the next board meeting", "last"),
        ("what was in the first letter?", "first"),
        ("what is her last name?", None),
        ("what did we do last year?", None),
        ("what is on the first floor?", None),
    ],
)
def test_last_and_first_records(question: str, record: str | None) -> None:
    assert asks_for_last(question) == record


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What was decided on 12 March 2026?", "What was decided?"),
        ("what did we decide in March?", "what did we decide?"),
        ("who paid at the last meeting?", "who paid?"),
        ("who was at the last meeting?", "who was at the meeting?"),
        ("what did the March meeting say?", "what did the meeting say?"),
        ("where is the next meeting?", "where is the next meeting?"),
        ("who came on 4 June and on 5 June?", "who came and?"),
    ],
)
def test_what_is_asked_about_a_record(question: str, about: str) -> None:
    assert without_record(question) == about
