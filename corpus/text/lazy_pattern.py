"""Regular expressions that are compiled when they are first used.

A question uses a few of the several hundred that its modules define; compiling all of them took a tenth of the time
until its answer.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub", "subn")


class _LazyPattern:
    """Behaves like a compiled pattern, except as an argument of the functions of `re`."""

    _compiled: re.Pattern[str]

    def __init__(self, pattern: str, flags: int) -> None:
        self._definition = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # Called for what is not set yet, as none of this is before the first use.
        if name != "_compiled":
            return getattr(self._compiled, name)
        self._compiled = re.compile(*self._definition)
        for method in _METHODS:
            setattr(self, method, getattr(self._compiled, method))
        return self._compiled


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used; see `re.compile`, whose errors come as late."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
