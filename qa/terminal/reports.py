"""Terminal output other than answers: what a build did, the state of an index, a place in a document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from corpus import SETTINGS_FILE
from qa.answer.display import count, format_size
from qa.answer.results import State
from qa.terminal.answers import BOLD, DIM, WARN, Places, TerminalStyle, first_few
from qa.terminal.text import clean, clean_name, clean_rows

if TYPE_CHECKING:
    from corpus import SkippedFile
    from index import BuildReport
    from qa.answer.results import Correction
    from qa.collection.check import CheckReport
    from qa.collection.listing import ListedFile
    from qa.collection.named_files import Remembered
    from qa.collection.show import View
    from qa.collection.status import Status
    from qa.collection.watch import Update


def render_build(report: BuildReport, style: TerminalStyle) -> str:
    """Return what a build did in one or two lines, and a line for each reason why files were skipped."""
    size = describe_size(report.documents, report.passages)
    changed = report.changed + report.removed
    if not (report.added or changed or report.embedded):
        lines = [f"Up to date: {size}"]
    elif changed or (report.added and report.unchanged):
        lines = [f"{_count_changes(report)} ({size}) in {format_duration(report.seconds)}"]
    else:
        files = count(report.added + report.unchanged, "file")
        lines = [f"Indexed {files} ({size}) in {format_duration(report.seconds)}"]
    if report.embedded and report.reused:
        lines.append(f"{count(report.embedded, 'passage')} embedded, {report.reused:,} reused")
    return "\n".join([*lines, *_detail_lines(report, style)]) + "\n"


def render_choice(
    before: Remembered, now: Remembered, *, include: Sequence[str] | None, exclude: Sequence[str] | None, is_part: bool
) -> str:
    """Return how earlier builds limit a build and how to clear that, and what it no longer leaves out; "" if nothing.

    Args:
        before: What was remembered before the build.
        now: What is now.
        include: The patterns of the command line; None for none.
        exclude: The same.
        is_part: Whether paths were named.
    """
    lines = []
    options = (("--include", now.include, include), ("--exclude", now.exclude, exclude))
    if reused := [(option, used) for option, used, new in options if used and new is None]:
        words = " and ".join(f"{option} {' '.join(map(clean_name, used))}" for option, used in reused)
        clear = " ".join(f"{option} ''" for option, _ in reused)
        lines.append(f"As in earlier builds: {words} (to clear: {clear})")
    if now.paths and not is_part:
        lines.append(f"Limited to {_few_patterns(now.paths)} (for all of it: paths = [] in {SETTINGS_FILE})")
    if readmitted := [pattern for pattern in before.exclude if pattern not in now.exclude]:
        lines.append(f"No longer left out: {_few_patterns(readmitted)}")
    return "\n".join(lines)


def render_listing(files: Sequence[ListedFile], style: TerminalStyle, places: Places) -> str:
    """Return a table of indexed files."""
    lines = [style.paint("Passages  Documents  File", BOLD)]
    for file in files:
        state = "" if file.state == "unchanged" else f"  {style.paint(f'! {file.state}', WARN)}"
        lines.append(f"{file.passages:>8,}  {file.documents:>9,}  {clean_name(places(file.path))}{state}")
    return "\n".join(lines) + "\n"


def render_preview(report: BuildReport, style: TerminalStyle) -> str:
    """Return what a build would do."""
    line = f"Dry run: {_count_changes(report) or 'nothing to do'}. Nothing was written."
    return "\n".join([line, *_detail_lines(report, style)]) + "\n"


def render_unreadable(report: BuildReport, style: TerminalStyle) -> str:
    """Return which files and folders could not be read, and why; "" if all could."""
    return "\n".join(_skipped_lines([file for file in report.skipped if file.unreadable], style))


def render_changes(report: BuildReport) -> str:
    """Return what was indexed before an answer; "" if nothing had changed."""
    changes = _count_changes(report)
    return f"Index updated: {changes}\n" if changes else ""


def render_update(update: Update, style: TerminalStyle) -> str:
    """Return an update as one line, however many files changed."""
    time = style.paint(f"{update.at:%H:%M:%S}", DIM)
    report = update.report
    if report is None:
        return f"{time}  {style.paint('update failed', WARN)}: {clean_name(update.problem)}\n"
    events = [
        clean_name(f"{event.path} {event.kind.value}{f' ({event.reason})' if event.reason else ''}")
        for event in update.events
    ]
    embedded = f"{count(report.embedded, 'passage')} embedded, " if report.embedded else ""
    return f"{time}  {first_few(events, 3)}: {embedded}{report.seconds:.2f} s\n"


def render_corrections(corrections: Sequence[Correction], prefix: str) -> str:
    """Return which words were replaced for the search; "" if none were."""
    return "".join(
        f'{prefix}No passage contains "{clean(correction.word)}"; searched for "{correction.searched}"\n'
        for correction in corrections
    )


def _count_changes(report: BuildReport) -> str:
    """Return how many files changed: "2 files added, 1 changed"; "" if none did."""
    return _join_counts(((report.added, "added"), (report.changed, "changed"), (report.removed, "removed")))


def _join_counts(counts: Iterable[tuple[int, str]]) -> str:
    parts = [(number, kind) for number, kind in counts if number]
    return ", ".join(
        f"{number:,} {kind}" if at else f"{count(number, 'file')} {kind}" for at, (number, kind) in enumerate(parts)
    )


def describe_size(documents: int, passages: int) -> str:
    """Return how much an index has: "3 documents, 142 passages"."""
    return f"{count(documents, 'document')}, {count(passages, 'passage')}"


def _detail_lines(report: BuildReport, style: TerminalStyle) -> list[str]:
    """Return what was skipped or left out, and notes on files: one line per reason, the most frequent first."""
    notes = ((note.text, note.path) for note in report.notes)
    left_out = first_few([f"{clean_name(kind)} ({number:,})" for kind, number in report.left_out], len(report.left_out))
    return [
        *_skipped_lines(report.skipped, style),
        *([f"Left out: {left_out}"] if left_out else []),
        *_group_by_reason("Notes:", notes, style),
    ]


def _skipped_lines(files: Sequence[SkippedFile], style: TerminalStyle) -> list[str]:
    # Details in brackets, such as a size, are left out of reasons that differ only in them.
    short = {file.reason: re.sub(r" \([^()]*\)", "", file.reason) for file in files}
    uses = Counter(short.values())
    reasons = ((short[file.reason] if uses[short[file.reason]] > 1 else file.reason, file.path) for file in files)
    return _group_by_reason(f"Skipped {count(len(files), 'file')}:", reasons, style)


def _group_by_reason(head: str, items: Iterable[tuple[str, str]], style: TerminalStyle) -> list[str]:
    groups: dict[str, list[str]] = {}
    for reason, path in items:
        groups.setdefault(clean_name(reason), []).append(clean_name(path))
    lines = [head] if groups else []
    for reason, paths in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        number = f" ({len(paths):,})" if len(paths) > 1 else ""
        lines.append(style.fit(f"- {reason}{number}: {first_few(paths, 3)}", indent="  "))
    return lines


def format_duration(seconds: float) -> str:
    """Return a time span in words."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds_left = divmod(round(seconds), 60)
    return f"{minutes} min {seconds_left} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def render_view(view: View, style: TerminalStyle, places: Places) -> str:
    """Return the numbered lines at and around a location, or a whole text."""
    if view.requested is None:
        return "".join(row + "\n" for _, line in view.lines for row in clean_rows(line))
    first, end = view.requested
    path = style.paint(clean_name(places(view.path)), BOLD)
    if not view.stored:
        path = style.link(path, places.url(view.path))
    lines = [f"{path}  {style.paint(describe_view_state(view), DIM if view.state is State.VERIFIED else WARN)}"]
    width = max((len(str(number)) for number, _ in view.lines if number is not None), default=0)
    for at, (number, text) in enumerate(view.lines):
        marked, label = first <= at < end, f"{'' if number is None else number:>{width}}"
        for row in clean_rows(text):
            shown = style.paint(row, BOLD) if marked else row
            lead = f"{'>' if marked else ' '} {label}" + ("  " if width else "")
            lines.append(lead + shown if row else lead.rstrip(" "))
            label = " " * width
    return "\n".join(lines) + "\n"


