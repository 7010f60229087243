"""How fast each reader is, and which share of a build is spent in reading.

    python -m tests.benchmarks.formats [FOLDER] [--megabytes 1]

For each format a file of about so many million characters of text is made out of its sample (records, chapters,
slides or pages come again and again) and read in the worker process, three times; the median counts. With FOLDER, its
files are read and then indexed with the default model in a copy of the folder, and the seconds of both are given.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from corpus.ahead import read_all
from corpus.discover import walk
from corpus.files import Unreadable
from corpus.load import parse
from corpus.worker import Limits, Worker
from qa import build_index
from tests.formats import packed, pdf
from tests.formats.samples import NOTEBOOK, PAGE, PROGRAM, SAMPLES, SCRIPT, SOURCE

_WORDS = "The grey heron stands for hours in shallow water, and its patience is proverbial among those who fish there. "
_BY_PATH = {sample.path: sample.data for sample in SAMPLES}


def _pdf(count: int) -> bytes:
    page = [line for part in range(3) for line in pdf.column(60, 720 - 220 * part, _WORDS * 12, room=480)]
    return pdf.make([page] * count)


def _docx(count: int) -> bytes:
    return packed.docx(packed.word_paragraph("Herons", style="Ue1") + packed.word_paragraph(_WORDS * 4) * count)


def _notebook(count: int) -> bytes:
    book = json.loads(NOTEBOOK)
    return json.dumps(book | {"cells": book["cells"] * count}).encode()


# A file of so many of its parts.
def _boats(n: int) -> list[list[str | float]]:
    rows: list[list[str | float]] = [["Name", "Oars"]]
    rows += [["Möwe", 4.0] for _ in range(n)]
    return rows


LARGE: dict[str, Callable[[int], bytes]] = {
    "paper.pdf": _pdf,
    "page.html": lambda n: PAGE.replace("</main>", (PAGE.partition("<main>")[2].partition("</main>")[0]) * n).encode(),
    "tides.ipynb": _notebook,
    "rivers.csv": lambda n: b"name;river;length km\n" + "Müglitz;Elbe;49\n".encode() * n,
    "census.jsonl": lambda n: _BY_PATH["census.jsonl"] * n,
    "papers.bib": lambda n: _BY_PATH["papers.bib"] * n,
    "weirs.tex": lambda n: (SOURCE.partition(r"\end{document}")[0] + SOURCE.partition(r"\maketitle")[2] * n).encode(),
    "gauges.py": lambda n: (PROGRAM * n).encode(),
    "sluice.js": lambda n: (SCRIPT * n).encode(),
    "oars.mbox": lambda n: _BY_PATH["oars.mbox"] * n,
    "swans.docx": _docx,
    "talk.pptx": lambda n: packed.pptx([("Kingfishers", [(0, _WORDS * 3)], "Notes.")] * n),
    "boats.xlsx": lambda n: packed.xlsx({"Boats": _boats(n)}),
    "ice.odt": lambda n: packed.odt(f"<text:p>{_WORDS * 4}</text:p>" * n),
    "ferry.epub": lambda n: packed.epub([f"<h1>The Ferry</h1>{f'<p>{_WORDS * 4}</p>' * 20}"] * n),
}


def _grown(path: str, make: Callable[[int], bytes], size: float, worker: Worker) -> bytes:
    """A file of about so many characters of text: that of an archive says little of what is in it."""
    few = 16
    text = parse(path, make(few), worker=worker).text
    return make(max(few, round(few * size / len(text))))


def speeds(megabytes: float) -> None:
    """Print a line a format."""
    with Worker(Limits(seconds=120)) as worker:
        worker.read("warm.tsv", b"a\tb\n1\t2\n")
        for path, make in LARGE.items():
            taken = []
            text = ""
            try:
                data = _grown(path, make, megabytes * 1e6, worker)
                for _ in range(3):
                    begun = time.perf_counter()
                    text = parse(path, data, worker=worker).text
                    taken.append(time.perf_counter() - begun)
            except Unreadable as error:
                sys.stdout.write(f"{path}: {error.reason}\n")
                continue
            seconds = statistics.median(taken)
            sys.stdout.write(
                f"{path}: {len(data) / 1e6:.2f} MB, {len(text) / 1e6:.2f} M characters of text, {seconds:.2f} s: "
                f"{len(data) / 1e6 / seconds:.2f} MB/s of file, {len(text) / 1e6 / seconds:.2f} of text\n"
            )


def share(folder: Path) -> None:
    """Print how long a folder takes to read and to index."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "copy"
        shutil.copytree(folder, root, ignore=shutil.ignore_patterns(".qa"))
        files = walk(root).files
        begun = time.perf_counter()
        count = sum(not isinstance(one.outcome, Unreadable) for one in read_all(root, files))
        reading = time.perf_counter() - begun
        begun = time.perf_counter()
        report = build_index(root)
        building = time.perf_counter() - begun
        size = sum(file.size for file in files) / 1e6
        sys.stdout.write(
            f"{count} files of {size:.1f} MB read in {reading:.1f} s; indexed in {building:.1f} s, "
            f"{report.passages:,} passages: reading alone is {100 * reading / building:.0f} % of that\n"
        )


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path)
    options.add_argument("--megabytes", type=float, default=1.0)
    given = options.parse_args()
    speeds(given.megabytes)
    if given.folder is not None:
        share(given.folder)


if __name__ == "__main__":
    main()
