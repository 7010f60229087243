"""A file of each format with known content, a question about it, and the place of the answer."""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

from tests.corpus.readers.samples import archives, pdf, texts

HEBREW = "הנחל זורם מערבה"


@dataclass(frozen=True)
class Sample:
    """A file, a question that only this file answers, words of the answer, and the citation."""

    path: str
    data: bytes
    question: str
    answer: str
    citation: str


def paper() -> bytes:
    """Two columns under a title, words broken at line ends, running heads and page numbers, an outline."""
    head = [pdf.Words(200, 770, "Proceedings of the River Society", 8)]
    first = [
        *head,
        pdf.Words(120, 720, "On the Habits of the Grey Heron in", 18, bold=True),
        pdf.Words(190, 698, "Flooded Meadows", 18, bold=True),
        pdf.Words(60, 660, "1 Introduction", 12, bold=True),
        *pdf.column(
            60,
            640,
            "The grey heron stands for hours in shallow water, and its pati~ence is proverbial. "
            "We counted herons in the flooded mead~ows of Lößnitz through one whole winter, in state~of-the-art "
            "hides made of willow. A hide holds two people and one flask of tea.",
            room=230,
        ),
        pdf.Words(320, 660, "2 Methods", 12, bold=True),
        *pdf.column(
            320,
            640,
            "Every morning at seven two observers wrote down how many birds they saw from the northern dike, in "
            "notebooks that the rain could not harm. Counts began in November and ended in",
            room=230,
        ),
        pdf.Words(300, 30, "1", 9),
    ]
    second = [
        *head,
        *pdf.column(60, 720, "March. The largest flock had forty-two herons in it.", room=230),
        pdf.Words(60, 660, "3 Results", 12, bold=True),
        *pdf.column(60, 640, "Herons avoided the meadow whenever the otter was seen there.", room=230),
        pdf.Words(320, 720, "fed cba", hebrew=True),
        pdf.Words(300, 30, "2", 9),
    ]
    third = [
        *head,
        *pdf.column(60, 720, "The observers thank the ferryman of Blasewitz for warm soup.", room=460),
        pdf.Words(300, 30, "3", 9),
    ]
    outline = [("1 Introduction", 0), ("2 Methods", 0), ("3 Results", 1)]
    return pdf.make([first, second, third], outline=outline)


PAGE = f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>Lock keepers &amp; their dogs</title>
<style>p {{ color: red }}</style><script>var menu = "<p>Buy now</p>";</script></head>
<body><nav><a href="/">Home</a></nav><div class="sidebar">Related stories</div>
<main><h1>Lock keepers</h1><p>The lock at Übigau has a <a href="https://example.org/dog">dog named Pontus</a>.<br>
It barks at barges.<p>Unclosed paragraphs are fine.
<h2 id="wages">Wages</h2><table><tr><th>Year</th><th>Wage</th></tr><tr><td>1890</td><td>12 marks</td></tr></table>
<ul><li>Oil the gates<ul><li>in May</ul><li>Feed the dog</ul>
<pre>  gate.open()
    wait(3)</pre><p style="display: none">Secret words</p><p dir="rtl">{HEBREW}</p></main>
