"""The other things people see: what a build did or would do, the state of an index, a place in a document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qa.answer.results import State
from qa.terminal.answers import BOLD, DIM, WARN, Places, TerminalStyle, few
from qa.terminal.text import clean, clean_name, plain

if TYPE_CHECKING:
    from corpus import SkippedFile
    from index import BuildReport
    from qa.collection.check import CheckReport
    from qa.collection.show import View
    from qa.collection.status import Status
    from qa.collection.watch import Update


def build(report: BuildReport, style: TerminalStyle) -> str:
    """Write out what a build did, in two lines and one more for each reason to skip files."""
    size = f"{count(report.documents, 'document')}, {count(report.passages, 'passage')}"
    if report.added or report.changed or report.removed or report.embedded:
        lines = [
            f"{size}: {_changes(report)}, {report.unchanged:,} unchanged.",
            f"{count(report.embedded, 'text')} embedded, {report.reused:,} reused; {duration(report.seconds)}.",
        ]
    else:
        lines = [f"Up to date: {size} ({duration(report.seconds)})."]
    return "\n".join([*lines, *skipped(report.skipped, style), *_noted(report, style)]) + "\n"


def watched(update: Update, style: TerminalStyle) -> str:
    """Write out what was brought in a moment after it changed: a line, however many files changed at once."""
    at = style.paint(f"{update.at:%H:%M:%S}", DIM)
    report = update.report
    if report is None:
        return f"{at}  {style.paint('not brought up to date', WARN)}: {clean_name(update.problem)}\n"
    said = [
        clean_name(f"{change.path} {change.kind.value}{f' ({change.reason})' if change.reason else ''}")
        for change in update.changes
    ]
    embedded = f"{count(report.embedded, 'passage')} embedded, " if report.embedded else ""
    return f"{at}  {few(said, 3)}: {embedded}{report.seconds:.2f} s\n"


def refreshed(report: BuildReport, _look: TerminalStyle) -> str:
    """Write out what was brought in before an answer; "" where files were looked at and had not changed."""
    return f"Index brought up to date: {_changes(report)}.\n" if report.added + report.changed + report.removed else ""


def corrected(corrections: Sequence[tuple[str, str]], where: str) -> str:
    """Say which words were searched for in place of others; "" where none were."""
    return "".join(f'No passage has "{clean(old)}"{where}; searched for "{new}".\n' for old, new in corrections)


def preview(report: BuildReport, style: TerminalStyle) -> str:
    """Write out what a build would do."""
    line = f"A build would find {_changes(report)}, {report.unchanged:,} unchanged. Nothing was written."
    return "\n".join([line, *skipped(report.skipped, style), *_noted(report, style)]) + "\n"


def _changes(report: BuildReport) -> str:
    return f"{count(report.added, 'file')} added, {report.changed:,} changed, {report.removed:,} removed"


def count(number: int, noun: str) -> str:
    """A number of things: "1 file", "2,000 files"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def skipped(files: Sequence[SkippedFile], style: TerminalStyle) -> list[str]:
    """Write out what was left out: a line a reason, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for file in files:
        # What stands in brackets is of one file: its size, the offending byte.
        reason = re.sub(r" \([^()]*\)", "", file.reason)
        groups.setdefault(clean_name(reason), []).append(clean_name(file.path))
    return _grouped(f"Skipped {len(files):,}:", groups, style)


def _noted(report: BuildReport, style: TerminalStyle) -> list[str]:
    """Write out what should be known about files that were read, as what was skipped."""
    groups: dict[str, list[str]] = {}
    for note in report.notes:
        groups.setdefault(clean_name(note.text), []).append(clean_name(note.path))
    return _grouped("Worth knowing:", groups, style)


def _grouped(head: str, groups: dict[str, list[str]], style: TerminalStyle) -> list[str]:
    lines = [head] if groups else []
    for reason, paths in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(style.fit(plain(f"- {len(paths):,} {reason}: {few(paths, 3)}"), indent="  "))
    return lines


def build_json(report: BuildReport) -> dict[str, Any]:
    """The object that `qa index --json` prints: contract version 1."""
    return {
        "version": 1,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "skipped": [{"path": file.path, "reason": file.reason} for file in report.skipped],
        "notes": [{"path": note.path, "note": note.text} for note in report.notes],
        "documents": report.documents,
        "passages": report.passages,
        "embedded": report.embedded,
        "reused": report.reused,
        "seconds": report.seconds,
    }


def duration(seconds: float) -> str:
    """A time span as people say it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def view(found: View, style: TerminalStyle, place: Places) -> str:
    """Write out the lines around a place, each with its number, those of the place marked; or a whole text."""
    if found.marked is None:
        return "".join(clean(line) + "\n" for _, line in found.lines)
    first, last = found.marked
    where = style.paint(clean_name(place(found.path)), BOLD)
    if not found.stored:
        where = style.link(where, place.url(found.path))
    lines = [f"{where}  {style.paint(standing(found), DIM if found.state is State.VERIFIED else WARN)}"]
    width = len(str(found.lines[-1][0])) if found.lines else 1
    for number, text in found.lines:
        inside = first <= number <= last
        shown = clean(text).replace("\n", " ").rstrip()
        lines.append(
            f"{'>' if inside else ' '} {number:{width}}  {style.paint(shown, BOLD) if inside else shown}".rstrip()
        )
    return "\n".join(lines) + "\n"


