"""Lines that a message quotes from earlier ones: each begins with a `>` for every reply since it was written.

Outlook puts the headers of the earlier message above its words instead, which then go on to the end of the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from corpus.text.headings import heading_title
from corpus.types import QUOTED

# A blank follows the marks as a rule. ">From" in a mailbox is an escaped line of the message itself.
_MARKS = re.compile(r"(?:>(?!From )[ \t]?)+")
_PROMPT = ">>> "
_BLANK_LINES = re.compile(r"\n\s*\n")
# "On 3 June 2024, Ida Grün wrote:", "Am 3.6.2024 schrieb Ida Grün:", "Ida Grün <ida@example.org>:"
_ATTRIBUTION = re.compile(
    r".*(?:@|\b(?:wrote|writes|said|schrieb|schreibt|a écrit|escribió|escreveu|ha scritto|skrev|schreef)\b).*:",
    re.DOTALL | re.IGNORECASE,
)
# The same as the first line or two of what is quoted, with a time or year.
_OWN_ATTRIBUTION = re.compile(
    r"(?=[^\n]*(?:\d:\d\d|(?:19|20)\d\d))(?:[^\n]*\n)??[^\n]*"
    r"\b(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto|skrev|schreef)\b[^\n]*:[ \t]*(?:\n\s*|\Z)",
    re.IGNORECASE,
)
_MAX_ATTRIBUTION = 300
# The line and the headers above what Outlook quotes; a forwarded message has them in most programs. Names of headers
# are in English, German, French, Spanish, Portuguese, Italian, Dutch and Swedish.
_ORIGINAL = (
    r"(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete Nachricht|Message d['’]origine"
    r"|Message original|Mensaje original|Mensagem original|Messaggio originale|Oorspronkelijk bericht"
    r"|Ursprungligt meddelande)"
)
_SENT = "Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Enviada em|Data|Inviato|Verzonden|Skickat"
_SUBJECT = "Subject|Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp|Ämne"
_COLON = r"\*?[ \xa0]?:\*?[ \xa0\t]*"
_HEADERS = re.compile(
    rf"(?:^[ \t]*(?:(?P<original>-{{3,20}} ?{_ORIGINAL} ?-+)|(?P<rule>---|___)[^\n]*)[ \t]*\n\s{{0,9}})?"
    rf"^[ \t]*\*?(?:From|Von|De|Da|Van|Från){_COLON}(?P<sender>[^\n]{{1,200}})"
    rf"(?:\n[ \t]*\*?(?:(?:{_SENT}){_COLON}(?P<sent>[^\n]*)|(?:{_SUBJECT}){_COLON}(?P<subject>[^\n]*)"
    rf"|(?:To|Cc|Bcc|An|À|A|Para|Aan|Till|Kopia|Importance|Attachments|Anlagen){_COLON}[^\n]*))+(?=\n|\Z)"
    rf"|^[ \t]*(?P<alone>-{{3,20}} ?{_ORIGINAL} ?-+)[ \t]*(?=\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_HEADERS = 20


@dataclass(slots=True)
class BodyPart:
    """Consecutive lines that were quoted equally often.

    Attributes:
        depth: How often; 0 for the message's own words.
        paragraphs: Their text without marks.
        attribution: The words above that say who wrote them and when, or "".
    """

    depth: int
    paragraphs: list[str] = field(default_factory=list)
    attribution: str = ""

    def heading(self, sender: str) -> str:
        """Return the heading of a part of a message from `sender`: of a quoted one, its attribution if it has one."""
        if self.attribution:
            return f"{QUOTED}: {heading_title(self.attribution)}"
        often = f" {self.depth} times" if self.depth > 1 else ""
        return f"{QUOTED}{often} by {sender}".rstrip() if self.depth else sender


def parts_of(body: str) -> Iterator[BodyPart]:
    """Yield the parts of a message's body in order; a quoted question belongs to the answer right below it."""
    attributions: dict[int, str] = {}
    before: BodyPart | None = None
    for depth, text in _runs(_with_marks(body)):
        part = BodyPart(depth, [paragraph for paragraph in _BLANK_LINES.split(text) if paragraph.strip()])
        if before is not None:
            if depth > before.depth:
                # What is quoted more often than that is by somebody else.
                attributions[depth] = ""
                attributions[before.depth + 1] = _taken_attribution(before)
            elif before.paragraphs and before.paragraphs[-1].rstrip().endswith("?"):
                part.paragraphs.insert(0, before.paragraphs.pop())
            yield before
        if depth and not attributions.get(depth):
            attributions[depth] = _taken_from_start(part)
        part.attribution = attributions.get(depth, "")
        before = part
    if before is not None:
        yield before


def _with_marks(body: str) -> str:
    """Put marks before what is below the headers of another message, and in their place a line that says who wrote it.

    Without a line above them, headers have a date and a subject: "From", "To" and "Date" are those of a journey, too.
    """
    messages: list[str] = []
    at, marks = 0, ""
    for headers in _HEADERS.finditer(body):
        is_dated = headers["sent"] is not None and (headers["rule"] or headers["subject"] is not None)
        if len(messages) == _MAX_HEADERS or not (headers["original"] or headers["alone"] or is_dated):
            continue
        date = f" on {headers['sent'].strip()}" if headers["sent"] else ""
        attribution = f"\n\n{headers['sender'].strip()} wrote{date}:\n" if headers["sender"] else ""
        messages.append((body[at : headers.start()] + attribution).replace("\n", f"\n{marks}"))
        at, marks = headers.end(), f"{marks}> "
    return "\n".join([*messages, body[at:].replace("\n", f"\n{marks}")])


def _runs(body: str) -> Iterator[tuple[int, str]]:
    """Yield runs of lines with as many marks, without these; a blank line continues the run above it."""
    depth, run = 0, list[str]()
    for line in body.split("\n"):
        # Replies add one mark at a time: three at once are the prompt of an interpreter.
        marks = None if line.startswith(_PROMPT) and depth < len(_PROMPT) - 2 else _MARKS.match(line)
        text = line[marks.end() :] if marks else line
        own = marks[0].count(">") if marks else 0
        if own != depth and text.strip():
            if run:
                yield depth, "\n".join(run)
            depth, run = own, []
        run.append(text)
    if run:
        yield depth, "\n".join(run)


def _taken_attribution(above: BodyPart) -> str:
    """Remove the attribution that ends a part, if any, and return it."""
    last = above.paragraphs[-1].strip() if above.paragraphs else ""
    if not (len(last) <= _MAX_ATTRIBUTION and _ATTRIBUTION.fullmatch(last)):
        return ""
    above.paragraphs.pop()
    return last


def _taken_from_start(part: BodyPart) -> str:
    """Remove the attribution that begins a part, as some mail programs quote it too, and return it."""
    found = _OWN_ATTRIBUTION.match(part.paragraphs[0], 0, _MAX_ATTRIBUTION) if part.paragraphs else None
    if found is None:
        return ""
    part.paragraphs[:1] = filter(None, [part.paragraphs[0][found.end() :]])
    return found[0].strip()
