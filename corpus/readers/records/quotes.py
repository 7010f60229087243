"""Lines that a message quotes from earlier messages: each begins with a `>` for every reply since it was written.

Outlook instead puts the headers of the earlier message above its text, which continues to the end of the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from corpus.text.headings import heading_title
from corpus.types import QUOTED

# Usually followed by a blank. ">From" in a mailbox is an escaped line of the message itself.
_MARKS = re.compile(r"(?:>(?!From )[ \t]?)+")
_PROMPT = ">>> "
_SIGNATURE = re.compile(r"^-- $", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
# "On 3 June 2024, Ida Grün wrote:", "Am 3.6.2024 schrieb Ida Grün:", "Ida Grün <ida@example.org>:"
_ATTRIBUTION = re.compile(
    r".*(?:@|\b(?:wrote|writes|said|schrieb|schreibt|a écrit|escribió|escreveu|ha scritto|skrev|schreef)\b).*:",
    re.DOTALL | re.IGNORECASE,
)
# The same in the first line or two of the quotation itself, with a time or year.
_INNER_ATTRIBUTION = re.compile(
    r"(?=[^\n]*(?:\d:\d\d|(?:19|20)\d\d))(?:[^\n]*\n)??[^\n]*"
    r"\b(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto|skrev|schreef)\b[^\n]*:[ \t]*(?:\n\s*|\Z)",
    re.IGNORECASE,
)
_MAX_ATTRIBUTION = 300
# The line and the headers above a quotation by Outlook, or in most programs above a forwarded message. Names of headers
# are in English, German, French, Spanish, Portuguese, Italian, Dutch and Swedish.
_ORIGINAL = (
    r"(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete Nachricht|Message d['’]origine"
    r"|Message original|Message transféré|Mensaje original|Mensaje reenviado|Mensagem original|Mensagem encaminhada"
    r"|Messaggio originale|Messaggio inoltrato|Oorspronkelijk bericht|Doorgestuurd bericht|Ursprungligt meddelande)"
)
_SENT = "Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Enviada em|Data|Fecha|Inviato|Verzonden|Skickat"
_SUBJECT = "Subject|Betreff|Objet|Sujet|Asunto|Assunto|Oggetto|Onderwerp|Ämne"
_OTHER = "To|Cc|Bcc|Reply-To|An|À|A|Pour|Para|Aan|Till|Kopia|Importance|Attachments|Anlagen"
_COLON = r"\*?[ \xa0]?:\*?[ \xa0\t]*"
# Thunderbird puts the sender below the subject and date.
_ABOVE_SENDER = rf"[ \t]*+\*?(?>(?:{_SENT}){_COLON}(?P<date>[^\n]*)|(?:{_SUBJECT}|{_OTHER}){_COLON}[^\n]*)\n"
_HEADERS = re.compile(
    rf"(?:^[ \t]*(?:(?P<original>-{{3,20}} ?{_ORIGINAL} ?-+)[ \t]*\n\s{{0,9}}(?:{_ABOVE_SENDER})*"
    rf"|(?P<rule>---|___)[^\n]*\n\s{{0,9}}))?"
    rf"^[ \t]*\*?(?:From|Von|De|Da|Van|Från){_COLON}(?P<sender>[^\n]{{1,200}})"
    rf"(?:\n[ \t]*\*?(?:(?:{_SENT}){_COLON}(?P<sent>[^\n]*)|(?:{_SUBJECT}){_COLON}(?P<subject>[^\n]*)"
    rf"|(?:{_OTHER}){_COLON}[^\n]*))*(?=\n|\Z)"
    rf"|^[ \t]*(?P<alone>-{{3,20}} ?{_ORIGINAL} ?-+)[ \t]*(?=\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_HEADERS = 20


@dataclass(slots=True)
class BodyPart:
    """Consecutive lines that were quoted equally often.

    Attributes:
        depth: How often they were quoted; 0 for the text of the message itself.
        paragraphs: Their text without marks.
        attribution: The words above that name their author and date, or "".
    """

    depth: int
    paragraphs: list[str] = field(default_factory=list)
    attribution: str = ""

    def heading(self, sender: str) -> str:
        """Return the heading of a part of a message: the sender, or for a quotation its attribution, if it has one."""
        if self.attribution:
            return f"{QUOTED}: {heading_title(self.attribution)}"
        times = f" {self.depth} times" if self.depth > 1 else ""
        return f"{QUOTED}{times} by {sender}".rstrip() if self.depth else sender


def body_parts(body: str) -> Iterator[BodyPart]:
    """Yield the parts of a message's body in order; a quoted question is moved to the answer directly below it."""
    attributions: dict[int, str] = {}
    previous: BodyPart | None = None
    for depth, text in _runs(_mark_quotations(body)):
        part = BodyPart(depth, _paragraphs(text))
        known = ""
        if previous is not None:
            if depth > previous.depth:
                if previous.paragraphs and previous.paragraphs[-1].rstrip().endswith(":"):
                    # Lines quoted even more often are by somebody else.
                    attributions = {level: words for level, words in attributions.items() if level <= previous.depth}
                    attributions[previous.depth + 1] = _pop_attribution(previous)
                else:  # after an answer, the quotation continues
                    known = attributions.pop(depth, "")
            elif previous.paragraphs and previous.paragraphs[-1].rstrip().endswith("?"):
                part.paragraphs.insert(0, previous.paragraphs.pop())
            yield previous
        if depth and not attributions.get(depth):
            attributions[depth] = _pop_inner_attribution(part) or known
        part.attribution = attributions.get(depth, "")
        previous = part
    if previous is not None:
        yield previous


