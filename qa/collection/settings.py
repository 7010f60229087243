"""Settings of a collection, and of a user for all collections (`~/.config/qa/config.toml`).

Those of a collection are in `qa.toml` in its folder, or in `[tool.qa]` in its `pyproject.toml`. They cannot name a
model: the folder may come from anyone, and must not decide what is downloaded.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpus import SETTINGS_FILE, outermost, read_bytes
from corpus.errors import Unreadable, UsageError
from corpus.formats import NAMED
from index import config_folder
from qa.answer.results import DEFAULT_K, MAX_HITS, Mode
from qa.require import either

if TYPE_CHECKING:
    from index import Choice, Info

PROJECT_FILE = "pyproject.toml"
_TABLE = "[tool.qa]"
_NAMES_TABLE = re.compile(rb"tool\s*\.\s*[\"']?qa\b")
# Other tools may make a project file large; it is parsed only up to a size that a person would write.
_MAX_PROJECT_BYTES = 1024 * 1024
_MAX_BYTES = 64 * 1024
# Parsing a key of many parts takes time quadratic in their number.
_MAX_DOTS = 500

# Models, which can only be named on the command line.
_MODELS = {"model": "qa index --model", "rerank_model": "qa ask --rerank-model"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CollectionSettings:
    """Settings; None where nothing is set. Folders among the paths end with a slash."""

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    formats: tuple[str, ...] = ()
    k: int | None = None
    mode: Mode | None = None
    rerank: bool | None = None
    reader: bool | None = None

    def ask_arguments(
        self, *, k: int | None, mode: str | None, rerank: bool | None, default_k: int = DEFAULT_K
    ) -> dict[str, Any]:
        """Return the arguments of `Retriever.ask`: from the parameters, else the settings, else the defaults."""
        return {
            "k": k or self.k or default_k,
            "mode": Mode(mode or self.mode or Mode.HYBRID),
            "rerank": self.rerank is not False if rerank is None else rerank,
        }

    def choice(
        self,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        more_paths: Sequence[str] = (),
    ) -> Choice:
        """Return which files to index: as in the arguments, else as in the settings."""
        from index import Choice  # noqa: PLC0415 - imports numpy, which reading settings does not need

        options = {"include": include, "exclude": exclude, "paths": None}
        return Choice(
            include=self.include if include is None else _as_sequence(include),
            exclude=self.exclude if exclude is None else _as_sequence(exclude),
            paths=self.paths,
            formats=self.formats,
            from_file=[name for name, option in options.items() if option is None and getattr(self, name) is not None],
            more_paths=more_paths,
        )


def _as_sequence(patterns: Sequence[str]) -> Sequence[str]:
    """Return patterns as they are, but a string as a sequence of one."""
    return (patterns,) if isinstance(patterns, str) else patterns


def settings_difference(root: Path, info: Info) -> str:
    """Return a message on how a collection's settings and its index differ; "" if they do not.

    Raises:
        UsageError: As `read_settings`.
    """
    from index import not_selected  # noqa: PLC0415 - as above

    names = not_selected(info, read_settings(root).choice())
    if not names:
        return ""
    return f"{settings_file_name(root)} and the index differ in {', '.join(names)}"


def settings_file_name(root: Path) -> str:
    """Return the name of the file with a collection's settings."""
    if (root / SETTINGS_FILE).exists():
        return SETTINGS_FILE
    # Neither file has any if the settings that the index was built with were deleted.
    return PROJECT_FILE if _collection_settings(root) else "the settings"


def missing_paths_message(root: Path, paths: Sequence[str]) -> str:
    """Return a message on the paths in a collection's settings that do not exist; "" if all do."""
    missing = [path for path in paths if not os.path.lexists(root / path)]
    return f"paths in {settings_file_name(root)} names what does not exist: {', '.join(missing)}" if missing else ""


def read_settings(root: Path) -> CollectionSettings:
    """Return a collection's settings, completed by its user's; without any file, this costs three stat calls.

    Raises:
        UsageError: A file cannot be read or parsed, or has an unknown key or an invalid value.
    """
    collection, user = _collection_settings(root), _user_settings()
    if collection is None:
        return user
    return replace(collection, **{key: getattr(user, key) for key in _USER_KEYS if getattr(collection, key) is None})


def user_file() -> Path:
    """Return the path of the user's settings for all collections."""
    return config_folder() / "config.toml"


def _user_settings() -> CollectionSettings:
    file = user_file()
    data = _read_settings_file(Path(os.path.realpath(file)))  # which may be a link into a folder of such files
    if data is None:
        return CollectionSettings()
    values = _parse_toml(data, file)
    if unsupported := [key for key in values if key in _KEYS and key not in _USER_KEYS]:
        raise UsageError(f"{file}: {unsupported[0]} can only be set for a collection, in its {SETTINGS_FILE}.")
    return _parse_settings(file.parent, values, f"{file}", _USER_KEYS)


