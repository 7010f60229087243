"""Patterns of paths, in the syntax of .gitignore: read, written for a path, and what they rule out of a walk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from corpus.errors import UsageError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Between two slashes and in all: a name is tried at every place for every star, and for several stars at all of them.
_MOST_STARS = 3
_MOST_DEEP_STARS = 2
_DEEP = "**"


def specification(lines: Sequence[str]) -> GitIgnoreSpec:
    """What lines that are patterns mean together."""
    # Most folders have no patterns, and a question waits for every import.
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    return GitIgnoreSpec.from_lines(lines)


def is_pattern(line: str) -> bool:
    """Whether a line of an ignore file says anything.

    Raises:
        ValueError: What it says is no pattern.
    """
    if not line.strip() or line.startswith("#"):
        return False
    stars = re.sub(r"\\.", "x", line, flags=re.DOTALL)
    if stars.count(_DEEP) > _MOST_DEEP_STARS or any(part.count("*") > _MOST_STARS for part in stars.split("/")):
        raise ValueError(f"Too many stars in the pattern: {line!r}")
    specification([line])
    return True


def valid_patterns(lines: Sequence[str]) -> list[str]:
    """The lines that are patterns.

    Raises:
        UsageError: A line cannot be meant.
    """
    try:
        return [line for line in lines if is_pattern(line)]
    except ValueError as error:
        raise UsageError(f"{error}. Patterns are written as in .gitignore.") from error


def literal_pattern(path: str) -> str:
    """The pattern that matches this one path from the root and, if it is a folder's, all below it."""
    escaped = re.sub(r"[\\*?\[\]]", r"\\\g<0>", path)
    # White space at the end of a pattern does not count, and not all of it can be escaped.
    return "/" + re.sub(r"\s\Z", r"[\g<0>]", escaped)


def rebase_pattern(folder: str, pattern: str) -> str:
    """The pattern that means in the root what another one means in a folder of it."""
    sign, bare = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    bare = re.sub(r"^\\(?=[#!])", "", bare)
    if not bare.strip("/ "):  # matches nothing
        return pattern
    bare = re.sub(r"^/?(\*\*/)+\s*$", "*/", bare)  # whatever is in a folder
    return f"{sign}{literal_pattern(folder)}/{'' if _is_anchored(bare) else '**/'}{bare.removeprefix('/')}"


class Reach:
    """Which folders may hold files that patterns take in: those that patterns begin with, and what lies below."""

    def __init__(self, lines: Sequence[str]) -> None:
        parts = [_parts(line) for line in lines if not line.startswith("!")]
        # A pattern for every depth makes each folder worth a look.
        self._everywhere = not all(parts)
        self._parts = parts
        self._at = cache(self._at_depth)

    def holds(self, folder: str) -> bool:
        """Whether to look into a folder; its path is relative to the root and ends with a slash."""
        return self._everywhere or self._at(folder.count("/")).match_file(folder)

    def _at_depth(self, depth: int) -> GitIgnoreSpec:
        """The beginnings of the patterns, as long as the path of a folder that lies so deep."""
        return specification(["/" + "/".join(parts[:depth]) + "/" for parts in self._parts])


def _parts(pattern: str) -> list[str]:
    """What a pattern says of each name of a path from the root on; [] where it begins at any depth."""
    if not _is_anchored(pattern):
        return []
    parts = re.sub(r"(?<!\\)\s+\Z", "", pattern).strip("/").split("/")
    # What stands before "**", asked about a folder, holds for all below it.
    return parts[: parts.index(_DEEP)] if _DEEP in parts else parts


def _is_anchored(pattern: str) -> bool:
    """Whether a pattern is one of whole paths, not of names at any depth: it has a slash other than at its end."""
    return "/" in re.sub(r"/?\s*\Z", "", pattern)
