"""Print generated strings by every printing function on a pseudo-terminal, and check that none controls it.

    python -m tests.robustness.printing --strings 10000

The only control sequences that may reach the terminal are newlines and the tool's own bold, dim, yellow and reset; no
character may reorder or hide text. JSON must be as safe, and must preserve every string exactly.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pty
import re
import subprocess
import sys
import tty
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import click

from corpus.discovery.walk import SkippedFile
from corpus.errors import DamagedIndexError, UsageError
from index.storage.metadata import Info
from index.update.report import BuildReport, Progress
from qa import locate
from qa.answer.results import Answer, Highlight, Hit, IndexInfo, Location, Result, Source, State
from qa.cli import main as command_line
from qa.cli import session
from qa.cli.errors import Boundary
from qa.collection.check import CheckReport, RepairKind
from qa.collection.show import View
from qa.collection.status import Status
from qa.collection.watch import EventKind, FileEvent, Update
from qa.terminal import answers as screen
from qa.terminal import reports
from qa.terminal.text import clean_name
from tests.paths import REPOSITORY
from tests.robustness import options
from tests.robustness.hostile_strings import forbidden_characters, strings
from tests.robustness.program import environment_without


def _hit(rank: int, text: str, other_text: str) -> Hit:
    source = Source(text, "text/markdown", (0, len(other_text)), (3, 9), None, "0" * 64, list(State)[rank % 3])
    highlights = (Highlight((0, len(other_text) // 2), other_text[: len(other_text) // 2]),)
    places = tuple(Location(path, (0, 1), (1, 1), rank) for path in (text, other_text))
    return Hit(rank, text, 0.5, f"# {text}\n\n{other_text}", text, (other_text, text), source, highlights, places)


def _result(texts: list[str]) -> Result:
    pairs = zip(texts, texts[::-1], strict=True)
    hits = tuple(_hit(rank, text, other_text) for rank, (text, other_text) in enumerate(pairs, 1))
    info = IndexInfo(1, 1, texts[0], 1)
    return Result(texts[0], texts[-1], True, 0.9, Answer("\n".join(texts), (1,)), hits, info, {})


def answers(texts: list[str]) -> None:
    place = screen.Places(Path("/notes"), Path("/notes"))
    screen.write_stdout(screen.render_result(_result(texts), screen.TerminalStyle.of(sys.stdout), place))


def _view(text: str, texts: list[str], *, complete: bool, stored: bool) -> View:
    lines = tuple(enumerate(texts, 1))
    return View(text, lines, None if complete else (1, len(texts) - 1), State.CHANGED, stored)


def views(texts: list[str]) -> None:
    places, style = screen.Places(Path("/notes"), None), screen.TerminalStyle.of(sys.stdout)
    for complete in (True, False):
        screen.write_stdout(reports.render_view(_view(texts[0], texts, complete=complete, stored=False), style, places))
    for text in texts:
        view = _view(text, ["x", "y", "z"], complete=False, stored=True)
        screen.write_stderr(f"{clean_name(places(text))}: {reports.describe_view_state(view)}")
        screen.write_stdout(reports.render_view(view, style, places))


def _status(texts: list[str]) -> Status:
    info = Info(
        model=texts[-1], fingerprint="", dimension=64, splitter=1, generation=1, files=1, documents=1, passages=1,
        vectors=1, skipped=0, segments=(),
    )  # fmt: skip
    command = locate.index_command(texts[0])
    return Status(texts[0], info, 8, 1, _skipped(texts), tuple(texts), problem=texts[1], command=command)


def statuses(texts: list[str]) -> None:
    style = screen.TerminalStyle.of(sys.stdout)
    screen.write_stdout(reports.render_status(_status(texts), style))
    for text in texts:
        screen.write_stdout(reports.render_status(_status([text, text]), style))
        screen.write_stdout(reports.render_check(CheckReport(text, 1, 1), style))


def _skipped(texts: list[str]) -> tuple[SkippedFile, ...]:
    return tuple(SkippedFile(path, reason) for path, reason in zip(texts, texts[::-1], strict=True))


def _report(texts: list[str]) -> BuildReport:
    return BuildReport(1, 1, 1, 1, _skipped(texts), 1, 1, 1, 1, 0.1)


def builds(texts: list[str]) -> None:
    style = screen.TerminalStyle.of(sys.stdout)
    screen.write_stdout(reports.render_build(_report(texts), style))
    screen.write_stdout(reports.render_preview(_report(texts), style))
    screen.write_stdout(reports.render_changes(_report(texts)))
    repaired = CheckReport(texts[0], 1, 1, RepairKind.REBUILT, tuple(texts), _report(texts))
    screen.write_stdout(reports.render_check(repaired, style))
    events = tuple(FileEvent(path, EventKind.SKIPPED, reason) for path, reason in zip(texts, texts[::-1], strict=True))
    for report, problem in ((_report(texts), ""), (None, texts[0])):
        screen.write_stdout(reports.render_update(Update(datetime.now(), events, report, problem), style))


def errors(texts: list[str]) -> None:
    """Print errors of ours, the system and click, bugs with their traceback, warnings and debug messages."""
    raised: list[BaseException] = []

    @click.group(cls=Boundary)
    def app() -> None:
        """Fail."""

    @app.command()
    def go() -> NoReturn:
        error = raised.pop()
        logging.getLogger("index.x").warning("cannot read %s", error.args[-1])
        logging.getLogger("corpus.x").debug("cannot read %s", error.args[-1])
        raise error from ValueError(error.args[-1])

    for text in texts:
        for error in (
            UsageError(text),
            DamagedIndexError(f"{text} is damaged"),
            OSError(2, text, text),
            ValueError(text),
            click.UsageError(text),
            UnicodeDecodeError("utf-8", b"x", 0, 1, text),
        ):
            raised.append(error)
            _run(app, "go")


def arguments(texts: list[str]) -> None:
    """Print the program's errors about invalid arguments."""
    for text in texts:
        # An argument cannot contain NUL; a path with a slash could be a real folder, which would be indexed.
        typed = text.replace("\x00", "").replace("/", "\\")
        if typed in {"", ".", ".."}:
            continue
        for command in (
            [typed],
            ["ask", f"--{typed}"],
            ["ask", "--mode", typed, "x"],
            ["ask", "-k", typed, "x"],
            ["ask", "--index", f"/nowhere/{typed}", "x"],
            ["ask", "--batch", f"/nowhere/{typed}"],
            ["index", f"/nowhere/{typed}"],
            ["index", typed, typed],
            ["status", typed],
        ):
            _run(command_line.app, *command)


