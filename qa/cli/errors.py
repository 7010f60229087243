"""The only error boundary: every failure becomes at most one line on stderr and an exit code."""

from __future__ import annotations

import errno
import logging
import os
import shlex
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any, NoReturn, TextIO

import click

from corpus.errors import QAError, StorageError, UsageError
from qa.terminal import answers
from qa.terminal.text import clean

FOUND = 0
NOT_FOUND = 1
INTERRUPTED = 130
# A bug in the tool itself (EX_SOFTWARE of sysexits.h), so that it is not mistaken for "not found".
BUG = 70
# Seconds until a lost Ctrl-C is repeated.
_INTERRUPT_AGAIN = 0.05
_PACKAGES = ("qa", "index", "corpus")

_log = logging.getLogger(__name__)


class Boundary(click.Group):
    """A group of commands that return their exit code and may raise anything.

    Args:
        lazy: Further commands by name, each as "module:function", imported when it is run or listed.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str] | None = None, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order users need them, not alphabetically."""
        return [*self.commands, *self._lazy]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        module, _, name = self._lazy[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command; a bare question means `qa ask`, and a misspelt command is an error with a suggestion."""
        first, commands = args[0], self.list_commands(ctx)
        if first in commands or ctx.resilient_parsing:  # the latter for shell completion
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches  # noqa: PLC0415 - most commands exist

        near = get_close_matches(first, commands, 1)
        # A word before quoted text is a command or a folder.
        is_command = len(args) > 1 and " " in args[1].strip() and first.isalpha() and not os.path.isdir(first)  # noqa: PTH112
        if near and " " not in first and (is_command or not args[-1].endswith("?")):
            raise UsageError(f"no command {first}. Did you mean: qa {near[0]}?")
        if not is_command and any(" " in word.strip() or word.endswith("?") for word in args):
            return "ask", self.get_command(ctx, "ask"), args
        raise UsageError(f"no command {first}. To ask: qa ask {shlex.join(args)}. Commands: {', '.join(commands)}.")

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line and exit; raises nothing but SystemExit."""
        _make_streams_safe()
        extra["standalone_mode"] = False
        with _logging_to_stderr(), _no_interrupt_lost():
            sys.exit(run_guarded(lambda: super(Boundary, self).main(*args, **extra)))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the command line; it is no error if `--help` is written into a closed pipe."""
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:
            _flush_or_discard(sys.stdout)
            raise click.exceptions.Exit(FOUND) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors are handled here, before click prints them in its own way."""
        return run_guarded(lambda: super(Boundary, self).invoke(ctx))


def run_guarded(call: Callable[[], Any]) -> int:
    """Call a function and return its exit code; an error is printed on one line."""
    try:
        code = call()
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _print_message("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reading process has stopped, as with `| head`.
        _flush_or_discard(sys.stdout)
        return FOUND
    except Exception as error:
        return _print_error(error)
    return code if isinstance(code, int) else FOUND


def _print_error(error: Exception) -> int:
    """Print an error on one line, and return its exit code."""
    if isinstance(error, click.ClickException):
        _print_message(_usage_message(error))
        return error.exit_code
    if isinstance(error, QAError):
        _print_message(str(error))
        return error.exit_code
    if isinstance(error, OSError):
        _flush_or_discard(sys.stdout)
        name = f"{os.fspath(error.filename)!s}: " if isinstance(error.filename, str | bytes | os.PathLike) else ""
        if error.errno == errno.ENOSPC and not name:
            name = "cannot write the output: "
        _print_message(f"{name}{error.strerror or error}")
        return StorageError.exit_code
    if isinstance(error, MemoryError):
        _print_message("out of memory")
        return StorageError.exit_code
    _log.debug("unexpected error", exc_info=error)
    _print_message(f"internal error: {type(error).__name__}: {error}. This is a bug in qa; QA_DEBUG=1 shows where.")
    return BUG


def _usage_message(error: click.ClickException) -> str:
    message = error.format_message()
    if isinstance(error, click.NoSuchOption):
        if error.ctx is not None and _is_option_of_ask(error.ctx, error.option_name):
            return f"{error.option_name} goes after the command: qa ask {error.option_name} ... See: qa ask --help"
        message += " Put -- before a question that starts with a dash."
    if isinstance(error, click.UsageError) and error.ctx is not None:
        message += f" See: {error.ctx.command_path} --help"
    return message


def _is_option_of_ask(ctx: click.Context, name: str) -> bool:
    """Whether an option before any command is one of `qa ask`, as a question needs no command."""
    ask = ctx.command.get_command(ctx, "ask") if isinstance(ctx.command, Boundary) else None
    return ask is not None and any(name in (*option.opts, *option.secondary_opts) for option in ask.params)


def _print_message(message: str) -> None:
    with suppress(OSError):
        answers.write_stderr(answers.error_line(message))


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


@contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """Interrupt the main thread again if Ctrl-C came in a callback, such as a weak reference's.

    There, Python prints the exception and goes on.
    """
    previous = sys.unraisablehook

    def report(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # Later, as it would be raised, and ignored, right here.
            threading.Timer(_INTERRUPT_AGAIN, interrupt_main).start()
        else:
            previous(unraisable)

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = previous


class _StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning as one line; the traceback of an internal error only with QA_DEBUG."""
        context = click.get_current_context(silent=True)
        if not getattr(record, "is_problem", True) and context is not None and context.params.get("quiet"):
            return
        # Move any progress bar out of the way.
        bars = sys.modules.get("tqdm")
        aside = bars.tqdm.external_write_mode(file=sys.stderr) if bars else nullcontext()
        with suppress(OSError), aside:
            answers.write_stderr(answers.error_line(record.getMessage()))
            if record.exc_info and record.levelno == logging.DEBUG:
                answers.write_stderr(clean(logging.Formatter().formatException(record.exc_info)))


def _make_streams_safe() -> None:
    """Ensure that neither unprintable characters nor closed streams cause errors.

    If stdin, stdout or stderr were closed, the next files opened would get their descriptors, and a library that prints
    would write into the index.
    """
    with suppress(OSError):
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def exit_now(code: int) -> NoReturn:
    """End the process at once, skipping the slow clean-up of Python and its libraries."""
    for stream in (sys.stdout, sys.stderr):
        _flush_or_discard(stream)
    os._exit(code)


def _flush_or_discard(stream: TextIO | None) -> None:
    """Flush a stream; if it is broken, discard its output, so that it cannot fail again at exit."""
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
