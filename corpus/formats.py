"""Which formats there are: chosen by a file's name, confirmed by its first bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from corpus.errors import Unreadable

# Raised whenever the same bytes would be read otherwise: indexes are then made from the files anew.
VERSION = 4
# What one document may have: more takes longer to split, and more memory, than any one file may.
MAX_BYTES = 8 * 1024 * 1024
# Pictures and fonts are most of such a file; its text has the limit that text has.
MAX_PACKED_BYTES = 64 * 1024 * 1024
_HEAD = 1024
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.I | re.S
)


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file.

    Attributes:
        media_type: What the index calls it.
        reader: The module that reads it, below `corpus.readers`.
        isolated: Whether it is read in a process of its own, as its parser may hang or take too much memory.
        limit: Bytes that a file may have.
        page: What a person calls its numbered parts, or "".
        magic: What its first bytes are, one of them; () for text, which has no such mark.
    """

    media_type: str
    reader: str
    isolated: bool = True
    limit: int = MAX_BYTES
    page: str = ""
    magic: tuple[bytes, ...] = ()


_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
MARKDOWN = Format("text/markdown", "plaintext.markdown", isolated=False)
PLAIN = Format("text/plain", "plaintext.plain", isolated=False)
PDF = Format("application/pdf", "pdf.pdf", limit=MAX_PACKED_BYTES, page="p.", magic=(b"%PDF-",))
HTML = Format("text/html", "web.html")
ARCHIVE = Format("application/zip", "office.detect", limit=MAX_PACKED_BYTES, magic=_ZIP)
DOCX = Format(f"{_OPEN_XML}wordprocessingml.document", "office.detect", limit=MAX_PACKED_BYTES, magic=_ZIP)
PPTX = Format(
    f"{_OPEN_XML}presentationml.presentation", "office.detect", limit=MAX_PACKED_BYTES, page="slide", magic=_ZIP
)
XLSX = Format(f"{_OPEN_XML}spreadsheetml.sheet", "office.detect", limit=MAX_PACKED_BYTES, page="sheet", magic=_ZIP)
ODT = Format("application/vnd.oasis.opendocument.text", "office.detect", limit=MAX_PACKED_BYTES, magic=_ZIP)
EPUB = Format("application/epub+zip", "office.detect", limit=MAX_PACKED_BYTES, magic=_ZIP)
_CODE = {
    ".py": "x-python",
    ".pyi": "x-python",
    ".c": "x-c",
    ".h": "x-c",
    ".cc": "x-c++",
    ".cpp": "x-c++",
    ".hpp": "x-c++",
    ".cs": "x-csharp",
    ".go": "x-go",
    ".java": "x-java",
    ".js": "javascript",
    ".mjs": "javascript",
    ".jsx": "javascript",
    ".kt": "x-kotlin",
    ".php": "x-php",
    ".rs": "x-rust",
    ".scala": "x-scala",
    ".swift": "x-swift",
    ".ts": "x-typescript",
    ".tsx": "x-typescript",
}
_BY_SUFFIX = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), MARKDOWN),
    **dict.fromkeys((".txt", ".text", ".log", ""), PLAIN),
    **dict.fromkeys((".org",), Format("text/x-org", "plaintext.plain", isolated=False)),
    **dict.fromkeys((".adoc", ".asciidoc"), Format("text/asciidoc", "plaintext.plain", isolated=False)),
    **dict.fromkeys((".rst", ".rest"), Format("text/x-rst", "plaintext.rst", isolated=False)),
    ".pdf": PDF,
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    ".docx": DOCX,
    ".pptx": PPTX,
    ".xlsx": XLSX,
    ".odt": ODT,
    ".epub": EPUB,
    ".ipynb": Format("application/x-ipynb+json", "source.notebook", page="cell"),
    ".csv": Format("text/csv", "records.csv_rows", page="row"),
    ".tsv": Format("text/tab-separated-values", "records.csv_rows", page="row"),
    ".json": Format("application/json", "records.json_records", page="record"),
    **dict.fromkeys((".jsonl", ".ndjson"), Format("application/jsonl", "records.json_records", page="record")),
    ".bib": Format("text/x-bibtex", "tex.bibtex"),
    **dict.fromkeys((".tex", ".latex"), Format("text/x-tex", "tex.latex")),
    ".eml": Format("message/rfc822", "records.mail", limit=MAX_PACKED_BYTES),
    ".mbox": Format("application/mbox", "records.mail", limit=MAX_PACKED_BYTES, page="message"),
    **{suffix: Format(f"text/{name}", "source.code") for suffix, name in _CODE.items()},
}
# With their dots; "" is that of a name without one.
SUFFIXES = tuple(_BY_SUFFIX)


def format_of(path: str) -> Format | None:
    """The format that a name promises, or None where there is no reader for it."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


def is_readable_name(path: str) -> bool:
    """Whether there is a reader for a file of this name."""
    return format_of(path) is not None


def size_limit(path: str) -> int:
    """Bytes that a file of this name may have."""
    found = format_of(path)
    return MAX_BYTES if found is None else found.limit


def page_label(path: str) -> str:
    """What a person calls the numbered parts of a file of this name: "slide"."""
    found = format_of(path)
    return found.page if found is not None and found.page else "p."


def confirm(path: str, data: bytes) -> Format:
    """The format of a file, by its name and by what its bytes say.

    Raises:
        Unreadable: There is no reader for it, or the bytes are not what the name promises.
    """
    named = format_of(path)
    if named is None:
        raise Unreadable("not a format that can be read")
    if data.startswith(named.magic) if named.magic else not data.startswith((*PDF.magic, *ARCHIVE.magic)):
        return HTML if named in (MARKDOWN, PLAIN) and _HTML.match(data[:_HEAD]) else named
    if data.startswith(_OLD_OFFICE):
        raise Unreadable("encrypted, or in the format of Office before 2007; save it anew without a password")
    found = _by_content(data)
    if found is None:
        raise Unreadable(f"not what its name says: no {PurePosixPath(path).suffix.lower()[1:].upper()} file")
    return found


def _by_content(data: bytes) -> Format | None:
    # Some programs put a line before a PDF's own first one.
    if PDF.magic[0] in data[:_HEAD]:
        return PDF
    if data.startswith(ARCHIVE.magic):
        return ARCHIVE
    return HTML if _HTML.match(data[:_HEAD]) else None
