"""What the reader gets to read; with the reader itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qa.retrieval import late_interaction
from qa.retrieval.retriever import Retriever
from tests.qa.indexes import build, opened
from tests.qa.retrieval.conftest import record_readings

LAB = """# Lab book

## 2024-05-10

Ran PCR on 12 samples at 58 °C. Two bands were faint, so we repeat with fresh primers.

## 2024-06-07

Sequenced 9 samples at the core facility. The run cost 430 EUR.

## 03/07/2024

Froze 40 swabs at -80 °C.
"""
ON_CALL = """# On call

- On 3 May Priya was on call, as Tom was ill.
- On 17 May nobody was on call.

# Freezer

2024-05-03: the freezer was defrosted by Ines.
2024-05-17: new seals were fitted by Ralf.
"""
FILES = {
    "lab.md": LAB,
    "on-call.md": ON_CALL,
    "daily/2024-07-02.md": "Met Sonja about the budget. Ordered 12 batteries.\n",
    "plan.txt": "On 3 May 2024 we meet the board in Bern. The workshop starts on May 21st, 2024 in Basel.\n",
}
PAPERS = {
    "Keller2020_snowmelt.md": "# Snowmelt in the Alps\n\n## Methods\n\nSnowmelt was defined as the first day with "
    "less than 5 cm of snow. Streams were sampled every two weeks.\n",
    "Okafor2021_ponds.md": "# High ponds\n\n## Methods\n\nPonds were surveyed twice each summer. Detection was "
    "defined as at least one tadpole in ten sweeps.\n",
    "chytrid.md": "---\nauthor: Amacher, Lea\n---\n# Chytrid in toads\n\n## Results\n\nPrevalence was 38 percent in "
    "larvae and 6 percent in adults.\n",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder = tmp_path_factory.mktemp("lab")
    build(folder, FILES)
    with opened(folder, reader=True) as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which temperature was used for PCR in May?", "58 °C"),
        ("How many samples were sequenced in June 2024?", "9 samples"),
        ("How many samples were sequenced in May 2024?", None),
        ("How many swabs were frozen in July 2024?", "40 swabs"),
        ("How many swabs were frozen in March 2024?", None),
        ("Who fitted new seals on 17 May?", "Ralf"),
        # The collection has this date in another form, too.
        ("Who was on call on 3 May?", "Priya"),
        ("Who was on call on 12 May?", None),
        ("Where do we meet the board on 2024-05-03?", "Bern"),
        # A daily note: its name is the date.
        ("How many batteries were ordered in July?", "12 batteries"),
        ("How many batteries were ordered in June 2024?", None),
    ],
)
def test_dates_match_in_any_form(retriever: Retriever, question: str, answer: str | None) -> None:
    result = retriever.ask(question)
    assert result.found is (answer is not None)
    assert answer is None or (result.answer is not None and result.answer.text == answer)


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder = tmp_path_factory.mktemp("papers")
    build(folder, PAPERS)
    with opened(folder, reader=True) as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How did Keller define snowmelt?", True),
        ("How often did Okafor survey the ponds?", True),
        ("What prevalence did Amacher find in larvae?", True),
        ("How did Okafor define snowmelt?", False),
        ("How often did Keller survey the ponds?", False),
        ("What prevalence did Okafor find in larvae?", False),
    ],
)
def test_papers_by_their_authors(papers: Retriever, question: str, found: bool) -> None:
    """Only the names of the files, and a field, say who wrote them."""
    assert papers.ask(question).found is found


DOSES = """# Enoxaparin by weight

| Weight | Prophylaxis | Treatment | CrCl 15–29: treatment |
|---|---|---|---|
| below 50 kg | 20 mg once daily | 40 mg twice daily | 40 mg once daily |
| 50–69 kg | 40 mg once daily | 60 mg twice daily | 60 mg once daily |
| 70–89 kg | 40 mg once daily | 80 mg twice daily | 80 mg once daily |
"""
RENAL = (
    "drug,route,CrCl > 50,CrCl 30-50,CrCl < 30\n"
    "Cefuroxime,iv,1.5 g three times daily,1.5 g twice daily,750 mg once daily\n"
    "Meropenem,iv,1 g three times daily,1 g twice daily,500 mg once daily\n"
)


@pytest.mark.parametrize(
    ("question", "found", "sentence"),
    [
        ("What is the treatment dose of enoxaparin for 75 kg?", True, "70–89 kg"),
        ("What is the prophylaxis with enoxaparin at 45 kg?", True, "below 50 kg"),
        ("What is the dose of cefuroxime with a CrCl of 40?", True, "CrCl 30-50: 1.5 g twice daily"),
        ("What is the dose of meropenem with a CrCl of 20?", True, "CrCl < 30: 500 mg once daily"),
        ("What is the dose of meropenem for 40 kg?", False, ""),
    ],
)
def test_amounts_are_looked_for_in_bands(tmp_path: Path, question: str, found: bool, sentence: str) -> None:
    build(tmp_path, {"enoxaparin.md": DOSES, "renal.csv": RENAL})
    with opened(tmp_path, reader=True) as retriever:
        result = retriever.ask(question)
    assert result.found is found
    assert result.answer is not None
    assert sentence in result.answer.sentence


def test_terse_notes_are_read(tmp_path: Path) -> None:
    """Notes without stop words are English as well."""
    build(
        tmp_path,
        {"log.md": "# Log\n\n## Monday\n\nPump replaced, leak near valve.\n\n## Friday\n\nFilter fitted; 7 filters.\n"},
    )
    with opened(tmp_path, reader=True) as retriever:
        result = retriever.ask("How many filters were fitted?")
    assert result.found
    assert result.answer is not None
    assert result.answer.text == "7 filters"


def test_dates_are_in_words_and_one_that_is_only_above_a_passage_is_not_asked_about(
    retriever: Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = record_readings(monkeypatch)
    retriever.ask("Which samples, swabs and batteries on 2 July?")
    read = {text.split()[-1]: (question, context) for question, context, text, _ in recorded}
    assert read["batteries."] == ("Which samples, swabs and batteries?", "2 July 2024")
    question = "Which samples, swabs and batteries on 2 July?"
    assert read["°C."] == (question, "Lab book › 3 July 2024 › The run cost 430 EUR."), "it has another date"


BOILER = "The boiler in the hall was replaced in May. It is a Viessmann Vitodens.\n\n"


def test_the_sentence_before_a_passage_says_what_it_is_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the fields above a note."""
    filler = " ".join(f"The {word} was tested on all {n} days." for n, word in enumerate(["pump", "flue", "tank"] * 6))
    build(
        tmp_path, {"log.md": f"---\ntags: heating\n---\n{filler} {BOILER}It is serviced by Ines Okafor every autumn.\n"}
    )
    recorded = record_readings(monkeypatch)
    with opened(tmp_path, reader=True) as retriever:
        retriever.search("Who services the Viessmann?")
        searched = [(text.split()[0], context) for _, context, text, _ in recorded]
        assert dict(searched) == {"---": "log", "The": "", "It": "It is a Viessmann Vitodens."}
        recorded.clear()
        retriever.ask("Who services the Viessmann?")
    asked = [(text.split()[0], context) for _, context, text, _ in recorded]
    assert asked == [*searched, ("It", "")], "an answer needs the first passage without it, too"


