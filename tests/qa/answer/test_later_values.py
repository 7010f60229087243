"""Values that later messages or minutes replace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qa import Retriever, build_index
from tests.qa.indexes import write


def _mail(day: str, subject: str, text: str) -> str:
    return (
        f"From x {day}\nFrom: Edda Roy <edda@club.example>\nTo: all <all@club.example>\nDate: {day}\n"
        f"Subject: {subject}\nContent-Type: text/plain; charset=utf-8\n\nDear all,\n\n{text}\n\nEdda\n\n"
    )


MARCH, APRIL, MAY = (f"{day} 2025 09:00:00 +0000" for day in ("Mon, 3 Mar", "Thu, 3 Apr", "Sat, 3 May"))
CHANGES = {
    "box.mbox": _mail(MARCH, "Gala", "The gala dinner is on Friday 6 June in the boathouse. Tickets cost 28 euros.")
    + _mail(MARCH, "Choirs", "The concert of the children's choir is on Sunday 15 June at the abbey.")
    + _mail(APRIL, "Gala", "The gala dinner has been moved to Saturday 14 June. Thank you for the flowers.")
    + _mail(APRIL, "Choirs", "The concert of the men's choir has been moved to Saturday 28 June.")
    + _mail(APRIL, "Keys", "The key of the loft is with Mrs Poole.")
    + _mail(MAY, "Re: Keys", "Could we move the key of the loft to the office instead?"),
    "WhatsApp Chat with Crew.txt": "03/02/2025, 10:00 - Olga: the vet comes on Monday at 9\n"
    "03/02/2025, 10:05 - Piet: ok\n"
    "06/02/2025, 11:00 - Olga: vet rang, Monday is full, she comes Wednesday at 4 instead\n"
    "07/02/2025, 10:00 - Olga: Lena paints the fence\n"
    "08/02/2025, 12:00 - Piet: Hamid paints the gate instead of me\n",
    "sketching/2025-02-11.md": "# Sketching group, 11 February 2025\n\nWe meet at the old ferry landing.\n",
    "sketching/2025-04-08.md": "# Sketching group, 8 April 2025\n\nWe meet at the water tower.\n",
    "minutes/2025-02-05.md": "# Bowls club, 5 February 2025\n\n## Officers\n\n"
    "Harriet Noon is the secretary of the bowls club. Len Marsh mows.\n\n## Money\n\n£6,120 in the bank.\n",
    "minutes/2025-09-10.md": "# Bowls club, 10 September 2025\n\n## Officers\n\nHarriet Noon has stepped down. "
    "The new secretary is Rafi Stein.\n\n## Money\n\n£7,344 in the bank.\n",
    "mails/1.txt": "From: Dana\nTo: all\nDate: Wed, 5 Mar 2025 14:00\n\nThe pond survey is on Saturday 15 March.\n",
    "mails/2.txt": "From: Dana\nTo: all\nDate: Fri, 7 Mar 2025 09:30\n\nThe pond survey moves to Saturday 22 March.\n",
    "band/2025-02-05.md": "# Minutes of the brass band, 5 February 2025\n\nThe band practice begins at 19:15. "
    "Guests are welcome.\n",
    "band/2025-03-05.md": "# Minutes of the brass band, 5 March 2025\n\nBecause of the regatta the band practice "
    "begins at 17:45 on 6 April, please note.\n",
    "report.md": "# Report\n\n20 June 2025\n\nA first guess for replacing the wiring of the main hall is £22,000.\n",
    "log.txt": "Log\n\n12/06/2025  Meeting.\n23/06/2025  The wiring of the main hall failed on two circuits, switched "
    "off. Quote for replacing those: 640\n",
    "leave.md": "# Leave\n\n4 May 2025\n\n## Days\n\nFull-time staff have 28 days of paid leave a year.\n\n"
    "## Christmas\n\nThe office is now closed at Christmas. Three of those days are taken from your leave.\n",
    "lettings/2025-01-02.txt": "Croft Lettings\n\n2 January 2025\n\nThe rent for Flat 3 is £700.\n",
    "lettings/2025-03-02.txt": "Croft Lettings\n\n2 March 2025\n\nThe rent for Flat 4 has been raised to £745.\n",
}


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Retriever]:
    folder: Path = tmp_path_factory.mktemp("changes")
    write(folder, CHANGES)
    build_index(folder)
    with Retriever.open(folder) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "answer", "earlier"),
    [
        ("When is the gala dinner?", "Saturday 14 June", "Friday 6 June"),
        ("When does the vet come?", "Wednesday at 4", "Monday"),
        ("When is the pond survey?", "22 March", "15 March"),
        # Without a question word
        ("date of the gala dinner", "14 June", "6 June"),
        ("current meeting place of the sketching group?", "water tower", "ferry landing"),
        ("Who is the secretary of the bowls club?", "Rafi Stein", "Harriet Noon"),
        ("Where does the sketching group meet?", "water tower", "ferry landing"),
    ],
)
def test_a_later_statement_replaces_a_value(changes: Retriever, question: str, answer: str, earlier: str) -> None:
    """The old value stays visible; that of minutes without any word of change is replaced by the same sentence."""
    result = changes.ask(question).answer
    assert result is not None
    assert answer in result.text
    assert [(earlier in it.text, it.time) for it in result.alternatives[:1]] == [(True, "earlier")]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When is the concert of the children's choir?", "15 June"),
        ("Where is the gala dinner?", "boathouse"),
        ("Who has the key of the loft?", "Mrs Poole"),
        ("Who paints the fence?", "Lena"),
        ("How much is the rent for flat 3?", "£700"),
        ("How much is replacing the wiring of the main hall?", "£22,000"),
        ("Who mows at the bowls club?", "Len Marsh"),
        ("How many days of paid leave do full-time staff get?", "28 days"),
        ("How much was in the bank in February?", "£6,120"),
        ("When does the band practice begin?", "19:15"),
    ],
)
def test_a_later_statement_about_something_else_replaces_nothing(
    changes: Retriever, question: str, answer: str
) -> None:
    """Another choir, a proposal, another thing or flat, the same document, a month that is asked about, or one day."""
    result = changes.ask(question).answer
    assert result is not None
    assert answer in result.text