<footer>Copyright nobody</footer></body></html>
"""

NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "cells": [
            {"cell_type": "markdown", "source": ["# Tide tables\n", "\n", "High water comes late."]},
            {
                "cell_type": "code",
                "source": "gauge = read('Pillnitz')\ngauge.plot()",
                "outputs": [{"text": "a plot of nothing"}],
            },
            {"cell_type": "markdown", "source": "## Finding\n\nThe gauge at Pillnitz lags by eleven minutes."},
        ],
    }
).encode()

TABLE = 'name;river;length km\nElbe;"North Sea; tidal";1094\nMüglitz;Elbe;49\n'
LINES = '{"title": "Otter census", "year": 2019, "by": {"name": "Ida"}}\n\n{"title": "Beaver census", "found": 17}\n'
OBJECT = {"name": "Birds", "items": [{"name": "Dipper", "song": "warbling"}, {"name": "Wren", "song": "loud"}]}

ENTRIES = r"""% My papers
@article{voss1998,
  author = {Voss, J{\"u}rgen and Gr\"un, Ida},
  title = {The {Dipper} under Ice},
  year = 1998,
  journal = {Annals of Streams},
}

@book{lang2001, title = "Weirs", author = "Lang, P.", year = 2001}
"""

SOURCE = r"""\documentclass{article} % of no interest
\title{Weirs and \emph{Salmon}}
\newcommand{\x}{y}
\begin{document}
\maketitle
\begin{abstract}
Salmon climb weirs.
\end{abstract}
\section{Ladders}\label{sec:ladders}
A ladder needs steps of \textbf{thirty} centimetres~\cite{voss1998}, says Gr\"un. % not 40
The flow is $Q = A v$.
\begin{equation}
  h = \frac{v^2}{2 g} \label{eq:h}
\end{equation}
\subsection{Materials}
\begin{itemize}
\item Oak --- the best
\item Larch
\end{itemize}
\end{document}
"""

GUIDE = """=============
Weirs & locks
=============

A `chart <https://example.org>`_ of
the Übigau reach hangs in the office.

Gates
=====

They are of oak.

.. py:function:: turn(teeth: int)
   :noindex:

   Turns the ``rack`` by notches.

   :param teeth: how many
"""

PROGRAM = '''"""Reads gauges."""

import math


class Gauge:
    """A gauge at a weir."""

    def level(self, raw: float) -> float:
        """The level in metres above the sill."""
        return raw / 100 - 0.35


def mean(values):
    # Of no values it is zero.
    return sum(values) / max(1, len(values))
'''


def letter(subject: str, body: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ida Grün <ida@example.org>"
    message["To"] = "Pontus <pontus@example.org>"
    message["Date"] = "Fri, 21 Nov 2025 10:00:00 +0100"
    message["Subject"] = subject
    message.set_content(body)
    return message


def letter_with_parts() -> bytes:
    message = letter("Die Brücke ist gesperrt", "Take the ferry instead.\n\nIt leaves at noon.\n\n-- \nIda")
    message.add_alternative("<p>Take the <b>ferry</b> instead.</p>", subtype="html")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="fähre.pdf")
    message.set_boundary("part")
    next(message.iter_parts()).set_boundary("form")
    return message.as_bytes()


def mailbox() -> bytes:
    letters = [
        letter("Lost oar", "An ash oar was found at the jetty."),
        letter("Re: Lost oar", "It is mine.\n>From the blue boat.\n"),
    ]
    return b"".join(b"From ida Fri Nov 21 10:00:00 2025\n" + message.as_bytes() + b"\n" for message in letters)


def document() -> bytes:
    body = archives.word_paragraph("Swans", style="Ue1") + archives.word_paragraph("Swans hiss at kayaks near Torgau.")
    body += archives.word_paragraph("Moult", style="Mine") + archives.word_paragraph("In July.", depth=0)
    body += archives.word_paragraph("Then they cannot fly.", depth=1)
    body += archives.word_table(("Month", "Swans"), ("July", "63"))
    body += "<w:p><w:del><w:r><w:t>Gone.</w:t></w:r></w:del><w:r><w:t>Kept</w:t><w:tab/><w:t>words. </w:t></w:r></w:p>"
    body += '<w:p><w:r><w:t>In spring.</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    notes = "<w:footnote w:id='2'><w:p><w:r><w:t>Counted by boat.</w:t></w:r></w:p></w:footnote>"
    return archives.docx(body + archives.word_paragraph(HEBREW), title="Swan report", notes=notes)


def slides() -> bytes:
    return archives.pptx(
        [
            ("Kingfishers", [(0, "They dive"), (1, "at dawn")], ""),
            ("Nests", [(0, "A tunnel of ninety centimetres"), (0, "Fish bones")], "Mention the smell."),
        ],
        title="Kingfisher talk",
    )


def workbook() -> bytes:
    return archives.xlsx(
        {
            "Boats": [["Name", "Oars", "Launched"], ["Möwe", 4, 45982], ["Reiher", 2.5, ""]],
            "Rents": [["Street", "Rent"], ["Quay 7", 310]],
        },
        dates=frozenset({2}),
    )


def open_text() -> bytes:
    return archives.open_document(
        '<text:h text:outline-level="1">Ice</text:h><text:p>The river<text:s/>froze in<text:tab/>1929.<text:note>'
        "<text:note-body><text:p>Twice.</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>Skates</text:p><text:list><text:list-item><text:p>of bone</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>Year</text:p></table:table-cell><table:table-cell>"
        "<text:p>Ice, cm</text:p></table:table-cell></table:table-row></table:table>",
        title="Ice years",
    )


def open_workbook() -> bytes:
    """Dates, merged and repeated cells, a note that is not a value, a million blank rows, and a table below them."""

    def row(*cells: tuple[str, str]) -> str:
        filled = "".join(f"<table:table-cell{more}><text:p>{text}</text:p></table:table-cell>" for text, more in cells)
        return f'<table:table-row>{filled}<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'

    date = "21.11.", ' office:date-value="2025-11-21T00:00:00"'
    rows = row(("Fish", ""), ("Kilos", ""), ("Caught", "")) + row(("Zander", ""), ("4,5", ""), date)
    blank = '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row>'
    last = (
        "<table:table-row><table:table-cell><office:annotation><text:p>Ask Ida.</text:p></office:annotation>"
        "<text:p>Eel</text:p></table:table-cell><table:covered-table-cell/>"
        '<table:table-cell table:number-columns-repeated="2"><text:p>none</text:p></table:table-cell></table:table-row>'
    )
    body = f'<table:table table:name="Catches">{rows}{blank}{last}</table:table>'
    return archives.open_document(body, kind="spreadsheet")


def open_slides() -> bytes:
    def frame(kind: str, body: str) -> str:
        return f'<draw:frame presentation:class="{kind}"><draw:text-box>{body}</draw:text-box></draw:frame>'

    def items(*lines: str) -> str:
        elements = "".join(f"<text:list-item><text:p>{line}</text:p></text:list-item>" for line in lines)
        return f"<text:list>{elements}</text:list>"

    first = frame("outline", items("Of hemp", "Of wire")) + frame("title", "<text:p>Mooring lines</text:p>")
    notes = frame("notes", "<text:p>Show the frayed one.</text:p>") + frame("page-number", "<text:p>1</text:p>")
    second = (
        "<draw:custom-shape><text:p>A bowline holds eleven tons.</text:p></draw:custom-shape>"
        "<draw:g><draw:rect><text:p>A hitch slips.</text:p></draw:rect></draw:g>"
    )
    pages = (
        f"{first}<presentation:notes>{notes}</presentation:notes>",
        frame("title", "<text:p>Knots</text:p>") + second,
    )
    body = "".join(f"<draw:page>{page}</draw:page>" for page in pages)
    return archives.open_document(body, kind="presentation", title="Mooring")


RICH = rb"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}
{\stylesheet{\s1\outlinelevel0 heading 1;}}{\info{\title The winch book}}
\pard\s1\outlinelevel0 Winches\par
\pard\plain Winches of iron are greased with tallow \u8212- na\'efve, but \b cheap\b0 .\par
\pard\s2\outlinelevel1 Crews\par
\pard\plain{\listtext\'95\tab}Each crew has four women\par
\pard\plain{\listtext\'95\tab}The cook is one of them\par
\trowd\cellx100\cellx200\intbl\s1\outlinelevel0 Year\cell Winches\cell\row
\trowd\cellx100\cellx200\intbl 1902\cell 37\cell\row
\pard\plain They rust{\super\chftn}{\footnote\pard\plain{\super\chftn} Unless \{oiled\}.} in winter.\par
}"""
# Saved with LibreOffice from our own texts.
LEGACY = {file.stem: lzma.decompress(file.read_bytes()) for file in (Path(__file__).parent / "legacy").iterdir()}


def book() -> bytes:
    chapters = [
        "<html><head><title>x</title></head><body><h1>The Ferry</h1><p>The ferryman hummed &amp; rowed.</p></body>",
        f"<html><body><h1>The Storm</h1><p>Lightning split the poplar.</p><p>{HEBREW}</p></body></html>",
    ]
    return archives.epub(chapters, title="Stories of the Ferry")


SAMPLES = (
    Sample("paper.pdf", paper(), "How many herons were in the largest flock?", "forty-two", "paper.pdf, p. 2"),
    Sample("page.html", PAGE.encode(), "Which dog at the lock at Übigau barks at barges?", "Pontus", "page.html:4-5"),
    Sample("tides.ipynb", NOTEBOOK, "By how many minutes does the gauge lag?", "eleven", "tides.ipynb, cell 3"),
    Sample("rivers.csv", TABLE.encode("cp1252"), "How long is the Müglitz in km?", "49", "rivers.csv, row 3"),
    Sample("lakes.tsv", b"lake\tdepth\nWeiher\t3\n", "What is the depth of the lake Weiher?", "3", "lakes.tsv, row 2"),
    Sample("census.jsonl", LINES.encode(), "What did the beaver census find?", "17", "census.jsonl, record 3"),
    Sample("birds.json", json.dumps(OBJECT).encode(), "Which song has the dipper?", "warbling", "birds.json, record 2"),
    Sample("papers.bib", ENTRIES.encode(), "Who wrote about the dipper under ice?", "Voss", "papers.bib:2-6"),
    Sample("weirs.tex", SOURCE.encode(), "How many centimetres has a step of a ladder?", "thirty", "weirs.tex:9-13"),
    Sample("gauges.py", PROGRAM.encode(), "level in metres above the sill", "raw / 100", "gauges.py:9-11"),
    Sample("weirs.rst", GUIDE.encode(), "What turns the rack by notches?", "notches", "weirs.rst:13-18"),
    Sample(
        "ferry.eml",
        letter_with_parts(),
        "Die Brücke ist gesperrt: what leaves when instead?",
        "noon",
        "ferry.eml § Die Brücke ist gesperrt › Ida Grün <ida@example.org> to Pontus, 2025-11-21",
    ),
    Sample("oars.mbox", mailbox(), "Where was the ash oar found?", "jetty", "oars.mbox, message 1"),
    Sample("swans.docx", document(), "What do swans hiss at?", "kayaks", "swans.docx § Swans"),
    Sample("talk.pptx", slides(), "Nests: a tunnel of how many centimetres?", "ninety", "talk.pptx, slide 2"),
    Sample("boats.xlsx", workbook(), "How many oars has the Möwe?", "4", "boats.xlsx, sheet 1"),
    Sample("ice.odt", open_text(), "When did the river freeze?", "1929", "ice.odt § Ice"),
    Sample("catch.ods", open_workbook(), "When was the zander caught?", "2025-11-21", "catch.ods, sheet 1"),
    Sample("moor.odp", open_slides(), "How many tons holds a bowline?", "eleven", "moor.odp, slide 2"),
    Sample("winch.rtf", RICH, "What are winches of iron greased with?", "tallow", "winch.rtf § Winches"),
    Sample("rafts.doc", LEGACY["rafts.doc"], "With what are rafts of spruce bound?", "hazel", "rafts.doc § Rafts"),
    Sample(
        "levies.xls", LEGACY["levies.xls"], "What is the toll of the Augustus bridge?", "5.5", "levies.xls, sheet 1"
    ),
    Sample("pegs.ppt", LEGACY["pegs.ppt"], "How much does the mallet weigh?", "two pounds", "pegs.ppt, slide 2"),
    Sample("ferry.epub", book(), "What did lightning split?", "poplar", "ferry.epub § The Storm"),
    *(Sample(path, text.encode(), *question) for path, text, question in (*texts.NOTES, *texts.MARKED_UP)),
)

FILES = {sample.path: sample.data for sample in SAMPLES}
FILES |= {path: text.encode() for path, (text, _) in texts.PROGRAMS.items()}
