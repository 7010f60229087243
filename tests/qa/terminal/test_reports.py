"""Reports and numbers in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from corpus.discovery.walk import SkippedFile
from index.update.report import BuildReport, Note
from qa.answer.display import count, format_size
from qa.collection.watch import EventKind, FileEvent, Update
from qa.terminal.answers import TerminalStyle
from qa.terminal.reports import format_duration, render_build, render_preview, render_update


def _report(
    *, added: int = 0, changed: int = 0, removed: int = 0, unchanged: int = 0, embedded: int = 0, reused: int = 0,
    skipped: tuple[SkippedFile, ...] = (), notes: tuple[Note, ...] = (),
) -> BuildReport:  # fmt: skip
    return BuildReport(added, changed, removed, unchanged, skipped, 9, 1234, embedded, reused, 1.25, notes)


def test_format_duration() -> None:
    assert [format_duration(s) for s in (0.04, 59.94, 125, 7260)] == ["0.0 s", "59.9 s", "2 min 5 s", "2 h 1 min"]


def test_counts_and_sizes() -> None:
    """Nouns are singular or plural; sizes have a suitable unit."""
    assert [count(n, "file") for n in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]
    assert [format_size(n) for n in (500, 99_999, 12_345_678)] == ["0.5 kB", "100.0 kB", "12.3 MB"]


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        (_report(added=5, embedded=3), "Indexed 5 files (9 documents, 1,234 passages) in 1.2 s\n"),
        (_report(unchanged=5), "Up to date: 9 documents, 1,234 passages\n"),
        (
            _report(added=1, removed=2, unchanged=5, embedded=3, reused=7),
            "1 file added, 2 removed (9 documents, 1,234 passages) in 1.2 s\n3 passages embedded, 7 reused\n",
        ),
        (_report(changed=1), "1 file changed (9 documents, 1,234 passages) in 1.2 s\n"),
        (_report(unchanged=5, embedded=1234), "Indexed 5 files (9 documents, 1,234 passages) in 1.2 s\n"),
    ],
)
def test_render_build(report: BuildReport, lines: str) -> None:
    """Reports of a first build, no changes, changes, and a new model; zeros are left out."""
    assert render_build(report, TerminalStyle()) == lines


def test_skipped_files_are_grouped_by_reason() -> None:
    """The most frequent reason comes first; details in brackets are left out only where they vary between files."""
    large = [SkippedFile(f"{name}.md", f"larger than 256 MiB ({at} bytes)") for at, name in enumerate("ab")]
    refused = [SkippedFile(f"{name}.pdf", "cannot be read: no process (Permission denied)") for name in "cde"]
    skipped = (SkippedFile("p.txt", "marked as UTF-16, but not valid (byte 7)"), *large, *refused)
    report = _report(unchanged=1, skipped=skipped, notes=(Note("c.md", "odd"),))
    assert render_build(report, TerminalStyle()).splitlines()[1:] == [
        "Skipped 6 files:",
        "  - cannot be read: no process (Permission denied) (3): c.pdf, d.pdf, e.pdf",
        "  - larger than 256 MiB (2): a.md, b.md",
        "  - marked as UTF-16, but not valid (byte 7): p.txt",
        "Notes:",
        "  - odd: c.md",
    ]


def test_render_preview() -> None:
    assert render_preview(_report(added=2, changed=1), TerminalStyle()) == (
        "Dry run: 2 files added, 1 changed. Nothing was written.\n"
    )
    assert render_preview(_report(unchanged=2), TerminalStyle()) == "Dry run: nothing to do. Nothing was written.\n"


def test_each_update_is_reported_on_one_line() -> None:
    at = datetime(2025, 1, 2, 14, 3, 22)

    def line(*events: FileEvent, embedded: int = 3, problem: str = "") -> str:
        done = None if problem else replace(_report(embedded=embedded), seconds=0.2149)
        return render_update(Update(at, events, done, problem), TerminalStyle())

    changed = FileEvent("talks/a.md", EventKind.CHANGED)
    assert line(changed) == "14:03:22  talks/a.md changed: 3 passages embedded, 0.21 s\n"
    assert line(FileEvent("b.md", EventKind.REMOVED), embedded=0) == "14:03:22  b.md removed: 0.21 s\n"
    skipped = FileEvent("x\n.pdf", EventKind.SKIPPED, "encrypted")
    assert line(skipped, embedded=0) == "14:03:22  x\\n.pdf skipped (encrypted): 0.21 s\n"
    assert line(*[changed] * 5, embedded=1).endswith("talks/a.md changed and 2 more: 1 passage embedded, 0.21 s\n")
    assert line(problem="disk\x1b full.") == "14:03:22  update failed: disk\\x1b full.\n"
