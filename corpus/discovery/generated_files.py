"""What no person wrote: installed packages, caches, lock files and minified code, left out unless asked for."""

from __future__ import annotations

from collections.abc import Iterable

_ENVIRONMENTS, _LOCKS, _MINIFIED = "virtual environments", "lock files", "minified files"
_FOLDERS = {
    "__pycache__": "__pycache__",
    "bower_components": "bower_components",
    "node_modules": "node_modules",
    "venv": _ENVIRONMENTS,
}
# A file with one of these names says what its folder is: see PEP 405 and https://bford.info/cachedir/
_MARKERS = {"pyvenv.cfg": _ENVIRONMENTS, "CACHEDIR.TAG": "caches"}
_ENDINGS = {
    ".lock": _LOCKS,
    "package-lock.json": _LOCKS,
    "npm-shrinkwrap.json": _LOCKS,
    "pnpm-lock.yaml": _LOCKS,
    "go.sum": _LOCKS,
    ".min.js": _MINIFIED,
    ".min.css": _MINIFIED,
    ".bundle.js": _MINIFIED,
}


def kind_of(entries: Iterable[str]) -> str:
    """Return the kind of folder that these files in it make it, or "" for any other."""
    return next((_MARKERS[name] for name in entries if name in _MARKERS), "")


class LeftOut:
    """Which files and folders are left out, and how many there were of each kind.

    Args:
        asked: Patterns and paths that a user gave; what one of them names is not left out.
    """

    def __init__(self, asked: Iterable[str]) -> None:
        self.counts: dict[str, int] = {}
        self._asked = [pattern.rstrip("/ ") for pattern in asked]
        self._names = {part for pattern in self._asked for part in pattern.split("/")}

    def folder(self, name: str) -> bool:
        """Whether a folder is left out for its name."""
        return name in _FOLDERS and self.take(name, _FOLDERS[name])

    def file(self, name: str) -> bool:
        """Whether a file is left out for its name."""
        for ending, kind in _ENDINGS.items():
            if name.endswith(ending) and not any(pattern.endswith(ending) for pattern in self._asked):
                return self.take(name, kind)
        return False

    def take(self, name: str, kind: str) -> bool:
        """Count something of a kind that is left out; false if it was asked for."""
        if name in self._names:
            return False
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return True
