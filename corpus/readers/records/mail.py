"""Mail: a message, or a mailbox, in which each message is a page and a document titled with its subject."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime

from corpus.errors import Unreadable
from corpus.readers.assemble.document_builder import DocumentBuilder, one_line
from corpus.readers.records.quotes import body_parts
from corpus.readers.web.html import add_html
from corpus.text.encodings import decode, require_text, web_codec
from corpus.types import QUOTED, Extracted

MAX_MESSAGES = 20_000
# The line above each message has an address, a time or at most two words, unlike most sentences with that first word.
_FROM = re.compile(
    rb"(?:\A|(?<=\n)(?:\r?\n)?)From (?=\S*@|[^\n]*\d:\d\d|\S*+ ?\S*+ *\r?\n)[^\n]*+\n"
    rb"(?:>From [^\n]*\n)?(?=[!-9;-~]+:(?!//))"
)
_LINE_ENDS = re.compile(r"[\r\n]")
_MAX_PARTS = 200
_MAX_HEADER = 4000
_QUOTATION = re.compile(r"<(/?)blockquote\b[^<>]*>", re.IGNORECASE)
# Characters that no text has, put before and after the quotations of a page, and how often a line counts as quoted.
_OPENED, _CLOSED = "\ufdd0", "\ufdd1"
_MAX_DEPTH = 20
# At most this many recipients are named above each passage of a message.
_MAX_NAMES = 5


class _Policy(Compat32):
    """Truncates headers, as parsing takes time quadratic in their length."""

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
    messages = list(_split_mailbox(data))
    if not messages:
        raise Unreadable("content does not match its name: not a mailbox")
    for message in messages:
        builder.page()
        _add_message(builder, message, in_mailbox=True)
    return builder.build("application/mbox", title="")


def _split_mailbox(data: bytes) -> Iterator[bytes]:
    marks = list(_FROM.finditer(data)) if data.startswith(b"From ") else []
    if len(marks) > MAX_MESSAGES:
        raise Unreadable(f"more than {MAX_MESSAGES:,} messages; split it into smaller files")
    for i, mark in enumerate(marks):
        end = marks[i + 1].start() if i + 1 < len(marks) else len(data)
        yield data[mark.end() : end].replace(b"\n>From ", b"\nFrom ")


def _add_message(builder: DocumentBuilder, data: bytes, *, in_mailbox: bool = False) -> str:
    """Add a message and return its subject."""
    message = _PARSER.parsebytes(data)
    headers = _headers(message)
    subject, sender, date = headers["Subject"], headers["From"], headers["Date"]
    if not (sender or subject or in_mailbox):
        raise Unreadable("content does not match its name: not a message")
    builder.section(1, "")
    if in_mailbox:
        builder.begin_record(subject)
    if subject:
        builder.heading(1, subject)
    heading = _add_headers(builder, {**headers, "Subject": ""})
    if not in_mailbox:
        fields = (("title", subject), ("author", sender), ("date", date))
        builder.metadata = tuple((name, value) for name, value in fields if value)
    previous, part_heading = message, heading
    for part, owner in _text_parts(message):
        if owner is not previous:
            previous, part_heading = owner, heading if owner is message else _add_headers(builder, _headers(owner))
        _add_body(builder, part, part_heading)
    builder.section(2, heading)
    for name in _attachments(message):
        builder.block(f"Attachment: {name}")
    return subject


def _headers(message: Message) -> dict[str, str]:
    """Return the headers of a message that are shown, decoded, or "" for those that it lacks."""
    # The first of repeated headers is used.
    raw = {name.lower(): str(value) for name, value in reversed(list(message.raw_items()))}
    headers = {name: _decode_header(raw.get(name.lower(), "")) for name in ("Subject", "From", "To", "Cc")}
    return {**headers, "Date": _parse_date(raw.get("date", ""))}


def _add_headers(builder: DocumentBuilder, headers: Mapping[str, str]) -> str:
    """Add headers, of which sender, recipients and date are a heading of all passages below, and return it."""
    heading = _correspondence(headers["From"], [headers["To"], headers["Cc"]], headers["Date"])
    builder.section(2, heading)
    if fields := [(name, value) for name, value in headers.items() if value]:
        builder.preface(fields)
    return heading


def _correspondence(sender: str, recipients: list[str], date: str) -> str:
    """Return the correspondents and the date: "Ida Grün <ida@example.org> to Tom, Eva and 3 more, 2024-05-02"."""
    names = [name or address for name, address in getaddresses(recipients) if name or address]
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    recipient_list = f" to {', '.join(names[:_MAX_NAMES])}{more}" if names else ""
    return ", ".join(filter(None, (f"{sender}{recipient_list}".strip(), date[: len("2024-05-02")])))


def _decode_header(raw: str) -> str:
    """Return a header on one line, with encoded words decoded if possible."""
    value = _LINE_ENDS.sub("", raw).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if "=?" in value and len(value) <= _MAX_HEADER:
        with contextlib.suppress(MessageError, ValueError, LookupError):
            value = str(make_header(decode_header(value)))
    return one_line(value)


def _parse_date(raw: str) -> str:
    try:
        return parsedate_to_datetime(_decode_header(raw[:_MAX_HEADER])).isoformat(" ")
    except (ValueError, OverflowError):
        return ""


def _text_parts(message: Message) -> Iterator[tuple[Message, Message]]:
    """Yield the text parts of a message, each with the message that it is of: this one, or one attached to it.

    Of alternatives, only plain text is yielded, if there is any.
    """
    pending = [(message, message)]
    count = 0
    while pending and count < _MAX_PARTS:
        part, owner = pending.pop()
        count += 1
        payload = part.get_payload()
        if isinstance(payload, list):
            parts = [part for part in payload if isinstance(part, Message)]
            if part.get_content_type() == "multipart/alternative":
                plain = [part for part in parts if part.get_content_type() == "text/plain"]
                others = [part for part in parts if part.get_content_type() != "text/plain"]
                parts = ([part for part in plain if _decode_part(part).strip()] or others or plain)[:1]
            is_attached = part.get_content_type() == "message/rfc822"
            pending.extend((inner, inner if is_attached else owner) for inner in reversed(parts))
        elif part.get_content_maintype() == "text" and part.get_content_disposition() != "attachment":
            yield part, owner


def _attachments(message: Message) -> Iterator[str]:
    for count, part in enumerate(message.walk()):
        if count > _MAX_PARTS:
            return
        if (name := part.get_filename()) and part.get_content_maintype() != "multipart":
            yield _decode_header(name)


def _add_body(builder: DocumentBuilder, part: Message, heading: str) -> None:
    """Add the text of a message or of a part of it; `heading` is that of the text which is not quoted."""
    text = _decode_part(part).replace("\r\n", "\n")
    is_html = part.get_content_type() == "text/html"
    parts = list(body_parts(_marked_lines(text) if is_html else text))
    if is_html and not any(body_part.depth for body_part in parts):
        add_html(builder, text, level=2)
        return
    shown_attributions = {""}
    for body_part in parts:
        builder.section(2, body_part.heading(heading))
        if body_part.attribution not in shown_attributions:
            shown_attributions.add(body_part.attribution)
            builder.preface([(QUOTED, body_part.attribution)])
        for paragraph in body_part.paragraphs:
            builder.block(paragraph)
    builder.section(2, heading)


def _marked_lines(page: str) -> str:
    """Return the text of a page, in which lines of quotations have marks as in plain text."""
    builder = DocumentBuilder()
    add_html(builder, _QUOTATION.sub(lambda tag: f"<p>{_CLOSED if tag[1] else _OPENED}</p>", page), level=2)
    lines, depth = "", 0
    for text in re.split(f"({_OPENED}|{_CLOSED})", builder.build("text/html").text):
        depth = max(0, depth + (text == _OPENED) - (text == _CLOSED))
        lines += "" if text in (_OPENED, _CLOSED) else f"\n{text}".replace("\n", "\n" + "> " * min(depth, _MAX_DEPTH))
    return lines


def _decode_part(part: Message) -> str:
    """Return the text of a part of a message, or "" if it has parts itself."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = part.get_content_charset() or "utf-8"
    with contextlib.suppress(LookupError, ValueError):
        # Text that is not ASCII but labelled so is often UTF-8.
        return data.decode(charset if charset == "us-ascii" else web_codec(charset))
    with contextlib.suppress(Unreadable):
        return decode(data)[0]
    return data.decode("utf-8", "replace")
