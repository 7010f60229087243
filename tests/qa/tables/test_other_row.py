"""Rows that are not the ones asked for, or lack the value asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.answer import confidence
from qa.tables.other_row import is_other_row
from tests.qa.indexes import built, opened

TRADES = """# Trades

Lena Holt has the spare key.

| trade | name | phone | called | remark |
|---|---|---|---|---|
| builder | Dora Keld | 0555 066 303 | 2023 | mail better |
| tiler | Gus Ott | - | 2024 | |
| roof | Mona Reyes | 0555 033 870 | 2024 | Bram is her brother |
| plumber | Bram | 0555 033 112 | n/a | |
"""
RATES = """| item | supplier | 2024 | 2025 | discount |
|---|---|---|---|---|
| coarse mesh | Moll | 3.20 | - | none |
| fine mesh | Moll | 4.10 | 4.40 | none |
"""
ROTA = """| date | bar | cleaning |
|---|---|---|
| 7 June | Petra Lund | Sven Aalto |
| 14 June | Sven Aalto | |
| 12.07.2025 | Ida Moe | Petra Lund |
"""
FAULTS = """| code | meaning |
|---|---|
| E17 | no water |
| F3 | door open |
"""
STOCK = "item,price,serial number\noven,699,\nfreezer,,NF-88213\nkettle,35,PC-1203\n"
PAID = """| Band | Amount (EUR) | Phone (home) | Phone (2024) |
|---|---|---|---|
| E4 | | | |
| E5 | 900 | 12 | 13 |
"""
KEYS = """| key | hook | held by |
|---|---|---|
| Garage, side door | 4 | Ida Moe |
| Garage, main door | 7 | Sven Aalto |
| side gate | 9 | Petra Lund |
"""
BOOKED = """| date | member | email | booked |
|---|---|---|---|
| 9 June 2024 | Ann Lee | ann@keld.example | 2024-05-01 |
| 16 June 2024 | Bo Marsh | bo@keld.example | 2024-05-03 |
"""
WORDS = """| | |
|---|---|
| Weight | 1,450 kg |
| Engine | Yarrow 60 |
"""
TRAINS = """# Trains from Westbury

| Train | Departs | Days | Comfort |
|---|---|---|---|
| R1 | 06:15 | Mon-Fri | good |
| R7 | 17:20 | Mon-Fri | better |
| R9 | 22:50 | daily | fair |
"""
LIMITS = """| Rule | Limit |
|---|---|
| Luggage | up to 23 kg |
| Check-out | by 11:00 |
| Fine above 5 kg | 20 EUR |
"""
SEATS = """# Rooms

