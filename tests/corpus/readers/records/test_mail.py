"""Messages are read with decoded headers, their text and the names of attachments."""

from __future__ import annotations

import pytest

from corpus.chunking.splitter import split
from corpus.loading.load import parse
from corpus.readers.records.mail import read
from tests.documents import check_passages, count_words

pytestmark = pytest.mark.usefixtures("shared_reader_process")


def text_of(head: str, body: str = "Words.\n") -> str:
    return read("a.eml", f"Subject: Oars\n{head}\n\n{body}".encode()).text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Ida  Gray\n\t<ida@example.org>", "Ida Gray <ida@example.org>"),
        ('"Voss, Jürgen" <voss@example.org>, P. Lang <l@a.b>', '"Voss, Jürgen" <voss@example.org>, P. Lang <l@a.b>'),
        ("=?utf-8?q?Ida_Gr=C3=BCn?= <ida@example.org>", "Ida Grün <ida@example.org>"),
        ("=?utf-8?b?SWRhIEdyw7w=?=\n =?utf-8?q?n?= <ida@example.org>", "Ida Grün <ida@example.org>"),
        ("=?none?q?Ida?= <ida@example.org>", "=?none?q?Ida?= <ida@example.org>"),
        ("=?utf-8?b?a?= <ida@example.org>", "=?utf-8?b?a?= <ida@example.org>"),
        ("<<<@>,", "<<<@>,"),
    ],
)
def test_a_header_is_decoded_if_possible(value: str, expected: str) -> None:
    assert text_of(f"From: {value}") == f"Oars\n\nFrom: {expected}\n\nWords."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("21 Nov 2025 10:00 -0000", "2025-11-21 10:00:00"),
        ("Fri, 21 Nov\n 2025 10:00:00 GMT (noon)", "2025-11-21 10:00:00+00:00"),
    ],
)
def test_a_date_is_written_in_iso_format(value: str, expected: str) -> None:
    """A header that is not a date is left out."""
    assert text_of(f"Date: {value}") == f"Oars\n\nDate: {expected}\n\nWords."
    assert text_of("Date: at noon") == "Oars\n\nWords."


def test_the_first_of_repeated_headers_is_used() -> None:
    assert text_of("From: a@b.org\nFrom: c@d.org") == "Oars\n\nFrom: a@b.org\n\nWords."


def test_attachments_are_named_and_not_read() -> None:
    """Their names may be encoded in two ways; of alternatives, plain text is preferred to HTML."""
    body = (
        "--a\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>It <i>leaks</i>."
        "\n--b--\n--a\nContent-Type: text/plain\nContent-Disposition: attachment;\n filename*=utf-8''R%C3%BCder.txt\n\n"
        'No.\n--a\nContent-Type: application/pdf; name="=?utf-8?q?F=C3=A4hre=2Epdf?="\n\n%PDF\n--a--\n'
    )
    text = text_of("Content-Type: multipart/mixed; boundary=a", body)
    assert text == "Oars\n\nIt leaks.\n\nAttachment: Rüder.txt\n\nAttachment: Fähre.pdf"


def test_sender_recipients_and_date_are_a_heading_of_each_passage() -> None:
    """The block of headers is part of the first passage."""
    to = ", ".join(f"P{number} <p{number}@b.org>" for number in range(7))
    head = f"Subject: Oars\nFrom: Ida Gray <i@b.org>\nTo: {to}\nDate: Fri, 21 Nov 2025 10:00:00 +0100"
    data = f"{head}\n\n{'Of ash. ' * 100}\n\n{'Of oak. ' * 100}\n".encode()
    passages = split(parse("a.eml", data), count_tokens=count_words, max_tokens=254)
    heading = ("Oars", "Ida Gray <i@b.org> to P0, P1, P2, P3, P4 and 2 more, 2025-11-21")
    assert {passage.heading for passage in passages} == {heading}
    assert passages[0].text.startswith("Oars\n\nFrom: Ida Gray <i@b.org>\nTo: P0 <p0@b.org>")
    assert passages[0].text[passages[0].body :].startswith("Of ash.")
    assert read("a.eml", data).metadata == (
        ("title", "Oars"),
        ("author", "Ida Gray <i@b.org>"),
        ("date", "2025-11-21 10:00:00+01:00"),
    )


REPLY = """Fine, it is due on 4 April.

On Tue, 5 Mar 2024 at 10:00, Tom <t@b.org>
wrote:

> Can we ask for more time?
>
> On Mon, 4 Mar 2024, Ida wrote:
>> It is due
>> on 14 March.
>>
>> Ida
> Tom
"""


def headed_texts(body: str) -> list[tuple[str, str]]:
    """Return the innermost heading and the text of each passage, all of them exact slices of the text."""
    message = parse("a.eml", f"Subject: Oars\nFrom: Eva\n\n{body}".encode())
    passages = check_passages(message, count_tokens=count_words, max_tokens=254)
    return [(passage.heading[-1], passage.text[passage.body :]) for passage in passages]


def test_quoted_lines_are_separate_passages_without_marks() -> None:
    """Their heading is the attribution above them."""
    tom = "Quoted: On Tue, 5 Mar 2024 at 10:00, Tom <t@b.org> wrote"
    assert headed_texts(REPLY) == [
        ("Eva", "Fine, it is due on 4 April."),
        (tom, "Can we ask for more time?"),
        ("Quoted: On Mon, 4 Mar 2024, Ida wrote", "It is due\non 14 March.\n\nIda"),
        (tom, "Tom"),
    ]


