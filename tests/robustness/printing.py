"""Print generated strings by every printing function on a pseudo-terminal, and check what would control a terminal.

    python -m tests.robustness.printing --strings 10000

Of control sequences, only newlines and the tool's own bold, dim, yellow and reset may reach the terminal, and no
character that reorders or hides text. JSON must be as safe, and must preserve every string exactly.
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
from tests.robustness.hostile_strings import strings, trespasses
from tests.robustness.program import environment_without


def _hit(rank: int, text: str, other: str) -> Hit:
    source = Source(text, "text/markdown", (0, len(other)), (3, 9), None, "0" * 64, list(State)[rank % 3])
    lights = (Highlight((0, len(other) // 2), other[: len(other) // 2]),)
    places = tuple(Location(path, (0, 1), (1, 1), rank) for path in (text, other))
    return Hit(rank, text, 0.5, f"# {text}\n\n{other}", text, (other, text), source, lights, places)


def _result(some: list[str]) -> Result:
    hits = tuple(_hit(rank, text, other) for rank, (text, other) in enumerate(zip(some, some[::-1], strict=True), 1))
    info = IndexInfo(1, 1, some[0], 1)
    return Result(some[0], some[-1], True, 0.9, Answer("\n".join(some), (1,)), hits, info, {})


def answers(some: list[str]) -> None:
    place = screen.Places(Path("/notes"), Path("/notes"))
    screen.write_stdout(screen.render_result(_result(some), screen.TerminalStyle.of(sys.stdout), place))


def _view(text: str, some: list[str], *, whole: bool, stored: bool) -> View:
    lines = tuple(enumerate(some, 1))
    return View(text, lines, None if whole else (1, len(some) - 1), State.CHANGED, stored)


def views(some: list[str]) -> None:
    name, look = screen.Places(Path("/notes"), None), screen.TerminalStyle.of(sys.stdout)
    for whole in (True, False):
        screen.write_stdout(reports.render_view(_view(some[0], some, whole=whole, stored=False), look, name))
    for text in some:
        view = _view(text, ["x", "y", "z"], whole=False, stored=True)
        screen.write_stderr(f"{clean_name(name(text))}: {reports.describe_view_state(view)}")
        screen.write_stdout(reports.render_view(view, look, name))


def _status(some: list[str]) -> Status:
    info = Info(
        model=some[-1], fingerprint="", dimension=64, splitter=1, generation=1, files=1, documents=1, passages=1,
        vectors=1, skipped=0, segments=(),
    )  # fmt: skip
    command = locate.index_command(some[0])
    return Status(some[0], info, 8, 1, _skipped(some), tuple(some), problem=some[1], command=command)


def states(some: list[str]) -> None:
    look = screen.TerminalStyle.of(sys.stdout)
    screen.write_stdout(reports.render_status(_status(some), look))
    for text in some:
        screen.write_stdout(reports.render_status(_status([text, text]), look))
        screen.write_stdout(reports.render_check(CheckReport(text, 1, 1), look))


def _skipped(some: list[str]) -> tuple[SkippedFile, ...]:
    return tuple(SkippedFile(path, reason) for path, reason in zip(some, some[::-1], strict=True))


def _report(some: list[str]) -> BuildReport:
    return BuildReport(1, 1, 1, 1, _skipped(some), 1, 1, 1, 1, 0.1)


def builds(some: list[str]) -> None:
    look = screen.TerminalStyle.of(sys.stdout)
    screen.write_stdout(reports.render_build(_report(some), look))
    screen.write_stdout(reports.render_preview(_report(some), look))
    screen.write_stdout(reports.render_changes(_report(some)))
    repaired = CheckReport(some[0], 1, 1, RepairKind.REBUILT, tuple(some), _report(some))
    screen.write_stdout(reports.render_check(repaired, look))
    events = tuple(FileEvent(path, EventKind.SKIPPED, reason) for path, reason in zip(some, some[::-1], strict=True))
    for report, problem in ((_report(some), ""), (None, some[0])):
        screen.write_stdout(reports.render_update(Update(datetime.now(), events, report, problem), look))


def errors(some: list[str]) -> None:
    """Print our errors, the system's, click's, bugs with their traceback, warnings and debug messages."""
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

    for text in some:
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


def arguments(some: list[str]) -> None:
    """Print the program's errors about invalid arguments."""
    for text in some:
        # An argument cannot contain NUL; a slash could lead to a real folder, which would be indexed.
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


