"""Which files are documents."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from corpus import formats
from corpus.discovery.generated_files import names_only_generated
from corpus.discovery.limits import outermost
from corpus.discovery.walk import MAX_IGNORE_BYTES, MAX_PATTERNS, FoundFile, SkippedFile, walk
from corpus.errors import CorpusError, UsageError
from corpus.formats import MAX_BYTES, PLAIN, Format


def create(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x", encoding="utf-8")


def write_ignore_file(root: Path, path: str, lines: Iterable[str]) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("\n".join(lines), encoding="utf-8")


def walked_paths(root: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
    return [file.path for file in walk(root, include=include, exclude=exclude).files]


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    """They are sorted by code points; composed and decomposed letters differ; each file has its size and time."""
    names = ["-dash.md", "A.md", "a-b/c.md", "a.md", "a/b/c/d.rst", "a/z.txt", "b.md", "cafe\u0301.md", "caf\u00e9.md"]
    create(tmp_path, "new\nline.md", *reversed(names))
    os.utime(tmp_path / "A.md", ns=(5, 7))
    files = walk(tmp_path).files
    assert [file.path for file in files] == [*names, "new\nline.md"]
    assert replace(files[1], ctime_ns=0) == FoundFile("A.md", 1, 7)


def test_hidden_files_and_folders_are_silently_skipped(tmp_path: Path) -> None:
    """They include the index, and the lock files that Word and LibreOffice write while a document is open.

    The settings of the collection are skipped too; a file of that name in a subfolder is a document.
    """
    create(tmp_path, ".hidden.md", ".qa/index.md", ".git/a.md", "a/.b/c.md", "a/d.md", "~$d.docx", "a/.~lock.d.odt#")
    create(tmp_path, "qa.toml", "sub/qa.toml")
    assert walk(tmp_path).skipped == ()
    assert walked_paths(tmp_path) == ["a/d.md", "sub/qa.toml"]


GENERATED = (
    "node_modules/a/readme.md", "web/node_modules/b.md", "venv/lib/c.md", "env/pyvenv.cfg", "env/d.md",
    "build/CACHEDIR.TAG", "build/e.md", "x/__pycache__/f.md", "poetry.lock", "web/package-lock.json", "web/g.min.js",
)  # fmt: skip


def test_generated_files_are_left_out_and_counted(tmp_path: Path) -> None:
    """These are installed packages, environments, caches, lock files and minified code."""
    create(tmp_path, "a.md", "web/g.js", "package.json", *GENERATED)
    assert walked_paths(tmp_path) == ["a.md", "package.json", "web/g.js"]
    assert walk(tmp_path).left_out == (
        ("__pycache__", 1),
        ("caches", 1),
        ("lock files", 2),
        ("minified files", 1),
        ("node_modules", 2),
        ("virtual environments", 2),
    )
    # If the root itself is such a folder, its files are not left out.
    assert walked_paths(tmp_path / "env") == ["d.md", "pyvenv.cfg"]


def test_generated_files_can_be_included_beside_all_others(tmp_path: Path) -> None:
    create(tmp_path, "a.md", "web/b.md", "node_modules/a/readme.md", "x/__pycache__/f.md")
    expected = ["a.md", "node_modules/a/readme.md", "web/b.md"]
    assert walked_paths(tmp_path, include=["*", "node_modules/"]) == expected


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["node_modules/"], True),
        (["/web/node_modules/*.md", "*.lock", "!x.md"], True),
        (["node_modules/", "*"], False),
        (["*.md"], False),
        (["my_node_modules/"], False),
        (["!node_modules/"], False),
        ([], False),
    ],
)
def test_patterns_that_name_only_generated_files(patterns: list[str], expected: bool) -> None:
    assert names_only_generated(patterns) is expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.md", ["a.md"]),
        ("node_modules/", ["node_modules/a/readme.md", "web/node_modules/b.md"]),
        ("/web/node_modules/*.md", ["web/node_modules/b.md"]),
        ("env/", ["env/d.md", "env/pyvenv.cfg"]),
        ("*.lock", ["poetry.lock"]),
        ("*.json", []),
        ("package-lock.json", ["web/package-lock.json"]),
    ],
)
def test_generated_files_can_be_included_by_name(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    create(tmp_path, "a.md", *GENERATED)
    assert walked_paths(tmp_path, include=[pattern]) == expected


def test_paths_and_ignore_files_can_include_generated_files(tmp_path: Path) -> None:
    """Files left out by ignore files are not counted."""
    create(tmp_path, "a.md", *GENERATED)
    requested = walk(tmp_path, paths=["venv/", "poetry.lock"])
    assert [file.path for file in requested.files] == ["poetry.lock", "venv/lib/c.md"]
    (tmp_path / ".gitignore").write_text("node_modules/\nenv/\n")
    (tmp_path / ".qaignore").write_text("!/node_modules/\n!build/\n!*.lock\n__pycache__/\n")
    everything = walk(tmp_path)
    assert [file.path for file in everything.files] == [
        "a.md", "build/CACHEDIR.TAG", "build/e.md", "node_modules/a/readme.md", "poetry.lock",
    ]  # fmt: skip
    assert everything.left_out == (("lock files", 1), ("minified files", 1), ("virtual environments", 1))


@pytest.mark.parametrize("name", [".gitignore", ".qaignore"])
def test_ignored_files_are_silently_skipped(tmp_path: Path, name: str) -> None:
    """There are patterns for files, whole folders, anchored paths and links; comments are skipped."""
    create(tmp_path, "keep.md", "drop.md", "build/a.md", "sub/build/b.md", "sub/top.md", "top.md", "note.png")
    (tmp_path / "link.md").symlink_to("keep.md")
    write_ignore_file(tmp_path, name, ["# comment", "drop.md", "build/", "/top.md", "*.png", "link.md", ""])
    assert walk(tmp_path).skipped == ()
    assert walked_paths(tmp_path) == ["keep.md", "sub/top.md"]


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        # A negation brings back a file, but not from a folder that is left out.
        ({".gitignore": ["*.txt", "!b.txt", "sub/", "!sub/c.txt"]}, ["b.txt"]),
        # The innermost file wins; its patterns are relative to its folder.
        (
            {".gitignore": ["a.txt"], "sub/.gitignore": ["!a.txt", "/b.txt"]},
            ["b.txt", "sub/a.txt", "sub/c.txt", "sub/deep/a.txt", "sub/deep/b.txt"],
        ),
        # .qaignore overrides .gitignore, in its folder and below.
        (
            {
                ".gitignore": ["deep/"],
                ".qaignore": ["!deep/", "a.txt", "!b.txt"],
                "sub/.gitignore": ["!a.txt", "*.txt"],
            },
            ["b.txt", "sub/b.txt", "sub/deep/b.txt"],
        ),
    ],
)
def test_ignore_file_precedence(tmp_path: Path, ignored: dict[str, list[str]], expected: list[str]) -> None:
    create(tmp_path, "a.txt", "b.txt", "sub/a.txt", "sub/b.txt", "sub/c.txt", "sub/deep/a.txt", "sub/deep/b.txt")
    for path, lines in ignored.items():
        write_ignore_file(tmp_path, path, lines)
    assert walked_paths(tmp_path) == expected


def test_invalid_ignore_line_is_reported_and_the_rest_apply(tmp_path: Path) -> None:
    create(tmp_path, "a.md", "b.md", "c.md")
    write_ignore_file(tmp_path, ".gitignore", ["a.md", "!", "# comment", "c.md", "**/x/**/y/**/z", "*.log[9-0]"])
    reason = "ignore file has invalid patterns (line 2, 5, 6)"
    assert walk(tmp_path).skipped == (SkippedFile(".gitignore", reason),)
    assert walked_paths(tmp_path) == ["b.md"]
    write_ignore_file(tmp_path, ".gitignore", ["!"] * 9)
    assert walk(tmp_path).skipped[0].reason.endswith("(line 1, 2, 3, 4, 5 and others)")


def test_an_ignore_file_written_by_a_windows_editor_is_read(tmp_path: Path) -> None:
    """It has a byte order mark and CRLF."""
    create(tmp_path, "a.md", "b.md", "c.md")
    (tmp_path / ".qaignore").write_bytes(b"\xef\xbb\xbfa.md\r\nb.md\r\n")
    assert walked_paths(tmp_path) == ["c.md"]


def test_unusable_ignore_file_is_skipped(tmp_path: Path) -> None:
    """A FIFO does not block the walk, no link is followed, and at most a megabyte of a huge file is read."""
    create(tmp_path, "a.md", "sub/b.md", "linked/c.md")
    (tmp_path / "linked" / "rules.txt").write_text("*.md", encoding="utf-8")
    (tmp_path / "linked" / ".gitignore").symlink_to("rules.txt")
    os.mkfifo(tmp_path / ".gitignore")
    with (tmp_path / "sub" / ".gitignore").open("wb") as stream:
        stream.truncate(10 * 1024**3)
    assert walk(tmp_path).skipped == (SkippedFile("sub/.gitignore", "ignore file cannot be used: larger than 1 MiB"),)
    assert walked_paths(tmp_path) == ["a.md", "linked/c.md", "linked/rules.txt", "sub/b.md"]
    assert MAX_IGNORE_BYTES == 1024 * 1024


def test_patterns_of_an_ignore_file_are_capped(tmp_path: Path) -> None:
    create(tmp_path, "a0.md", f"a{MAX_PATTERNS - 1}.md", f"a{MAX_PATTERNS}.md")
    write_ignore_file(tmp_path, ".gitignore", [f"a{number}.md" for number in range(MAX_PATTERNS + 1)])
    assert walk(tmp_path).skipped == (SkippedFile(".gitignore", "only its first 1,000 patterns are used"),)
    assert walked_paths(tmp_path) == [f"a{MAX_PATTERNS}.md"]


def test_patterns_with_many_stars_are_refused(tmp_path: Path) -> None:
    """Three stars in a name are matched quickly; forty would take centuries."""
    names = ["a" * 250, "a" * 245 + "b.md", "aXaXb.md"]
    for name in names:
        (tmp_path / name).touch()
    write_ignore_file(tmp_path, ".gitignore", ["*a" * 40 + "*c", "**/x/**/y/**", "*a*X*b.md", "*a*a*c"])
    assert walk(tmp_path).skipped == (SkippedFile(".gitignore", "ignore file has invalid patterns (line 1, 2)"),)
    assert walked_paths(tmp_path) == ["a" * 250, "a" * 245 + "b.md"]


def test_include_and_exclude(tmp_path: Path) -> None:
    """Both take patterns as in .gitignore; exclude wins, and files that do not match include are not reported."""
    create(tmp_path, "a.md", "b.txt", "c.png", "sub/a.md", "sub/c.md", "old/a.md")
    assert walked_paths(tmp_path, include=("*.md",)) == ["a.md", "old/a.md", "sub/a.md", "sub/c.md"]
    assert walked_paths(tmp_path, include=("*.md",), exclude=("old/", "/a.md")) == ["sub/a.md", "sub/c.md"]
    assert walked_paths(tmp_path, include=("sub/",)) == ["sub/a.md", "sub/c.md"]
    assert walk(tmp_path, include=("*.md",)).skipped == ()
    write_ignore_file(tmp_path, ".qaignore", ["!old/"])
    assert walked_paths(tmp_path, exclude=("old/", "*.txt")) == ["a.md", "sub/a.md", "sub/c.md"]
    assert walk(tmp_path, exclude=("*.png",)).skipped == ()


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        *((pattern, "Invalid git pattern: ") for pattern in ("!", "\\", "[z-a]")),
        ("***a*b*c*d", "Too many stars in the pattern: .* \\(at most 3 between slashes, and \\*\\* at most 2 times\\)"),
    ],
)
def test_an_invalid_pattern_is_an_error(tmp_path: Path, pattern: str, reason: str) -> None:
    where = r"\. Correct it in qa\.toml, --include or --exclude\. Patterns are written as in \.gitignore\.$"
    with pytest.raises(UsageError, match=f"^{reason}.*{where}"):
        walk(tmp_path, include=(pattern,))
    with pytest.raises(UsageError):
        walk(tmp_path, exclude=(pattern,))


def test_a_time_beyond_64_bits_of_nanoseconds_is_the_latest_one(tmp_path: Path) -> None:
    create(tmp_path, "a.md")
    os.utime(tmp_path / "a.md", (0, 2**33 + 2**32))  # in the year 2378
    (file,) = walk(tmp_path).files
    assert file.mtime_ns == min((tmp_path / "a.md").stat().st_mtime_ns, 2**63 - 1)


def test_oversized_file_is_reported_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as stream:
        stream.truncate(MAX_BYTES)
    with (tmp_path / "b.txt").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    assert walk(tmp_path).skipped == (SkippedFile("b.txt", "larger than 8 MiB (8,388,609 bytes)"),)
    assert walked_paths(tmp_path) == ["a.txt"]


def test_unreadable_root_is_an_error(tmp_path: Path) -> None:
    create(tmp_path, "a.md")
    with pytest.raises(CorpusError, match=r"^cannot read the folder .*gone: No such file or directory\. Give a folder"):
        walk(tmp_path / "gone")
    with pytest.raises(CorpusError, match=r"a\.md: Not a directory\. Give a folder of documents\.$"):
        walk(tmp_path / "a.md")


def test_unreadable_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are walked."""
    create(tmp_path, "a.md", "locked/b.md", "open/c.md")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "locked":
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert walked_paths(tmp_path) == ["a.md", "open/c.md"]
    assert walk(tmp_path).skipped == (
        SkippedFile("locked/", "folder cannot be read: Permission denied", unreadable=True),
    )


