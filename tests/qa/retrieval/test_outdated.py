"""Documents that say that they are outdated answer only if no current one does, and are shown as outdated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import Result, Retriever, build_index
from qa.terminal.answers import Places, TerminalStyle, render_result
from tests.qa.indexes import write

FILES = {
    "travel-2022.md": "# Travel policy 2022\n\n*This policy is no longer in force.*\n\n## Daily allowance\n\nThe daily "
    "allowance within Germany is 24 euros.\n\n## Trains\n\nTrains are booked by the travel desk in room 12.\n\n"
    "## Taxis\n\nTaxi rides are reimbursed up to 30 euros.\n",
    "travel-2024.md": "# Travel policy 2024\n\n## Daily allowance\n\nThe daily allowance within Germany is 28 "
    "euros.\n\n## Trains\n\nTrains are booked by the travel desk in room 12.\n",
    "old/mileage.md": "# Mileage\n\nMileage is paid at 35 cents per kilometre. Claims are sent in within 90 days.\n",
    "cars.md": "# Own cars\n\nA car must be insured. Trips of more than a day are approved by the head of the group "
    "before. Mileage is paid at 42 cents per kilometre for the first 9,000 kilometres, and 20 cents after that.\n",
    "cover-v1.md": "# Cover, version 1\n\nStatus: superseded by version 2.\n\n- Bicycles are not insured.\n",
    "cover-v2.md": "# Cover, version 2\n\n## On the way\n\nBicycles are insured after 9 pm, with a trailer, or if "
    "there is no bus. Keep the bill.\n",
    "canteen.md": "# Canteen\n\nThe canteen sells lunch for 6 euros.\n",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("travel")
    write(folder, FILES)
    build_index(folder)
    with Retriever.open(folder) as opened:
        yield opened


def _sources(result: Result) -> list[tuple[str, str]]:
    return [(hit.source.path, hit.source.outdated) for hit in result.passages[:2]]


def test_the_current_document_answers_and_the_outdated_value_is_earlier(retriever: Retriever) -> None:
    result = retriever.ask("What is the daily allowance?")
    assert result.answer is not None
    assert result.answer.text == "28 euros"
    assert [(other.text, other.time, other.citations) for other in result.answer.alternatives] == [
        ("24 euros", "earlier", (2,))
    ]
    assert _sources(result) == [("travel-2024.md", ""), ("travel-2022.md", "This policy is no longer in force.")]


def test_an_outdated_document_answers_if_no_other_does(retriever: Retriever) -> None:
    result = retriever.ask("Up to how much is a taxi ride reimbursed?")
    assert result.found
    assert result.passages[0].source.outdated
    shown = render_result(result, TerminalStyle(), Places(retriever.root, retriever.root))
    assert ", from an outdated document\n" in shown
    assert '    ! outdated: "This policy is no longer in force."\n' in shown
    source = result.as_json()["passages"][0]["source"]
    assert source["outdated"] == "This policy is no longer in force."


@pytest.mark.parametrize(
    ("question", "answer", "earlier"),
    [
        ("What is the mileage rate?", "42 cents per kilometre", ["35 cents per kilometre"]),
        ("What was the mileage rate?", "35 cents per kilometre", []),
    ],
)
def test_a_current_document_answers_although_the_reader_is_much_less_sure(
    retriever: Retriever, question: str, answer: str, earlier: list[str]
) -> None:
    """It comes first; unless the past is asked for."""
    result = retriever.ask(question)
    assert result.answer is not None
    assert (result.answer.text, result.answer.citations) == (answer, (1,))
    assert [other.text for other in result.answer.alternatives if other.time == "earlier"] == earlier
    scores = [hit.score for hit in result.passages]
    assert scores == sorted(scores, reverse=True)


def test_it_answers_if_the_question_names_it(retriever: Retriever) -> None:
    result = retriever.ask("What is the daily allowance in the travel policy of 2022?")
    assert result.passages[0].source.path == "travel-2022.md"


def test_a_text_that_a_current_document_has_too_is_current(retriever: Retriever) -> None:
    hit = retriever.ask("Where does the desk book trains?").passages[0]
    assert (hit.source.path, hit.source.outdated) == ("travel-2024.md", "")
    assert "outdated" not in retriever.ask("How much is lunch?").as_json()["passages"][0]["source"]


def test_the_next_edition_answers_although_it_is_much_less_sure(retriever: Retriever) -> None:
    result = retriever.ask("are bicycles insured")
    assert [source for source, _ in _sources(result)] == ["cover-v2.md", "cover-v1.md"]
