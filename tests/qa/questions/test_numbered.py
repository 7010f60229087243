"""Things that are named by a number: which sentences are about another one."""

from __future__ import annotations

import pytest

from corpus import sentence_spans
from qa.questions.numbered import is_about_other_item, numbered_items_in, prefer_span_about_items
from tests.qa.passages import stored

TABLE = "| Box no. | Shelf | Content |\n|---|---|---|\n| 369 | 123 | cables |\n| 12 | 5 | lamps |"

# A question, a passage, and the answering sentence or cell in it.
ABOUT_ANOTHER = [
    ("which shelf holds box 123?", "Shelf 123 holds box 369.", ""),
    ("which shelf holds box 123?", "Shelf 12 holds boxes 120, 121 and 369.", ""),
    ("which shelf holds box 123?", TABLE, "369"),
    ("which shelf holds box 5?", TABLE, "12 | 5"),
    ("which shelf holds box 123?", "Attic list\n\nShelf 123 holds box 369.", "Attic list"),
    ("what is in box 123?", "box: 369\nshelf: 123\ncontent: cables", "content: cables"),
    ("what is in box 123?", "box: 369\nshelf: 2\ncontent: cables\n\nbox: 123\nshelf: 4", "content: cables"),
    ("who booked room 12B?", "Room 12A is booked by Ines.", ""),
    ("who booked room 12B?", "Room 12 is booked by Ines.", ""),
    ("who booked Room 12B on 4 June 2024?", "On 4 June 2024 room 14 was booked by Ines.", ""),
    ("how much is invoice 4711?", "Invoice 4712 is over 300 EUR.", ""),
    ("how much is invoice 4711?", "Invoice no. 4117 is over 4,711 EUR.", ""),
    ("what does article 7 say?", "Article 17 says that the deposit is two rents.", ""),
    ("what does article 7 say?", "Articles 8 to 10 say that the deposit is two rents.", ""),
    ("what changed in version 2.1?", "Version 2.2 changed the format of dates.", ""),
    ("what changed in version 2.1?", "Version 3 changed the format of dates.", ""),
    ("when does bus 42 leave?", "Bus 17 leaves at 7:42.", ""),
    ("where does bus M4 stop?", "Bus M5 stops at the museum.", ""),
    ("what is in annex C?", "Annex B has the prices.", ""),
    ("how much leave is there in grade F?", "Grades A–D get 26 days.", ""),
    ("what is vitamin D good for?", "Vitamin C is good for the gums.", ""),
    ("who works at gate 5?", "Gate 15 is staffed by Omar.", ""),
    ("what causes error E42?", "Error E24 is caused by an empty tank.", ""),
    ("who lives in flat 3?", "Flat 2 is rented to Marta.", ""),
    ("what does ticket T-101 ask for?", "Ticket T-110 asks for a new toner.", ""),
    ("does Windows 10 still get updates?", "Windows 11 gets updates until 2031.", ""),
    ("how many newts did C05 have?", "C12: 5 newts", ""),
    ("what is the pH of C08?", "C05: pH 7.1\nC12: pH 7.9", "C05: pH 7.1"),
    ("what is step 7?", "1. Shake.\n2. Rinse.", "Rinse."),
    ("what is the first step?", "1. Shake.\n2. Rinse.", "Rinse."),
    ("who took S-030?", "S-011–S-025 were taken by Ada.", ""),
    ("who took S-030?", "S-011 to S-025 were taken by Ada.", ""),
    ("when was the left eye operated?", "The right eye was operated on 3 May.", ""),
    (
        "date of the operation on her left eye",
        "Operation right eye: 3 May. Left: next year.",
        "Operation right eye: 3 May.",
    ),
    ("pressure of the rear tyres", "Front tyres: 2.3 bar", ""),
    (
        "pressure of the rear tyres",
        "| Tyres | Bar |\n|---|---|\n| Front tyres | 2.3 |\n| Rear tyres | 2.5 |",
        "Front tyres | 2.3",
    ),
    ("what hangs to the left of the boiler?", "The pump hangs to the right of the boiler.", ""),
    ("when does the café south of the river open?", "North of the river, the café opens at 9.", ""),
    ("what does the small hall cost?", "The large hall costs 80 EUR.", ""),
    ("who lives on the second floor?", "Ida lives on the first floor.", ""),
    ("who lives on the second floor?", "Tom lives on the third floor.", ""),
    ("how long did the fire drill 2026 take?", "The last fire drill on 18 September 2025 took 4 minutes.", ""),
    ("how many came in 2019?", "In 2021 310 people came.", ""),
    ("who was the chair in 2015?", "Ann Lee and Bo Ray were chairs in 2012 and 2018.", ""),
    ("who was the chair in 2019?", "Ann Lee chaired the club between 2012 and 2018.", ""),
    ("who was the chair in 2015?", "Ann Lee wrote as the chair in 2012 to 20 members.", ""),
    ("where did Ann work in 2015?", "Ann worked at Otavo (03/2017 - 06/2021).", ""),
    ("where did Ann work in 2015?", "Ann worked at Otavo, 2017-present.", ""),
    ("does it run on Python 3.10?", "It runs on Python 3.11 to 3.14.", ""),
    ("does it run on Python 2.12?", "It runs on Python 3.11 to 3.14.", ""),
    ("who lives in flat 4C?", "Flats 3A-3F are rented to Marta.", ""),
    ("what is there on day 9?", "Day 1 to day 7: soup.", ""),
    ("what does zone 5 cost?", "Zones 1 till 4 cost 2 EUR.", ""),
    ("who teaches grade 5?", "Ida teaches grades 3/4.", ""),
    ("what does article 6 say?", "Article V says that the deposit is two rents.", ""),
]
OF_THE_SAME = [
    ("which shelf holds box 123?", "Shelf 5 holds box 123.", ""),
    ("which shelf holds box 123?", "Shelf 5 holds box no. 123, and shelf 6 box 124.", ""),
    ("which shelf holds box 123?", "Shelf 5 holds boxes 120–130.", ""),
    ("which shelf holds box 123?", "Shelf 5 holds boxes 120 to 130.", ""),
    ("which shelf holds box 123?", "Shelf 5 holds boxes 121, 122 and 123.", ""),
    ("which shelf holds box 369?", TABLE, "369"),
    ("which shelf holds box 12?", TABLE, "12 | 5"),
    ("what is in box 369?", "box: 369\nshelf: 123\ncontent: cables", "content: cables"),
    ("what is box 123 behind?", "Box 123 is on shelf 5. It is behind box 7.", "It is behind box 7."),
    ("who booked room 12B?", "Room 12B: Ines", ""),
    ("who booked room 12B?", "**Room 12B** is booked by Ines; room 12A is free.", ""),
    ("who booked room 12B?", "Rooms 12A and 12B are booked by Ines.", ""),
    ("how much is invoice 4711?", "The invoice (number 4711) of 3 May 2024 is over 300 EUR.", ""),
    ("how much is invoice 4711?", "Invoice date: 2024-05-03. Your invoice of 300 EUR has the number 4711.", ""),
    ("how much is invoice 4711?", "The invoice is over 300 EUR.", ""),
    ("what does article 7 say?", "7. The deposit is two rents.", ""),
    ("what does article 7 say?", "Article 7(2) says that the deposit is two rents.", ""),
    ("what does section 7.2 say?", "Section 7: deposit. It is two rents.", ""),
    ("what changed in version 2.1?", "Version 2.1.0 changed the format of dates.", ""),
    ("what changed in version 2.1?", "v2.1 changed the format of dates.", ""),
    ("does version 2.3 read CSV?", "CSV is read since version 2.0.", ""),
    ("does version 2.3 read CSV?", "Version 2.0 or later reads CSV.", ""),
    ("when does bus 42 leave?", "Bus 42 leaves at 7:17.", ""),
    ("when does bus 42 leave?", "The bus leaves at 7:17.", ""),
    ("when does bus 42 leave?", "Lines 17 and 42: the bus leaves at 7:17.", ""),
    ("what is in annex C?", "Annex C has the prices.", ""),
    ("how much leave is there in grade F?", "Grades E–H get 29 days.", ""),
    ("how much leave is there in grade F?", "| Group | Days |\n|---|---|\n| Grades E–H | 29 |", "Grades E–H | 29"),
    ("how much leave is there in grade F?", "Grades E-H get 29 days.", ""),
    ("may I bring 3 guests?", "You may bring 2 guests.", ""),
    ("does it cost 20 euros?", "It costs 25 euros.", ""),
    ("who worked the last 5 days?", "Ada worked the last 3 days.", ""),
    ("what comes after article 7?", "Article 8 is about noise.", ""),
    ("what is the budget 2024?", "The budget 500 was moved to 2024.", ""),
    ("does Windows 10 still get updates?", "Windows 10 gets updates until 2025.", ""),
    ("what was the rent in May 2024?", "Rent: 900 EUR in May 2024.", ""),
    ("who is the tenant of flat 3?", "Flat 03: Marta", ""),
    ("how many newts did C05 have?", "C12 and C-5: 5 newts each", ""),
    ("how many newts did C05 have?", "Q2: 5 newts", ""),
    ("what happened to the X18 drives?", "NKD-X18 may fail, X16 not.", ""),
    ("who took S-018?", "S-011–S-025 were taken by Ada.", ""),
    ("who took sample S-018?", "Samples S-011 to S-025 were taken by Ada.", ""),
    ("what is step 2?", "1. Shake.\n2. Rinse.", "Rinse."),
    ("what is the Second Step?", "1. Shake.\n2. Rinse.", "Rinse."),
    ("what is the first step?", "First, shake it.", ""),
    ("what causes error E42?", "E42: an empty tank. Error E24: a leak", ""),
    ("when was the left eye operated?", "The left eye was operated on 3 May, the right eye in June.", ""),
    ("when was the left eye operated?", "Both the right and left eye were operated on 3 May.", ""),
    ("when was the left eye operated?", "The right eye was operated in June, the left one on 3 May.", ""),
    ("what is left of the budget?", "Of the right budget, 300 EUR remain.", ""),
    ("what hangs to the left of the boiler?", "Left of the boiler is the pump, right of the boiler the tank.", ""),
    ("how large is the hall?", "The small hall has 30 m².", ""),
    ("who lives on the second floor?", "Ida lives on the first and second floor.", ""),
    ("who lives on the second floor?", "First floor: Tom. Second floor: Ida.", ""),
    ("where is the front door key?", "The key is on the right.", ""),
    ("how long did the fire drill 2026 take?", "The fire drill on 3/5/26 took 4 minutes, in 2025 5.", ""),
    (
        "how long did the fire drill 2025 take?",
        "It took 5 minutes in 2024.\nFire drills 2025",
        "It took 5 minutes in 2024.",
    ),
    ("what did a ticket cost in 2024?", "A ticket cost 20 EUR in the seasons 2023-25; in 2022 it was 18.", ""),
    ("who was the chair in 2015?", "Ann Lee chaired the club between 2012 and 2018.", ""),
    ("who was the chair in 2015?", "Ann Lee was the chair (2012 to 2018).", ""),
    ("what is the yearly fee in 2025?", "The yearly fee was raised to 48 EUR in 2023.", ""),
    ("who has serviced the lift since 2022?", "In 2021 Otavo serviced the lift.", ""),
    ("what was spent in 2022 and 2023?", "In 2021 300 EUR were spent.", ""),
    ("where did Ann work in 2019?", "Ann worked at Otavo (03/2017 - 06/2021).", ""),
    ("where did Ann work in 2019?", "Ann worked at Otavo, May 2017 to June 2021.", ""),
    ("where did Ann work in 2019?", "Ann worked at Otavo, 2017-present.", ""),
    ("does it run on Python 3.12?", "It runs on Python 3.11 to 3.14.", ""),
    ("who booked room 1.05?", "Rooms 1.01 to 1.20 are booked by Ines.", ""),
    ("who lives in flat 3C?", "Flats 3A to 3F are rented to Marta.", ""),
    ("who lives in flat 3C?", "Flats 3A-3F are rented to Marta.", ""),
    ("what is there on day 5?", "Day 1 to day 7: soup.", ""),
    ("what does zone 3 cost?", "Zones 1 till 4 cost 2 EUR.", ""),
    ("who teaches grade 3?", "Ida teaches grades 3/4.", ""),
    ("does it run on Java 21?", "It runs on Java 17 (or newer).", ""),
    ("does it run on Java 21?", "It runs on Java 17, or any later version.", ""),
    ("does it run on Java 21?", "It needs a minimum of Java 17.", ""),
    ("does it run on Java 21?", "It needs Java 17 minimum.", ""),
    ("what does article 5 say?", "Article V says that the deposit is two rents.", ""),
]


