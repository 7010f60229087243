"""Terminal output other than answers: what a build did, the state of an index, a place in a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from qa.answer.display import count
from qa.answer.results import State
from qa.terminal.answers import BOLD, DIM, WARN, Places, TerminalStyle, few
from qa.terminal.text import clean, clean_name, clean_rows

if TYPE_CHECKING:
    from corpus import SkippedFile
    from index import BuildReport
    from qa.answer.results import Correction
    from qa.collection.check import CheckReport
    from qa.collection.listing import ListedFile
    from qa.collection.show import View
    from qa.collection.status import Status
    from qa.collection.watch import Update


def build(report: BuildReport, style: TerminalStyle) -> str:
    """Return what a build did in one or two lines, and one more for each reason for skipping files."""
    size = size_of(report.documents, report.passages)
    changed = report.changed + report.removed
    if not (report.added or changed or report.embedded):
        lines = [f"Up to date: {size}"]
    elif changed or (report.added and report.unchanged):
        lines = [f"{_changes(report)} ({size}) in {duration(report.seconds)}"]
    else:
        files = count(report.added + report.unchanged, "file")
        lines = [f"Indexed {files} ({size}) in {duration(report.seconds)}"]
    if report.embedded and report.reused:
        lines.append(f"{count(report.embedded, 'passage')} embedded, {report.reused:,} reused")
    return "\n".join([*lines, *_details(report, style)]) + "\n"


def remembered(
    patterns: tuple[Sequence[str], Sequence[str]], *, include: Sequence[str] | None, exclude: Sequence[str] | None
) -> str:
    """Return which patterns of earlier builds a build used, and how to clear them; "" if none."""
    given = (("--include", patterns[0], include), ("--exclude", patterns[1], exclude))
    old = [(option, used) for option, used, new in given if used and new is None]
    words = " and ".join(f"{option} {' '.join(map(clean_name, used))}" for option, used in old)
    return f"As in earlier builds: {words} (to clear: {old[0][0]} '')" if old else ""


def listing(files: Sequence[ListedFile], style: TerminalStyle, place: Places) -> str:
    """Return a table of indexed files."""
    lines = [style.paint("Passages  Documents  File", BOLD)]
    for file in files:
        state = "" if file.state == "unchanged" else f"  {style.paint(f'! {file.state}', WARN)}"
        lines.append(f"{file.passages:>8,}  {file.documents:>9,}  {clean_name(place(file.path))}{state}")
    return "\n".join(lines) + "\n"


def preview(report: BuildReport, style: TerminalStyle) -> str:
    """Return what a build would do."""
    line = f"Dry run: {_changes(report) or 'nothing to do'}. Nothing was written."
    return "\n".join([line, *_details(report, style)]) + "\n"


def unreadable(report: BuildReport, style: TerminalStyle) -> str:
    """Return which files and folders could not be read, and why; "" if all could."""
    return "\n".join(_skipped([file for file in report.skipped if file.unreadable], style))


def refreshed(report: BuildReport) -> str:
    """Return what was indexed before an answer; "" if nothing had changed."""
    changes = _changes(report)
    return f"Index updated: {changes}\n" if changes else ""


def watched(update: Update, style: TerminalStyle) -> str:
    """Return one line on an update, however many files changed at once."""
    at = style.paint(f"{update.at:%H:%M:%S}", DIM)
    report = update.report
    if report is None:
        return f"{at}  {style.paint('update failed', WARN)}: {clean_name(update.problem)}\n"
    events = [
        clean_name(f"{event.path} {event.kind.value}{f' ({event.reason})' if event.reason else ''}")
        for event in update.events
    ]
    embedded = f"{count(report.embedded, 'passage')} embedded, " if report.embedded else ""
    return f"{at}  {few(events, 3)}: {embedded}{report.seconds:.2f} s\n"


def corrected(corrections: Sequence[Correction], prefix: str) -> str:
    """Return which words were replaced for the search; "" if none were."""
    return "".join(
        f'{prefix}No passage contains "{clean(correction.word)}"; searched for "{correction.searched}"\n'
        for correction in corrections
    )


def _changes(report: BuildReport) -> str:
    """How many files changed: "2 files added, 1 changed"; "" if none did."""
    return _numbered(((report.added, "added"), (report.changed, "changed"), (report.removed, "removed")))


def _numbered(counts: Iterable[tuple[int, str]]) -> str:
    parts = [(number, what) for number, what in counts if number]
    return ", ".join(
        f"{number:,} {what}" if at else f"{count(number, 'file')} {what}" for at, (number, what) in enumerate(parts)
    )


def size_of(documents: int, passages: int) -> str:
    """Return how much an index has: "3 documents, 142 passages"."""
    return f"{count(documents, 'document')}, {count(passages, 'passage')}"


def _details(report: BuildReport, style: TerminalStyle) -> list[str]:
    """What was skipped or left out, and notes on files: one line per reason, the most frequent first."""
    notes = ((note.text, note.path) for note in report.notes)
    left_out = few([f"{clean_name(kind)} ({number:,})" for kind, number in report.left_out], len(report.left_out))
    return [
        *_skipped(report.skipped, style),
        *([f"Left out: {left_out}"] if left_out else []),
        *_grouped("Notes:", notes, style),
    ]


def _skipped(files: Sequence[SkippedFile], style: TerminalStyle) -> list[str]:
    # Details are in brackets, and left out where they differ between files: the size, the offending byte.
    short = {file.reason: re.sub(r" \([^()]*\)", "", file.reason) for file in files}
    alike = Counter(short.values())
    reasons = ((short[file.reason] if alike[short[file.reason]] > 1 else file.reason, file.path) for file in files)
    return _grouped(f"Skipped {count(len(files), 'file')}:", reasons, style)


def _grouped(head: str, items: Iterable[tuple[str, str]], style: TerminalStyle) -> list[str]:
    groups: dict[str, list[str]] = {}
    for reason, path in items:
        groups.setdefault(clean_name(reason), []).append(clean_name(path))
    lines = [head] if groups else []
    for reason, paths in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        number = f" ({len(paths):,})" if len(paths) > 1 else ""
        lines.append(style.fit(f"- {reason}{number}: {few(paths, 3)}", indent="  "))
    return lines


def duration(seconds: float) -> str:
    """Return a time span in words."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def view(found: View, style: TerminalStyle, place: Places) -> str:
    """Return the numbered lines of a location and around it, or a whole text."""
    if found.marked is None:
        return "".join(row + "\n" for _, line in found.lines for row in clean_rows(line))
    first, end = found.marked
    where = style.paint(clean_name(place(found.path)), BOLD)
    if not found.stored:
        where = style.link(where, place.url(found.path))
    lines = [f"{where}  {style.paint(view_state(found), DIM if found.state is State.VERIFIED else WARN)}"]
    width = max((len(str(number)) for number, _ in found.lines if number is not None), default=0)
    for at, (number, text) in enumerate(found.lines):
        marked, label = first <= at < end, f"{'' if number is None else number:>{width}}"
        for row in clean_rows(text):
            shown = style.paint(row, BOLD) if marked else row
            lead = f"{'>' if marked else ' '} {label}" + ("  " if width else "")
            lines.append(lead + shown if row else lead.rstrip(" "))
            label = " " * width
    return "\n".join(lines) + "\n"


