"""Fields and cells that a question names instead of one that looks much like them."""

from __future__ import annotations

import pytest

from corpus import code_spans
from qa.questions.fields import asked_field, asked_instead, asked_setting
from tests.qa.passages import stored

ROTA = "date: 5 Nov\nday doctor: Marchetti\nnight doctor: Lund\nconsultant: Petrou"
TEAMS = "home team: Leeds\naway team: York\ncontact person: Ann\ncontact email: a@x.org\nprice: 3\nlist price: 4"
INVOICE = "invoice no: R-302\ninvoice date: 11 Feb\ndue date: 25 Feb"
DOSES = "drug: X\nCrCl > 50: 1 g\nCrCl 30-50: 2 g\n\ndrug: Y\nCrCl 30-50: 3 g"
COMPOSE = """services:
  kafka:
    image: cp-kafka:7.6.1
    ports: ["9092:9092"]
  db:
    image: cockroach:v24.1.4
    ports: ["26257:26257"]
"""
PROJECT = """[project]
name = "acme-ingest"
version = "2.4.0"
requires-python = ">=3.11"
dependencies = ["fastavro==1.9.7"]

[mail]
port = 587
# The port of the web server is fixed.
maxRetries = 4
"""


@pytest.mark.parametrize(
    ("question", "text", "lead", "expected"),
    [
        ("Who is on night duty on 5 November?", ROTA, "day doctor: Marchetti", "night doctor: Lund"),
        ("Who is on day duty on 5 November?", ROTA, "day doctor: Marchetti", "day doctor: Marchetti"),
        ("Who does the day after the night?", ROTA, "day doctor: Marchetti", "day doctor: Marchetti"),
        ("Who is on night duty with Lund?", ROTA, "day doctor: Marchetti", "day doctor: Marchetti"),
        ("Who is the consultant at night?", ROTA, "consultant: Petrou", "consultant: Petrou"),
        # A sentence of the field that is asked for
        ("Must I do anything about E4022?", "E4021: Wait.\nE4022: Too old. No action.", "No action.", "No action."),
        # A word that says what the record is
        ("When do I have to pay the invoice?", INVOICE, "due date: 25 Feb", "due date: 25 Feb"),
        ("Who do we play at home?", TEAMS, "away team: York", "away team: York"),
        # Names that end otherwise, or are part of another one
        ("Who should I email?", TEAMS, "contact person: Ann", "contact person: Ann"),
        ("What price is on the list?", TEAMS, "price: 3", "price: 3"),
        # Names with numbers
        ("The dose for a CrCl of 30-50?", DOSES, "CrCl > 50: 1 g", "CrCl 30-50: 2 g"),
        ("The dose for a CrCl of > 50?", DOSES, "CrCl > 50: 1 g\nCrCl 30-50: 2 g", "CrCl > 50: 1 g"),
        ("The dose for a CrCl of 10?", DOSES, "CrCl > 50: 1 g", "CrCl > 50: 1 g"),
        ("The drug for a CrCl of 30-50?", DOSES, "drug: X", "drug: X"),
    ],
)
def test_the_field_that_the_question_names(question: str, text: str, lead: str, expected: str) -> None:
    start = text.index(lead)
    assert text[slice(*asked_field(question, text, (start, start + len(lead))))] == expected


def test_of_several_fields_alike_none_is_asked_for() -> None:
    fields = [("day doctor", "Ann"), ("night doctor", "Bo"), ("Night Doctor", "Cy")]
    assert asked_instead("Who is it at night?", fields, 0) == 0


@pytest.mark.parametrize(
    ("path", "text", "question", "read", "answer"),
    [
        ("compose.yaml", COMPOSE, "Which port does kafka use?", "image: cp-kafka", 'ports: ["9092:9092"]'),
        ("compose.yaml", COMPOSE, "Which image does kafka use?", "image: cp-kafka", "image: cp-kafka:7.6.1"),
        # Two are named equally well.
        ("compose.yaml", COMPOSE, "On which port is the database?", "image: cock", "image: cockroach:v24.1.4"),
        ("a.toml", PROJECT, "Which Python version is required?", "version", 'requires-python = ">=3.11"'),
        ("a.toml", PROJECT, "Which version of fastavro is used?", "depend", 'dependencies = ["fastavro==1.9.7"]'),
        ("a.ini", PROJECT, "How many retries for mail?", "port = ", "maxRetries = 4"),
        ("a.ini", PROJECT, "Which mail port is fixed?", "# The", "# The port of the web server is fixed."),
        ("a.txt", PROJECT, "How many retries for mail?", "port = ", "port = 587"),
    ],
)
def test_the_line_of_the_key_that_is_asked_for(path: str, text: str, question: str, read: str, answer: str) -> None:
    spans = list(code_spans(text, 0))
    lead = next(span for span in spans if text[slice(*span)].startswith(read))
    found = asked_setting(question, stored(text, path=path), spans, lead)
    assert text[slice(*found)] == answer
