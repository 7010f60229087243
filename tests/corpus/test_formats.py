"""Supported formats and their documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from corpus.chunking.splitter import MAX_PASSAGES, MAX_SENTENCES
from corpus.formats import (
    MAX_BYTES,
    MAX_LINES,
    MAX_PACKED_BYTES,
    MIB,
    SCRIPT,
    SUFFIXES,
    detect_format,
    format_of,
    page_label,
)
from corpus.loading.sandbox import MEMORY, PATIENCE, SECONDS
from corpus.readers.office.zip_archive import MAX_ALL, MAX_PART, MAX_PARTS
from corpus.readers.pdf.pdf import MAX_PAGES
from corpus.readers.records.mail import MAX_MESSAGES
from qa import build_index
from qa.collection.show import show
from tests.corpus.readers.samples.files import SAMPLES
from tests.encoders import BagEncoder
from tests.paths import REPOSITORY

DOCUMENTED = (REPOSITORY / "corpus" / "FORMATS.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("A.MARKDOWN", "text/markdown"),
        ("README", "text/plain"),
        ("g.PDF", "application/pdf"),
        ("g.png", None),
        ("h.md.bak", None),
        ("h.md~", None),
        ("i.nfo", "text/plain"),
        ("j.QMD.gz", "text/markdown"),
        ("k.tar.gz", None),
        ("l.pdf.gz", None),
    ],
)
def test_the_name_decides_the_format(path: str, media_type: str | None) -> None:
    file_format = format_of(path)
    assert (None if file_format is None else file_format.media_type) == media_type


@pytest.mark.parametrize(
    ("path", "data"),
    [("a/Dockerfile", b"# install\nRUN x"), ("CMakeLists.txt", b"# Build"), ("bin/backup", b"#!/bin/sh\n# Delete")],
)
def test_code_without_a_suffix_is_known_by_its_name_or_first_line(path: str, data: bytes) -> None:
    """Its comments are no headings."""
    assert detect_format(path, data) is SCRIPT
    assert detect_format(f"{path}.md", data) is not SCRIPT


def test_every_suffix_is_documented() -> None:
    """So is the word for its numbered parts in citations."""
    rows = [line.split(" | ") for line in DOCUMENTED.splitlines() if line.startswith("| `.")]
    citations = {suffix: row[2] for row in rows for suffix in re.findall(r"\.\w+", row[0])}
    assert set(citations) == set(SUFFIXES) - {""}
    for suffix, cited in citations.items():
        file_format = format_of(f"a{suffix}")
        assert file_format is not None
        assert not file_format.page or suffix == ".eml" or f", {page_label(f'a{suffix}')} " in cited


@pytest.mark.parametrize(
    "limit",
    [
        f"HTML | {MAX_BYTES // MIB} MiB |",
        f"mail | {MAX_PACKED_BYTES // MIB} MiB |",
        f"| {MAX_BYTES // MIB} Mi characters, {MAX_LINES:,} lines |",
        f"| lines of a text file | {MAX_LINES:,} |",
        f"| {MAX_PASSAGES:,}; {MAX_SENTENCES:,} |",
        f"| {MAX_PAGES:,}; {MAX_MESSAGES:,} |",
        f"| {MAX_PARTS:,}; {MAX_PART // MIB} MiB; {MAX_ALL // MIB} MiB |",
        f"| {SECONDS} s; {PATIENCE} s; {MEMORY // MIB // 1024} GiB |",
    ],
)
def test_every_limit_is_documented(limit: str) -> None:
    assert limit in DOCUMENTED


def test_documented_commands_show_extracted_text(tmp_path: Path) -> None:
    places = [*map("".join, re.findall(r"^\$ qa show (?:\"(.*?)\"|(\S+))", DOCUMENTED, re.MULTILINE))]
    assert len(places) == 4
    for sample in SAMPLES:
        if any(place.startswith(sample.path) for place in places):
            (tmp_path / sample.path).write_bytes(sample.data)
    build_index(tmp_path, encoder=BagEncoder())
    for place in places:
        assert any(text for _, text in show(tmp_path, place).lines), place
