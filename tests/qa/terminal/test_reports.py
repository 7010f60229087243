"""Numbers as people read them."""

from __future__ import annotations

from corpus.discovery.walk import SkippedFile
from index.update.report import BuildReport
from qa.terminal.answers import TerminalStyle
from qa.terminal.reports import build, count, duration, megabytes, refreshed


def _report(
    *, added: int = 0, embedded: int = 0, seconds: float = 1.25, skipped: tuple[SkippedFile, ...] = ()
) -> BuildReport:
    return BuildReport(added, 0, 0, 5, skipped, 1, 1234, embedded, 7, seconds)


def test_duration() -> None:
    """Seconds, minutes, hours."""
    assert [duration(s) for s in (0.04, 59.94, 125, 7260)] == ["0.0 s", "59.9 s", "2 min 5 s", "2 h 1 min"]


def test_counts_and_sizes() -> None:
    """One of a thing is one; sizes are in the unit that fits."""
    assert [count(n, "file") for n in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]
    assert [megabytes(n) for n in (500, 99_999, 12_345_678)] == ["0.5 kB", "100.0 kB", "12.3 MB"]


def test_build() -> None:
    """Two lines where something was done, one where nothing was; then what was skipped, by reason."""
    assert build(_report(added=1, embedded=3), TerminalStyle()) == (
        "1 document, 1,234 passages: 1 file added, 0 changed, 0 removed, 5 unchanged.\n"
        "3 texts embedded, 7 reused; 1.2 s.\n"
    )
    skipped = tuple(SkippedFile(f"{name}.md", f"larger than 256 MiB ({at} bytes)") for at, name in enumerate("ab"))
    assert build(_report(skipped=skipped), TerminalStyle()) == (
        "Up to date: 1 document, 1,234 passages (1.2 s).\nSkipped 2:\n  - 2 larger than 256 MiB: a.md, b.md\n"
    )


def test_refreshed_is_silent_about_nothing() -> None:
    """Files that were looked at and had not changed are no news."""
    assert refreshed(_report(), TerminalStyle()) == ""
    assert (
        refreshed(_report(added=2), TerminalStyle())
        == "Index brought up to date: 2 files added, 0 changed, 0 removed.\n"
    )