def _collection_settings(root: Path) -> CollectionSettings | None:
    """Return the settings in a collection's folder, or None."""
    data = _read_settings_file(root / SETTINGS_FILE)
    if data is not None:  # then `pyproject.toml` is ignored, as by other tools
        return _parse_settings(root, _parse_toml(data, root / SETTINGS_FILE), f"{root / SETTINGS_FILE}")
    project = _read_project_file(root)
    if project is None:
        return None
    tools = _parse_toml(project, root / PROJECT_FILE).get("tool")
    values = tools.get("qa") if isinstance(tools, dict) else None
    if values is None:
        return None
    where = f"{_TABLE} in {root / PROJECT_FILE}"
    if not isinstance(values, dict):
        raise UsageError(f"{where} must be a table.")
    return _parse_settings(root, values, where)


def _read_settings_file(file: Path, *, limit: int = _MAX_BYTES) -> bytes | None:
    """Read a file of settings, or return None if there is none; anything wrong with it is a UsageError."""
    try:
        os.lstat(file)
        return read_bytes(file.parent, file.name, limit=limit)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except Unreadable as error:
        reason = f"it has more than {limit:,} bytes" if error.reason.startswith("larger") else error.reason
        raise UsageError(f"{file} cannot be used: {reason}. Fix or delete it.") from error


def _read_project_file(root: Path) -> bytes | None:
    """Read a `pyproject.toml` that has our table, or return None; it belongs to other tools, so it may be broken."""
    try:
        data = _read_settings_file(root / PROJECT_FILE, limit=_MAX_PROJECT_BYTES)
    except UsageError as error:
        _log.debug("ignored: %s", error)
        return None
    return data if data and _NAMES_TABLE.search(data) else None


def _parse_toml(data: bytes, file: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - most folders have no settings

    if len(data) > _MAX_BYTES:
        raise UsageError(f"{file} has more than {_MAX_BYTES:,} bytes. Put the settings into {SETTINGS_FILE}.")
    if any(line.count(b".") > _MAX_DOTS for line in data.splitlines()):
        raise UsageError(f"{file} has a line with more than {_MAX_DOTS} dots. Fix or delete it.")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8. Save it as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        reason = "too deeply nested" if isinstance(error, RecursionError) else error
        raise UsageError(f"{file} is not valid TOML: {reason}.") from error


def _parse_settings(
    root: Path, values: dict[str, Any], where: str, keys: Collection[str] | None = None
) -> CollectionSettings:
    for key, command in _MODELS.items():
        if key in values:
            raise UsageError(f"{where}: a model cannot be set here. Name it on the command line: {command} NAME")
    settings: dict[str, Any] = {}
    for key, value in values.items():
        if key not in (keys or _KEYS):
            raise UsageError(f"{where}: unknown key {key!r}. Known keys: {', '.join(keys or _KEYS)}.")
        parse, words = _KEYS[key]
        try:
            settings[key] = parse(value)
        except (ValueError, TypeError) as error:
            raise UsageError(f"{where}: {key} must be {words}.") from error
    if "paths" in settings:
        settings["paths"] = outermost(path + "/" if (root / path).is_dir() else path for path in settings["paths"])
    return CollectionSettings(**settings)


def _parse_patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise TypeError
    return tuple(value)


def _parse_paths(value: Any) -> tuple[str, ...]:
    paths = tuple(path.removesuffix("/") for path in _parse_patterns(value))
    if any(part.startswith(".") or not part for path in paths for part in path.split("/")):
        raise ValueError
    return paths


def _parse_formats(value: Any) -> tuple[str, ...]:
    if not isinstance(value, dict) or not all(isinstance(name, str) and name in NAMED for name in value.values()):
        raise TypeError
    if not all(key and "/" not in key for key in value):
        raise ValueError
    return tuple(sorted(f"{key.lower() if key.startswith('.') else key}={name}" for key, name in value.items()))


def _parse_count(value: Any) -> int:
    # A bool is an int in Python, but not to users.
    if type(value) is not int or not 1 <= value <= MAX_HITS:
        raise ValueError
    return value


def _parse_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


_KEYS = {
    "include": (_parse_patterns, "a list of patterns"),
    "exclude": (_parse_patterns, "a list of patterns"),
    "paths": (_parse_paths, 'a list of files and folders in it, such as ["papers", "talk.md"]'),
    "formats": (_parse_formats, f'a table such as {{".foo" = "markdown"}}, with any of {", ".join(NAMED)}'),
    "k": (_parse_count, f"a number from 1 to {MAX_HITS}"),
    "mode": (Mode, either(Mode)),
    "rerank": (_parse_bool, "true or false"),
    "reader": (_parse_bool, "true or false"),
}
# What a user may set for all collections: nothing that depends on the folder.
_USER_KEYS = ("k", "mode", "rerank")
