"""`qa rm`: take files out of an index, and remember to leave them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import INDEX_FOLDER, SETTINGS_FILE, literal_pattern, to_os_name
from corpus.errors import UsageError
from index import BuildReport, ProgressCallback, open_index
from qa.collection.build import OnEmpty, build_index
from qa.collection.settings import read_settings
from qa.locate import suggest_paths
from qa.places import candidate_paths


@dataclass(frozen=True, slots=True)
class Removal:
    """The files and folders that were left out or taken back, and what the update did."""

    paths: tuple[str, ...]
    report: BuildReport


def leave_out(
    root: Path, named: Sequence[str], *, here: Path | None = None, progress: ProgressCallback | None = None
) -> Removal:
    """Remove files and folders from the index, and exclude them from later updates.

    They are relative to `here` or to the root. One that is neither in the index nor in the folder is a UsageError.
    """
    exclude, known = _excluded_and_indexed(root)
    paths = tuple(_resolved(root, path, here, known) for path in named)
    patterns = [literal_pattern(path) for path in paths]
    _require_no_exclude_setting(root, patterns)
    is_everything = all(any(_is_at(path, place) for place in paths) for path in known)
    report = build_index(
        root,
        exclude=tuple(dict.fromkeys((*exclude, *patterns))),
        on_empty=OnEmpty.ALLOW if is_everything else OnEmpty.FAIL,
        progress=progress,
    )
    return Removal(paths, report)


def take_back(
    root: Path, named: Sequence[str], *, here: Path | None = None, progress: ProgressCallback | None = None
) -> Removal:
    """Index again files and folders that were left out; one that was not is a UsageError."""
    exclude, _ = _excluded_and_indexed(root)
    paths = []
    for path in named:
        found = [candidate for candidate in candidate_paths(root, path, here) if literal_pattern(candidate) in exclude]
        if not found:
            raise UsageError(f"{path} was not left out by qa rm.")
        paths.append(found[0])
    patterns = {literal_pattern(path) for path in paths}
    _require_no_exclude_setting(root, sorted(patterns))
    report = build_index(root, exclude=[pattern for pattern in exclude if pattern not in patterns], progress=progress)
    return Removal(tuple(paths), report)


def _excluded_and_indexed(root: Path) -> tuple[tuple[str, ...], list[str]]:
    """Return the patterns excluded now, and the indexed paths."""
    with open_index(root / INDEX_FOLDER) as snapshot:
        return snapshot.info.exclude, [document.path for document in snapshot.documents()]


def _resolved(root: Path, named: str, here: Path | None, known: Sequence[str]) -> str:
    for path in candidate_paths(root, named, here):
        if any(_is_at(indexed, path) for indexed in known) or (root / to_os_name(path)).exists():
            return path
    raise UsageError(f"{named} is not in the collection {root}.{suggest_paths(named, known)}")


def _is_at(path: str, place: str) -> bool:
    """Return whether a file is this one, or in this folder."""
    return f"{path}/".startswith(f"{place}/")


def _require_no_exclude_setting(root: Path, patterns: Sequence[str]) -> None:
    """Raise a UsageError if a settings file sets `exclude`, which would override remembered patterns."""
    if read_settings(root).exclude is not None:
        listed = ", ".join(f'"{pattern}"' for pattern in patterns)
        raise UsageError(f"`exclude` is set in {SETTINGS_FILE} and overrides qa rm. Edit it there: {listed}.")