def drawing(some: list[str]) -> None:
    """Print warnings while a progress bar is drawn."""

    @click.group(cls=Boundary)
    def app() -> None:
        """Work."""

    @app.command()
    def go() -> None:
        with session.progress() as report:
            if report is None:
                raise UsageError("not a terminal")
            for number, text in enumerate(some):
                report(Progress(number, len(some)))
                logging.getLogger("index.x").warning("cannot read %s", text)
            report(Progress(len(some), len(some)))

    _run(app, "go")


def objects(some: list[str]) -> None:
    """Print a line of JSON of each kind."""
    for value in _values(some):
        screen.write_stdout(session.json_line(value))


def _values(some: list[str]) -> list[dict[str, Any]]:
    return [_result(some).as_json(), _status(some).as_json(), _report(some).as_json()]


PRINTERS: dict[str, Callable[[list[str]], None]] = {
    printer.__name__: printer for printer in (answers, views, states, builds, errors, arguments, drawing, objects)
}
_AT_ONCE = 50


def batches(count: int) -> Iterator[list[str]]:
    """Generate the strings in batches."""
    found = strings(count)
    for at in range(0, count, _AT_ONCE):
        yield found[at : at + _AT_ONCE]


def shown_by(commands: Mapping[str, list[str]], *, links: bool = False) -> dict[str, str]:
    """Run commands of `qa` in one process on a terminal; what each showed, stdout and stderr together."""
    code = "import sys; from tests.robustness.printing import show_commands; show_commands(sys.argv[1])"
    data = _on_terminal([code, json.dumps([*commands.values()])], {"FORCE_HYPERLINK": str(int(links))})
    *parts, rest = data.split(b"\0")
    if rest or not {*parts[1::2]} <= {b"0", b"1", b"2"}:
        raise RuntimeError(f"exit codes {parts[1::2]}: {data[-500:]!r}")
    return {name: part.decode() for name, part in zip(commands, parts[::2], strict=True)}


def show_commands(commands: str) -> None:
    """Run commands, each followed by its exit code between NULs."""
    for args in json.loads(commands):
        try:
            command_line.app(args, prog_name="qa")
        except SystemExit as end:
            print(f"\0{end.code}\0", end="", flush=True)


def _on_terminal(code: list[str], environ: dict[str, str]) -> bytes:
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
def printed(count: int) -> dict[str, bytes]:
    """Print strings with each printer on a terminal; return what each wrote."""
    code = f"from tests.robustness.printing import show; show({count})"
    _, *parts = re.split(rb"\0(\w+)\n", _on_terminal([code], {"FORCE_HYPERLINK": "0"}))
    return {name.decode(): shown for name, shown in zip(parts[::2], parts[1::2], strict=True)}


def show(count: int) -> None:
    """Print strings with each printer, after a NUL and its name."""
    for name, printer in PRINTERS.items():
        sys.stderr.flush()
        print(f"\0{name}", flush=True)
        for some in batches(count):
            printer(some)
        sys.stdout.flush()


def offences(name: str, count: int) -> list[str]:
    """List what is wrong with the output of a printer."""
    try:
        shown = printed(count)[name].decode()
    except UnicodeDecodeError as error:
        return [f"not UTF-8: {error}"]
    wrong = [f"U+{ord(c):04X} {times} times" for c, times in trespasses(shown, drawing=name == "drawing").items()]
    if len(shown) <= 10 * count:
        wrong.append("hardly any output")
    if name == "objects":
        expected = [json.loads(json.dumps(value)) for some in batches(count) for value in _values(some)]
        if [json.loads(line) for line in shown.splitlines()] != expected:
            wrong.append("JSON is not exact")
    return wrong


def run(strings: int = 10_000) -> dict[str, Any]:
    """Print this many strings with each printer."""
    found = {name: offences(name, strings) for name in PRINTERS}
    return {"violations": [f"{name}: {one}" for name, wrong in found.items() for one in wrong]}


if __name__ == "__main__":
    sys.exit(options.main(run))
