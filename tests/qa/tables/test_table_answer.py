"""Answers from whole tables, from the question to the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa import Filter, Retriever, build_index
from qa.answer.results import Result
from tests.encoders import BagEncoder


def ask(root: Path, question: str, **how: object) -> Result:
    build_index(root, encoder=BagEncoder())
    with Retriever.open(root, encoder=BagEncoder(), reader=False) as retriever:
        return retriever.ask(question, **how)  # type: ignore[arg-type]


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Sixty boats, each a row of its own, the heaviest somewhere in the middle."""
    rows = [f"boat {number},{7 * number % 60} kg,{'oak' if number % 10 else 'ash'}" for number in range(60)]
    (tmp_path / "fleet.csv").write_text("model,weight,wood\n" + "\n".join(rows))
    (tmp_path / "other.md").write_text("# Harbour\n\nWhich boat weighs most is asked at every regatta.\n")
    return tmp_path


def test_the_row_that_has_the_most_is_first(fleet: Path) -> None:
    result = ask(fleet, "Which model has the most weight?", k=3)
    assert result.answer is not None
    assert (result.answer.text, result.answer.citations, result.answer.more) == ("boat 17", (1,), 0)
    assert result.answer.sentence == "model: boat 17\nweight: 59 kg\nwood: oak"
    first = result.passages[0]
    assert (first.citation, [one.text for one in first.highlights]) == ("fleet.csv, row 19", [result.answer.sentence])
    assert result.found
    assert result.confidence >= 0.8
    assert sorted((hit.score for hit in result.passages), reverse=True) == [hit.score for hit in result.passages]


def test_rows_beyond_those_shown_are_counted(fleet: Path) -> None:
    result = ask(fleet, "Which models are made of ash?", k=4)
    assert result.answer is not None
    assert result.answer.text == "- boat 0\n- boat 10\n- boat 20\n- boat 30"
    assert (result.answer.citations, result.answer.more) == ((1, 2, 3, 4), 2)


def test_a_search_has_the_same_order(fleet: Path) -> None:
    result = ask(fleet, "Which models are made of ash?", k=8)
    with Retriever.open(fleet, encoder=BagEncoder(), reader=False) as retriever:
        hits = retriever.search("Which models are made of ash?", k=8)
    assert [hit.id for hit in hits] == [hit.id for hit in result.passages]


def test_part_of_a_table_is_not_all_of_it(fleet: Path) -> None:
    question = "Which model has the most weight?"
    whole, part = ask(fleet, question, path="fleet.csv"), ask(fleet, question, only=Filter.of(where={"wood": "ash"}))
    assert whole.answer is not None
    assert whole.answer.text == "boat 17"
    assert part.answer is None or part.answer.text != "boat 17"


def test_rows_of_one_passage_are_cited_once(tmp_path: Path) -> None:
    table = "| Room | Lift |\n|---|---|\n| Alder | yes |\n| Birch | no |\n| Cedar | yes |\n"
    (tmp_path / "rooms.md").write_text(f"# Rooms\n\n{table}")
    result = ask(tmp_path, "which rooms have a lift?")
    assert result.answer is not None
    assert (result.answer.text, result.answer.citations) == ("- Alder\n- Cedar", (1,))
    texts = {one.text: one.chars for one in result.passages[0].highlights}
    assert list(texts) == ["Alder | yes", "Cedar | yes"]
    assert (tmp_path / "rooms.md").read_text()[slice(*texts["Cedar | yes"])] == "Cedar | yes"


@pytest.mark.parametrize(("heaviest", "is_told"), [("Teal", False), ("Grebe", True)])
def test_two_tables_that_differ_tell_nothing(tmp_path: Path, heaviest: str, is_told: bool) -> None:
    for year, boat in ((2023, "Grebe"), (2024, heaviest)):
        rows = f"| Heron | 7 kg |\n| Loon | 19 kg |\n| {boat} | {year} kg |"
        (tmp_path / f"fleet-{year}.md").write_text(f"# Boats\n\n| Boat | Weight |\n|---|---|\n{rows}\n")
    result = ask(tmp_path, "Which boat has the most weight?")
    assert result.answer is not None
    assert (result.answer.text in {"Grebe", "Teal"}) is is_told