def test_an_entry_that_cannot_be_examined_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(tmp_path, "a.md")
    scandir = os.scandir

    class Entry:
        name = "b.md"

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            raise OSError(errno.EIO, "Input/output error")

    @contextlib.contextmanager
    def entries(path: Path) -> Iterator[list[object]]:
        with scandir(path) as listing:
            yield [*listing, Entry()]

    monkeypatch.setattr(os, "scandir", entries)
    assert walk(tmp_path).skipped == (SkippedFile("b.md", "cannot be read: Input/output error", unreadable=True),)
    assert walked_paths(tmp_path) == ["a.md"]


FILES = ("papers/a.md", "papers/b.txt", "papers/deep/c.md", "papers [1]/d.md", "notes/e.md", "notes/f.txt", "talk.md")


@pytest.mark.parametrize(
    ("paths", "include", "taken"),
    [
        ((), (), FILES),
        (("papers/",), (), ("papers/a.md", "papers/b.txt", "papers/deep/c.md")),
        (("papers [1]/", "talk.md"), (), ("papers [1]/d.md", "talk.md")),
        (("notes/", "papers/"), ("*.md",), ("notes/e.md", "papers/a.md", "papers/deep/c.md")),
        (("notes/f.txt", "papers/"), ("*.md",), ("notes/f.txt", "papers/a.md", "papers/deep/c.md")),
        (("papers/",), ("/a.md",), ("papers/a.md",)),
        (("papers/",), ("*", "!*.txt"), ("papers/a.md", "papers/deep/c.md")),
        (("papers/",), ("deep/",), ("papers/deep/c.md",)),
        (("papers/",), ("# none",), ()),
    ],
)
def test_walk_is_limited_to_paths(
    tmp_path: Path, paths: tuple[str, ...], include: tuple[str, ...], taken: tuple[str, ...]
) -> None:
    """Patterns apply in each folder; a file in `paths` need not match one."""
    create(tmp_path, *FILES)
    assert [file.path for file in walk(tmp_path, include=include, paths=paths).files] == sorted(taken)