| Room | Seats | Most guests | Lift |
|---|---|---|---|
| Oak | 12 | 9 | yes |
| Elm | 8 | 6 | yes |
| Ash | 20 | 15 | no |
| Total | 40 | 30 | |
"""

# A question, a table, and the answering sentence in it.
OTHER = [
    ("Ian Prowse the builder phone number", TRADES, "builder | Dora Keld"),
    ("What is the phone number of Lisa Wen, the roof lady?", TRADES, "0555 033 870"),
    ("what is Bram's phone number?", TRADES, "0555 066 303"),
    ("phone number of Gus Ott", TRADES, "tiler | Gus Ott"),
    ("phone of the tiler", TRADES, "tiler | Gus Ott"),
    ("When was Bram called?", TRADES, "plumber | Bram"),
    ("price of coarse mesh from Moll in 2025", RATES, "coarse mesh | Moll"),
    ("who does the bar on 14 June?", ROTA, "7 June | Petra Lund"),
    ("who does the bar on 21 June 2025?", ROTA, "14 June | Sven Aalto"),
    ("who does the cleaning on 14 June?", ROTA, "14 June | Sven Aalto"),
    ("what does code F3 mean?", FAULTS, "no water"),
    ("serial number of the oven", STOCK, "item: oven"),
    ("which hook is the garage side door key on?", KEYS, "Garage, main door"),
    ("who has the key of the side gate?", KEYS, "Garage, side door"),
    ("price of fine mesh in 2024", RATES, "coarse mesh | Moll"),
    ("what did the freezer cost?", STOCK, "serial number: NF-88213"),
    ("what is the amount of E4?", PAID, "E4"),
    ("What is the Email Address of Ann Lee?", BOOKED, "16 June 2024"),
    ("Which member booked on 1 May 2024?", BOOKED, "16 June 2024"),
    # One row cannot answer what compares, counts or adds up rows.
    ("which train leaves first?", TRAINS, "R7"),
    ("what is the latest train from Westbury?", TRAINS, "R1"),
    ("latest train from Westbury", TRAINS, "R1"),
    ("which trains leave after 17:00?", TRAINS, "R7"),
    ("how many trains run daily?", TRAINS, "R1"),
    ("how many rooms have a lift?", SEATS, "Oak"),
    ("what is the average number of seats?", SEATS, "Elm"),
    ("which rooms got more expensive?", SEATS, "Elm"),
    ("which room became larger in 2024?", SEATS, "Oak"),
]
RIGHT = [
    ("why do we not take the latest train?", TRAINS, "R9"),
    ("latest train, comfort", TRAINS, "R9"),
    ("phone number of Dora Keld, the builder", TRADES, "0555 066 303"),
    ("what is the builder's phone number?", TRADES, "0555 066 303"),
    ("who is the builder of Ian Prowse?", TRADES, "Dora Keld"),
    ("phone number of the builder at Penrose Hotel", TRADES, "0555 066 303"),
    ("which builder does Lena Holt call?", TRADES, "builder | Dora Keld"),
    ("phone number of Lena Holt's builder", TRADES, "builder | Dora Keld"),
    ("who is the brother of Mona?", TRADES, "Bram is her brother"),
    ("which trade has no phone?", TRADES, "tiler | Gus Ott"),
    ("does the tiler have a phone?", TRADES, "tiler | Gus Ott"),
    ("who came instead of Bram?", TRADES, "tiler | Gus Ott"),
    ("price of coarse mesh from Moll in 2024", RATES, "coarse mesh | Moll"),
    ("which discount does Moll give on coarse mesh?", RATES, "coarse mesh | Moll"),
    ("who does the bar on 14 June?", ROTA, "14 June | Sven Aalto"),
    ("who does the bar on 12 July 2025?", ROTA, "12.07.2025"),
    ("who does the bar after 7 June?", ROTA, "14 June | Sven Aalto"),
    ("what does code E17 mean?", FAULTS, "no water"),
    ("which hook is the garage side door key on?", KEYS, "Garage, side door"),
    ("who has the key of the garage main door?", KEYS, "Garage, main door"),
    ("who has the key of the gate?", KEYS, "side gate"),
    ("is coarse mesh dearer than fine mesh?", RATES, "coarse mesh | Moll"),
    ("what is the amount of E5?", PAID, "900"),
    ("what is the phone of E4?", PAID, "E4"),
    ("serial number of the kettle", STOCK, "item: kettle"),
    ("What is the Email Address of Ann Lee?", BOOKED, "9 June 2024"),
    ("Which member booked on 1 May 2024?", BOOKED, "9 June 2024"),
    ("how heavy is it without the Engine?", WORDS, "Weight"),
    ("how heavy is the boat with its engine?", WORDS, "Weight"),
    ("which train is the only one that runs daily and the latest?", TRAINS, "R9"),
    ("how early is the latest check-out?", LIMITS, "Check-out"),
    ("what is the most that luggage may weigh?", LIMITS, "Luggage"),
    ("what is the fine for more than 5 kg?", LIMITS, "Fine above 5 kg"),
    ("how many seats does Elm have?", SEATS, "Elm"),
    ("how many seats are there for a meeting?", SEATS, "Elm"),
    ("which room takes the most guests?", SEATS, "Ash"),
    ("what is the total number of seats?", SEATS, "Total"),
]


def is_other(root: Path, question: str, text: str, answer: str) -> bool:
    path = "list.csv" if text is STOCK else "list.md"
    with built(root, {path: text}) as snapshot:
        passage = next(passage for passage in snapshot.passages_of(path) if answer in passage.text)
        start = passage.text.index(answer)
        return is_other_row(snapshot, question, passage, (start, start + len(answer)))


@pytest.mark.parametrize(("question", "text", "answer"), OTHER)
def test_rows_that_the_question_does_not_name(tmp_path: Path, question: str, text: str, answer: str) -> None:
    assert is_other(tmp_path, question, text, answer)


@pytest.mark.parametrize(("question", "text", "answer"), RIGHT)
def test_rows_that_the_question_may_name(tmp_path: Path, question: str, text: str, answer: str) -> None:
    assert not is_other(tmp_path, question, text, answer)


def test_text_without_rows(tmp_path: Path) -> None:
    assert not is_other(tmp_path, "what is Bram's spare key for?", TRADES, "Lena Holt has the spare key.")


def test_the_wrong_row_is_not_found(tmp_path: Path) -> None:
    """Although all words of the lookup are in the row and the names of its columns."""
    with built(tmp_path, {"trades.md": TRADES}), opened(tmp_path) as retriever:
        assert retriever.ask("builder phone").found
        assert retriever.ask("tiler phone").confidence <= confidence.OTHER_SUBJECT
