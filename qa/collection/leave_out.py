"""`qa rm`: take files out of an index, and remember to leave them out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import INDEX_FOLDER, literal_pattern, to_os_name
from corpus.errors import UsageError
from index import BuildReport, ProgressCallback, open_index
from qa.collection.build import OnEmpty, build_index
from qa.collection.settings import read_settings, settings_file_name
from qa.locate import suggest_paths
from qa.places import candidate_paths


@dataclass(frozen=True, slots=True)
class Removal:
    """The files and folders that were left out or taken back, and what the update did."""

    paths: tuple[str, ...]
    report: BuildReport


def leave_out(
    root: Path, locations: Sequence[str], *, here: Path | None = None, progress: ProgressCallback | None = None
) -> Removal:
    """Remove files and folders from the index, and exclude them from later updates.

    Locations are relative to `here` or to the root; one that is neither in the index nor in the folder is a UsageError.
    """
    exclude, indexed = _exclude_and_indexed(root)
    paths = tuple(_resolve_path(root, path, here, indexed) for path in locations)
    patterns = [literal_pattern(path) for path in paths]
    _require_no_exclude_setting(root, patterns)
    is_everything = all(any(_lies_at(path, left_out) for left_out in paths) for path in indexed)
    report = build_index(
        root,
        exclude=tuple(dict.fromkeys((*exclude, *patterns))),
        on_empty=OnEmpty.ALLOW if is_everything else OnEmpty.FAIL,
        progress=progress,
    )
    return Removal(paths, report)


def take_back(
    root: Path, locations: Sequence[str], *, here: Path | None = None, progress: ProgressCallback | None = None
) -> Removal:
    """Index left out files and folders again; a location that was not left out is a UsageError."""
    exclude, _ = _exclude_and_indexed(root)
    paths = []
    for location in locations:
        excluded = (path for path in candidate_paths(root, location, here) if literal_pattern(path) in exclude)
        if (path := next(excluded, None)) is None:
            raise UsageError(f"{location} was not left out by qa rm.")
        paths.append(path)
    patterns = {literal_pattern(path) for path in paths}
    _require_no_exclude_setting(root, sorted(patterns))
    report = build_index(root, exclude=[pattern for pattern in exclude if pattern not in patterns], progress=progress)
    return Removal(tuple(paths), report)


def _exclude_and_indexed(root: Path) -> tuple[tuple[str, ...], list[str]]:
    """Return the exclude patterns of the index, and the indexed paths."""
    with open_index(root / INDEX_FOLDER) as snapshot:
        return snapshot.info.exclude, [document.path for document in snapshot.documents()]


def _resolve_path(root: Path, location: str, here: Path | None, indexed_paths: Sequence[str]) -> str:
    for path in candidate_paths(root, location, here):
        if any(_lies_at(indexed_path, path) for indexed_path in indexed_paths) or (root / to_os_name(path)).exists():
            return path
    if Path(os.path.realpath(Path(here or root, location))) == Path(os.path.realpath(root)):
        raise UsageError(f"{location} is the whole collection. Delete {root / INDEX_FOLDER}, or name files in it.")
    raise UsageError(f"{location} is not in the collection {root}.{suggest_paths(location, indexed_paths)}")


def _lies_at(path: str, parent: str) -> bool:
    """Return whether a path is `parent`, or in that folder."""
    return f"{path}/".startswith(f"{parent}/")


def _require_no_exclude_setting(root: Path, patterns: Sequence[str]) -> None:
    """Raise a UsageError if a settings file sets `exclude`, which would override remembered patterns."""
    if read_settings(root).exclude is not None:
        listed = ", ".join(f'"{pattern}"' for pattern in patterns)
        source = settings_file_name(root)
        raise UsageError(f"`exclude` is set in {source} and overrides qa rm. Edit it there: {listed}.")