def test_an_attribution_is_for_lines_quoted_once_more() -> None:
    """This holds even if lines quoted twice come first."""
    assert headed_texts("Fine.\n\nOn 4 March, Ida wrote:\n>> Of ash.\n> Of oak.\n") == [
        ("Eva", "Fine."),
        ("Quoted 2 times by Eva", "Of ash."),
        ("Quoted: On 4 March, Ida wrote", "Of oak."),
    ]


@pytest.mark.parametrize("blank", ["", ">\n"])
def test_an_attribution_may_be_part_of_the_quotation(blank: str) -> None:
    """It is removed from the quotation, unlike a line that merely ends in a colon."""
    tom = f"> On Tue, 5 Mar 2024 at 10:00\n> Tom wrote:\n{blank}> More time?\n> I need it.\n"
    ida = f">> On Mon, 4 Mar 2024, Ida wrote:\n{blank.replace('>', '>>')}>> In 2023 Bo needed:\n>> a week.\n"
    assert headed_texts(f"Fine.\n\n{tom}{ida}") == [
        ("Eva", "Fine."),
        ("Quoted: On Tue, 5 Mar 2024 at 10:00 Tom wrote", "More time?\nI need it."),
        ("Quoted: On Mon, 4 Mar 2024, Ida wrote", "In 2023 Bo needed:\na week."),
    ]


@pytest.mark.parametrize("question", ["> Who steers?\n\n", ">Who steers?\n", "> > Who steers?\n"])
def test_a_quoted_question_belongs_to_its_answer(question: str) -> None:
    parts = headed_texts(f"> The boat is new.\n>\n{question}Bo does.\n\nEva")
    assert parts[0][0] == "Quoted by Eva"
    assert parts[0][1].endswith("The boat is new.")
    assert parts[-1] == ("Eva", "Who steers?\n\nBo does.\n\nEva")


@pytest.mark.parametrize(
    "body", [">>> import oars\n>>> oars.count()", "A > B\n\n->", ">From here on it rains.", "He wrote:"]
)
def test_lines_that_only_look_quoted_are_text_of_the_message(body: str) -> None:
    """Three marks at once are the prompt of an interpreter; mailboxes escape the word From with a mark."""
    assert headed_texts(body) == [("Eva", body)]


TO_EVA = "Fine, Friday.\n\nEva\n\n"


@pytest.mark.parametrize(
    ("headers", "heading"),
    [
        (
            "-----Original Message-----\nFrom: Ida Gray <i@b.org>\nSent: 5 March 2024 10:00\nTo: Eva <e@b.org>\n"
            "Cc: Tom\nSubject: RE: Oars",
            "Quoted: Ida Gray <i@b.org> wrote on 5 March 2024 10:00",
        ),
        ("________________\nFrom: Ida\nSent: 5 March 2024\nTo: Eva", "Quoted: Ida wrote on 5 March 2024"),
        ("*Von:* Ida\n*Gesendet:* 5. März\n*An:* Eva\n*Betreff:* Ruder", "Quoted: Ida wrote on 5. März"),
        ("De\xa0: Ida\nEnvoyé\xa0: 5 mars\nÀ\xa0: Eva\nObjet\xa0: Rames", "Quoted: Ida wrote on 5 mars"),
        ("---------- Forwarded message ---------\nFrom: Ida\nSubject: Oars", "Quoted: Ida wrote"),
        ("-----Ursprüngliche Nachricht-----", "Quoted by Eva"),
    ],
)
def test_text_below_the_headers_of_another_message_is_a_quotation(headers: str, heading: str) -> None:
    """Outlook quotes in this way, without marks."""
    assert headed_texts(f"{TO_EVA}{headers}\n\nCan we meet?\nIda\n") == [
        ("Eva", TO_EVA.strip()),
        (heading, "Can we meet?\nIda"),
    ]


def test_each_of_several_quoted_messages_has_its_sender() -> None:
    """They may have marks of quotations too."""
    tom = "From: Tom\nDate: 5 March\nSubject: Oars\n\nCan we meet?\n\n"
    ida = "From: Ida\nDate: 4 March\nSubject: Oars\n\n> Of ash?\n\nOf oak.\n\nAnd new.\n"
    assert headed_texts(f"{TO_EVA}{tom}{ida}") == [
        ("Eva", TO_EVA.strip()),
        ("Quoted: Tom wrote on 5 March", "Can we meet?"),
        ("Quoted: Ida wrote on 4 March", "Of ash?\n\nOf oak.\n\nAnd new."),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "From: London\nTo: Hull\nDate: 5 May\n\nThe train is late.",
        "-----\nFrom: London\nTo: Hull\n\nThe train is late.",
        "-----\nThe train is late.",
    ],
)
def test_the_details_of_a_journey_are_not_headers(body: str) -> None:
    assert {heading for heading, _ in headed_texts(body)} == {"Eva"}


def test_after_twenty_headers_further_ones_are_text() -> None:
    text = text_of("From: Eva", "From: Ida\nDate: 5 May\nSubject: Oars\n" * 2000 + "-" * 100_000)
    assert text.count("Date: 5 May") == 1980
