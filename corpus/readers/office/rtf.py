"""Rich Text Format by striprtf, which returns only text: marks in it show headings, lists and tables."""

from __future__ import annotations

import re
from itertools import groupby

from corpus.errors import Unreadable
from corpus.formats import RTF
from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.types import BlockKind, Extracted

# Headings are marked by a private use character and their level, inserted after each outline property.
_OUTLINE = re.compile(r"\\outlinelevel(\d)(?!\d)")
_HEADING = re.compile(r"\s*\ue0f1(\d)\s*(.*)", re.DOTALL)
_MARK = re.compile(r"\ue0f1\d")
_ITEM = re.compile(r"\s*(?:[•◦▪‣·\uf0b7\uf0a7\uf095\u2013-]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\t\s*(?=\S)")
# A note, which striprtf drops, with groups at most three deep in it.
_PLAIN = r"[^{}\\]|\\."
_NOTE = re.compile(
    rf"\{{(?:\\\*)?\\footnote\b((?:{_PLAIN}|\{{(?:{_PLAIN}|\{{(?:{_PLAIN}|\{{(?:{_PLAIN})*+\}})*+\}})*+\}})*+)\}}",
    re.DOTALL,
)
_TITLE = re.compile(r"\{\\title\s([^{}]{1,600})\}")


def read(path: str, data: bytes) -> Extracted:
    """Read a Rich Text file; see `corpus.readers`."""
    try:
        from striprtf.striprtf import rtf_to_text  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Unreadable('Rich Text; save it as .docx, or: pip install "qa-passages[office]"', unknown=True) from error
    if not data.rstrip(b"\0\r\n\t ").endswith(b"}"):
        raise Unreadable("damaged: its end is missing")
    # RTF escapes all other characters in ASCII.
    source = data.decode("latin-1")
    marked = _NOTE.sub(_mark_note, _OUTLINE.sub(r"\g<0>{ \\u57585?\1}", source))
    text = re.sub(r"\ue0f2\s*", "(", rtf_to_text(marked, errors="replace"))
    builder = DocumentBuilder()
    for is_row, lines in groupby(text.split("\n"), key=lambda line: line.endswith("|")):
        if is_row:
            builder.rows([_MARK.sub("", line[:-1]).split("|") for line in lines])
            continue
        for line in lines:
            _add_line(builder, line)
    if match := _TITLE.search(source):
        builder.title = rtf_to_text(f"{{\\rtf1\\ansi {match[1]}}}", errors="replace").strip()
    return builder.build(RTF.media_type)


def _mark_note(note: re.Match[str]) -> str:
    """Return a note as a group that is shown, in one paragraph with the text around it."""
    return "{ \ue0f2" + re.sub(r"\\par\b ?", " ", note[1]).rstrip() + ")}"


def _add_line(builder: DocumentBuilder, line: str) -> None:
    if match := _HEADING.match(line):
        # Level 9 is body text.
        builder.heading(int(match[1]) + 1, match[2]) if match[1] != "9" else builder.block(match[2])
    elif match := _ITEM.match(line):
        builder.block(line[match.end() :], BlockKind.ITEM)
    else:
        builder.block(line)
