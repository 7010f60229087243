"""The one error boundary: whatever happens inside becomes at most one line on stderr and an exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, NoReturn, TextIO

import click

from corpus.errors import QAError, StorageError
from qa.terminal import answers

FOUND = 0
NOT_FOUND = 1
INTERRUPTED = 130
# A mistake in the tool itself (EX_SOFTWARE of sysexits.h), so that it is not taken for "not found".
BUG = 70
_PACKAGES = ("qa", "index", "corpus")

_log = logging.getLogger(__name__)


class Boundary(click.Group):
    """A group of commands that return their exit code and may raise anything."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order in which they are needed, not of the alphabet."""
        return list(self.commands)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line and exit; nothing but SystemExit leaves here."""
        _make_streams_safe()
        extra["standalone_mode"] = False
        with _logging_to_stderr():
            sys.exit(_guarded(lambda: super(Boundary, self).main(*args, **extra)))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors end here, before click prints them in its own way."""
        return _guarded(lambda: super(Boundary, self).invoke(ctx))


def _guarded(call: Callable[[], Any]) -> int:
    try:
        code = call()
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads has enough, as with `| head`.
        _abandon(sys.stdout)
        return FOUND
    except Exception as error:
        return _complain(error)
    return code if isinstance(code, int) else FOUND


def _complain(error: Exception) -> int:
    """Say in one line what went wrong; the exit code that stands for it."""
    if isinstance(error, click.ClickException):
        _say(_usage(error))
        return error.exit_code
    if isinstance(error, QAError):
        _say(str(error))
        return error.exit_code
    if isinstance(error, OSError):
        _abandon(sys.stdout)
        name = f"{os.fspath(error.filename)!s}: " if isinstance(error.filename, str | bytes | os.PathLike) else ""
        _say(f"{name}{error.strerror or error}")
        return StorageError.exit_code
    if isinstance(error, MemoryError):
        _say("out of memory")
        return StorageError.exit_code
    _log.debug("unexpected error", exc_info=error)
    _say(f"unexpected {type(error).__name__}: {error}. This is a mistake in qa; QA_DEBUG=1 shows where.")
    return BUG


def _usage(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        message += ' Words that begin with a dash go behind "--" or in quotes with other words.'
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message += f" See: {error.ctx.command_path} --help"
    return message


def _say(message: str) -> None:
    with suppress(OSError):
        answers.note(answers.problem(message))


@contextmanager
def _logging_to_stderr() -> Iterator[None]:
    handler = _StderrHandler()
    handler.setLevel(logging.DEBUG if os.environ.get("QA_DEBUG") else logging.WARNING)
    loggers = [logging.getLogger(name) for name in _PACKAGES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(handler.level)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


class _StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning as a complaint; the trace of an unexpected error only if QA_DEBUG asked for it."""
        # A progress bar steps aside for the line, if one is there.
        bars = sys.modules.get("tqdm")
        aside = bars.tqdm.external_write_mode(file=sys.stderr) if bars else nullcontext()
        with suppress(OSError), aside:
            answers.note(answers.problem(record.getMessage()))
            if record.exc_info and record.levelno == logging.DEBUG:
                answers.note(answers.clean(logging.Formatter().formatException(record.exc_info)))


def _make_streams_safe() -> None:
    """Let no character and no closed stream be an error.

    Where stdin, stdout or stderr came closed, their numbers would go to the next files that are opened,
    and a library that prints would write into the index.
    """
    with suppress(OSError):
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def leave(code: int) -> NoReturn:
    """End the process at once: what Python and the libraries would tidy up goes with it anyway."""
    for stream in (sys.stdout, sys.stderr):
        _abandon(stream)
    os._exit(code)


def _abandon(stream: TextIO | None) -> None:
    """Empty a stream's buffer, into nothing where it is broken, so that it cannot fail again at exit."""
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
