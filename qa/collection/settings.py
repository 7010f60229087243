"""What a user sets once for a collection: `qa.toml` in its folder, or `[tool.qa]` in a `pyproject.toml` there.

A model cannot be set there: the folder may come from anybody, and a name in it must not decide what is fetched. The
index keeps the model that `--model` names.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from corpus import SETTINGS_FILE, outermost, read_bytes
from corpus.errors import Unreadable, UsageError
from qa.answer.results import MAX_HITS, Mode

PROJECT_FILE = "pyproject.toml"
_TABLE = "[tool.qa]"
_NAMES_TABLE = re.compile(rb"tool\s*\.\s*[\"']?qa\b")
# A project's file is looked through for the table; what is read as TOML is no longer than a person would write it.
_MOST_PROJECT_BYTES = 1024 * 1024
_MOST_BYTES = 64 * 1024
# The time to read a key of many parts grows with their number squared.
_MOST_DOTS = 500

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set; None where nothing is.

    Attributes:
        include: Patterns of the files to take in, as in .gitignore.
        exclude: Patterns of the files to leave out.
        paths: Files, and folders with a slash at the end, that the collection is limited to, relative to it.
        k: How many passages `qa ask` gives.
        mode: How `qa ask` searches.
        rerank: Whether `qa ask` reads the first passages more closely.
    """

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    k: int | None = None
    mode: Mode | None = None
    rerank: bool | None = None


def read(root: Path) -> Settings:
    """Read what is set for a collection; where there is no file, that costs a stat each.

    Raises:
        UsageError: The file cannot be read, is no TOML, or has a key or a value that is not known.
    """
    own = _own(root)
    project = _project(root)
    if own is not None:
        if project is not None:
            _say_which(root)
        return _settings(_parsed(own, root / SETTINGS_FILE), f"{root / SETTINGS_FILE}")
    if project is None:
        return Settings()
    # Tables of other tools are none of ours, whatever they hold.
    tools = _parsed(project, root / PROJECT_FILE).get("tool")
    values = tools.get("qa") if isinstance(tools, dict) else None
    if values is None:
        return Settings()
    where = f"{_TABLE} in {root / PROJECT_FILE}"
    if not isinstance(values, dict):
        raise UsageError(f"{where} is no table.")
    return _settings(values, where)


@cache
def _say_which(root: Path) -> None:
    """Say it once, however often the files are read."""
    _log.warning("%s holds; %s in %s does not", root / SETTINGS_FILE, _TABLE, PROJECT_FILE)


def _own(root: Path) -> bytes | None:
    """The bytes of a file that is meant for nothing else, so that whatever is wrong with it is an error."""
    try:
        os.lstat(root / SETTINGS_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{root / SETTINGS_FILE} cannot be read: {error.strerror}.") from error
    try:
        return read_bytes(root, SETTINGS_FILE, limit=_MOST_BYTES)
    except Unreadable as error:
        reason = f"it has more than {_MOST_BYTES:,} bytes" if error.reason.startswith("larger") else error.reason
        raise UsageError(f"{root / SETTINGS_FILE} cannot be used: {reason}. Correct or delete it.") from error


def _project(root: Path) -> bytes | None:
    """The bytes of a project's file that has a table for us."""
    try:
        os.lstat(root / PROJECT_FILE)
        data = read_bytes(root, PROJECT_FILE, limit=_MOST_PROJECT_BYTES)
    except (OSError, Unreadable) as error:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            _log.debug("%s is not looked at: %s", root / PROJECT_FILE, error)
        return None
    return data if _NAMES_TABLE.search(data) else None


def _parsed(data: bytes, file: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - most folders have no settings

    if len(data) > _MOST_BYTES:
        raise UsageError(f"{file} has more than {_MOST_BYTES:,} bytes. Put the settings into {SETTINGS_FILE}.")
    if any(line.count(b".") > _MOST_DOTS for line in data.splitlines()):
        raise UsageError(f"{file} has a line with more than {_MOST_DOTS} dots. Correct or delete it.")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8. Save it as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        reason = "too deeply nested" if isinstance(error, RecursionError) else error
        raise UsageError(f"{file} is no TOML: {reason}.") from error


def _settings(values: dict[str, Any], where: str) -> Settings:
    if "model" in values:
        raise UsageError(
            f"{where} has the key 'model'. A model is named on the command line, once, as a folder may come from "
            "anybody: qa index --model NAME."
        )
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _KINDS:
            raise UsageError(f"{where} has the key {key!r}, which is not known. Known are {', '.join(_KINDS)}.")
        kind, words = _KINDS[key]
        try:
            found[key] = kind(value)
        except (ValueError, TypeError) as error:
            raise UsageError(f"in {where}, {key} is to be {words}. Known keys are {', '.join(_KINDS)}.") from error
    return Settings(**found)


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise TypeError
    return tuple(value)


def _paths(value: Any) -> tuple[str, ...]:
    paths = _patterns(value)
    for path in paths:
        parts = path.removesuffix("/").split("/")
        if any(part.startswith(".") or not part for part in parts):
            raise ValueError
    return outermost(paths)


def _count(value: Any) -> int:
    # Truth is a number in Python, and none to whoever writes it.
    if type(value) is not int or not 1 <= value <= MAX_HITS:
        raise ValueError
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


_KINDS = {
    "include": (_patterns, "a list of patterns"),
    "exclude": (_patterns, "a list of patterns"),
    "paths": (_paths, 'a list of files and folders below it, such as ["papers/", "talk.md"]'),
    "k": (_count, f"a number from 1 to {MAX_HITS:,}"),
    "mode": (Mode, " or ".join(f'"{mode.value}"' for mode in Mode)),
    "rerank": (_truth, "true or false"),
}
