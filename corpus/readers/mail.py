"""Mail: one message, or a mailbox of them, each a page and a document under its subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime

from corpus.encodings import require_text
from corpus.files import Unreadable
from corpus.readers.html import add_html
from corpus.readers.writer import Writer, one_line
from corpus.types import Reading

MAX_MESSAGES = 20_000
_FROM = re.compile(rb"(?:\A|(?<=\n)(?:\r?\n)?)From [^\n]+\n")
_HEADERS = ("From", "To", "Cc", "Date")
_MOST_PARTS = 200


def read(path: str, data: bytes) -> Reading:
    """Read a message or a mailbox; see `corpus.readers`."""
    require_text(data)
    writer = Writer()
    if not path.lower().endswith(".mbox"):
        subject = _message(writer, data)
        return writer.reading("message/rfc822", title=subject)
    messages = list(_split(data))
    if not messages:
        raise Unreadable("not what its name says: no mailbox")
    for message in messages:
        writer.page()
        _message(writer, message, mailbox=True)
    return writer.reading("application/mbox", title="")


def _split(data: bytes) -> Iterator[bytes]:
    marks = list(_FROM.finditer(data)) if data.startswith(b"From ") else []
    if len(marks) > MAX_MESSAGES:
        raise Unreadable(f"more than {MAX_MESSAGES:,} messages; split it into smaller files")
    for i, mark in enumerate(marks):
        end = marks[i + 1].start() if i + 1 < len(marks) else len(data)
        yield data[mark.end() : end].replace(b"\n>From ", b"\nFrom ")


def _message(writer: Writer, data: bytes, *, mailbox: bool = False) -> str:
    message = message_from_bytes(data, policy=policy.default)
    if not (_header(message, "From") or _header(message, "Subject")):
        raise Unreadable("not what its name says: no message")
    subject = _header(message, "Subject")
    writer.under(1, "")
    if mailbox:
        writer.begin(subject)
    if subject:
        writer.heading(1, subject)
    writer.record_lines([(name, value) for name in _HEADERS if (value := _header(message, name))])
    for part in _bodies(message):
        _body(writer, part)
    for name in _attachments(message):
        writer.block(f"Attachment: {name}")
    return subject


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = one_line(str(message[name] or ""))
        return parsedate_to_datetime(value).isoformat(" ") if name == "Date" and value else value
    # The library trips over some broken headers; they are left out.
    except Exception:
        return ""


def _bodies(message: EmailMessage) -> Iterator[EmailMessage]:
    """Its text parts; of the same text in several forms the plain one."""
    pending = [message]
    count = 0
    while pending and count < _MOST_PARTS:
        part = pending.pop()
        count += 1
        if part.get_content_type() == "multipart/alternative":
            forms = [form for form in part.iter_parts() if isinstance(form, EmailMessage)]
            plain = [form for form in forms if form.get_content_type() == "text/plain"]
            pending.extend((plain or forms)[:1])
        elif part.is_multipart():
            pending.extend(reversed([one for one in part.iter_parts() if isinstance(one, EmailMessage)]))
        elif part.get_content_maintype() == "text" and not part.is_attachment():
            yield part


def _attachments(message: EmailMessage) -> Iterator[str]:
    for count, part in enumerate(message.walk()):
        if count > _MOST_PARTS:
            return
        if part.get_filename() and not part.is_multipart():
            yield one_line(str(part.get_filename()))


def _body(writer: Writer, part: EmailMessage) -> None:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return
    try:
        text = data.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeError):
        text = data.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        add_html(writer, text, level=1)
        return
    # Behind this line stands the signature.
    for paragraph in re.split(r"\n\s*\n", text.replace("\r\n", "\n").partition("\n-- \n")[0]):
        writer.block(paragraph)
