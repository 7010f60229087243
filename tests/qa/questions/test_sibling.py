"""Passages of another file or section than the one that a question names."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.answer import confidence
from qa.questions.sibling import is_line_of_other, names_sibling, namesake_of_variant
from tests.qa.indexes import build, built, opened

FILES = {
    "pets.md": "# Bruno and Mia\n\n## Bruno\n\nNext vaccination: May 2026. He bit Omar.\n\n## Mia\n\nAfraid of dogs.\n",
    "class.md": "# All\n\n## Class 4a (Ida)\n\nStarts at 8.\n\n## Class 7c (Ola)\n\nEnds at 3.\n\n## Bus stop\n\nA.\n",
    "trials/a.md": "# CORVEX: against warfarin\n\n**Results.** Major bleeding: 2.7 %.\n",
    "trials/b.md": "# CORVEX-ELD: the very old\n\n**Results.** The mean age was 86.6 years.\n",
    "trials/c.md": "# CORVEX-VTE: thrombosis\n\n**Results.** Recurrence: 3.2 %. Bleeding as in CORVEX.\n",
    "manuals/boiler-holiday-flat.md": "# Boiler\n\nF28: no gas. See the fault list.\n",
    "manuals/boiler-garden-house.md": "# Boiler\n\nServiced in August.\n",
    "manuals/oven.md": "# Oven\n\nMay be used as a boiler.\n",
    "drugs/leaflet-perimox.txt": "Ten drops a day.\n",
    "drugs/leaflet-solvadin.txt": "One glass of wine does no harm. Keep it in the fridge.\n\nNot with Zephrin.\n",
    "drugs/leaflet-zephrin.txt": "Zephrin may be taken with wine.\n",
    "drugs/march.txt": "In March the leaflet was printed.\n",
    "board-minutes.md": "# Minutes of the board\n\nA new roof.\n",
    "tablets/onderal.md": "# Onderal\n\n## Alcohol\n\nBeer with Onderal is allowed.\n",
    "tablets/onderal-retard.md": "# Onderal Retard\n\n## Alcohol\n\nNone on that day.\n",
    "tablets/onderal-storage.md": "# Onderal tablets of ten\n\n## Storage\n\nKeep them cool.\n",
    "tablets/onderal-study.md": "# Onderal Study\n\n## Methods\n\nBeer was given.\n",
    "tablets/pendolin.md": "# Pendolin syrup\n\n## Alcohol\n\nBeer is not.\n",
    "staff/contract-brandt.txt": "CONTRACT\n\nwith Ms Leonie Brandt. She does not work for a competitor.\n",
    "staff/contract-demir.txt": "CONTRACT\n\nwith Mr Cem Demir. He gets a car.\n",
    "staff/house.txt": "Nobody smokes.\n",
    "wash.md": "# Washing machine\n\n## Cleaning the filter\n\nMonthly.\n\n## Cleaning the washing machine\n\nWipe.\n",
    "rules.md": "# Rules\n\nThe committee meets on Mondays.\n",
}


def answer_names_sibling(root: Path, question: str, path: str, text: str) -> bool:
    with built(root, FILES) as snapshot:
        passage = next(passage for passage in snapshot.passages_of(path) if text in passage.text)
        return names_sibling(snapshot, question, passage)


@pytest.mark.parametrize(
    ("question", "path", "text"),
    [
        ("When is Mia's next vaccination?", "pets.md", "vaccination"),
        ("When does Ida's school end?", "class.md", "Ends"),
        ("What does F28 mean on the boiler in the garden house?", "manuals/boiler-holiday-flat.md", "F28"),
        ("When was the boiler of the holiday flat serviced?", "manuals/boiler-garden-house.md", "August"),
        ("May I drink wine with Perimox?", "drugs/leaflet-solvadin.txt", "wine"),
        # A name that is part of the other one
        ("May I drink beer with Onderal Retard?", "tablets/onderal.md", "Beer"),
        ("Does Mr. Demir work for a competitor?", "staff/contract-brandt.txt", "competitor"),
        # Files whose titles share no word have the same sections.
        ("May I drink beer with Pendolin?", "tablets/onderal.md", "Beer"),
        # The title and another section
        ("How often do I clean the washing machine?", "wash.md", "Monthly"),
        # Names with a hyphen
        ("How many bled in CORVEX-VTE?", "trials/a.md", "bleeding"),
    ],
)
def test_a_sibling_is_named(tmp_path: Path, question: str, path: str, text: str) -> None:
    assert answer_names_sibling(tmp_path, question, path, text)


@pytest.mark.parametrize(
    ("question", "path", "text"),
    [
        ("When is Bruno's next vaccination?", "pets.md", "vaccination"),
        ("When is the dog's next vaccination?", "pets.md", "vaccination"),
        ("What does F28 mean on the boiler in the holiday flat?", "manuals/boiler-holiday-flat.md", "F28"),
        ("What does F28 mean on the boiler in the cellar?", "manuals/boiler-holiday-flat.md", "F28"),
        ("When does Ola's school end?", "class.md", "Ends"),
        ("When does the bus stop start to be used?", "class.md", "Starts"),
        ("Does Leonie Brandt work for a competitor?", "staff/contract-brandt.txt", "competitor"),
        ("Does Ms Brandt work for a competitor?", "staff/contract-brandt.txt", "competitor"),
        ("Does Cem Demir smoke?", "staff/house.txt", "smokes"),
        ("How often do I clean the filter of the washing machine?", "wash.md", "Monthly"),
        # The files have nothing in common, or the name is elsewhere in the file.
        ("When does the Board meet?", "rules.md", "Mondays"),
        ("Is the oven used in the garden house?", "manuals/oven.md", "boiler"),
        ("May I drink wine with Zephrin?", "drugs/leaflet-solvadin.txt", "wine"),
        ("Could I drink wine in March?", "drugs/leaflet-solvadin.txt", "wine"),
        ("May I drink beer with Onderal?", "tablets/onderal.md", "Beer"),
        ("May I drink on the day I take Onderal Retard?", "tablets/onderal-retard.md", "day"),
        ("Was beer given with Onderal?", "tablets/onderal-study.md", "Beer"),
        ("How cool is Onderal kept?", "tablets/onderal-storage.md", "cool"),
        ("Was beer given in the Study of Onderal?", "tablets/onderal-study.md", "Beer"),
        ("How many bled in CORVEX?", "trials/a.md", "bleeding"),
        ("How many bled in CORVEX?", "trials/c.md", "Bleeding"),
        ("What was the mean age in CORVEX-ELD?", "trials/b.md", "mean age"),
    ],
)
def test_no_sibling_is_named(tmp_path: Path, question: str, path: str, text: str) -> None:
    assert not answer_names_sibling(tmp_path, question, path, text)


def test_a_passage_of_a_sibling_is_not_found(tmp_path: Path) -> None:
    with built(tmp_path, FILES), opened(tmp_path) as retriever:
        assert retriever.ask("does wine do no harm with Zephrin?").found
        assert retriever.ask("does a glass of wine do no harm with Perimox?").confidence <= confidence.OTHER_SUBJECT


LINES = """# Stand-up

