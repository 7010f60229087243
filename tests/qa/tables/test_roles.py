"""Questions for a person in a role: which fields of records name somebody in another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.tables.roles import is_in_another_role
from tests.qa.indexes import build, opened
from tests.qa.passages import stored

FLAT = "flat: 4 Weir Lane\ntenant: Marta Oy\nmanager: Jon Beck\nrent: 700"
ORDER = "order: 881\ncustomer: Quill & Sons\ngoods: oak boards\nprepared by: Ida Gray"
CASE = "case: Noise at the weir\nclient: Lars Dahl\nresponsible: Ruth Amsel\nopened: 2031-02-03"
TICKET = "ticket: T-9\ntitle: Boiler is cold\nassignee: Omar Bly\nreported by: Rita Foss\nreviewer: Cem Aydin"
BOOK = "title: Low Water\nauthor: Ivy Marsh\npublisher: Heron Press\nborrower: Tom Held"
STAFF = "employee: Noor Saleh\nsupervisor: Ben Okoro\njob: plumber"
TALK = "talk: Eels in winter\nspeaker: Dr. Lena Kahn\nchair: Jan Oss\nroom: 3"
TABLE = "| Boat | Owner | Captain |\n|---|---|---|\n| Teal | Ada Moe | Tom Vik |"

LOAN = "item: drill\nowner: Karl Juul\nborrower: Mina Roth\nlent by: Sue Park"
GRANT = "grant: River birds\napplicant: Dr. Moss\nsponsor: Lake Fund\nreviewer: Pia Quist"

# A question, a record, and the answer in it.
IN_ANOTHER = [
    ("who is the landlord of 4 Weir Lane?", FLAT, "Marta Oy"),
    ("who owns 4 Weir Lane?", FLAT, "Marta Oy"),
    ("who is the tenant of 4 Weir Lane?", FLAT, "Jon Beck"),
    ("who painted 4 Weir Lane?", FLAT, "Jon Beck"),
    ("who supplied the oak boards?", ORDER, "Quill & Sons"),
    ("who is our supplier for oak boards?", ORDER, "Quill & Sons"),
    ("who's the manufacturer of the oak boards?", ORDER, "Quill & Sons"),
    ("Who witnessed the contract about the noise at the weir?", CASE, "responsible: Ruth Amsel"),
    ("who is the judge in the case of the weir?", CASE, "Ruth Amsel"),
    ("who was the landlord in the noise case?", CASE, "Lars Dahl"),
    ("who has appealed in the noise case?", CASE, "Lars Dahl"),
    ("who is the author of T-9?", TICKET, "Omar Bly"),
    ("who approved T-9?", TICKET, "Omar Bly"),
    ("who reported that the boiler is cold?", TICKET, "Omar Bly"),
    ("who is the reviewer of T-9?", TICKET, "Rita Foss"),
    ("who translated Low Water?", BOOK, "Ivy Marsh"),
    ("who is the publisher of Low Water?", BOOK, "Ivy Marsh"),
    ("who wrote Low Water?", BOOK, "Heron Press"),
    ("who has borrowed Low Water?", BOOK, "Ivy Marsh"),
    ("who is Noor Saleh's employer?", STAFF, "Noor Saleh"),
    ("who is the employer of Noor?", STAFF, "Ben Okoro"),
    ("who is the speaker on eels in winter?", TALK, "Jan Oss"),
    ("who is the captain of the Teal?", TABLE, "Ada Moe"),
    ("who repaired the drill?", LOAN, "Karl Juul"),
    ("who lent the drill?", LOAN.replace("lent by", "desk"), "Mina Roth"),
    ("who funded the grant for river birds?", GRANT, "Pia Quist"),
    ("who is the bird warden?", GRANT.replace("birds", "eels"), "Lake Fund"),
    ("who insured the Teal?", TABLE, "Ada Moe"),
]
IN_THE_SAME = [
    ("who is the tenant of 4 Weir Lane?", FLAT, "Marta Oy"),
    ("who lives at 4 Weir Lane?", FLAT, "Marta Oy"),
    ("who rents 4 Weir Lane?", FLAT, "Marta Oy"),
    ("who manages 4 Weir Lane?", FLAT, "Jon Beck"),
    ("who is in charge of 4 Weir Lane?", FLAT, "Jon Beck"),
    ("who bought the oak boards?", ORDER, "Quill & Sons"),
    ("who is the client of order 881?", ORDER, "customer: Quill & Sons"),
    ("who prepared order 881?", ORDER, "Ida Gray"),
    ("who is responsible for the case of the weir?", CASE, "responsible: Ruth Amsel"),
    ("who handles the noise at the weir?", CASE, "Ruth Amsel"),
    ("who is the responsible lawyer in the noise case?", CASE, "Ruth Amsel"),
    ("who is the client in the noise case?", CASE, "Lars Dahl"),
    ("who is the person in the noise case?", CASE, "Lars Dahl"),
    ("who is Lars Dahl?", CASE, "client: Lars Dahl"),
    ("who is assigned to T-9?", TICKET, "Omar Bly"),
    ("who is working on T-9?", TICKET, "Omar Bly"),
    ("who cleaned the boiler?", TICKET, "Omar Bly"),
    ("who raised T-9?", TICKET, "Rita Foss"),
    ("who reported the cold boiler?", TICKET, "reported by: Rita Foss"),
    ("who checked T-9?", TICKET, "Cem Aydin"),
    ("who wrote Low Water?", BOOK, "Ivy Marsh"),
    ("who's the author of Low Water?", BOOK, "author: Ivy Marsh"),
    ("who has borrowed Low Water?", BOOK, "Tom Held"),
    ("who is Noor Saleh's boss?", STAFF, "Ben Okoro"),
    ("who is the plumber?", STAFF, "Noor Saleh"),
    ("who gave the talk on eels?", TALK, "Dr. Lena Kahn"),
    ("who talked about eels?", TALK, "Dr. Lena Kahn"),
    ("who lent the drill?", LOAN, "Sue Park"),
    ("who lent the drill?", LOAN, "Karl Juul"),
    ("who has the drill?", LOAN, "Mina Roth"),
    ("who uses the drill at the moment?", LOAN, "Mina Roth"),
    ("who is drilling now?", LOAN, "Mina Roth"),
    ("who pays for the river birds?", GRANT, "Lake Fund"),
    ("who assessed the grant?", GRANT.replace("reviewer", "expert"), "Pia Quist"),
    ("who is the owner of the Teal?", TABLE, "Ada Moe"),
    ("who steers the boat Teal?", TABLE, "Teal | Ada Moe | Tom Vik"),
    ("what is the rent of 4 Weir Lane?", FLAT, "700"),
    ("when did the landlord open the case?", CASE, "2031-02-03"),
    ("who witnessed it?", "Jon Beck is responsible for the weir.", "Jon Beck"),
    ("who witnessed it?", "responsible: Jon Beck", "Jon Beck"),
]


def is_other(question: str, text: str, answer: str, path: str = "a.csv") -> bool:
    start = text.index(answer)
    return is_in_another_role(question, stored(text, path=path), (start, start + len(answer)), answer)


@pytest.mark.parametrize(("question", "text", "answer"), IN_ANOTHER)
def test_fields_of_another_role(question: str, text: str, answer: str) -> None:
    assert is_other(question, text, answer)


@pytest.mark.parametrize(("question", "text", "answer"), IN_THE_SAME)
def test_fields_of_the_same_role(question: str, text: str, answer: str) -> None:
    assert not is_other(question, text, answer)


def test_the_file_may_say_what_was_done() -> None:
    assert is_other("who inoculated Otto?", "patient: Otto\nsupervisor: Dr. Ames", "Dr. Ames")
    assert not is_other("who inoculated Otto?", "patient: Otto\nsupervisor: Dr. Ames", "Dr. Ames", "inoculations.csv")


def test_an_answer_in_another_role_does_not_count_as_found(tmp_path: Path) -> None:
    build(tmp_path, {"flats.csv": "flat,tenant,rent\n4 Weir Lane,Marta Oy,700\n7 Mill Row,Lars Dahl,650\n"})
    with opened(tmp_path) as retriever:
        found = retriever.ask("who is the landlord of the tenant Marta Oy?")
        assert found.answer is not None
        assert (found.answer.text, found.found, found.confidence) == ("tenant: Marta Oy", False, 0.2)