def _run(app: click.Group, *args: str) -> None:
    with contextlib.suppress(SystemExit):
        app(list(args), prog_name="qa")


def progress_bars(texts: list[str]) -> None:
    """Print warnings while a progress bar is drawn."""

    @click.group(cls=Boundary)
    def app() -> None:
        """Work."""

    @app.command()
    def go() -> None:
        with session.progress() as report:
            if report is None:
                raise UsageError("not a terminal")
            for number, text in enumerate(texts):
                report(Progress(number, len(texts)))
                logging.getLogger("index.x").warning("cannot read %s", text)
            report(Progress(len(texts), len(texts)))

    _run(app, "go")


def json_lines(texts: list[str]) -> None:
    """Print a line of JSON of each kind."""
    for value in _values(texts):
        screen.write_stdout(session.json_line(value))


def _values(texts: list[str]) -> list[dict[str, Any]]:
    return [_result(texts).as_json(), _status(texts).as_json(), _report(texts).as_json()]


_PRINTERS = (answers, views, statuses, builds, errors, arguments, progress_bars, json_lines)
PRINTERS: dict[str, Callable[[list[str]], None]] = {printer.__name__: printer for printer in _PRINTERS}
_BATCH = 50


def batches(count: int) -> Iterator[list[str]]:
    """Generate the strings in batches."""
    generated = strings(count)
    for at in range(0, count, _BATCH):
        yield generated[at : at + _BATCH]


