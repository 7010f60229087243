"""Mail: a message, or a mailbox, whose messages are each a page and a document titled with the subject."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.records.quotes import parts_of
from corpus.readers.web.html import add_html
from corpus.text.encodings import require_text
from corpus.types import QUOTED, Extracted

MAX_MESSAGES = 20_000
_FROM = re.compile(rb"(?:\A|(?<=\n)(?:\r?\n)?)From [^\n]+\n")
_LINE_ENDS = re.compile(r"[\r\n]")
_SIGNATURE = "\n-- \n"
_MAX_PARTS = 200
_MAX_HEADER = 4000
# At most this many recipients are named above each passage of a message.
_MAX_NAMES = 5


class _Policy(Compat32):
    """Truncates headers, as the library takes time quadratic in their length."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        return str(super().header_fetch_parse(name, value[:_MAX_HEADER]))


_PARSER = BytesParser(policy=_Policy())


def read(path: str, data: bytes) -> Extracted:
    """Read a message or a mailbox; see `corpus.readers`."""
    require_text(data)
    builder = DocumentBuilder()
    if not path.lower().endswith(".mbox"):
        subject = _add_message(builder, data)
        return builder.build("message/rfc822", title=subject)
    messages = list(_split(data))
    if not messages:
        raise Unreadable("content does not match its name: not a mailbox")
    for message in messages:
        builder.page()
        _add_message(builder, message, mailbox=True)
    return builder.build("application/mbox", title="")


def _split(data: bytes) -> Iterator[bytes]:
    marks = list(_FROM.finditer(data)) if data.startswith(b"From ") else []
    if len(marks) > MAX_MESSAGES:
        raise Unreadable(f"more than {MAX_MESSAGES:,} messages; split it into smaller files")
    for i, mark in enumerate(marks):
        end = marks[i + 1].start() if i + 1 < len(marks) else len(data)
        yield data[mark.end() : end].replace(b"\n>From ", b"\nFrom ")


def _add_message(builder: DocumentBuilder, data: bytes, *, mailbox: bool = False) -> str:
    """Add a message and return its subject."""
    message = _PARSER.parsebytes(data)
    # Of a repeated header, the first counts.
    raw = {name.lower(): str(value) for name, value in reversed(list(message.raw_items()))}
    subject, sender, *others = (_header(raw.get(name, "")) for name in ("subject", "from", "to", "cc"))
    if not (sender or subject):
        raise Unreadable("content does not match its name: not a message")
    builder.section(1, "")
    if mailbox:
        builder.begin_record(subject)
    if subject:
        builder.heading(1, subject)
    date = _date(raw.get("date", ""))
    # Sender, recipients and date belong to all of its passages.
    above = _correspondents(sender, others, date)
    builder.section(2, above)
    named = zip(("From", "To", "Cc", "Date"), (sender, *others, date), strict=True)
    if given := [(name, value) for name, value in named if value]:
        builder.preface(given)
    if not mailbox:
        fields = (("title", subject), ("author", sender), ("date", date))
        builder.metadata = tuple((name, value) for name, value in fields if value)
    for part in _text_parts(message):
        _add_body(builder, part, above)
    for name in _attachments(message):
        builder.block(f"Attachment: {name}")
    return subject


def _correspondents(sender: str, others: list[str], date: str) -> str:
    """For example "Ida Grün <ida@example.org> to Tom, Eva and 3 more, 2024-05-02"."""
    names = [name or address for name, address in getaddresses(others) if name or address]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    to = f" to {', '.join(names[:_MAX_NAMES])}{more}" if names else ""
    return ", ".join(filter(None, (f"{sender}{to}".strip(), date[: len("2024-05-02")])))


def _header(raw: str) -> str:
    """Return a header on one line, with encoded words decoded where possible."""
    value = _LINE_ENDS.sub("", raw).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if "=?" in value and len(value) <= _MAX_HEADER:
        with contextlib.suppress(MessageError, ValueError, LookupError):
            value = str(make_header(decode_header(value)))
    return one_line(value)


def _date(raw: str) -> str:
    try:
        return parsedate_to_datetime(_header(raw[:_MAX_HEADER])).isoformat(" ")
    except (ValueError, OverflowError):
        return ""


def _text_parts(message: Message) -> Iterator[Message]:
    """Yield the text parts of a message; of alternatives, the plain one."""
    pending = [message]
    count = 0
    while pending and count < _MAX_PARTS:
        part = pending.pop()
        count += 1
        inner = part.get_payload()
        if isinstance(inner, list):
            parts = [part for part in inner if isinstance(part, Message)]
            if part.get_content_type() == "multipart/alternative":
                parts = ([part for part in parts if part.get_content_type() == "text/plain"] or parts)[:1]
            pending.extend(reversed(parts))
        elif part.get_content_maintype() == "text" and part.get_content_disposition() != "attachment":
            yield part


def _attachments(message: Message) -> Iterator[str]:
    for count, part in enumerate(message.walk()):
        if count > _MAX_PARTS:
            return
        if (name := part.get_filename()) and not part.is_multipart():
            yield _header(name)


def _add_body(builder: DocumentBuilder, part: Message, above: str) -> None:
    """Add the text of a message, or of a part of it; `above` is the heading of its own words."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return
    try:
        text = data.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeError):
        text = data.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        add_html(builder, text, level=2)
        return
    introduced = {""}
    for run in parts_of(text.replace("\r\n", "\n").partition(_SIGNATURE)[0]):
        builder.section(2, run.heading(above))
        if run.attribution not in introduced:
            introduced.add(run.attribution)
            builder.preface([(QUOTED, run.attribution)])
        for paragraph in run.paragraphs:
            builder.block(paragraph)
    builder.section(2, above)
