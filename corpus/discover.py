"""Which files under a folder are documents: a walk in a fixed order that says what it left out and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.errors import CorpusError, UsageError
from corpus.files import Unreadable, read_bytes, too_large
from corpus.formats import is_readable_name, largest
from corpus.names import as_name, as_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

INDEX_FOLDER = ".qa"
IGNORE_FILES = (".gitignore", ".qaignore")
# Of an ignore file; each file and folder is compared with every pattern.
MAX_IGNORE_BYTES = 1024 * 1024
MAX_PATTERNS = 1000
# Between two slashes and in all: a name is tried at every place for every star, and for several stars at all of them.
MOST_STARS = 3
_MOST_DEEP_STARS = 2


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that looks like a document; `path` is relative to the root, with forward slashes."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
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
    """What a walk found, both in the order of their paths."""

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]


def walk(root: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Walk:
    """List the documents under `root`.

    Hidden files and folders, symbolic links, special files and what `.gitignore` and `.qaignore` name
    are left out; only what a person would miss is reported as skipped. What any `.qaignore` says of a path
    counts before what any `.gitignore` says; among files of one name the innermost counts.

    Args:
        root: The corpus root.
        include: If given, only paths that match one of these patterns (the syntax of .gitignore).
        exclude: Paths that match one of these are left out.

    Raises:
        UsageError: A pattern cannot be meant.
        CorpusError: The root is missing, no folder, or cannot be read.
    """
    try:
        os.scandir(root).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise CorpusError(f"cannot read the folder {root}: {reason}. Name a folder of documents.") from error
    walker = _Walker(_patterns(include), _patterns(exclude))
    walker.visit(root, "", ())
    return Walk(
        tuple(sorted(walker.files, key=lambda file: file.path)),
        tuple(sorted(walker.skipped, key=lambda skip: skip.path)),
    )


def _patterns(lines: Sequence[str]) -> GitIgnoreSpec | None:
    if not lines:
        return None
    try:
        return _spec([line for line in lines if _is_pattern(line)])
    except ValueError as error:
        raise UsageError(f"{error}. Patterns are written as in .gitignore.") from error


def _is_pattern(line: str) -> bool:
    """Whether a line of an ignore file says anything.

    Raises:
        ValueError: What it says is no pattern.
    """
    if not line.strip() or line.startswith("#"):
        return False
    if line.count("**") > _MOST_DEEP_STARS or any(part.count("*") > MOST_STARS for part in line.split("/")):
        raise ValueError(f"Too many stars in the pattern: {line!r}")
    _spec([line])
    return True


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    # Most folders have no patterns, and a question waits for every import.
    from pathspec import GitIgnoreSpec  # noqa: PLC0415

    return GitIgnoreSpec.from_lines(lines)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore file of one folder; its patterns are relative to that folder."""

    name: str
    prefix: str
    spec: GitIgnoreSpec


class _Walker:
    def __init__(self, include: GitIgnoreSpec | None, exclude: GitIgnoreSpec | None) -> None:
        self.files: list[FoundFile] = []
        self.skipped: list[Skipped] = []
        self._include = include
        self._exclude = exclude

    def visit(self, root: Path, prefix: str, inherited: tuple[_Rules, ...]) -> None:
        """Walk one folder, depth first, without recursion."""
        pending = [(prefix, inherited)]
        while pending:
            folder, rules = pending.pop()
            there = root / as_name(folder)
            try:
                with os.scandir(there) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.skipped.append(Skipped(folder, f"folder cannot be read: {error.strerror}", unreadable=True))
                continue
            rules = (*rules, *self._own_rules(there, folder))
            for entry in found:
                path = folder + as_text(entry.name)
                if entry.name.startswith("."):
                    continue
                if not self._printable_name(path):
                    continue
                if self._entry(entry, path, rules):
                    pending.append((path + "/", rules))

    def _printable_name(self, path: str) -> bool:
        # A name that is not UTF-8 comes as lone surrogates, which neither JSON nor SQLite can hold exactly.
        try:
            path.encode()
        except UnicodeEncodeError:
            shown = path.encode("utf-8", "backslashreplace").decode()
            self.skipped.append(Skipped(shown, "its name is not valid UTF-8"))
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
                self.skipped.append(Skipped(prefix + name, f"ignore file cannot be used: {_why(error)}"))
                continue
            if patterns := self._usable(prefix + name, text.removeprefix("\ufeff").split("\n")):
                yield _Rules(name, prefix, _spec(patterns))

    def _usable(self, path: str, lines: Sequence[str]) -> list[str]:
        """The patterns of an ignore file; lines that are none are named and passed over."""
        patterns: list[str] = []
        bad: list[int] = []
        for number, line in enumerate((line.removesuffix("\r") for line in lines), start=1):
            try:
                found = _is_pattern(line)
            except ValueError:
                bad.append(number)
                continue
            if found and len(patterns) == MAX_PATTERNS:
                self.skipped.append(Skipped(path, f"only its first {MAX_PATTERNS:,} patterns are used"))
                break
            patterns += [line] if found else []
        if bad:
            listed = ", ".join(map(str, bad[:5])) + (" and others" if len(bad) > 5 else "")
            self.skipped.append(Skipped(path, f"ignore file has lines that are no patterns (line {listed})"))
        return patterns

    def _entry(self, entry: os.DirEntry[str], path: str, rules: tuple[_Rules, ...]) -> bool:
        """Take one entry in; true where it is a folder to walk."""
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.skipped.append(Skipped(path, f"cannot be read: {error.strerror}", unreadable=True))
            return False
        is_folder = stat.S_ISDIR(status.st_mode)
        if self._ignored(path + "/" if is_folder else path, rules):
            return False
        if stat.S_ISLNK(status.st_mode):
            self.skipped.append(Skipped(path, "symbolic link, not followed"))
            return False
        if is_folder:
            return True
        self._file(path, status)
        return False

    def _file(self, path: str, status: os.stat_result) -> None:
        if self._include is not None and not self._include.match_file(path):
            return
        if not stat.S_ISREG(status.st_mode):
            self.skipped.append(Skipped(path, "not a regular file"))
        elif not is_readable_name(path):
            self.skipped.append(Skipped(path, "not a format that can be read"))
        elif status.st_size > largest(path):
            self.skipped.append(Skipped(path, f"{too_large(largest(path))} ({status.st_size:,} bytes)"))
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
