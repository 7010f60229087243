"""Answers from the field, setting, dated entry or weekday that a question names; with the real models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qa import Retriever, build_index
from qa.answer.line_answer import doer_of, written_on
from tests.qa.indexes import write
from tests.qa.passages import stored

FILES = {
    "boats.csv": "boat,berth,mooring_fee,skipper\nPetrel,D4,410,Ann Holm\nSkua,D9,385,Bo Lind\nTern,E2,,Cy Marsh\n",
    "machines.json": '[{"machine": "lathe-2", "room": "K3", "serial": "L-8813"},'
    ' {"machine": "press-1", "room": "K7", "serial": "P-4402"}]\n',
    "vet.csv": "Item,inc VAT (GBP),Notes\nVisit,46.00,\nRepeat visit,36.00,within 3 weeks\nCat spay,126.00,\n",
    "shop.csv": "Item,Cost,Shop price,In stock,Reorder at\nPasty,2.15,3.95,60,40\nRubber mallet,4.10,8.00,5,3\n",
    "banks.csv": "Account,Balance,Fee\nSavings,8120,12\nCurrent,310,0\n",
    "duty.csv": "week,from,duty_person,task_of_the_week\n22,2025-05-26,Yusra,fridge\n23,2025-06-02,Jonas,oven\n",
    "rota.csv": "Date,Day,Warden on call,Cleaning\n05/08/2024,Mon,Tom K,Meg\n12/08/2024,Mon,Dawid,Meg\n"
    "13/08/2024,Tue,Gareth,Ruth\n",
    "rates.csv": "work,unit,2024 (EUR),from 1 March 2025 (EUR)\nFitter,day,610,640\nFitter,half day,335,350\n"
    "Call-out,trip,90,95\n",
    "legs.csv": "Leg,From,To,Minutes\n1,Ash,Elm,130\n2,Elm,Oak,35\n",
    "oven.ini": "[general]\nunits = C\n\n[rye]\ntemp = 215\nminutes = 55\n\n[brioche]\ntemp = 180\nminutes = 35\n",
    "cluster.yaml": "nodes:\n  alder:\n    memory: 64G\n    port: 7001\n  birch:\n    memory: 32G\n    port: 7002\n",
    "rooms.md": "# Rooms\n\n| Room | Seats | Floor |\n|---|---|---|\n| Oak | 12 | 1 |\n| Elm | 40 | 2 |\n",
    "pond-log.txt": "Pond log\n\n4 Mar   pump cleaned\n18 Mar  pike seen near the reeds\n"
    "2 Apr   pump cleaned, hose replaced\nSun 9 Apr   heron scared off\n",
    "sluice.log": "2024-02-06 hatch oiled (Irma)\n2024-04-19 hatch oiled (Benno)\n2024-05-27 winch rope renewed\n"
    "2024-08-08 hatch oiled (Irma)\n2024-10-01 grid cleared, 90 euros\n",
    "van.txt": "The van\n\nTyres changed by Falk, 3 March 2024\nBrakes bled by Irma, 9 May 2024\n"
    "Tyres changed by Benno, 2 November 2024\n",
    "goat.md": "# Goat\n\n| Done | Day | By |\n|---|---|---|\n| hooves clipped | 11.01.2025 | Falk |\n"
    "| horns filed | 04.02.2025 | Irma |\n| hooves clipped | 29.04.2025 | Benno |\n",
    "cat.md": "# Cat diary\n\n## 6 May 2025\n\nClipped her claws.\n\n## 19 May 2025\n\nWormed her, Dr Frye.\n",
    "hours.md": "# Opening hours\n\n- **Library**: Mon–Wed 9–17, Sat 10–13\n"
    "- **Baths**: Tue and Thu 7–20. Towels cost 2.\n\nBakery:\nFri 6–18\nSaturday 7–12\n",
    "jobs.md": "# Jobs\n\n1. **Roof**: ask Dunn about the price.\n2. **Gate**: paint it.\n",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("fields")
    write(folder, FILES)
    build_index(folder)
    with Retriever.open(folder) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "answer", "path"),
    [
        ("berth of Skua", "D9", "boats.csv"),
        ("Petrel mooring fee?", "410", "boats.csv"),
        ("who is the skipper of Tern", "Cy Marsh", "boats.csv"),
        # A price, whatever its column is called, of the item itself rather than of a kind of it
        ("how much is a cat spay?", "126.00", "vet.csv"),
        ("what does a visit cost?", "46.00", "vet.csv"),
        ("how much for a repeat visit", "36.00", "vet.csv"),
        ("what do we charge for a pasty", "3.95", "shop.csv"),
        ("how many rubber mallets have we got left", "5", "shop.csv"),
        ("how much is in the savings account?", "8120", "banks.csv"),
        # A row of a date, however that is written
        ("which warden could you call out on Monday 12 Aug 2024?", "Dawid", "rota.csv"),
        ("who's down for the cleaning shift on tuesday 13 august?", "Ruth", "rota.csv"),
        ("who does the cleaning on the 13th of august", "Ruth", "rota.csv"),
        ("Who is on duty in the week of 2 June?", "Jonas", "duty.csv"),
        # Columns named by a time, of a value that no later row replaces
        ("what do we charge for half a day of a fitter since March 2025", "350", "rates.csv"),
        ("rate of a call-out trip in 2024?", "90", "rates.csv"),
        ("how much is a call-out trip?", "95", "rates.csv"),
        ("which leg is from Elm to Oak?", "2", "legs.csv"),
        ("serial number of lathe-2", "L-8813", "machines.json"),
        ("temperature for brioche", "180", "oven.ini"),
        ("what temperature for rye?", "215", "oven.ini"),
        ("memory of the birch node", "32G", "cluster.yaml"),
        ("seats in Elm", "40", "rooms.md"),
        # The date of an entry, and not of the line below or above it
        ("When was the pike seen?", "18 Mar", "pond-log.txt"),
        ("When was the heron scared off?", "Sun 9 Apr", "pond-log.txt"),
        ("When was the pump last cleaned?", "2 Apr", "pond-log.txt"),
        ("When was the pump first cleaned?", "4 Mar", "pond-log.txt"),
        ("when did we worm the cat", "19 May 2025", "cat.md"),
        # An entry of the asked month or year
        ("When was the pump cleaned in March?", "4 Mar", "pond-log.txt"),
        ("When was the hatch oiled in April 2024?", "2024-04-19", "sluice.log"),
        ("Who oiled the hatch in August?", "Irma", "sluice.log"),
        ("who oiled the hatch in April 2024", "Benno", "sluice.log"),
        ("when was the winch rope renewed in 2024", "2024-05-27", "sluice.log"),
        ("when did Irma bleed the brakes in May", "9 May 2024", "van.txt"),
        ("when were the hooves clipped in January", "11.01.2025", "goat.md"),
        # Dates at the end of lines, and in a column
        ("when were the tyres last changed", "2 November 2024", "van.txt"),
        ("when were the goat's hooves last clipped", "29.04.2025", "goat.md"),
        # The part with the asked day
        ("When is the library open on Tuesdays?", "Mon–Wed 9–17", "hours.md"),
        ("library hours saturday", "Sat 10–13", "hours.md"),
        ("When are the baths open on Thursday?", "Tue and Thu 7–20", "hours.md"),
        ("when is the bakery open on saturdays", "Saturday 7–12", "hours.md"),
    ],
)
def test_what_a_question_names_answers(retriever: Retriever, question: str, answer: str, path: str) -> None:
    result = retriever.ask(question)
    assert result.answer is not None
    assert (result.answer.text, result.found, result.passages[0].source.path) == (answer, True, path)
    assert answer in result.passages[0].highlights[0].text


@pytest.mark.parametrize(
    "question",
    [
        "mooring fee of Tern",  # has none
        "berth of Gannet",
        "how much is a dog spay?",
        "who does the cleaning on 14 August?",
        "how many wooden mallets have we got left",
        "mooring fee of the Skua in 2019",
        "When was the pump cleaned in May?",
        "When was the hatch oiled in May 2024?",
        "Who oiled the hatch in October?",
        "when was the winch rope renewed in 2023",
        "who changed the tyres in May",
        "when were the horns filed in April",
        "price of the gate",  # of the roof: items of a list are no fields of one record
        "When is the library open on Sundays?",
        "when are the baths open on friday",
    ],
)
def test_another_field_or_time_is_not_found(retriever: Retriever, question: str) -> None:
    assert not retriever.ask(question).found


@pytest.mark.parametrize(
    "question", ["Why is the berth of Skua D9?", "Is the berth of Skua D9?", "How is the berth of Skua?"]
)
def test_other_questions_do_not_ask_for_a_field(retriever: Retriever, question: str) -> None:
    result = retriever.ask(question)
    assert result.answer is None or result.answer.text != "D9"


def test_the_number_of_a_row_is_no_measure(retriever: Retriever) -> None:
    """Although the question has the name of its column."""
    result = retriever.ask("How long is the leg from Elm to Oak?")
    assert result.answer is None or result.answer.text != "2"


@pytest.mark.parametrize(
    ("question", "entry", "doer"),
    [
        ("who greased the ramp?", "2024-05-11 ramp greased (Siv Dahl)", "Siv Dahl"),
        ("who repaired the horn?", "2024-05-30 horn repaired by Torp", "Torp"),
        ("who greased the ramp?", "Ramp greased by Siv, 11 May 2024", "Siv"),
        ("who cleared the ramp?", "2024-05-11 ramp cleared by Friday, as asked", None),
        ("who was fired?", "2024-05-11 Ulf fired (Siv)", None),
        ("who greased the ramp?", "2024-05-11 ramp greased (twice)", None),
        ("who greased the ramp?", "2024-05-11 ramp greased by Siv (Ulf)", None),
        ("what did Siv grease?", "2024-05-11 ramp greased (Siv)", None),
    ],
)
def test_who_did_what_an_entry_notes(question: str, entry: str, doer: str | None) -> None:
    span = doer_of(question, entry)
    assert (span and entry[slice(*span)]) == doer


@pytest.mark.parametrize(
    ("above", "below", "date"),
    [
        ("Sat 3 May\n19:30  Ida   hello", "19:40  Ida   I broke the oar", None),
        ("19:30  Ida   hello", "Sat 3 May\n19:40  Ida   I broke the oar\n19:41  Bo    oh", "Sat 3 May"),
    ],
)
def test_the_date_of_a_message_stands_in_its_passage(above: str, below: str, date: str | None) -> None:
    first = stored(f"{above}\n19:31  Bo    hi")
    second = replace(stored(f"{below}\n19:45  Bo    never mind"), id=2, start=len(first.text) + 1)
    document = replace(first.document, passages=2)
    passages = [replace(passage, document=document) for passage in (first, second)]
    found = written_on("when did Ida break the oar?", passages)
    assert (None if found is None else found.extract.name) == date
