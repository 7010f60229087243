"""Writes what readers extract from the samples, to be reviewed: `python -m tests.corpus.readers.samples.listing`."""

from __future__ import annotations

from pathlib import Path

from corpus.loading.load import parse
from corpus.loading.sandbox import Sandbox
from corpus.types import Document
from tests.corpus.readers.samples.files import SAMPLES

EXPECTED = Path(__file__).parent / "expected"


def listing(document: Document) -> str:
    """Title, records, text, and a line for each block: page, headings, kind, first and last characters."""
    lines = [f"title: {document.title}", f"type: {document.media_type}", f"note: {document.note}", "--- text"]
    lines[3:3] = [f"record: {record.start} {record.title!r}" for record in document.records]
    lines += [document.text, "--- blocks"]
    for block in document.blocks:
        text = document.text[block.start : block.end]
        ends = text if len(text) <= 40 else f"{text[:20]} … {text[-15:]}"
        page = document.page_of(block.start)
        where = " › ".join(block.heading)
        lines.append(f"{'' if page is None else f'p. {page} '}{block.kind} {block.depth} [{where}] {ends!r}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    EXPECTED.mkdir(exist_ok=True)
    with Sandbox() as sandbox:
        for sample in SAMPLES:
            found = listing(parse(sample.path, sample.data, sandbox=sandbox))
            (EXPECTED / f"{sample.path}.txt").write_text(found, encoding="utf-8", newline="\n")