_GONE: dict[State | None, str] = {
    State.MISSING: "the file is missing",
    State.UNCHECKED: "its file is not on this machine, or cannot be read",
}


def view_state(found: View) -> str:
    """Return in words whether the text shown is still what was indexed."""
    if found.stored:
        return f"{_GONE.get(found.state, 'no longer in the file')}; this is the indexed text"
    if found.state is None:
        return "not in the index"
    return "as indexed" if found.state is State.VERIFIED else "changed since it was indexed"


def status(found: Status, style: TerminalStyle) -> str:
    """Return the state of an index."""
    info = found.info
    facts = (
        ("Index", f"{clean_name(found.place)} ({megabytes(found.bytes)})"),
        ("Documents", f"{info.documents:,}"),
        ("Passages", f"{info.passages:,}"),
        ("Model", clean_name(info.model)),
        ("Generation", f"{info.generation:,}"),
        ("Only", _listed((*info.paths, *info.include))),
        ("Left out", _listed(info.exclude)),
        ("Settings", clean_name(found.settings)),
        ("Changes", _pending(found)),
    )
    lines = [f"{style.paint(f'{name:<12}', DIM)}{value}" for name, value in facts if value]
    lines.extend(f"{'':<12}{kind:<8}  {clean_name(path)}" for kind, path in found.examples)
    if found.changes or found.settings:
        first = "correct the settings, then: " if found.is_invalid else ""
        lines.append(f"To update: {first}{clean_name(found.command)}")
    lines.extend(_skipped(found.skipped, style))
    return "\n".join(lines) + "\n"


def _listed(patterns: Sequence[str]) -> str:
    return few([clean_name(pattern) for pattern in patterns], 10)


def _pending(found: Status) -> str:
    if found.problem:
        return f"unknown: {clean_name(found.problem)}"
    counts = ((found.added, "added"), (found.changed, "may have changed"), (found.removed, "removed"))
    parts = _numbered((len(paths), what) for paths, what in counts)
    if not parts:
        return "none since the last build"
    return parts + (f" (the first {len(found.examples)}):" if len(found.examples) < found.changes else ":")


def check(found: CheckReport, style: TerminalStyle) -> str:
    """Return the message that an index is intact, and what was repaired."""
    intact = f"{clean_name(found.place)} is intact: {size_of(found.documents, found.passages)}; all checksums match\n"
    rebuilt = "" if found.rebuilt is None else build(found.rebuilt, style)
    if not found.problems:
        return rebuilt + intact
    problems = "".join(f"- {clean_name(problem)}\n" for problem in found.problems)
    return f"Found damage:\n{problems}Repaired: {found.kind.value}\n{rebuilt}{intact}"


def megabytes(size: int) -> str:
    """Return a size in words: "0.5 kB", "12.3 MB"."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"
