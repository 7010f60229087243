"""Answers from whole tables, end to end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from qa import Filter, Retriever
from qa.answer.results import Result
from tests.qa.indexes import build, opened


def ask(root: Path, question: str, texts: Mapping[str, str]) -> Result:
    build(root, texts)
    with opened(root) as retriever:
        return retriever.ask(question)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    """Sixty boats, each in a row of its own, with the heaviest in the middle."""
    root = tmp_path_factory.mktemp("fleet")
    rows = [f"boat {number},{7 * number % 60} kg,{'oak' if number % 10 else 'ash'}" for number in range(60)]
    prose = "# Harbour\n\nWhich boat weighs most is asked at every regatta.\n"
    build(root, {"fleet.csv": "model,weight,wood\n" + "\n".join(rows), "other.md": prose})
    with opened(root) as retriever:
        yield retriever


def test_the_row_with_the_most_is_first(fleet: Retriever) -> None:
    result = fleet.ask("Which model has the most weight?", k=3)
    assert result.answer is not None
    assert (result.answer.text, result.answer.citations, result.answer.more) == ("boat 17", (1,), 0)
    assert result.answer.sentence == "model: boat 17\nweight: 59 kg\nwood: oak"
    first = result.passages[0]
    assert (first.citation, [mark.text for mark in first.highlights]) == ("fleet.csv, row 19", [result.answer.sentence])
    assert result.found
    assert result.confidence >= 0.8
    assert sorted((hit.score for hit in result.passages), reverse=True) == [hit.score for hit in result.passages]


def test_rows_that_are_not_shown_are_counted(fleet: Retriever) -> None:
    result = fleet.ask("Which models are made of ash?", k=4)
    assert result.answer is not None
    assert result.answer.text == "- boat 0\n- boat 10\n- boat 20\n- boat 30"
    assert (result.answer.citations, result.answer.more) == ((1, 2, 3, 4), 2)


def test_a_search_has_the_same_order(fleet: Retriever) -> None:
    question = "Which models are made of ash?"
    assert [hit.id for hit in fleet.search(question, k=8)] == [hit.id for hit in fleet.ask(question, k=8).passages]


def test_a_filtered_table_does_not_answer_for_the_whole(fleet: Retriever) -> None:
    question = "Which model has the most weight?"
    whole, part = fleet.ask(question, path="fleet.csv"), fleet.ask(question, only=Filter.of(where={"wood": "ash"}))
    assert whole.answer is not None
    assert whole.answer.text == "boat 17"
    assert part.answer is None or part.answer.text != "boat 17"


def test_a_table_of_plain_text_answers_too(tmp_path: Path) -> None:
    squads = "squad       coach    crew\nJuniors A   Renske   8\nJuniors B   Ollie    14\nNovices     Ivy      9\n"
    result = ask(
        tmp_path, "Which squad has the most crew?", {"squads.txt": f"SQUADS\n\n{squads}\nBlades: in the corner.\n"}
    )
    assert result.answer is not None
    assert result.answer.text == "Juniors B"
    assert [mark.text for mark in result.passages[0].highlights] == ["Juniors B   Ollie    14"]


def test_rows_of_one_passage_are_cited_once(tmp_path: Path) -> None:
    text = "# Rooms\n\n| Room | Lift |\n|---|---|\n| Alder | yes |\n| Birch | no |\n| Cedar | yes |\n"
    result = ask(tmp_path, "which rooms have a lift?", {"rooms.md": text})
    assert result.answer is not None
    assert (result.answer.text, result.answer.citations) == ("- Alder\n- Cedar", (1,))
    texts = {mark.text: mark.chars for mark in result.passages[0].highlights}
    assert list(texts) == ["Alder | yes", "Cedar | yes"]
    assert text[slice(*texts["Cedar | yes"])] == "Cedar | yes"


@pytest.mark.parametrize(("heaviest", "is_answered"), [("Teal", False), ("Grebe", True)])
def test_tables_that_disagree_do_not_answer(tmp_path: Path, heaviest: str, is_answered: bool) -> None:
    tables = {
        f"fleet-{year}.md": "# Boats\n\n| Boat | Weight |\n|---|---|\n"
        f"| Heron | 7 kg |\n| Loon | 19 kg |\n| {boat} | {year} kg |\n"
        for year, boat in ((2023, "Grebe"), (2024, heaviest))
    }
    result = ask(tmp_path, "Which boat has the most weight?", tables)
    assert result.answer is not None
    assert (result.answer.text in {"Grebe", "Teal"}) is is_answered


def test_each_cell_is_followed_by_the_citations_of_its_rows(tmp_path: Path) -> None:
    rows = "Alder,yes,1\nBirch,yes,1\nCedar,no,2\nAlder,yes,2\n"
    result = ask(tmp_path, "which rooms have a lift?", {"rooms.csv": f"room,lift,hall\n{rows}"})
    assert result.answer is not None
    cited = {hit.source.page: f" [{hit.rank}]" for hit in result.passages}
    assert f"- Alder{cited[2]}{cited[5]}\n- Birch{cited[3]}" in str(result)