def is_about_other(question: str, text: str, answer: str) -> bool:
    start = text.index(answer)
    return is_about_other_item(numbered_items_in(question), stored(text), (start, start + len(answer or text)))


@pytest.mark.parametrize(("question", "text", "answer"), ABOUT_ANOTHER)
def test_sentences_about_other_items(question: str, text: str, answer: str) -> None:
    assert is_about_other(question, text, answer)


@pytest.mark.parametrize(("question", "text", "answer"), OF_THE_SAME)
def test_sentences_about_the_same_item(question: str, text: str, answer: str) -> None:
    assert not is_about_other(question, text, answer)


def test_the_number_may_be_above_the_sentence() -> None:
    things = numbered_items_in("what is in box 123?")
    for heading, is_another in (("Box 123", False), ("Box 369", True)):
        text = f"## {heading}\n\nCables and lamps."
        passage = stored(text, context=heading, body=len(f"## {heading}\n\n"))
        assert is_about_other_item(things, passage, (passage.body, len(text))) is is_another


def test_the_number_may_be_in_the_path() -> None:
    text = "The oldest version of a client is 3.0."
    passage = stored(text, path="murrel-3.2-settings.md")
    assert not is_about_other_item(numbered_items_in("what may clients of murrel 3.2 do?"), passage, (0, len(text)))
    assert is_about_other_item(numbered_items_in("what may clients of murrel 4.1 do?"), passage, (0, len(text)))


