"""Which files under a folder are documents: a walk in a fixed order that says what it left out and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.discovery import gitignore
from corpus.discovery.filenames import IGNORE_FILES, SETTINGS_FILE, from_os_name, to_os_name
from corpus.discovery.safe_read import read_bytes, too_large
from corpus.discovery.scope import patterns_within
from corpus.errors import CorpusError, Unreadable
from corpus.formats import is_readable_name, size_limit

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Of an ignore file; each file and folder is compared with every pattern.
MAX_IGNORE_BYTES = 1024 * 1024
MAX_PATTERNS = 1000


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that looks like a document; `path` is relative to the root, with forward slashes."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder left out.

    Attributes:
        path: Relative to the root, with forward slashes.
        reason: In words for a person.
        unreadable: True where it could not be looked at, so that nothing is known about it:
            what the index holds of it must not be dropped.
    """

    path: str
    reason: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, each in the order of their paths.

    Attributes:
        files: The documents.
        skipped: What was left out, and why.
        folders: Where it looked, relative to the root; "" is that itself, the others end with a slash.
    """

    files: tuple[FoundFile, ...]
    skipped: tuple[SkippedFile, ...]
    folders: tuple[str, ...]


def walk(root: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = (), paths: Sequence[str] = ()) -> Walk:
    """List the documents under `root`.

    Hidden files and folders, symbolic links, special files and what `.gitignore` and `.qaignore` name
    are left out; only what a person would miss is reported as skipped. What any `.qaignore` says of a path
    counts before what any `.gitignore` says; among files of one name the innermost counts.

    Args:
        root: The corpus root.
        include: If given, only paths that match one of these patterns (the syntax of .gitignore).
        exclude: Paths that match one of these are left out.
        paths: If given, only these files, and what `include` takes of these folders (with a slash at the end).

    Raises:
        UsageError: A pattern cannot be meant.
        CorpusError: The root is missing, no folder, or cannot be read.
    """
    try:
        os.scandir(root).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise CorpusError(f"cannot read the folder {root}: {reason}. Name a folder of documents.") from error
    walker = _Walker(include, exclude, paths)
    walker.visit(root, "", ())
    return Walk(
        tuple(sorted(walker.files, key=lambda file: file.path)),
        tuple(sorted(walker.skipped, key=lambda skip: skip.path)),
        tuple(sorted(walker.folders)),
    )


def affects_walk(
    root: Path, path: str, *, include: Sequence[str] = (), exclude: Sequence[str] = (), paths: Sequence[str] = ()
) -> bool:
    """Whether a change at a path may change what a walk finds; false only where it cannot.

    Args:
        root: The corpus root.
        path: Of a file or folder, there or not, relative to the root, with forward slashes.
        include: As for `walk`.
        exclude: As for `walk`.
        paths: As for `walk`.
    """
    return _Walker(include, exclude, paths).may_meet(root, path)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore file of one folder; its patterns are relative to that folder."""

    name: str
    prefix: str
    spec: GitIgnoreSpec


