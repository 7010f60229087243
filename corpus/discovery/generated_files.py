"""Generated files, left out unless requested: installed packages, caches, lock files and minified code."""

from __future__ import annotations

from collections.abc import Iterable

_ENVIRONMENTS = "virtual environments"
_FOLDERS = {"venv": _ENVIRONMENTS} | {name: name for name in ("__pycache__", "bower_components", "node_modules")}
# A file with one of these names marks its folder: see PEP 405 and https://bford.info/cachedir/
_MARKERS = {"pyvenv.cfg": _ENVIRONMENTS, "CACHEDIR.TAG": "caches"}
_ENDINGS = {
    **dict.fromkeys((".lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum"), "lock files"),
    **dict.fromkeys((".min.js", ".min.css", ".bundle.js"), "minified files"),
}
_ANY_ENDING = tuple(_ENDINGS)


def kind_of_generated_folder(entries: Iterable[str]) -> str:
    """Return the kind of a generated folder by its entries, or "" for any other folder."""
    return next((_MARKERS[name] for name in entries if name in _MARKERS), "")


def names_only_generated(patterns: Iterable[str]) -> bool:
    """Return whether all these patterns, of which there is one, name files or folders that are left out by default."""
    names = [pattern.rstrip("/ ") for pattern in patterns if not pattern.startswith("!")]
    return bool(names) and all(
        name.endswith(_ANY_ENDING) or not _FOLDERS.keys().isdisjoint(name.split("/")) for name in names
    )


class GeneratedFiles:
    """Decides which generated files and folders are left out, and counts them by kind.

    Args:
        requested: Patterns and paths from the user; the files and folders that they name are not left out.
    """

    def __init__(self, requested: Iterable[str]) -> None:
        self.counts: dict[str, int] = {}
        self._requested = [pattern.rstrip("/ ") for pattern in requested]
        self._names = {part for pattern in self._requested for part in pattern.split("/")}

    def leave_out_folder(self, name: str) -> bool:
        """Leave out and count a folder if its name is that of a generated one; return whether it is left out."""
        return name in _FOLDERS and self.leave_out(name, _FOLDERS[name])

    def leave_out_file(self, name: str) -> bool:
        """Leave out and count a file if its name is that of a generated one; return whether it is left out."""
        for ending, kind in _ENDINGS.items() if name.endswith(_ANY_ENDING) else ():
            if name.endswith(ending) and not any(pattern.endswith(ending) for pattern in self._requested):
                return self.leave_out(name, kind)
        return False

    def leave_out(self, name: str, kind: str) -> bool:
        """Leave out and count a file or folder, or return False if the user requested it."""
        if name in self._names:
            return False
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return True
