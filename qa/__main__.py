"""Run the command line as `python -m qa`."""

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

from qa.cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
