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


def test_a_blank_plain_text_gives_way_to_html() -> None:
    body = "--a\nContent-Type: text/plain\n\n \n\n--a\nContent-Type: text/html\n\n<p>It <i>leaks</i>.\n--a--\n"
    assert text_of("Content-Type: multipart/alternative; boundary=a", body) == "Oars\n\nIt leaks."


def test_an_attached_message_is_by_its_own_sender() -> None:
    """What follows it is by the sender of the whole message again."""
    body = (
        "--a\n\nSee below.\n--a\nContent-Type: message/rfc822\nContent-Disposition: attachment; filename=Tar.eml\n\n"
        "From: Bo <b@b.org>\nTo: Eva\nSubject: Tar\nDate: Sun, 02 Jun 2024 10:00:00 +0200\n\nIt is hot.\n"
        "--a\n\nSent to all.\n--a--\n"
    )
    data = f"Subject: Oars\nFrom: Eva\nContent-Type: multipart/mixed; boundary=a\n\n{body}".encode()
    passages = check_passages(parse("a.eml", data), count_tokens=count_words, max_tokens=254)
    assert [(passage.heading, passage.text[passage.body :]) for passage in passages] == [
        (("Oars", "Eva"), "See below."),
        (("Oars", "Bo <b@b.org> to Eva, 2024-06-02"), "It is hot."),
        (("Oars", "Eva"), "Sent to all.\n\nAttachment: Tar.eml"),
    ]
    headers = "Subject: Tar\nFrom: Bo <b@b.org>\nTo: Eva\nDate: 2024-06-02 10:00:00+02:00"
    assert passages[1].text.startswith(headers)


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        ("", "cp1252"),
        ("; charset=x-none", "cp1252"),
        ("; charset=iso-8859-1", "cp1252"),
        ("; charset=us-ascii", "cp1252"),
        ("; charset=us-ascii", "utf-8"),
    ],
)
def test_a_wrong_or_missing_charset_is_mended(charset: str, encoding: str) -> None:
    body = "Grüße aus München, das macht 5 € – I don’t mind."
    data = f"Subject: Oars\nContent-Type: text/plain{charset}\n\n{body}".encode(encoding)
    assert read("a.eml", data).text == f"Oars\n\n{body}"


@pytest.mark.parametrize(
    "line",
    [
        "From ida@example.org Fri Nov 21 10:00:00 2025",
        "From - Fri Nov 21 10:00:00 2025",
        "From ida at example.org  Fri Nov 21 10:00:00 2025",
        "From ida",
        "From ",
        "From - Fri Nov 21 10:00:00 2025\n>From - Sat Nov 22 10:00:00 2025",
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_messages_begin_only_at_lines_that_programs_write(line: str, newline: str) -> None:
    """Not all programs escape the sentences that begin with the same word; some messages have no sender."""
    sentences = ("From the station, take bus 5.", "From here on, see\nhttps://b.org", "From 10:30 on it rains.")
    body = "\n".join(sentences)
    data = f"{line}\nSubject: Oars\n\n{body}\n\n{line}\nX-Status: R\n\nOf ash.\n".replace("\n", newline).encode()
    mailbox = read("a.mbox", data)
    assert [record.title for record in mailbox.records] == ["Oars", ""]
    assert mailbox.text == f"Oars\n\n{body}\n\nOf ash."


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


def test_a_quotation_goes_on_after_an_answer() -> None:
    """Its author stays the same, unless a line introduces it."""
    bo = "On 5 May 2024, Bo wrote"
    assert headed_texts(f"Hm.\n\n{bo}:\n> Of ash.\n\nToo dear.\n\n> Of oak.\n\nIt says:\n\n> Of pine.\n") == [
        ("Eva", "Hm."),
        (f"Quoted: {bo}", "Of ash."),
        ("Eva", "Too dear."),
        (f"Quoted: {bo}", "Of oak."),
        ("Eva", "It says:"),
        ("Quoted by Eva", "Of pine."),
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


SIGNATURE = "\n-- \nEva Lind\n\n12 High Street\n\n"


@pytest.mark.parametrize(
    "quotation",
    [
        "On 2 June 2024, Bo wrote:\n> Is Tuesday fine?\n>\n> Bo",
        "On 2 June 2024, Bo\nwrote:\n\n> Is Tuesday fine?\n>\n> Bo\n> -- \n> Bo Dahl",
        "From: Bo\nSent: 2 June 2024\nSubject: Oars\n\nIs Tuesday fine?\n\nBo\n-- \nBo Dahl",
        "---- Forwarded Message ----\nFrom: Bo\n\nIs Tuesday fine?\n\nBo",
    ],
)
def test_a_signature_ends_where_a_quotation_begins(quotation: str) -> None:
    """It is left out, in quotations too."""
    (sender, own), (heading, text) = headed_texts(f"Yes.{SIGNATURE}{quotation}\n")
    assert (sender, own, text) == ("Eva", "Yes.", "Is Tuesday fine?\n\nBo")
    assert heading.startswith("Quoted: ")
    assert "Bo" in heading
    assert headed_texts(f"Yes.{SIGNATURE}") == [("Eva", "Yes.")]


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
        (
            "-------- Forwarded Message --------\nSubject: \tOars\nDate: \t5 March 2024\nFrom: \tIda\nTo: \tEva",
            "Quoted: Ida wrote on 5 March 2024",
        ),
        (
            "-------- Message transféré --------\nSujet\xa0: \tRames\nDate\xa0: \t5 mars\nDe\xa0: \tIda\n"
            "Pour\xa0: \tEva",
            "Quoted: Ida wrote on 5 mars",
        ),
        ("-----Ursprüngliche Nachricht-----", "Quoted by Eva"),
    ],
)
def test_text_below_the_headers_of_another_message_is_a_quotation(headers: str, heading: str) -> None:
    """Outlook quotes in this way, without marks."""
    assert headed_texts(f"{TO_EVA}{headers}\n\nCan we meet?\nIda\n") == [
        ("Eva", TO_EVA.strip()),
        (heading, "Can we meet?\nIda"),
    ]


@pytest.mark.parametrize(
    "quotation",
    [
        "<div>On 5 May, Bo &lt;b@b.org&gt; wrote:</div><blockquote type=cite><div>Of ash?</div><p>Bo</blockquote>",
        "<div><b>From:</b> Bo &lt;b@b.org&gt;<br><b>Sent:</b> 5 May<br><b>Subject:</b> Oars</div><p>Of ash?<p>Bo",
    ],
)
def test_quotations_in_html_are_separate_passages_too(quotation: str) -> None:
    """They are block quotes, or in Outlook what is below the headers of another message."""
    data = f"Subject: Oars\nFrom: Eva\nContent-Type: text/html\n\n<p>Of oak.{quotation}\n".encode()
    passages = check_passages(parse("a.eml", data), count_tokens=count_words, max_tokens=254)
    (sender, own), (heading, text) = [(passage.heading[-1], passage.text[passage.body :]) for passage in passages]
    assert (sender, own, text) == ("Eva", "Of oak.", "Of ash?\n\nBo")
    assert heading.startswith("Quoted: ")
    assert "Bo <b@b.org> wrote" in heading


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


def test_very_many_headers_without_a_sender_are_text() -> None:
    """They are read in linear time."""
    dates = "\n".join(["Date: 5 May"] * 2000)
    assert headed_texts(f"---- Forwarded Message ----\n{dates}")[0][0] == "Quoted by Eva"