def test_the_number_may_be_in_a_folder_of_files_without_suffix() -> None:
    text = "Unlike in version 3, dates are local."
    passage = stored(text, path="version-2.1/README")
    assert not is_about_other_item(numbered_items_in("which dates are local in version 2.1?"), passage, (0, len(text)))


REGISTER = "Leak 1: tap in the hall. Mended: yes.\nLeak 2: roof. Mended: no.\nLeak 3: cellar wall. Mended: yes.\n"


@pytest.mark.parametrize(
    ("question", "text", "path", "expected"),
    [
        ("Was leak 2 mended?", REGISTER, "a.txt", "Mended: no."),
        ("Was leak 2 mended?", REGISTER.replace("Leak ", "#"), "leaks.txt", "Mended: no."),
        ("Was leak 2 mended?", REGISTER.replace("Leak ", "No. "), "leaks.txt", "Mended: no."),
        # The numbers are of something else, or there is no such entry.
        ("Was leak 2 mended?", REGISTER.replace("Leak ", "#"), "jobs.txt", "Mended: yes."),
        ("Was leak 2 mended?", REGISTER.replace("Leak", "Visit"), "leaks.txt", "Mended: yes."),
        ("Was leak 4 mended?", REGISTER, "a.txt", "Mended: yes."),
    ],
)
def test_an_entry_of_a_register_answers_for_itself(question: str, text: str, path: str, expected: str) -> None:
    passage, spans = stored(text, path=path), sentence_spans(text)
    best = next(span for span in reversed(spans) if "ended" in text[slice(*span)])
    scored = [best, *(span for span in reversed(spans) if span != best)]
    start, end = prefer_span_about_items(numbered_items_in(question), passage, best, scored)
    assert text[start:end].endswith(expected)
