"""Calendars and contact cards are read as entries with their fields in plain words."""

from __future__ import annotations

import pytest

from corpus.chunking.splitter import split
from corpus.loading.load import parse
from tests.documents import count_words

pytestmark = pytest.mark.usefixtures("shared_reader_process")


def text_of(kind: str, *lines: str) -> str:
    return parse("a.ics", "\r\n".join([f"BEGIN:{kind}", *lines, f"END:{kind}", ""]).encode()).text


@pytest.mark.parametrize(
    ("start", "end", "when"),
    [
        ("DTSTART:20240304T143000", "", "Monday 4 March 2024, 14:30"),
        ("DTSTART:20240304T143000Z", "DTEND:20240304T143000Z", "Monday 4 March 2024, 14:30 (UTC)"),
        (
            'DTSTART;X=1;TZID="Europe/Berlin":20240304T143000',
            "DTEND;TZID=Europe/Berlin:20240304T151500",
            "Monday 4 March 2024, 14:30 to 15:15 (Europe/Berlin)",
        ),
        (
            "DTSTART;TZID=Europe/Berlin:20240304T223000",
            "DTEND;TZID=Asia/Tokyo:20240305T170000",
            "Monday 4 March 2024, 22:30 (Europe/Berlin) to Tuesday 5 March 2024, 17:00 (Asia/Tokyo)",
        ),
        ("DTSTART;VALUE=DATE:20240304", "DTEND;VALUE=DATE:20240305", "Monday 4 March 2024"),
        (
            "DTSTART;VALUE=DATE:20240304",
            "DTEND;VALUE=DATE:20240307",
            "Monday 4 March 2024 to Wednesday 6 March 2024",
        ),
        (
            "DTSTART:20240304T233000Z",
            "DURATION:PT1H30M",
            "Monday 4 March 2024, 23:30 to Tuesday 5 March 2024, 01:00 (UTC)",
        ),
        ("DTSTART;VALUE=DATE:20240304", "DURATION:P2D", "Monday 4 March 2024 to Tuesday 5 March 2024"),
        *(("DTSTART:99991231", f"DURATION:{duration}", "Friday 31 December 9999") for duration in ("P9W", "1 day")),
        ("DTSTART;VALUE=DATE:00010102", "DTEND;VALUE=DATE:00010101", "Tuesday 2 January 1"),
    ],
)
def test_times_are_written_out(start: str, end: str, when: str) -> None:
    """An event of whole days ends on the day before its end in the file."""
    assert text_of("VEVENT", "SUMMARY:Row", start, end) == f"Event: Row\nWhen: {when}"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["DTSTART:20241399"], ""),
        (
            ["RRULE:FREQ=MONTHLY;INTERVAL=2;UNTIL=20240304T000000Z"],
            "\nRepeats: every 2 months until Monday 4 March 2024",
        ),
        (["RRULE:FREQ=DAILY;COUNT=3"], "\nRepeats: every day, 3 times"),
        (["RRULE:FREQ=WEEKLY;BYDAY=MO,WE"], "\nRepeats: every week on Monday, Wednesday"),
        (["RRULE:FREQ=MONTHLY;BYDAY=-1FR"], "\nRepeats: every month on the last Friday"),
        (["RRULE:FREQ=MONTHLY;BYSETPOS=2;BYDAY=TU"], "\nRepeats: every month on the second Tuesday"),
        (["RRULE:FREQ=MONTHLY;BYSETPOS=2;BYDAY=TU,WE"], "\nRepeats: every month"),
        (["RRULE:FREQ=SECONDLY"], ""),
        (["STATUS:CONFIRMED"], ""),
        (["STATUS:CANCELLED"], "\nStatus: cancelled"),
        (["DESCRIPTION:Bring soup\\, br", " ead\\; and\\nsalt."], "\nDescription: Bring soup, bread; and\nsalt."),
        (["ATTENDEE;CN=Bo:mailto:b@c.org", "ATTENDEE:MAILTO:d@e.org"], "\nWith: Bo, d@e.org"),
        (['ATTENDEE;CN="Bo; of Ely":mailto:b@c.org'], "\nWith: Bo; of Ely"),
        (["BEGIN:VALARM", "DESCRIPTION:Beep", "END:VALARM", "LOCATION:Pier"], "\nWhere: Pier"),
    ],
)
def test_fields_of_events(lines: list[str], shown: str) -> None:
    assert text_of("VEVENT", "SUMMARY:Row", *lines) == f"Event: Row{shown}"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["N:Grün;Ida;;Dr.;", "FN:Ida Grün"], "Name: Ida Grün"),
        (["N:Grün;Ida;;Dr.;"], "Name: Dr. Ida Grün"),
        (["N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Gr=C3=BC=", "n;Ida"], "Name: Ida Grün"),
        (["N;CHARSET=none;ENCODING=QUOTED-PRINTABLE:Gr=FC"], "Name: Gr=FC"),
        (["N;CHARSET=idna;ENCODING=QUOTED-PRINTABLE:Gr=FC"], "Name: Gr=FC"),
        (["ORG:Mill;Sails"], "Organisation: Mill, Sails"),
        (
            ["EMAIL;TYPE=INTERNET;TYPE=WORK:i@b.org", "item1.TEL;CELL:tel:+49"],
            "Email (work): i@b.org\nPhone (cell): +49",
        ),
        (["ADR:;;C:\\\\;Ely"], "Address: C:\\, Ely"),
        (["ADR;TYPE=home:;;Weg 3;Bremen;;28195;"], "Address (home): Weg 3, Bremen, 28195"),
        (["BDAY:1980-05-17", "PHOTO:AAAA", "UID:1"], "Birthday: Saturday 17 May 1980"),
        (["BDAY:--0517"], "Birthday: 17 May"),
    ],
)
def test_fields_of_cards(lines: list[str], shown: str) -> None:
    assert text_of("VCARD", *lines) == shown


def test_entries_are_documents_cited_by_their_lines() -> None:
    calendar = (
        "BEGIN:VCALENDAR\nX-WR-CALNAME:Club\nBEGIN:VEVENT\nSUMMARY:Row\nLOCATION:Pier\nEND:VEVENT\n"
        "BEGIN:VTODO\nSUMMARY:Paint\nDUE;VALUE=DATE:20240304\nEND:VTODO\nBEGIN:VEVENT\nSUMMARY:Cut off\n"
    )
    document = parse("a.ics", calendar.encode())
    assert (document.title, document.media_type) == ("Club", "text/calendar")
    passages = split(document, count_tokens=count_words, max_tokens=200)
    assert [(passage.title, passage.text, passage.lines) for passage in passages] == [
        ("Row", "Event: Row\nWhere: Pier", (3, 6)),
        ("Paint", "Task: Paint\nDue: Monday 4 March 2024", (7, 10)),
    ]


def test_only_an_entry_without_its_end_is_left_out() -> None:
    cards = "BEGIN:VCARD\nFN:Ida\nEND:VCARD\nBEGIN:VCARD\nFN:Otto\nBEGIN:VCARD\nFN:Maja\nEND:VCARD\n"
    assert [record.title for record in parse("a.vcf", cards.encode()).records] == ["Ida", "Maja"]


def test_a_file_without_entries_is_plain_text() -> None:
    document = parse("a.vcf", b"BEGIN:NOTHING\nJust words.\n")
    assert (document.text, document.media_type) == ("BEGIN:NOTHING\nJust words.\n", "text/plain")
