"""Path patterns in the syntax of .gitignore: validate them, write one for a path, rule out folders by them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from corpus.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Limits between slashes and per pattern: each star is tried at every place of a name, several in all combinations.
_MAX_STARS = 3
_MAX_DOUBLE_STARS = 2
_DOUBLE_STAR = "**"


def compile_patterns(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return a matcher for valid patterns."""
    # Most folders have no patterns, and a question waits for every import.
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    return GitIgnoreSpec.from_lines(lines)


def is_pattern(line: str) -> bool:
    """Whether a line of an ignore file is a pattern, not a comment or blank; an invalid one raises ValueError."""
    if not line.strip() or line.startswith("#"):
        return False
    stars = re.sub(r"\\.", "x", line, flags=re.DOTALL)
    if stars.count(_DOUBLE_STAR) > _MAX_DOUBLE_STARS or any(part.count("*") > _MAX_STARS for part in stars.split("/")):
        raise ValueError(f"Too many stars in the pattern: {line!r}")
    try:
        compile_patterns([line])
    except re.error as error:  # as for a bad range, [z-a]
        raise ValueError(f"Invalid git pattern: {line!r}") from error
    return True


def valid_patterns(lines: Sequence[str]) -> list[str]:
    """Return the lines that are patterns; an invalid one raises UsageError."""
    try:
        return [line for line in lines if is_pattern(line)]
    except ValueError as error:
        raise UsageError(f"{error}. Patterns are written as in .gitignore.") from error


def literal_pattern(path: str) -> str:
    """Return the pattern that matches this path from the root and, for a folder, everything below it."""
    escaped = re.sub(r"[\\*?\[\]]", r"\\\g<0>", path)
    # White space at the end of a pattern does not count, and not all of it can be escaped.
    return "/" + re.sub(r"\s\Z", r"[\g<0>]", escaped)


class FolderFilter:
    """Decides which folders may contain matches of `include` patterns."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._parts = [_leading_parts(line) for line in lines if not line.startswith("!")]
        # With a single pattern that matches at any depth, every folder may have matches.
        self._matches_all = not all(self._parts)
        self._spec_at = cache(self._prefixes)

    def may_contain_matches(self, folder: str) -> bool:
        """Whether to walk a folder; its path is relative to the root and ends with a slash."""
        return self._matches_all or self._spec_at(folder.count("/")).match_file(folder)

    def _prefixes(self, depth: int) -> GitIgnoreSpec:
        """Return the patterns cut to the length of a path at this depth."""
        return compile_patterns(["/" + "/".join(parts[:depth]) + "/" for parts in self._parts])


def _leading_parts(pattern: str) -> list[str]:
    """Return the parts of a pattern from the root to the first "**"; [] if it matches at any depth."""
    if not _is_anchored(pattern):
        return []
    parts = re.sub(r"(?<!\\)\s+\Z", "", pattern).strip("/").split("/")
    return parts[: parts.index(_DOUBLE_STAR)] if _DOUBLE_STAR in parts else parts


def _is_anchored(pattern: str) -> bool:
    """Whether a pattern matches whole paths, not names at any depth: it has a slash other than at its end."""
    return "/" in re.sub(r"/?\s*\Z", "", pattern)
