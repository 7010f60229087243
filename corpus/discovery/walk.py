"""Find the documents in a folder, in a fixed order, and report what is skipped and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.discovery import gitignore
from corpus.discovery.filenames import IGNORE_FILES, SETTINGS_FILE, from_os_name, to_os_name
from corpus.discovery.generated_files import GeneratedFiles, kind_of_generated_folder
from corpus.discovery.limits import Limits
from corpus.discovery.safe_read import read_bytes, too_large_reason
from corpus.errors import CorpusError, Unreadable
from corpus.formats import MIB, effective_name, format_of, unsupported_reason

# Prefix of the files in which Word records who has a document open.
_WORD_LOCK = "~$"
# Limits for an ignore file: each file and folder is compared with every pattern.
MAX_IGNORE_BYTES = MIB
MAX_PATTERNS = 1000


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file whose name is that of a document; `path` is relative to the root, with forward slashes.

    `ctime_ns` is when its content, name or owner last changed, which no program can set; on Windows, its creation time.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder that is not indexed; if it is `unreadable`, the index must keep its passages."""

    path: str
    reason: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of a walk, sorted by path.

    Attributes:
        files: The documents.
        skipped: Files and folders that the user may expect to be indexed.
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
    out. Any `.qaignore` overrides any `.gitignore`; of files with the same name, the innermost wins. Generated files
    and folders, such as `node_modules`, are left out too, unless `include`, `paths` or an ignore file names them.

    Args:
        root: The corpus root.
        include: If given, only matches of these patterns (in the syntax of .gitignore) are documents.
        exclude: Matches of these are left out.
        paths: If given, only these files, and matches of `include` in these folders (with a slash at the end).
        formats: How to read files whose names match no supported format; see `corpus.formats.effective_name`.

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
_IgnoreFile = tuple[str, str, gitignore.IgnoreRules]
_IgnoreFiles = tuple[_IgnoreFile, ...]


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
        self.left_out = GeneratedFiles((*include, *paths))
        self._formats = formats
        self._root = root
        self._limits = Limits(paths)
        patterns = gitignore.valid_patterns(include)
        self._include = gitignore.compile_patterns(patterns) if include else None
        self._wanted_folders = tuple(gitignore.folder_of_matches(line) for line in patterns if not line.startswith("!"))
        self._exclude = gitignore.IgnoreRules(gitignore.valid_patterns(exclude)) if exclude else None

    def run(self) -> None:
        """Walk all folders, depth first, without recursion."""
        pending: list[tuple[str, _IgnoreFiles]] = [("", ())]
        while pending:
            folder, ignore_files = pending.pop()
            try:
                with os.scandir(self._root / to_os_name(folder)) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                self._skip(folder, f"folder cannot be read: {error.strerror}", unreadable=True)
                continue
            if folder and self._is_generated(folder, entries, ignore_files):
                continue
            self.folders.append(folder)
            ignore_files = (*ignore_files, *self._ignore_files_in(folder, entries))
            for entry in entries:
                path = folder + from_os_name(entry.name)
                if entry.name.startswith((".", _WORD_LOCK)) or not self._is_valid_name(path) or path == SETTINGS_FILE:
                    continue
                if self._visit(entry, path, ignore_files):
                    pending.append((path + "/", ignore_files))

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

    def _ignore_files_in(self, folder: str, entries: Sequence[os.DirEntry[str]]) -> Iterator[_IgnoreFile]:
        for name in IGNORE_FILES:
            if not any(entry.name == name and entry.is_file(follow_symlinks=False) for entry in entries):
                continue
            try:
                data = read_bytes(self._root / to_os_name(folder), name, limit=MAX_IGNORE_BYTES)
            except Unreadable as error:
                self._skip(folder + name, f"ignore file cannot be used: {error.reason}")
                continue
            text = data.decode("utf-8", "replace")
            if patterns := self._valid_patterns(folder + name, text.removeprefix("\ufeff").split("\n")):
                yield name, folder, gitignore.IgnoreRules(patterns)

    def _valid_patterns(self, path: str, lines: Sequence[str]) -> list[str]:
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

    def _visit(self, entry: os.DirEntry[str], path: str, ignore_files: _IgnoreFiles) -> bool:
        """Collect or skip a file; return True for a folder to walk."""
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._skip(path, f"cannot be read: {error.strerror}", unreadable=True)
            return False
        is_folder = stat.S_ISDIR(status.st_mode)
        is_ignored = self._is_ignored(path + "/" if is_folder else path, ignore_files)
        if is_ignored or (is_ignored is None and is_folder and self.left_out.leave_out_folder(entry.name)):
            return False
        if is_folder:
            return self._may_contain_wanted(path + "/")
        if stat.S_ISLNK(status.st_mode):
            self._skip(path, "symbolic link, not followed")
        elif self._is_wanted(path) and (is_ignored is not None or not self.left_out.leave_out_file(entry.name)):
            self._add_file(path, status)
        return False

    def _is_wanted(self, path: str) -> bool:
        """Whether a file is listed itself, or lies in a listed folder and matches `include` there."""
        return self._limits.lists_file(path) or any(
            self._include is None or self._include.match_file(inner) for inner in self._limits.relative_paths(path)
        )

    def _may_contain_wanted(self, folder: str) -> bool:
        return self._limits.has_listed_below(folder) or any(
            self._include is None
            or inner.startswith(self._wanted_folders)
            or any(wanted.startswith(inner) for wanted in self._wanted_folders)
            for inner in self._limits.relative_paths(folder)
        )

    def _add_file(self, path: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, "not a regular file")
            return
        name = effective_name(path, self._formats)
        file_format = format_of(name)
        if file_format is None:
            self._skip(path, unsupported_reason(name))
        elif status.st_size > file_format.limit:
            self._skip(path, f"{too_large_reason(file_format.limit)} ({status.st_size:,} bytes)")
        else:
            # SQLite's integers end in the years 1677 and 2262; file systems' times do not.
            mtime_ns = min(max(status.st_mtime_ns, -(2**63)), 2**63 - 1)
            self.files.append(FoundFile(path, status.st_size, mtime_ns, status.st_ctime_ns))

    def _is_generated(self, folder: str, entries: Sequence[os.DirEntry[str]], ignore_files: _IgnoreFiles) -> bool:
        """Whether a folder is left out because of its contents; an ignore file can override this."""
        kind = kind_of_generated_folder(entry.name for entry in entries)
        if not kind or self._is_ignored(folder, ignore_files) is not None:
            return False
        return self.left_out.leave_out(folder.rstrip("/").rpartition("/")[2], kind)

    def _is_ignored(self, path: str, ignore_files: _IgnoreFiles) -> bool | None:
        """Whether a path is ignored: as in git, the innermost ignore file that matches wins; None without a match."""
        if self._exclude is not None and self._exclude.check(path):
            return True
        for name in reversed(IGNORE_FILES):
            for file_name, folder, patterns in reversed(ignore_files):
                is_ignored = patterns.check(path.removeprefix(folder)) if file_name == name else None
                if is_ignored is not None:
                    return is_ignored
        return None
