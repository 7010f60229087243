"""Supported formats, detected by the name and the content of a file; any other text is plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from posixpath import splitext

from corpus.errors import Unreadable

# Incremented whenever a reader extracts something else from the same bytes; indexes are then rebuilt from the files.
VERSION = 30
MIB = 1024 * 1024
# Limit for the text of one document: more would take too long to split, and too much memory.
MAX_BYTES = 8 * MIB
# Limit for a file that is mostly images, fonts or attachments; its text is limited as above.
MAX_PACKED_BYTES = 64 * MIB
# Each line takes its reader about a kilobyte of memory.
MAX_LINES = 200_000
_HEAD = 1024
# Limit for files recognised as text only by their content: larger ones are mostly written by programs.
_MAX_UNNAMED = MIB
_SAMPLE = 64 * 1024
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.I | re.S
)
# JSON printed by `qa ask`, `similar` and `topics`, which would answer questions with earlier answers, and maps.
_OUTPUT_OF_QA = re.compile(
    rb'\s*(?:\{"version": 1, ("id": [^\n]*?"question": "[^\n]*?"corrections": \['
    rb'|"of": \{"given": |"topics": \[\{"id": "[\d.]+", "label": )'
    rb'|<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta name="generator" content="qa map">)'
)
# The title line of a manual page, which may follow macro definitions.
_MAN = re.compile(rb"^\.(?:TH|Dd)[ \t]", re.MULTILINE)
_MAN_HEAD = 16 * 1024


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    Attributes:
        reader: The module that reads it, below `corpus.readers`.
        sandboxed: Whether it is read in the sandbox, as its parser may hang or take too much memory.
        limit: Largest file, in bytes.
        page: The word for its numbered parts, or "".
        magic: Possible first bytes of a file; () for text.
    """

    media_type: str
    reader: str
    sandboxed: bool = True
    limit: int = MAX_BYTES
    page: str = ""
    magic: tuple[bytes, ...] = ()


def _zip_format(media_type: str, page: str = "") -> Format:
    return Format(media_type, "office.detect", limit=MAX_PACKED_BYTES, page=page, magic=(b"PK\x03\x04", b"PK\x05\x06"))


