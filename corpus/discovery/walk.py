"""Find the documents in a folder, in a fixed order, and report what is skipped and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.discovery import gitignore
from corpus.discovery.filenames import IGNORE_FILES, SETTINGS_FILE, from_os_name, to_os_name
from corpus.discovery.generated_files import LeftOut, kind_of
from corpus.discovery.limits import Limits
from corpus.discovery.safe_read import read_bytes, too_large
from corpus.errors import CorpusError, Unreadable
from corpus.formats import MIB, format_of, read_as, unsupported

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Prefix of the files in which Word records who has a document open.
_WORD_LOCK = "~$"
# Limits for an ignore file: each file and folder is compared with every pattern.
MAX_IGNORE_BYTES = MIB
MAX_PATTERNS = 1000


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that is a document by its name; `path` is relative to the root, with forward slashes.

    `ctime_ns` is when its content, name or owner last changed, which no program can set; on Windows, when it was made.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder that is not indexed; if it is `unreadable`, the index must keep what it has of it."""

    path: str
    reason: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, sorted by path.

    Attributes:
        files: The documents.
        skipped: Files and folders that a user would miss.
        folders: The folders that were read, relative to the root; "" is the root, others end with a slash.
        left_out: Number of generated folders and files of each kind, such as "node_modules".
    """

    files: tuple[FoundFile, ...]
    skipped: tuple[SkippedFile, ...]
    folders: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...] = ()


def walk(
    root: Path,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    paths: Sequence[str] = (),
    formats: Sequence[str] = (),
) -> Walk:
    """List the documents under `root`.

    Hidden files and folders, symbolic links, special files and matches of `.gitignore` and `.qaignore` are left
    out. Any `.qaignore` overrides any `.gitignore`; among files of one name the innermost wins. Generated files
    and folders, such as `node_modules`, are left out too, unless `include`, `paths` or an ignore file names them.

    Args:
        root: The corpus root.
        include: If given, only matches of these patterns (in the syntax of .gitignore) are documents.
        exclude: Matches of these are left out.
        paths: If given, only these files, and matches of `include` in these folders (with a slash at the end).
        formats: How to read files whose names match no supported format; see `corpus.formats.read_as`.

    Raises:
        UsageError: A pattern is invalid.
        CorpusError: The root is missing, not a folder, or cannot be read.
    """
    try:
        with os.scandir(root):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise CorpusError(f"cannot read the folder {root}: {reason}. Give a folder of documents.") from error
    walker = _Walker(root, include, exclude, paths, formats)
    walker.run()
    return Walk(
        tuple(sorted(walker.files, key=lambda file: file.path)),
        tuple(sorted(walker.skipped, key=lambda skip: skip.path)),
        tuple(sorted(walker.folders)),
        tuple(sorted(walker.left_out.counts.items())),
    )


# An ignore file: its name, its folder, and its patterns, relative to that folder.
_Rules = tuple[str, str, "GitIgnoreSpec"]


class _Walker:
    def __init__(
        self,
        root: Path,
        include: Sequence[str],
        exclude: Sequence[str],
        paths: Sequence[str],
        formats: Sequence[str],
    ) -> None:
        self.files: list[FoundFile] = []
        self.folders: list[str] = []
        self.skipped: list[SkippedFile] = []
        self.left_out = LeftOut((*include, *paths))
        self._formats = formats
        self._root = root
        self._limits = Limits(paths)
        patterns = gitignore.valid_patterns(include)
        self._include = gitignore.compile_patterns(patterns) if include else None
        self._wanted_folders = tuple(gitignore.folder_of_matches(line) for line in patterns if not line.startswith("!"))
        self._exclude = gitignore.compile_patterns(gitignore.valid_patterns(exclude)) if exclude else None

    def run(self) -> None:
        """Walk all folders, depth first, without recursion."""
        pending: list[tuple[str, tuple[_Rules, ...]]] = [("", ())]
        while pending:
            folder, rules = pending.pop()
            try:
                with os.scandir(self._root / to_os_name(folder)) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._skip(folder, f"folder cannot be read: {error.strerror}", unreadable=True)
                continue
            if folder and self._is_generated(folder, found, rules):
                continue
            self.folders.append(folder)
            rules = (*rules, *self._rules_of(folder, found))
            for entry in found:
                path = folder + from_os_name(entry.name)
                if entry.name.startswith((".", _WORD_LOCK)) or not self._is_valid_name(path) or path == SETTINGS_FILE:
                    continue
                if self._visit(entry, path, rules):
                    pending.append((path + "/", rules))

    def _skip(self, path: str, reason: str, *, unreadable: bool = False) -> None:
        self.skipped.append(SkippedFile(path, reason, unreadable))

    def _is_valid_name(self, path: str) -> bool:
        # Invalid UTF-8 arrives as lone surrogates, which neither JSON nor SQLite can hold exactly.
        try:
            path.encode()
        except UnicodeEncodeError:
            self._skip(path.encode("utf-8", "backslashreplace").decode(), "its name is not valid UTF-8")
            return False
        return True

    def _rules_of(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> Iterator[_Rules]:
        for name in IGNORE_FILES:
            if not any(entry.name == name and entry.is_file(follow_symlinks=False) for entry in entries):
                continue
            try:
                data = read_bytes(self._root / to_os_name(folder), name, limit=MAX_IGNORE_BYTES)
            except Unreadable as error:
                self._skip(folder + name, f"ignore file cannot be used: {error.reason}")
                continue
            text = data.decode("utf-8", "replace")
            if patterns := self._patterns(folder + name, text.removeprefix("\ufeff").split("\n")):
                yield name, folder, gitignore.compile_patterns(patterns)

    def _patterns(self, path: str, lines: Sequence[str]) -> list[str]:
        """Return the patterns of an ignore file; invalid lines are reported and ignored."""
        patterns: list[str] = []
        invalid: list[int] = []
        for number, line in enumerate((line.removesuffix("\r") for line in lines), start=1):
            try:
                if not gitignore.is_pattern(line):
                    continue
            except ValueError:
                invalid.append(number)
                continue
            if len(patterns) == MAX_PATTERNS:
                self._skip(path, f"only its first {MAX_PATTERNS:,} patterns are used")
                break
            patterns.append(line)
        if invalid:
            listed = ", ".join(map(str, invalid[:5])) + (" and others" if len(invalid) > 5 else "")
            self._skip(path, f"ignore file has invalid patterns (line {listed})")
        return patterns

    def _visit(self, entry: os.DirEntry[str], path: str, rules: tuple[_Rules, ...]) -> bool:
        """Collect or skip a file; return True for a folder to walk."""
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._skip(path, f"cannot be read: {error.strerror}", unreadable=True)
            return False
        is_folder = stat.S_ISDIR(status.st_mode)
        ignored = self._verdict(path + "/" if is_folder else path, rules)
        if ignored or (ignored is None and is_folder and self.left_out.folder(entry.name)):
            return False
        if is_folder:
            return self._may_contain_wanted(path + "/")
        if stat.S_ISLNK(status.st_mode):
            self._skip(path, "symbolic link, not followed")
        elif self._is_wanted(path) and (ignored is not None or not self.left_out.file(entry.name)):
            self._add_file(path, status)
        return False

    def _is_wanted(self, path: str) -> bool:
        """Whether a file is listed itself, or lies in a listed folder and matches `include` there."""
        return self._limits.names(path) or any(
            self._include is None or self._include.match_file(inner) for inner in self._limits.within(path)
        )

    def _may_contain_wanted(self, folder: str) -> bool:
        return self._limits.leads_to(folder) or any(
            self._include is None
            or inner.startswith(self._wanted_folders)
            or any(wanted.startswith(inner) for wanted in self._wanted_folders)
            for inner in self._limits.within(folder)
        )

    def _add_file(self, path: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, "not a regular file")
            return
        name = read_as(path, self._formats)
        promised = format_of(name)
        if promised is None:
            self._skip(path, unsupported(name))
        elif status.st_size > promised.limit:
            self._skip(path, f"{too_large(promised.limit)} ({status.st_size:,} bytes)")
        else:
            self.files.append(FoundFile(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))

    def _is_generated(self, folder: str, found: Sequence[os.DirEntry[str]], rules: tuple[_Rules, ...]) -> bool:
        """Whether a folder is left out because of its contents; an ignore file may say otherwise."""
        kind = kind_of(entry.name for entry in found)
        if not kind or self._verdict(folder, rules) is not None:
            return False
        return self.left_out.add(folder.rstrip("/").rpartition("/")[2], kind)

    def _verdict(self, path: str, rules: tuple[_Rules, ...]) -> bool | None:
        """Whether a path is ignored: as in git, the innermost ignore file that matches it wins; None if none does."""
        if self._exclude is not None and self._exclude.match_file(path):
            return True
        for name in reversed(IGNORE_FILES):
            for file, folder, spec in reversed(rules):
                verdict = spec.check_file(path.removeprefix(folder)).include if file == name else None
                if verdict is not None:
                    return verdict
        return None