PRICES = "HARWICK JOINERY\n\nLABOUR\nJoiner, per hour                £ {}\nCall-out within 15 miles        £ {}\n"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did we charge for a joiner's hour in 2021?", "£ 38"),
        ("What did we charge for a joiner's hour in 2025?", "£ 46"),
        ("What did we charge for a joiner's hour in 2019?", None),
    ],
)
def test_years_in_the_names_of_files_are_read(tmp_path: Path, question: str, answer: str | None) -> None:
    build(tmp_path, {"price-list-2021.txt": PRICES.format(38, 45), "price-list-2025.txt": PRICES.format(46, 55)})
    with opened(tmp_path, reader=True) as retriever:
        result = retriever.ask(question)
    assert (result.answer.text if result.found and result.answer else None) == answer


# Neither has a title with markup, and only the opening names the trial.
TRIALS = {
    "a.txt": "Kelp extract against gout flares: the TIDEMARK randomised trial.\n\nBrandt O, Sillitoe P.\n\n"
    "BACKGROUND: Gout flares are common. Little is known about kelp. We therefore compared it with placebo.\n"
    "METHODS: We randomised 318 adults with two or more flares in the last year to kelp extract or placebo for "
    "nine months. Adults with kidney failure were not eligible.\n"
    "RESULTS: Flares fell by 21 %. Two adults were admitted to hospital.\n",
    "b.txt": "Cherry juice in gout: results of the ORCHARD trial.\n\nMolnar T, Weiss I.\n\n"
    "BACKGROUND: Cherry juice is popular among people with gout, without good evidence.\n"
    "METHODS: We randomised 147 adults with gout to cherry juice or water for four months.\n"
    "RESULTS: There was no difference in flares. Nobody was admitted to hospital.\n",
}


def test_the_opening_of_a_document_names_it_for_its_other_passages(tmp_path: Path) -> None:
    build(tmp_path, {name: text.replace("\n", "\n\n") for name, text in TRIALS.items()})
    with opened(tmp_path, reader=True) as retriever:
        for question, answer, path in (
            ("How many adults were randomised in TIDEMARK?", "318", "a.txt"),
            ("How many adults were randomised in ORCHARD?", "147", "b.txt"),
        ):
            result = retriever.ask(question)
            assert result.answer is not None
            assert (answer in result.answer.text, result.found, result.passages[0].source.path) == (True, True, path)


@pytest.mark.parametrize(
    ("rest", "question", "expected"),
    [
        # The parties of a contract are on its fourth line.
        (
            "Rent is due on the first day of the month and must be paid in time.",
            "What does Pellworth pay?",
            "Pellworth",
        ),
        ("Rent is due on the first day of the month and has to be paid.", "What must they pay?", ""),
        # A German noun is no name.
        ("Die Miete ist am ersten Tag des Monats zu zahlen, und zwar im Voraus.", "Was zahlt man an Pellworth?", ""),
    ],
)
def test_names_of_an_opening_are_compared_by_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: str, question: str, expected: str
) -> None:
    given: dict[str, str] = {}

    def match(tokens: Any, passages: Any, encoder: Any, names: Any) -> Any:
        given.update(zip((passage.text for passage in passages), names, strict=True))
        return late_interaction.match_tokens(tokens, passages, encoder, names)

    monkeypatch.setattr("qa.retrieval.judge.match_tokens", match)
    build(tmp_path, {"a.md": f"Agreement\n\nof the year\n\nbetween Pellworth and Harlow\n\n# Rent\n\n{rest}\n"})
    with opened(tmp_path, reader=True) as retriever:
        retriever.ask(question)
    assert next(names for text, names in given.items() if rest in text) == expected
