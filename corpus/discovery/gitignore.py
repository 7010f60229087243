"""Path patterns in the syntax of .gitignore: validate them, write one for a path, find the folder of all matches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from corpus.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Limits between slashes and per pattern: matching tries each star at every position, and several in all combinations.
_MAX_STARS = 3
_MAX_DOUBLE_STARS = 2
_WILDCARD = re.compile(r"[*?\[\\]")
# Ends a path and the patterns, so that they cannot match a folder above it; no file name contains it.
_END = "\0"


def compile_patterns(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return a matcher for valid patterns."""
    # Most folders have no patterns, and a question waits for every import.
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    return GitIgnoreSpec.from_lines(lines)


class IgnoreRules:
    """Valid patterns, matched as in git: each against only a file or folder itself; a walk skips ignored folders.

    In pathspec, a pattern for a folder also matches all files below it, and those for files override those for folders.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._patterns = compile_patterns([_pattern_of_path_itself(line) for line in lines])

    def check(self, path: str) -> bool | None:
        """Whether the last pattern that matches a path ignores it; a folder ends with a slash. None without a match."""
        name = path.removesuffix("/")
        return self._patterns.check_file(name + _END + path[len(name) :]).include


def _pattern_of_path_itself(line: str) -> str:
    """Return the pattern that matches, with `_END`, what a pattern matches itself."""
    pattern = line.rstrip()
    if pattern.endswith("\\"):  # it escapes a space
        pattern = line[: len(pattern) + 1]
    name = pattern.rstrip("/")
    return name + ("/*" if name.endswith("/**") else "") + _END + ("/" if name != pattern else "")


def is_pattern(line: str) -> bool:
    """Whether a line of an ignore file is a pattern, not a comment or blank; raise ValueError if it is invalid."""
    if not line.strip() or line.startswith("#"):
        return False
    stars = re.sub(r"\\.", "x", line, flags=re.DOTALL)
    if stars.count("**") > _MAX_DOUBLE_STARS or any(part.count("*") > _MAX_STARS for part in stars.split("/")):
        raise ValueError(
            f"Too many stars in the pattern: {line!r} (at most {_MAX_STARS} between slashes, and ** at most "
            f"{_MAX_DOUBLE_STARS} times)"
        )
    try:
        compile_patterns([line])
    except re.error as error:  # as for a bad range, [z-a]
        raise ValueError(f"Invalid git pattern: {line!r}") from error
    return True


def valid_patterns(lines: Sequence[str]) -> list[str]:
    """Return the lines that are patterns; raise UsageError for an invalid pattern."""
    try:
        return [line for line in lines if is_pattern(line)]
    except ValueError as error:
        raise UsageError(
            f"{error}. Correct it in qa.toml, --include or --exclude. Patterns are written as in .gitignore."
        ) from error


def literal_pattern(path: str) -> str:
    """Return the pattern that matches this path from the root and, for a folder, everything below it."""
    escaped = re.sub(r"[\\*?\[\]]", r"\\\g<0>", path)
    # Trailing white space of a pattern is ignored, and not all of it can be escaped.
    return "/" + re.sub(r"\s\Z", r"[\g<0>]", escaped)


def folder_of_matches(pattern: str) -> str:
    """Return the folder that is or contains all matches of a pattern, with a trailing slash; "" for the root."""
    path = pattern.rstrip().rstrip("/")
    # Without a slash, a pattern matches at any depth.
    parts = takewhile(lambda part: not _WILDCARD.search(part), path.lstrip("/").split("/")) if "/" in path else ()
    return "".join(f"{part}/" for part in parts)