def _ole_format(media_type: str, page: str = "") -> Format:
    return Format(media_type, "office.office97", limit=MAX_PACKED_BYTES, page=page, magic=(_OLE,))


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
MARKDOWN = Format("text/markdown", "plaintext.markdown", sandboxed=False)
PLAIN = Format("text/plain", "plaintext.plain", sandboxed=False)
UNNAMED = Format("text/plain", "plaintext.plain", sandboxed=False, limit=_MAX_UNNAMED)
MAN = Format("text/troff", "plaintext.man", sandboxed=False)
# Code whose name does not show it; a script says so in its first line.
_CODE_NAMES = frozenset(
    ("CMakeLists.txt", "Containerfile", "Dockerfile", "Gemfile", "Jenkinsfile", "Makefile", "Rakefile", "Vagrantfile")
)
SCRIPT = Format("text/plain", "source.code", sandboxed=False)
PDF = Format("application/pdf", "pdf.pdf", limit=MAX_PACKED_BYTES, page="p.", magic=(b"%PDF-",))
HTML = Format("text/html", "web.html")
ARCHIVE = _zip_format("application/zip")
DOCX = _zip_format(f"{_OPEN_XML}wordprocessingml.document")
PPTX = _zip_format(f"{_OPEN_XML}presentationml.presentation", "slide")
XLSX = _zip_format(f"{_OPEN_XML}spreadsheetml.sheet", "sheet")
ODT = _zip_format("application/vnd.oasis.opendocument.text")
ODS = _zip_format("application/vnd.oasis.opendocument.spreadsheet", "sheet")
ODP = _zip_format("application/vnd.oasis.opendocument.presentation", "slide")
DOC = _ole_format("application/msword")
XLS = _ole_format("application/vnd.ms-excel", "sheet")
PPT = _ole_format("application/vnd.ms-powerpoint", "slide")
# Media types of messages and mailboxes.
MAIL = frozenset({"message/rfc822", "application/mbox"})
# Media types of workbooks.
SHEETS = frozenset({XLSX.media_type, ODS.media_type, XLS.media_type})
# Media types of which a record, such as a row, is one field per line.
RECORDS = SHEETS | {"text/csv", "text/tab-separated-values", "application/json", "application/jsonl"}
RTF = Format("application/rtf", "office.rtf", limit=MAX_PACKED_BYTES, magic=(b"{\\rtf",))
EPUB = _zip_format("application/epub+zip")
# No text begins with these bytes, whatever its name says.
_BINARY_MAGIC = (*PDF.magic, *ARCHIVE.magic, *DOC.magic, *RTF.magic)
_CODE = {
    "x-python": ".py .pyi", "x-c": ".c .h", "x-c++": ".cc .cpp .hpp", "x-csharp": ".cs", "x-go": ".go",
    "x-java": ".java", "javascript": ".js .mjs .jsx", "x-kotlin": ".kt", "x-php": ".php", "x-rust": ".rs",
    "x-scala": ".scala", "x-swift": ".swift", "x-typescript": ".ts .tsx",
}  # fmt: skip
_SUFFIXES = {
    MARKDOWN: ".md .markdown .mdown .mkd .mdx .qmd .rmd",
    PLAIN: ".txt .text .log",
    Format("text/vtt", "plaintext.subtitles", sandboxed=False): ".vtt",
    Format("application/x-subrip", "plaintext.subtitles", sandboxed=False): ".srt",
    SCRIPT: ".bash .bat .cfg .cmake .conf .css .diff .fish .ini .jl .less .lua .patch .pl .pm .properties .proto .ps1 "
    ".r .rb .scss .sh .sql .tcl .toml .vim .xml .xsd .xsl .yaml .yml .zsh",
    Format("text/x-org", "plaintext.plain", sandboxed=False): ".org",
    Format("text/asciidoc", "plaintext.plain", sandboxed=False): ".adoc .asciidoc",
    Format("text/x-rst", "plaintext.rst", sandboxed=False): ".rst .rest",
    PDF: ".pdf",
    HTML: ".html .htm .xhtml",
    DOCX: ".docx",
    PPTX: ".pptx",
    XLSX: ".xlsx",
    ODT: ".odt",
    ODS: ".ods",
    ODP: ".odp",
    RTF: ".rtf",
    DOC: ".doc",
    XLS: ".xls",
    PPT: ".ppt",
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
    Format("text/calendar", "plaintext.calendars"): ".ics",
    Format("text/vcard", "plaintext.calendars"): ".vcf",
    **{Format(f"text/{name}", "source.code"): suffixes for name, suffixes in _CODE.items()},
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()} | {"": PLAIN}
# With their dots; "" is for names without a suffix.
SUFFIXES = tuple(_BY_SUFFIX)
# Read only if a collection's settings request it: a folder of photographs would take hours.
_BY_SUFFIX[".scan"] = Format(
    "image", "pdf.ocr", limit=MAX_PACKED_BYTES, magic=(b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*")
)
# Files that are never citable text, and are not even opened.
_NEVER_TEXT = (
    ".7z .a .aac .ai .apk .avi .avif .bak .bin .bmp .bz2 .class .crt .csr .dat .db .deb .dll .dmg .dylib .egg "
    ".eot .eps .exe .feather .fig .flac .gif .gpg .h5 .hdf5 .heic .ico .img .iso .jar .jpeg .jpg .key .lib .lz4 "
    ".m4a .map .mat .mkv .mo .mov .mp3 .mp4 .mpg .msg .npy .npz .o .obj .ogg .onnx .orig .otf .p12 .parquet .pcap .pem "
    ".pickle .pkl .png .ps .psd .pt .pth .pyc .pyd .rar .raw .rej .rpm .safetensors .so .sqlite .sqlite3 .stl "
    ".svg .swp .tar .tgz .tif .tiff .tmp .ttf .wasm .wav .webm .webp .whl .wma .wmv .woff .woff2 .xcf .xz .zip "
    ".zst"
)
_NEVER_OPENED = frozenset(_NEVER_TEXT.split())
# Names allowed under `formats` in a collection's settings, each with a suffix of that format.
NAMED = {
    "text": ".txt", "markdown": ".md", "rst": ".rst", "code": ".sh", "html": ".html", "latex": ".tex", "csv": ".csv",
    "tsv": ".tsv", "json": ".json", "jsonl": ".jsonl", "mail": ".eml", "scan": ".scan",
}  # fmt: skip


def effective_name(path: str, formats: Iterable[str]) -> str:
    """Return the name that decides how a file is read: its path, or its path plus the suffix of another format.

    Args:
        path: The path of the file.
        formats: Formats by suffix in lower case or by file name, such as ".foo=markdown" or "Jenkinsfile=code".
    """
    if formats:
        inner, gz = _split_gz(path)
        for key, _, format_name in (entry.rpartition("=") for entry in formats):
            if key in (PurePosixPath(inner).suffix.lower(), PurePosixPath(inner).name):
                return inner + NAMED[format_name] + gz
    return path


def _split_gz(path: str) -> tuple[str, str]:
    """Split off the suffix ".gz", if any: return the name of the compressed file, and the suffix or ""."""
    inner, suffix = path[:-3], path[-3:]
    return (inner, suffix) if suffix.lower() == ".gz" else (path, "")


def unpack(path: str, data: bytes) -> tuple[str, bytes]:
    """Return the name and bytes of the text in a .gz file, or those of any other file unchanged.

    Raises:
        Unreadable: It is damaged, or too large unpacked.
    """
    inner, gz = _split_gz(path)
    if not gz:
        return path, data
    import gzip  # noqa: PLC0415 - most folders have no such file, and a question waits for every import
    import zlib  # noqa: PLC0415

    limit = size_limit(inner)
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as stream:
            unpacked = stream.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable("damaged: cannot be unpacked") from error
    if len(unpacked) > limit:
        raise Unreadable(f"larger than {limit // MIB} MiB unpacked")
    return inner, unpacked


def format_of(path: str) -> Format | None:
    """Return the format that a file's name promises, or None if it is known to be unsupported."""
    inner, gz = _split_gz(path)
    suffix = splitext(inner)[1].lower()  # a path object takes ten times as long, and every file of a folder gets here
    by_suffix = _BY_SUFFIX.get(suffix, UNNAMED)
    # Of compressed files, only texts are read.
    is_known = suffix not in _NEVER_OPENED and not inner.endswith("~") and not (gz and by_suffix.magic)
    return by_suffix if is_known else None


def unsupported_reason(path: str) -> str:
    """Return the reason to skip a file for which `format_of` returns None."""
    if path.lower().endswith(".msg"):
        return "Outlook messages (.msg) cannot be read; save it as .eml"
    return "format not supported"


def size_limit(path: str) -> int:
    """Return the maximum size, in bytes, of a file with this name."""
    return (format_of(path) or PLAIN).limit


def page_label(path: str) -> str:
    """Return the word for the numbered parts of a file with this name, such as "slide"."""
    return (format_of(path) or PDF).page or PDF.page


def detect_format(path: str, data: bytes) -> Format:
    """Return the format of a file, by its name and its content.

    Raises:
        Unreadable: The format is not supported, the content is not what the name promises, or qa wrote it.
    """
    by_name = SCRIPT if _is_code(PurePosixPath(path), data) else format_of(path)
    if by_name is None:
        raise Unreadable(unsupported_reason(path))
    if _OUTPUT_OF_QA.match(data):
        raise Unreadable("output of qa, not a document")
    if by_name.magic and not data:
        raise Unreadable("empty")
    if data.startswith(by_name.magic) if by_name.magic else not data.startswith(_BINARY_MAGIC):
        if by_name in (MARKDOWN, PLAIN, UNNAMED) and _HTML.match(data[:_HEAD]):
            return HTML
        return _detect_text_format(data) if by_name is UNNAMED else by_name
    for candidate in (DOC, RTF, ARCHIVE):
        if data.startswith(candidate.magic):
            return candidate
    # Some programs write a line before the PDF header.
    if PDF.magic[0] in data[:_HEAD]:
        return PDF
    if _HTML.match(data[:_HEAD]):
        return HTML
    raise Unreadable(f"content does not match its name: not a {PurePosixPath(path).suffix.lower()[1:].upper()} file")


def _is_code(path: PurePosixPath, data: bytes) -> bool:
    return path.name in _CODE_NAMES or (not path.suffix and data.startswith(b"#!"))


def _detect_text_format(data: bytes) -> Format:
    """Return the format of a text by its content; refuse text that is not Unicode or mostly numbers or signs."""
    try:
        text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("format not supported") from error
    visible = "".join(text[:_SAMPLE].split())
    if "\0" in text or sum(map(str.isprintable, visible)) < len(visible) * 0.98:
        raise Unreadable("format not supported")
    if sum(map(str.isalpha, visible)) < len(visible) / 2:
        raise Unreadable("data rather than text; to read it, name its format in qa.toml")
    return MAN if data[:1] in b".'" and _MAN.search(data[:_MAN_HEAD]) else UNNAMED
