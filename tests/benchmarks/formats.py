"""How fast each reader is, and which share of a build is spent in reading.

    python -m tests.benchmarks.formats [FOLDER...] [--megabytes 1] [--out FILE.json]

For each format a file of about so many million characters of text is made out of its sample (records, chapters,
slides or pages come again and again) and read as a build reads it, three times; the median counts. The files of each
FOLDER are read and then indexed with the default model in a copy of the folder, and the seconds of both are given;
a build reads ahead while it embeds.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus.discovery.walk import walk
from corpus.errors import Unreadable
from corpus.loading.load import parse
from corpus.loading.prefetch import load_all
from corpus.loading.sandbox import Sandbox
from corpus.readers.source.grammars import edition
from qa import build_index
from tests.benchmarks.common import copied, machine, parser
from tests.corpus.readers.samples import archives, pdf
from tests.corpus.readers.samples.files import GUIDE, NOTEBOOK, PAGE, PROGRAM, SAMPLES, SCRIPT, SOURCE

RUNS = 3
_WORDS = "The grey heron stands for hours in shallow water, and its patience is proverbial among those who fish there. "
_BY_PATH = {sample.path: sample.data for sample in SAMPLES}


def _pdf(count: int) -> bytes:
    page = [line for part in range(3) for line in pdf.column(60, 720 - 220 * part, _WORDS * 12, room=480)]
    return pdf.make([page] * count)


def _docx(count: int) -> bytes:
    return archives.docx(archives.word_paragraph("Herons", style="Ue1") + archives.word_paragraph(_WORDS * 4) * count)


def _notebook(count: int) -> bytes:
    book = json.loads(NOTEBOOK)
    return json.dumps(book | {"cells": book["cells"] * count}).encode()


# A file of so many of its parts.
def _boats(n: int) -> list[list[str | float]]:
    rows: list[list[str | float]] = [["Name", "Oars"]]
    rows += [["Möwe", 4.0] for _ in range(n)]
    return rows


LARGE: dict[str, Callable[[int], bytes]] = {
    "notes.txt": lambda n: f"Herons in winter\n\n{_WORDS * 8}\n\n- oars\n- boats\n\n".encode() * n,
    "notes.md": lambda n: f"# Herons\n\n{_WORDS * 8}\n\n- oars\n- boats\n\n## In winter\n\n{_WORDS}\n\n".encode() * n,
    "weirs.rst": lambda n: GUIDE.encode() * n,
    "paper.pdf": _pdf,
    "page.html": lambda n: PAGE.replace("</main>", (PAGE.partition("<main>")[2].partition("</main>")[0]) * n).encode(),
    "tides.ipynb": _notebook,
    "rivers.csv": lambda n: b"name;river;length km\n" + "Müglitz;Elbe;49\n".encode() * n,
    "census.jsonl": lambda n: _BY_PATH["census.jsonl"] * n,
    "papers.bib": lambda n: _BY_PATH["papers.bib"] * n,
    "weirs.tex": lambda n: (SOURCE.partition(r"\end{document}")[0] + SOURCE.partition(r"\maketitle")[2] * n).encode(),
    "gauges.py": lambda n: (PROGRAM * n).encode(),
    "sluice.js": lambda n: (SCRIPT * n).encode(),
    "gauge.c": lambda n: b"/* Reads. */\nstatic int gauge(int n)\n{\n  return n * 2;\n}\n\n" * n,
    "oars.mbox": lambda n: _BY_PATH["oars.mbox"] * n,
    "swans.docx": _docx,
    "talk.pptx": lambda n: archives.pptx([("Kingfishers", [(0, _WORDS * 3)], "Notes.")] * n),
    "boats.xlsx": lambda n: archives.xlsx({"Boats": _boats(n)}),
    "ice.odt": lambda n: archives.open_document(f"<text:p>{_WORDS * 4}</text:p>" * n),
    "ferry.epub": lambda n: archives.epub([f"<h1>The Ferry</h1>{f'<p>{_WORDS * 4}</p>' * 20}"] * n),
}


def _grown(path: str, make: Callable[[int], bytes], size: float, sandbox: Sandbox) -> bytes:
    """A file of about so many characters of text: that of an archive says little of what is in it."""
    few = 16
    text = parse(path, make(few), sandbox=sandbox).text
    return make(max(few, round(few * size / len(text))))


def speeds(megabytes: float) -> list[dict[str, Any]]:
    """Read a large file of each format; say a line of each."""
    found = []
    with Sandbox(seconds=120) as sandbox:
        sandbox.read("warm.tsv", b"a\tb\n1\t2\n")
        for path, make in LARGE.items():
            taken, text = [], ""
            try:
                data = _grown(path, make, megabytes * 1e6, sandbox)
                for _ in range(RUNS):
                    begun = time.perf_counter()
                    text = parse(path, data, sandbox=sandbox).text
                    taken.append(time.perf_counter() - begun)
            except Unreadable as error:
                found.append({"file": path, "refused": error.reason})
            else:
                found.append(_speed(path, data, text, statistics.median(taken)))
            _say(found[-1])
    return found


def _speed(path: str, data: bytes, text: str, seconds: float) -> dict[str, Any]:
    return {
        "file": path,
        "megabytes": round(len(data) / 1e6, 3),
        "megacharacters": round(len(text) / 1e6, 3),
        "seconds": round(seconds, 3),
        "megabytes_a_second": round(len(data) / 1e6 / seconds, 2),
        "megacharacters_a_second": round(len(text) / 1e6 / seconds, 2),
    }


def share(folder: Path) -> dict[str, Any]:
    """How long a folder takes to read alone, and to index."""
    with copied(folder) as root:
        files = walk(root).files
        begun = time.perf_counter()
        count = sum(not isinstance(one.outcome, Unreadable) for one in load_all(root, files))
        reading = time.perf_counter() - begun
        begun = time.perf_counter()
        report = build_index(root)
        building = time.perf_counter() - begun
    found = {
        "folder": folder.name,
        "files": count,
        "megabytes": round(sum(file.size for file in files) / 1e6, 2),
        "passages": report.passages,
        "reading_seconds": round(reading, 2),
        "building_seconds": round(building, 2),
        "share": round(reading / building, 3),
    }
    _say(found)
    return found


def table(result: dict[str, Any]) -> str:
    """The measurement in Markdown."""
    rows = ["| format | file, MB | text, M characters | s | MB of file a second |", "|---|---:|---:|---:|---:|"]
    for one in result["readers"]:
        if "seconds" in one:
            name = Path(one["file"]).suffix
            figures = (one["megabytes"], one["megacharacters"], one["seconds"], one["megabytes_a_second"])
            rows.append(f"| `{name}` | {' | '.join(f'{figure:,.2f}' for figure in figures)} |")
    for one in result["folders"]:
        rows.append(
            f"\n`{one['folder']}`: {one['files']} files of {one['megabytes']:,} MB are read in "
            f"{one['reading_seconds']:.1f} s and indexed in {one['building_seconds']:.1f} s, "
            f"{one['passages']:,} passages: reading alone takes {one['share']:.0%} of that, while embedding goes on."
        )
    return "\n".join(rows) + "\n"


def _say(found: dict[str, Any]) -> None:
    sys.stdout.write(", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in found.items()) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the command line."""
    options = parser(__doc__)
    options.add_argument("folders", nargs="*", type=Path)
    options.add_argument("--megabytes", type=float, default=1.0)
    given = options.parse_args()
    result = {
        "machine": machine(),
        "grammars": bool(edition()),
        "readers": speeds(given.megabytes),
        "folders": [share(folder) for folder in given.folders],
    }
    if given.out is not None:
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