class _Walker:
    def __init__(self, include: Sequence[str], exclude: Sequence[str], paths: Sequence[str]) -> None:
        self.files: list[FoundFile] = []
        self.folders: list[str] = []
        self.skipped: list[SkippedFile] = []
        is_limited = bool(include or paths)
        taken = gitignore.valid_patterns(patterns_within(paths, include))
        self._include = gitignore.specification(taken) if is_limited else None
        self._reach = gitignore.Reach(taken) if is_limited else None
        self._exclude = gitignore.specification(gitignore.valid_patterns(exclude)) if exclude else None

    def visit(self, root: Path, prefix: str, inherited: tuple[_Rules, ...]) -> None:
        """Walk one folder, depth first, without recursion."""
        pending = [(prefix, inherited)]
        while pending:
            folder, rules = pending.pop()
            there = root / to_os_name(folder)
            try:
                with os.scandir(there) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.skipped.append(SkippedFile(folder, f"folder cannot be read: {error.strerror}", unreadable=True))
                continue
            self.folders.append(folder)
            rules = (*rules, *self._own_rules(there, folder))
            for entry in found:
                path = folder + from_os_name(entry.name)
                if entry.name.startswith("."):
                    continue
                if not self._printable_name(path):
                    continue
                if path != SETTINGS_FILE and self._entry(entry, path, rules):
                    pending.append((path + "/", rules))

    def may_meet(self, root: Path, path: str) -> bool:
        """Whether a walk may come to a path: no folder above it is left out, and nothing says that it is itself."""
        rules: tuple[_Rules, ...] = ()
        *above, name = path.split("/")
        folder = ""
        for part in above:
            rules = (*rules, *self._own_rules(root / folder, folder))
            folder += part + "/"
            spared = self._reach is not None and not self._reach.holds(folder)
            if part.startswith(".") or spared or self._ignored(folder, rules):
                return False
        rules = (*rules, *self._own_rules(root / folder, folder))
        if name in IGNORE_FILES or name.startswith("."):
            return name in IGNORE_FILES
        if self._ignored(path, rules):
            return False
        # Whether what is gone was a file is not known.
        taken = is_readable_name(path) and (self._include is None or self._include.match_file(path))
        return taken or not (root / path).is_file()

    def _printable_name(self, path: str) -> bool:
        # A name that is not UTF-8 comes as lone surrogates, which neither JSON nor SQLite can hold exactly.
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = path.encode("utf-8", "backslashreplace").decode()
            self.skipped.append(SkippedFile(shown, "its name is not valid UTF-8"))
            return False
        return True

    def _own_rules(self, folder: Path, prefix: str) -> Iterator[_Rules]:
        for name in IGNORE_FILES:
            try:
                if not stat.S_ISREG(os.lstat(folder / name).st_mode):
                    continue
                text = read_bytes(folder, name, limit=MAX_IGNORE_BYTES).decode("utf-8", "replace")
            except FileNotFoundError:
                continue
            except (OSError, Unreadable) as error:
                self.skipped.append(SkippedFile(prefix + name, f"ignore file cannot be used: {_why(error)}"))
                continue
            if kept := self._usable(prefix + name, text.removeprefix("\ufeff").split("\n")):
                yield _Rules(name, prefix, gitignore.specification(kept))

    def _usable(self, path: str, lines: Sequence[str]) -> list[str]:
        """The patterns of an ignore file; lines that are none are named and passed over."""
        kept: list[str] = []
        bad: list[int] = []
        for number, line in enumerate((line.removesuffix("\r") for line in lines), start=1):
            try:
                found = gitignore.is_pattern(line)
            except ValueError:
                bad.append(number)
                continue
            if found and len(kept) == MAX_PATTERNS:
                self.skipped.append(SkippedFile(path, f"only its first {MAX_PATTERNS:,} patterns are used"))
                break
            kept += [line] if found else []
        if bad:
            listed = ", ".join(map(str, bad[:5])) + (" and others" if len(bad) > 5 else "")
            self.skipped.append(SkippedFile(path, f"ignore file has lines that are no patterns (line {listed})"))
        return kept

    def _entry(self, entry: os.DirEntry[str], path: str, rules: tuple[_Rules, ...]) -> bool:
        """Take one entry in; true where it is a folder to walk."""
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.skipped.append(SkippedFile(path, f"cannot be read: {error.strerror}", unreadable=True))
            return False
        is_folder = stat.S_ISDIR(status.st_mode)
        if self._ignored(path + "/" if is_folder else path, rules):
            return False
        if stat.S_ISLNK(status.st_mode):
            self.skipped.append(SkippedFile(path, "symbolic link, not followed"))
            return False
        if is_folder:
            return self._reach is None or self._reach.holds(path + "/")
        self._file(path, status)
        return False

    def _file(self, path: str, status: os.stat_result) -> None:
        if self._include is not None and not self._include.match_file(path):
            return
        if not stat.S_ISREG(status.st_mode):
            self.skipped.append(SkippedFile(path, "not a regular file"))
        elif not is_readable_name(path):
            self.skipped.append(SkippedFile(path, "not a format that can be read"))
        elif status.st_size > size_limit(path):
            self.skipped.append(SkippedFile(path, f"{too_large(size_limit(path))} ({status.st_size:,} bytes)"))
        else:
            self.files.append(FoundFile(path, status.st_size, status.st_mtime_ns))

    def _ignored(self, path: str, rules: tuple[_Rules, ...]) -> bool:
        """As git decides: the innermost ignore file that says anything about the path wins."""
        if self._exclude is not None and self._exclude.match_file(path):
            return True
        for name in reversed(IGNORE_FILES):
            for rule in reversed(rules):
                verdict = rule.spec.check_file(path.removeprefix(rule.prefix)).include if rule.name == name else None
                if verdict is not None:
                    return verdict
        return False


def _why(error: OSError | Unreadable) -> str:
    return error.reason if isinstance(error, Unreadable) else error.strerror or str(error)
