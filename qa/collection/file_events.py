"""File system events: the only module that uses watchfiles."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

from corpus.errors import UsageError

# A burst of changes is reported once it pauses for the first of these times, but after the second at the latest.
_QUIET_MS = 200
_LONGEST_MS = 2000
# How often to check whether the folder still exists.
_TICK_MS = 1000

# A path, and whether it appeared or vanished: files in a new folder may have been written before it is watched.
RawEvent = tuple[Path, bool]


def raw_events(folders: Collection[Path], stop: Event) -> Iterator[list[RawEvent]]:
    """Yield the events in these folders, not in their subfolders; [] after each second without any.

    Ends when stopped, or if a folder vanished before it was watched.

    Raises:
        OSError: The system provides no events, for instance because there is too much to watch.
    """
    from watchfiles import Change, watch  # noqa: PLC0415 - an extra

    with suppress(FileNotFoundError, NotADirectoryError):
        try:
            for changes in watch(
                *folders,
                watch_filter=None,
                stop_event=stop,
                step=_QUIET_MS,
                debounce=_LONGEST_MS,
                rust_timeout=_TICK_MS,
                yield_on_timeout=True,
                force_polling=False,  # it compares whole seconds, so it misses quick changes
                recursive=False,
                ignore_permission_denied=False,  # otherwise all other failures to watch are ignored, too
            ):
                yield [(Path(path), event is not Change.modified) for event, path in changes]
        except RuntimeError as error:  # what watchfiles raises if the system refuses
            raise OSError(str(error)) from error


def require_watchfiles() -> None:
    """Raise a UsageError with the command that installs watchfiles if it is not installed."""
    try:
        import watchfiles  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise UsageError("qa watch needs the package watchfiles. Run: pip install 'qa-passages[watch]'") from error
