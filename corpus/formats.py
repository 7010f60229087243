"""The formats that are read: chosen by a file's name, confirmed by its first bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from corpus.errors import Unreadable

# Raised whenever the same bytes would be read differently; indexes are then rebuilt from the files.
VERSION = 4
MIB = 1024 * 1024
# Of text in one document: more would take too long to split, and too much memory.
MAX_BYTES = 8 * MIB
# Of a file that is mostly images, fonts or attachments; its text is limited as above.
MAX_PACKED_BYTES = 64 * MIB
# Each line costs its reader about a kilobyte.
MAX_LINES = 200_000
_HEAD = 1024
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.I | re.S
)


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    Attributes:
        reader: The module that reads it, below `corpus.readers`.
        isolated: Read in the sandbox, as its parser may hang or take too much memory.
        limit: Largest file, in bytes.
        page: The word for its numbered parts, or "".
        magic: First bytes, one of them; () for text.
    """

    media_type: str
    reader: str
    isolated: bool = True
    limit: int = MAX_BYTES
    page: str = ""
    magic: tuple[bytes, ...] = ()


def _zipped(media_type: str, page: str = "") -> Format:
    return Format(media_type, "office.detect", limit=MAX_PACKED_BYTES, page=page, magic=(b"PK\x03\x04", b"PK\x05\x06"))


_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
MARKDOWN = Format("text/markdown", "plaintext.markdown", isolated=False)
PLAIN = Format("text/plain", "plaintext.plain", isolated=False)
PDF = Format("application/pdf", "pdf.pdf", limit=MAX_PACKED_BYTES, page="p.", magic=(b"%PDF-",))
HTML = Format("text/html", "web.html")
ARCHIVE = _zipped("application/zip")
DOCX = _zipped(f"{_OPEN_XML}wordprocessingml.document")
PPTX = _zipped(f"{_OPEN_XML}presentationml.presentation", "slide")
XLSX = _zipped(f"{_OPEN_XML}spreadsheetml.sheet", "sheet")
ODT = _zipped("application/vnd.oasis.opendocument.text")
EPUB = _zipped("application/epub+zip")
_CODE = {
    "x-python": ".py .pyi",
    "x-c": ".c .h",
    "x-c++": ".cc .cpp .hpp",
    "x-csharp": ".cs",
    "x-go": ".go",
    "x-java": ".java",
    "javascript": ".js .mjs .jsx",
    "x-kotlin": ".kt",
    "x-php": ".php",
    "x-rust": ".rs",
    "x-scala": ".scala",
    "x-swift": ".swift",
    "x-typescript": ".ts .tsx",
}
_SUFFIXES = {
    MARKDOWN: ".md .markdown .mdown .mkd",
    PLAIN: ".txt .text .log",
    Format("text/x-org", "plaintext.plain", isolated=False): ".org",
    Format("text/asciidoc", "plaintext.plain", isolated=False): ".adoc .asciidoc",
    Format("text/x-rst", "plaintext.rst", isolated=False): ".rst .rest",
    PDF: ".pdf",
    HTML: ".html .htm .xhtml",
    DOCX: ".docx",
    PPTX: ".pptx",
    XLSX: ".xlsx",
    ODT: ".odt",
    EPUB: ".epub",
    Format("application/x-ipynb+json", "source.notebook", page="cell"): ".ipynb",
    Format("text/csv", "records.csv_rows", page="row"): ".csv",
    Format("text/tab-separated-values", "records.csv_rows", page="row"): ".tsv",
    Format("application/json", "records.json_records", page="record"): ".json",
    Format("application/jsonl", "records.json_records", page="record"): ".jsonl .ndjson",
    Format("text/x-bibtex", "tex.bibtex"): ".bib",
    Format("text/x-tex", "tex.latex"): ".tex .latex",
    Format("message/rfc822", "records.mail", limit=MAX_PACKED_BYTES): ".eml",
    Format("application/mbox", "records.mail", limit=MAX_PACKED_BYTES, page="message"): ".mbox",
    **{Format(f"text/{name}", "source.code"): suffixes for name, suffixes in _CODE.items()},
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()} | {"": PLAIN}
# With their dots; "" is that of a name without one.
SUFFIXES = tuple(_BY_SUFFIX)


def format_of(path: str) -> Format | None:
    """Return the format that a name promises, or None where no reader knows it."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


def size_limit(path: str) -> int:
    """Return the size, in bytes, that a file of this name may have."""
    return (format_of(path) or PLAIN).limit


def page_label(path: str) -> str:
    """Return the word for the numbered parts of a file of this name, such as "slide"."""
    return (format_of(path) or PDF).page or PDF.page


def confirm(path: str, data: bytes) -> Format:
    """Return the format of a file, by its name and its content.

    Raises:
        Unreadable: No reader knows it, or its content is not what the name promises.
    """
    named = format_of(path)
    if named is None:
        raise Unreadable("format not supported")
    if data.startswith(named.magic) if named.magic else not data.startswith((*PDF.magic, *ARCHIVE.magic)):
        return HTML if named in (MARKDOWN, PLAIN) and _HTML.match(data[:_HEAD]) else named
    if data.startswith(_OLD_OFFICE):
        raise Unreadable("encrypted or in a format of Office before 2007; save it again without a password")
    # Some programs write a line before a PDF's own first one.
    if PDF.magic[0] in data[:_HEAD]:
        return PDF
    if data.startswith(ARCHIVE.magic):
        return ARCHIVE
    if _HTML.match(data[:_HEAD]):
        return HTML
    raise Unreadable(f"content does not match its name: not a {PurePosixPath(path).suffix.lower()[1:].upper()} file")