def test_nested_paths_are_dropped() -> None:
    """Paths inside another path are dropped; a folder whose name only has the same beginning is not inside."""
    assert outermost(["b/c.md", "a/x/", "a/", "a b/", "b/", "d.md", "d.md"]) == ("a b/", "a/", "b/", "d.md")
    assert outermost([]) == ()


def test_entered_folders_are_listed(tmp_path: Path) -> None:
    """Folders that are hidden, ignored, excluded or out of reach of every pattern are not entered."""
    create(tmp_path, "a/b/c.md", "d/e.md", ".git/f.md", "build/g.md", "old/h.md")
    write_ignore_file(tmp_path, ".gitignore", ["build/"])
    assert walk(tmp_path, exclude=["old/"]).folders == ("", "a/", "a/b/", "d/")
    assert walk(tmp_path, include=["/a/**"]).folders == ("", "a/", "a/b/")


def test_the_format_of_each_file_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a large folder, it takes a notable part of the time of a question."""
    looked_up: list[str] = []

    def look_up(path: str) -> Format:
        looked_up.append(path)
        return PLAIN

    for module in (formats, sys.modules[walk.__module__]):
        monkeypatch.setattr(module, "format_of", look_up)
    create(tmp_path, "a.txt", "b.md")
    walk(tmp_path)
    assert looked_up == ["a.txt", "b.md"]