def standing(found: View) -> str:
    """Whether what is shown is what was indexed, in words."""
    if found.stored:
        gone = "the file is gone" if found.state is State.MISSING else "the file no longer has this"
        return f"{gone}; this is the text that was indexed"
    match found.state:
        case State.VERIFIED:
            return "as indexed"
        case None:
            return "not in the index"
        case State.CHANGED | State.MISSING:
            return "changed since it was indexed"


def status(found: Status, style: TerminalStyle) -> str:
    """Write out the state of an index."""
    facts = (
        ("Index", f"{clean_name(str(found.folder))} ({megabytes(found.bytes)})"),
        ("Documents", f"{found.documents:,}"),
        ("Passages", f"{found.passages:,}"),
        ("Model", clean_name(found.model)),
        ("Generation", f"{found.generation:,}"),
        ("Format", f"{found.format}"),
        ("Changed", _drift(found)),
    )
    lines = [f"{style.paint(f'{name:<12}', DIM)}{value}" for name, value in facts]
    lines.extend(f"{'':<12}{kind:<8}  {clean_name(path)}" for kind, path in found.examples)
    if found.added + found.suspect + found.removed:
        lines.append(f"Bring it up to date with: {clean_name(found.command)}")
    return "\n".join(lines) + "\n"


def check(found: CheckReport, style: TerminalStyle) -> str:
    """Write out that an index is sound, and what it took."""
    fine = (
        f"{clean_name(str(found.folder))} is sound: {count(found.documents, 'document')}, "
        f"{count(found.passages, 'passage')} and their vectors hold what was written.\n"
    )
    if not found.problems:
        return fine
    cured = "".join(f"- {clean_name(problem)}\n" for problem in found.problems)
    rebuilt = "" if found.rebuilt is None else build(found.rebuilt, style)
    return f"Damaged were:\n{cured}Repaired: {found.kind.value}.\n{rebuilt}{fine}"


def _drift(found: Status) -> str:
    if found.problem:
        return f"cannot be told: {clean_name(found.problem)}"
    if not found.added + found.suspect + found.removed:
        return "nothing since it was built"
    shown = f" (the first {len(found.examples)}):" if len(found.examples) < found.drift else ":"
    return f"{found.added:,} new, {found.suspect:,} maybe changed, {found.removed:,} gone{shown}"


def megabytes(size: int) -> str:
    """Bytes on a disk as people say it."""
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size / 1e3:,.1f} kB"
