"""Run the command line, as `python -m qa` or as the program `qa`."""

from __future__ import annotations

import os
import sys


def _working_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - before anything is imported
    except OSError:
        return ""


# Python looks for modules in the working directory first. That may be a folder of documents, and a `click.py` in it
# must not run. The directory stays on the path if this package itself was found there.
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
if sys.path[:1] == [_working_directory()] != [_HOME]:
    del sys.path[:1]

import signal  # noqa: E402


def _exit_interrupted(*_: object) -> None:
    os.write(2, b"qa: interrupted\n")
    os._exit(130)


def main() -> None:
    """Run the command line and end the process; Ctrl-C while it imports, which takes a while, ends it at once."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit_interrupted)
    from qa.cli.main import main as run  # noqa: PLC0415

    run(handler)


if __name__ == "__main__":
    main()