def terminal_output(commands: Mapping[str, list[str]], *, links: bool = False) -> dict[str, str]:
    """Run commands of `qa` in one process on a terminal; return the stdout and stderr of each together."""
    code = "import sys; from tests.robustness.printing import run_commands; run_commands(sys.argv[1])"
    data = _run_on_terminal([code, json.dumps([*commands.values()])], {"FORCE_HYPERLINK": str(int(links))})
    *parts, unfinished = data.split(b"\0")
    if unfinished or not {*parts[1::2]} <= {b"0", b"1", b"2"}:
        raise RuntimeError(f"exit codes {parts[1::2]}: {data[-500:]!r}")
    return {name: part.decode() for name, part in zip(commands, parts[::2], strict=True)}


def run_commands(commands: str) -> None:
    """Run commands, and print the exit code of each between NULs."""
    for args in json.loads(commands):
        try:
            command_line.app(args, prog_name="qa")
        except SystemExit as end:
            print(f"\0{end.code}\0", end="", flush=True)


def _run_on_terminal(code: list[str], environ: dict[str, str]) -> bytes:
    """Run Python code with arguments on a terminal; return what it wrote.

    Raises:
        RuntimeError: It failed.
    """
    parent, child = pty.openpty()
    tty.setraw(child)  # keep newlines as they are
    program, environ = [sys.executable, "-c", *code], _environment() | environ
    with subprocess.Popen(program, cwd=REPOSITORY, stdin=child, stdout=child, stderr=child, env=environ) as process:
        os.close(child)
        out = bytearray()
        with contextlib.suppress(OSError):  # on Linux, EIO at the end
            while data := os.read(parent, 1 << 16):
                out += data
        status = process.wait(timeout=600)
    os.close(parent)
    if status:
        raise RuntimeError(f"exit status {status}: {out[-500:]!r}")
    return bytes(out)


def _environment() -> dict[str, str]:
    kept = environment_without("NO_COLOR", "QA_INDEX", "COLUMNS")
    return kept | {"TERM": "xterm-256color", "QA_DEBUG": "1"}


@cache
def printer_output(count: int) -> dict[str, bytes]:
    """Print strings with each printer on a terminal; return what each wrote."""
    code = f"from tests.robustness.printing import run_printers; run_printers({count})"
    _, *parts = re.split(rb"\0(\w+)\n", _run_on_terminal([code], {"FORCE_HYPERLINK": "0"}))
    return {name.decode(): shown for name, shown in zip(parts[::2], parts[1::2], strict=True)}


def run_printers(count: int) -> None:
    """Print strings with each printer, after a NUL and its name."""
    for name, printer in PRINTERS.items():
        sys.stderr.flush()
        print(f"\0{name}", flush=True)
        for texts in batches(count):
            printer(texts)
        sys.stdout.flush()


def output_problems(name: str, count: int) -> list[str]:
    """List the problems in the output of a printer."""
    try:
        shown = printer_output(count)[name].decode()
    except UnicodeDecodeError as error:
        return [f"not UTF-8: {error}"]
    forbidden = forbidden_characters(shown, drawing=name == "progress_bars")
    problems = [f"U+{ord(c):04X} {times} times" for c, times in forbidden.items()]
    if len(shown) <= 10 * count:
        problems.append("hardly any output")
    if name == "json_lines":
        expected = [json.loads(json.dumps(value)) for texts in batches(count) for value in _values(texts)]
        if [json.loads(line) for line in shown.splitlines()] != expected:
            problems.append("JSON is not exact")
    return problems


def run(strings: int = 10_000) -> dict[str, Any]:
    """Print this many strings with each printer."""
    return {"violations": [f"{name}: {problem}" for name in PRINTERS for problem in output_problems(name, strings)]}


if __name__ == "__main__":
    sys.exit(options.main(run))
