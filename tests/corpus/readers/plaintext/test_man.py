"""Manual pages are read as text with the line numbers of the file."""

from __future__ import annotations

import gzip

from corpus.chunking.splitter import split
from corpus.loading.load import parse
from corpus.types import BlockKind, Document
from tests.corpus.readers.outcome import block_texts

MAN = r"""'\" t
.\" Nobody reads this.
.ie \n(.g .ds Aq \(aq
.el .ds Aq '
.de ZN
.ft B
..
.TH "WEIR" "1" "March 2024" "weir 2" "Herons"
.SH NAME
weir \- count \fIherons\fR at a weir
.SH OPTIONS
.TP 8
.BR \-a ", " \-\-all
Count storks,
.ZN too .
.IP \(bu 2
A bullet with \(lqquotes\(rq.
.PP
\fB\-\-quiet\fR
.RS 4
Say nothing\&.
.RE
.SS "See this"
.nf
weir \-a  \e
  river
.fi
.TS
tab(:) ;
l l.
T{
Name
T}	Level
.TE
.if t \{\
Only on paper.
.\}
.el \{\
.IP \(bu 2.3
.\}
Write to
.UR https://example.org/weir
the mill
.UE .
"""
MDOC = r""".\" $OpenBSD$
.Dd March 1, 2024
.Dt WEIR 8
.Os
.Sh NAME
.Nm weir
.Nd counts herons
.Sh SYNOPSIS
.Nm
.Op Fl aq
.Op Fl f Ar file | Fl
.Ar river ...
.Sh DESCRIPTION
.Nm
counts; see
.Xr mill 1 ,
.Pq Pa /etc/weir
or
.Ux Ns -like
systems.
.Bl -tag -width Ds
.It Fl q
Be quiet, as
.Dq herons
are.
.El
"""


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind.value, document.text[block.start : block.end]) for block in document.blocks]


def test_man_macros() -> None:
    """Fonts, escapes, definitions and text for print are removed; options are items that begin with their names."""
    page = parse("weir.1.gz", gzip.compress(MAN.encode()))
    assert (page.title, page.media_type) == ("weir(1)", "text/troff")
    assert blocks(page) == [
        ("heading", "NAME"),
        ("paragraph", "weir - count herons at a weir"),
        ("heading", "OPTIONS"),
        ("item", "- -a, --all: Count storks, too ."),
        ("item", "- A bullet with “quotes”."),
        ("item", "- --quiet: Say nothing."),
        ("heading", "See this"),
        ("code", "weir -a  \\\n  river"),
        ("table", "Name\n| Level"),
        ("paragraph", "Write to https://example.org/weir the mill"),
    ]
    assert [block.heading for block in page.blocks if block.kind is BlockKind.CODE] == [("OPTIONS", "See this")]


def test_mdoc_macros() -> None:
    """Macros may be inside a line, names are not repeated, punctuation is attached; line numbers are of the file."""
    page = parse("weir.8", MDOC.encode())
    assert page.title == "weir(8)"
    assert block_texts(page) == [
        "NAME",
        "weir — counts herons",
        "SYNOPSIS",
        "weir [-aq] [-f file | -] river ...",
        "DESCRIPTION",
        "weir counts; see mill(1), (/etc/weir) or UNIX-like systems.",
        "- -q: Be quiet, as “herons” are.",
    ]
    passages = split(page, count_tokens=lambda texts: [40 * len(text.split()) for text in texts], max_tokens=4000)
    lines = {passage.text[passage.body :]: passage.lines for passage in passages}
    assert lines["weir [-aq] [-f file | -] river ..."] == (8, 12)
    assert lines["- -q: Be quiet, as “herons” are."] == (22, 25)


def test_an_indent_follows_a_tag_only_outside_code() -> None:
    """It may also follow nothing, or nothing but blanks."""
    page = parse(
        "weir.1", b'.TH WEIR 1\n.B " "\n.RS\nCounts storks.\n.RE\n.nf\n\n.RS\nif (stork)\n.RS\ncount();\n.RE\n.fi\n'
    )
    assert blocks(page) == [("paragraph", "Counts storks."), ("code", "if (stork)\ncount();")]


def test_lookalike_names_are_read_as_plain_text() -> None:
    """One name ends in a version, and one text begins with a full stop."""
    assert parse("weir-2.1", b"Changes in 2.1: herons are counted twice.\n").media_type == "text/plain"
    assert parse("notes.7", b"...and so they went.\nHome.\n").media_type == "text/plain"