_MISSING_FILE: dict[State | None, str] = {
    State.MISSING: "the file is missing",
    State.UNCHECKED: "its file is not on this machine, or cannot be read",
}


def describe_view_state(view: View) -> str:
    """Return in words whether the text shown is still what was indexed."""
    if view.stored:
        return f"{_MISSING_FILE.get(view.state, 'no longer in the file')}; this is the indexed text"
    if view.state is None:
        return "not in the index"
    return "as indexed" if view.state is State.VERIFIED else "changed since it was indexed"


def render_status(status: Status, style: TerminalStyle) -> str:
    """Return the state of an index."""
    info = status.info
    facts = (
        ("Index", f"{clean_name(status.place)} ({format_size(status.bytes)})"),
        ("Documents", f"{info.documents:,}"),
        ("Passages", f"{info.passages:,}"),
        ("Model", clean_name(info.model)),
        ("Generation", f"{info.generation:,}"),
        ("Only", _few_patterns((*info.paths, *info.include))),
        ("Left out", _few_patterns(info.exclude)),
        ("Settings", clean_name(status.settings)),
        ("Changes", _pending_changes(status)),
    )
    lines = [f"{style.paint(f'{name:<12}', DIM)}{value}" for name, value in facts if value]
    lines.extend(f"{'':<12}{kind:<8}  {clean_name(path)}" for kind, path in status.examples)
    if status.changes or status.settings:
        first = "correct the settings, then: " if status.is_invalid else ""
        lines.append(f"To update: {first}{clean_name(status.command)}")
    lines.extend(_skipped_lines(status.skipped, style))
    return "\n".join(lines) + "\n"


def _few_patterns(patterns: Sequence[str]) -> str:
    return first_few([clean_name(pattern) for pattern in patterns], 10)


def _pending_changes(status: Status) -> str:
    if status.problem:
        return f"unknown: {clean_name(status.problem)}"
    counts = ((status.added, "added"), (status.changed, "may have changed"), (status.removed, "removed"))
    parts = _join_counts((len(paths), kind) for paths, kind in counts)
    if not parts:
        return "none since the last build"
    return parts + (f" (the first {len(status.examples)}):" if len(status.examples) < status.changes else ":")


def render_check(report: CheckReport, style: TerminalStyle) -> str:
    """Return the message that an index is intact, after what was repaired."""
    size = describe_size(report.documents, report.passages)
    intact = f"{clean_name(report.place)} is intact: {size}; all checksums match\n"
    rebuilt = "" if report.rebuilt is None else render_build(report.rebuilt, style)
    if not report.problems:
        return rebuilt + intact
    # Without the advice to repair them.
    problems = "".join(
        f"- {clean_name(problem.partition(' Run `qa check --repair`')[0])}\n" for problem in report.problems
    )
    return f"Found damage:\n{problems}Repaired: {report.kind.value}\n{rebuilt}{intact}"