- **Lena:** finishes the mould.
- **Marek Holt:** has to wait for a part.
- **Aiko:** on leave until 22 April, and Omar takes over.
"""
CHAT = "Lena: who is on leave?\nAiko: me, until 22 April.\nLena: and then?\n"


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("until when is Lena on leave?", LINES, True),
        ("when is Marek Holt back from leave?", LINES, True),
        # Her own line; nobody's; somebody that it mentions; who has no line; in a chat
        ("until when is Aiko on leave?", LINES, False),
        ("who is on leave?", LINES, False),
        ("does Lena know how long Aiko is on leave?", LINES, False),
        ("until when is Omar in charge?", LINES, False),
        ("until when did Lena hear that it is?", CHAT, False),
    ],
)
def test_the_line_of_somebody_else(tmp_path: Path, question: str, text: str, expected: bool) -> None:
    with built(tmp_path, {"notes.md": text}) as snapshot:
        (passage,) = snapshot.passages_of("notes.md")
        start = passage.text.index("22 April")
        assert is_line_of_other(question, passage, (start, start + 8)) is expected


VARIANTS = {
    "brask-pro-mixer.txt": "Brask Pro mixer\n\nIt kneads up to 4 kg. The bowl is made of steel.\n",
    "brask-mixer.txt": "Brask hand mixer\n\nIt has five speeds.\n",
    "ovens/tolla-40.md": "# Tolla 40 oven\n\nThe door is heavy. Unlike the Tolla it has a spit.\n",
    "ovens/tolla.md": "# Tolla oven\n\nIt has a grill.\n",
    "vel-max.md": "# Vel Max lamp\n\nIt weighs 3 kg.\n",
    "tariffs.md": "# Tariffs\n\n## Swan\n\nCalls.\n\n## Swan Junior\n\nUse ends at nine.\n\n## Swan Prices\n\n£9.\n",
    "onboarding.md": "# Onboarding\n\nWelcome.\n",
    "onboarding-checklist.md": "# Onboarding Checklist\n\nGet a badge.\n",
}


@pytest.mark.parametrize(
    ("question", "path", "text", "expected"),
    [
        ("how many kilos can the Brask knead", "brask-pro-mixer.txt", "kneads", ("brask-mixer.txt", None)),
        ("when does use of swan end?", "tariffs.md", "nine", ("tariffs.md", "Swan")),
        # The variant itself, which one, or any of them
        ("how many kilos can the Brask Pro knead", "brask-pro-mixer.txt", "kneads", None),
        ("which Brask kneads 4 kg?", "brask-pro-mixer.txt", "kneads", None),
        ("what is a bowl made of?", "brask-pro-mixer.txt", "bowl", None),
        # There is nothing about the plain one, or the text says something about it, too.
        ("how heavy is the Vel lamp?", "vel-max.md", "3 kg", None),
        ("does the Tolla have a spit?", "ovens/tolla-40.md", "spit", None),
        # A topic is no variant.
        ("what does Swan cost?", "tariffs.md", "£9", None),
        ("who gets a badge in Onboarding?", "onboarding-checklist.md", "badge", None),
    ],
)
def test_the_namesake_of_a_variant(
    tmp_path: Path, question: str, path: str, text: str, expected: tuple[str, str | None] | None
) -> None:
    with built(tmp_path, VARIANTS) as snapshot:
        passage = next(passage for passage in snapshot.passages_of(path) if text in passage.text)
        assert namesake_of_variant(snapshot, question, passage) == expected


def test_a_question_is_not_answered_from_a_variant(tmp_path: Path) -> None:
    """If a file about just what it names answers, too, that comes first; else there is no answer."""
    texts = {
        "zendrin.txt": "Zendrin 5 mg tablets\n\nZendrin is for short trips. One tablet lasts for six hours.\n",
        "zendrin-retard.txt": "Zendrin Retard tablets\n\nOne tablet lasts for 24 hours. Each pack has 20 tablets.\n",
    }
    build(tmp_path, texts)
    with opened(tmp_path, reader=True) as retriever:
        result = retriever.ask("how many tablets are in a pack of zendrin?")
        assert (result.found, result.confidence <= confidence.OTHER_SUBJECT) == (False, True)
        result = retriever.ask("how long does a zendrin tablet last?")
        assert result.answer
        assert (result.found, result.passages[0].source.path) == (True, "zendrin.txt")
        assert "six hours" in result.answer.text