def _mark_quotations(body: str) -> str:
    """Put marks before text below the headers of another message, and replace the headers by an attribution.

    Headers without a line above them need a date and a subject, as a journey has "From", "To" and "Date" too.
    """
    messages: list[str] = []
    message_start, marks = 0, ""
    for headers in _HEADERS.finditer(body):
        is_dated = headers["sent"] is not None and (headers["rule"] or headers["subject"] is not None)
        if len(messages) == _MAX_HEADERS or not (headers["original"] or headers["alone"] or is_dated):
            continue
        sent = (headers["sent"] or headers["date"] or "").strip()
        date = f" on {sent}" if sent else ""
        attribution = f"\n\n{headers['sender'].strip()} wrote{date}:\n" if headers["sender"] else ""
        messages.append((body[message_start : headers.start()] + attribution).replace("\n", f"\n{marks}"))
        message_start, marks = headers.end(), f"{marks}> "
    return "\n".join([*messages, body[message_start:].replace("\n", f"\n{marks}")])


def _runs(body: str) -> Iterator[tuple[int, str]]:
    """Yield runs of lines with equally many marks, without the marks; a blank line continues the run above it."""
    depth, lines = 0, list[str]()
    for line in body.split("\n"):
        # A reply adds one mark; three at once are the prompt of an interpreter.
        marks = None if line.startswith(_PROMPT) and depth < len(_PROMPT) - 2 else _MARKS.match(line)
        text = line[marks.end() :] if marks else line
        line_depth = marks[0].count(">") if marks else 0
        if line_depth != depth and text.strip():
            if lines:
                yield depth, "\n".join(lines)
            depth, lines = line_depth, []
        lines.append(text)
    if lines:
        yield depth, "\n".join(lines)


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of consecutive lines without a signature, below which only an attribution is kept."""
    text, *signature = _SIGNATURE.split(text, maxsplit=1)
    last = _BLANK_LINES.split(signature[0].rstrip())[-1:] if signature else []
    return [paragraph for paragraph in (*_BLANK_LINES.split(text), *filter(_is_attribution, last)) if paragraph.strip()]


def _is_attribution(text: str) -> bool:
    return len(text.strip()) <= _MAX_ATTRIBUTION and _ATTRIBUTION.fullmatch(text.strip()) is not None


def _pop_attribution(part: BodyPart) -> str:
    """Remove the attribution that ends a part, if any, and return it."""
    is_attributed = bool(part.paragraphs) and _is_attribution(part.paragraphs[-1])
    return part.paragraphs.pop().strip() if is_attributed else ""


def _pop_inner_attribution(part: BodyPart) -> str:
    """Remove the attribution that begins a part, as some mail programs quote it too, and return it, or ""."""
    match = _INNER_ATTRIBUTION.match(part.paragraphs[0], 0, _MAX_ATTRIBUTION) if part.paragraphs else None
    if match is None:
        return ""
    part.paragraphs[:1] = filter(None, [part.paragraphs[0][match.end() :]])
    return match[0].strip()
