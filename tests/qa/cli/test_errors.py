"""Every error becomes one line on stderr and an exit code."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from typing import NoReturn

import click
import pytest
from click.testing import CliRunner, Result

from corpus import errors
from qa.cli import errors as errors_module
from qa.cli.errors import Boundary
from tests.paths import REPOSITORY
from tests.qa.commands import qa
from tests.robustness.program import allow_interrupts


def _run(action: Callable[[], object], *args: str) -> Result:
    @click.group(cls=Boundary)
    def app() -> None:
        """Do nothing."""

    @app.command(name="go")
    @click.option("-k", type=click.IntRange(1, 5))
    def go(k: int | None) -> object:
        return action()

    return CliRunner().invoke(app, ["go", *args], prog_name="qa")


def _raiser(error: BaseException) -> Callable[[], NoReturn]:
    def action() -> NoReturn:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (errors.UsageError("no"), 2, "qa: no"),
        (errors.CorpusError("no"), 2, "qa: no"),
        (errors.NoIndexError("no"), 3, "qa: no"),
        (errors.DamagedIndexError("no"), 4, "qa: no"),
        (errors.IncompatibleError("no"), 5, "qa: no"),
        (errors.ModelError("no"), 5, "qa: no"),
        (errors.LockedError("no"), 6, "qa: no"),
        (errors.StorageError("no"), 74, "qa: no"),
        (errors.QAError("a\n\x1b[2Jb"), 74, r"qa: a\n\x1b[2Jb"),
        (OSError(28, "No space left on device"), 74, "qa: cannot write the output: No space left on device"),
        (OSError(13, "Permission denied", "a\nb"), 74, r"qa: a\nb: Permission denied"),
        (MemoryError(), 74, "qa: out of memory"),
        (KeyboardInterrupt(), 130, "qa: interrupted"),
        (click.Abort(), 130, "qa: interrupted"),
        (ValueError("x"), 70, "qa: internal error: ValueError: x. This is a bug in qa; QA_DEBUG=1 shows where."),
    ],
)
def test_each_error_has_its_line_and_code(error: BaseException, code: int, line: str) -> None:
    result = _run(_raiser(error))
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", line + "\n")


def test_usage_errors_point_to_help() -> None:
    result = _run(lambda: 0, "-k", "9")
    assert result.exit_code == 2
    assert result.stderr == "qa: Invalid value for '-k': 9 is not in the range 1<=x<=5. See: qa go --help\n"
    result = _run(lambda: 0, "--nope")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "Put -- before a question that starts with a dash." in result.stderr


def test_an_option_of_ask_before_a_question_is_explained() -> None:
    done = qa("--json", "upload limit")
    assert (done.exit_code, done.stderr) == (
        2,
        "qa: --json goes after the command: qa ask --json ... See: qa ask --help\n",
    )
    assert "No such option '--wrong'" in qa("--wrong", "upload limit").stderr


@pytest.mark.parametrize(("value", "code"), [(0, 0), (1, 1), (None, 0)])
def test_commands_return_their_code(value: object, code: int) -> None:
    assert _run(lambda: value).exit_code == code


def test_warnings_are_cleaned() -> None:
    """Warnings logged by the packages are printed to stderr as one clean line; information is not."""

    def action() -> None:
        logging.getLogger("index.x").warning("odd name %s", "a\x1b[2J\nb")
        logging.getLogger("index.x").info("hidden")

    assert _run(action).stderr == "qa: odd name a\\x1b[2J\\nb\n"
    assert logging.getLogger("index").handlers == []


def test_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QA_DEBUG", "1")
    assert "Traceback" in _run(_raiser(ValueError("x"))).stderr


def test_broken_pipe_is_not_an_error() -> None:
    result = _run(_raiser(BrokenPipeError(32, "Broken pipe")))
    assert (result.exit_code, result.output) == (0, "")


_PROGRAM = """
from qa.terminal import answers
from qa.cli.errors import Boundary
import click

@click.group(cls=Boundary)
def app(): pass

@app.command()
def go():
    for number in range(20000):
        answers.write_stdout(f"line {number} \\u203a\\n")

app(prog_name="qa")
"""


_INTERRUPTED = """
import click, time, weakref
from qa.cli.errors import Boundary

class Thing: pass

def interrupt(_):
    raise KeyboardInterrupt

@click.group(cls=Boundary)
def app(): pass

@app.command()
def go():
    thing = Thing()
    reference = weakref.ref(thing, interrupt)
    del thing
    for _ in range(400):
        time.sleep(0.1)

app(prog_name="qa")
"""


def test_ctrl_c_in_a_callback_is_not_lost() -> None:
    """Python only prints an exception in a weak reference's callback, and would go on."""
    allow_interrupts()
    command = [sys.executable, "-c", _INTERRUPTED, "go"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"qa: interrupted\n")


@pytest.mark.parametrize(("encoding", "line"), [("utf-8", "line 0 ›\n".encode()), ("ascii", b"line 0 \\u203a\n")])
def test_head_ends_quietly(encoding: str, line: bytes) -> None:
    """`| head` gets its line; a character that the stream cannot encode is escaped."""
    # Bash's pipefail gives the exit code of the program before the pipe.
    command = ["bash", "-c", 'set -o pipefail; "$0" -c "$1" go | head -n 1', sys.executable, _PROGRAM]
    environ = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C"}
    done = subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, line, b"")


def test_help_into_a_closed_pipe_ends_quietly() -> None:
    command = ["bash", "-c", 'set -o pipefail; "$0" -m qa --help | true', sys.executable]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_discarded_stream_cannot_fail_again() -> None:
    """Its output for a reader that is gone is dropped, so that closing the stream succeeds."""
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    os.close(reading)
    stream.write("too late")
    errors_module._flush_or_discard(stream)
    stream.close()
    errors_module._flush_or_discard(stream)
