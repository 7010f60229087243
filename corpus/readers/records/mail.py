"""Mail: one message, or a mailbox of them, each a page and a document under its subject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.headerregistry import BaseHeader, HeaderRegistry
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import EmailPolicy
from email.utils import parsedate_to_datetime
from functools import lru_cache

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.web.html import add_html
from corpus.text.encodings import require_text
from corpus.types import Extracted

MAX_MESSAGES = 20_000
_FROM = re.compile(rb"(?:\A|(?<=\n)(?:\r?\n)?)From [^\n]+\n")
_LINE_ENDS = re.compile(r"[\r\n]")
# Names without anything that is to be quoted.
_PLACE = r"[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)*"
_ADDRESS = rf"(?:[\w'+-]+(?: [\w'+-]+)* <{_PLACE}>|{_PLACE})"
_ADDRESSES = re.compile(rf"{_ADDRESS}(?:, {_ADDRESS})*", re.ASCII)
_HEADERS = ("From", "To", "Cc", "Date")
_MOST_PARTS = 200
# Headers that were parsed, and characters of each.
_MOST_KEPT, _LONGEST_KEPT = 512, 200
# A longer one is taken as it stands: to parse it takes time that grows with the square of its length.
_LONGEST = 4000


class _Headers(HeaderRegistry):
    """The library's own parser of headers, which makes a class for each header that is asked for, kept."""

    def __init__(self) -> None:
        super().__init__()
        self._classes: dict[type, type] = {}
        self._kept = lru_cache(_MOST_KEPT)(super().__call__)

    def __getitem__(self, name: str) -> type:
        kind = self.registry.get(name.lower(), self.default_class)
        if kind not in self._classes:
            self._classes[kind] = super().__getitem__(name)
        return self._classes[kind]

    def __call__(self, name: str, value: str) -> BaseHeader:
        # Those of the content are few, and asked for again and again.
        repeated = name.lower().startswith("content-") and len(value) <= _LONGEST_KEPT
        header: BaseHeader = self._kept(name, value) if repeated else super().__call__(name, value[:_LONGEST])
        return header


_PARSER = BytesParser(policy=EmailPolicy(header_factory=_Headers()))


def read(path: str, data: bytes) -> Extracted:
    """Read a message or a mailbox; see `corpus.readers`."""
    require_text(data)
    builder = DocumentBuilder()
    if not path.lower().endswith(".mbox"):
        subject = _message(builder, data)
        return builder.build("message/rfc822", title=subject)
    messages = list(_split(data))
    if not messages:
        raise Unreadable("not what its name says: no mailbox")
    for message in messages:
        builder.page()
        _message(builder, message, mailbox=True)
    return builder.build("application/mbox", title="")


def _split(data: bytes) -> Iterator[bytes]:
    marks = list(_FROM.finditer(data)) if data.startswith(b"From ") else []
    if len(marks) > MAX_MESSAGES:
        raise Unreadable(f"more than {MAX_MESSAGES:,} messages; split it into smaller files")
    for i, mark in enumerate(marks):
        end = marks[i + 1].start() if i + 1 < len(marks) else len(data)
        yield data[mark.end() : end].replace(b"\n>From ", b"\nFrom ")


def _message(builder: DocumentBuilder, data: bytes, *, mailbox: bool = False) -> str:
    message = _PARSER.parsebytes(data)
    # Of headers that come twice the first counts.
    raw = {name.lower(): str(value) for name, value in reversed(list(message.raw_items()))}
    found = {name: _header(message, name, raw.get(name.lower(), "")) for name in ("Subject", *_HEADERS)}
    subject = found.pop("Subject")
    if not (found["From"] or subject):
        raise Unreadable("not what its name says: no message")
    builder.under(1, "")
    if mailbox:
        builder.begin(subject)
    if subject:
        builder.heading(1, subject)
    builder.record_lines([(name, value) for name, value in found.items() if value])
    for part in _bodies(message):
        _body(builder, part)
    for name in _attachments(message):
        builder.block(f"Attachment: {name}")
    return subject


def _header(message: EmailMessage, name: str, raw: str) -> str:
    try:
        raw = _LINE_ENDS.sub("", raw)
        value = one_line(raw if _is_plain(name, raw) else str(message[name] or ""))
        return parsedate_to_datetime(value).isoformat(" ") if name == "Date" and value else value
    # The library trips over some broken headers; they are left out.
    except Exception:
        return ""


def _is_plain(name: str, value: str) -> bool:
    """Whether the library, which takes a hundred times as long, would make the same of a header, or would not end."""
    if len(value) > _LONGEST:
        return True
    if name == "Subject":
        return value.isascii() and "=?" not in value
    if name == "Date":
        return value.isascii() and value.isprintable()
    return _ADDRESSES.fullmatch(value) is not None


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


def _body(builder: DocumentBuilder, part: EmailMessage) -> None:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return
    try:
        text = data.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeError):
        text = data.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        add_html(builder, text, level=1)
        return
    # Behind this line stands the signature.
    for paragraph in re.split(r"\n\s*\n", text.replace("\r\n", "\n").partition("\n-- \n")[0]):
        builder.block(paragraph)
