"""What the system tells of changes in folders: the one place that knows watchfiles."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from corpus.errors import UsageError

# A burst of changes is brought in once nothing more came for the first time span, at the latest after the second.
_QUIET_MS = 200
_LONGEST_MS = 2000
# How often to look whether the folder is still there.
_TICK_MS = 1000

# A path, and whether it appeared or went: what it holds may have been written before it is watched.
Heard = tuple[Path, bool]


def events(folders: Collection[Path], stop: Event) -> Iterator[list[Heard]]:
    """What the system tells of these folders, not of those in them; nothing after each tick without news.

    It ends where a folder went before it was watched, and when it is stopped.

    Raises:
        OSError: The system does not tell, as there is too much to watch.
    """
    from watchfiles import Change as Happened  # noqa: PLC0415 - an extra
    from watchfiles import watch  # noqa: PLC0415

    there = [folder for folder in folders if os.path.isdir(folder)]  # noqa: PTH112 - of names too long, too
    with suppress(FileNotFoundError, NotADirectoryError), _as_system_error():
        for found in watch(
            *there,
            watch_filter=None,
            stop_event=stop,
            step=_QUIET_MS,
            debounce=_LONGEST_MS,
            rust_timeout=_TICK_MS,
            yield_on_timeout=True,
            force_polling=False,  # it compares whole seconds, so that it misses what changes soon again
            recursive=False,
            ignore_permission_denied=False,  # where it is ignored, so is every other reason not to watch
        ):
            yield [(Path(path), event is not Happened.modified) for event, path in found]


@contextmanager
def _as_system_error() -> Iterator[None]:
    """What watchfiles raises where the system gives it nothing to watch with is that system's error."""
    try:
        yield
    except RuntimeError as error:
        raise OSError(str(error)) from error


def require_watchfiles() -> None:
    """Make sure that it is installed.

    Raises:
        UsageError: It is not; the message has the command that installs it.
    """
    try:
        import watchfiles  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise UsageError("qa watch needs watchfiles, which is not installed. Run: pip install 'qa[watch]'") from error
