"""Path patterns: literal patterns, the folder of all matches, and the patterns of ignore files."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.discovery import gitignore
from corpus.discovery.walk import walk
from corpus.errors import UsageError

NAMES = [
    *("a", "b", "ab", "a b", "b.md", "a.md", "[a]", "*", "a*", "?", "#a", "!a", "a ", "\\", "a\\", "é", "a\nb", "a\t")
]
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
PIECES = st.sampled_from(
    ["", "[a", "b]", "a", "b", "*", "**", "?", "a*", "[ab]", "*.md", "b.md", "ab", r"\*", r"a\ ", "[!a]*"]
)
PATTERNS = st.builds(
    lambda sign, lead, parts, tail: sign + lead + "/".join(parts) + tail,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "/", " "]),
)


def matches(line: str, path: str) -> bool:
    return gitignore.compile_patterns([line]).match_file(path)


@settings(deadline=None)
@given(PATHS, PATHS)
def test_a_literal_pattern_matches_one_path_and_everything_below_it(path: str, other_path: str) -> None:
    line = gitignore.literal_pattern(path)
    assert gitignore.valid_patterns([line]) == [line]
    assert matches(line, path)
    assert matches(line, f"{path}/{other_path}")
    assert matches(line, other_path) == (other_path == path or other_path.startswith(path + "/"))


def is_valid(line: str) -> bool:
    try:
        return bool(gitignore.valid_patterns([line]))
    except UsageError:
        return False


@settings(max_examples=300, deadline=None)
@given(PATTERNS.filter(is_valid), PATHS)
def test_the_folder_of_a_pattern_is_or_contains_all_its_matches(line: str, path: str) -> None:
    if gitignore.compile_patterns([line]).match_file(path):
        assert f"{path}/".startswith(gitignore.folder_of_matches(line))


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        *(("/a/b/**", "a/b/"), ("/a/b.md", "a/b.md/"), ("a/b/*/c.md", "a/b/"), ("/a/**/b.md", "a/"), ("/a/", "a/")),
        *((r"/a\*/x", ""), ("*.md", ""), ("docs/", ""), ("**/x", ""), ("/**/x", "")),
    ],
)
def test_the_folder_of_a_pattern_ends_before_its_first_wildcard(line: str, folder: str) -> None:
    assert gitignore.folder_of_matches(line) == folder


GIT = shutil.which("git") or ""
TREE = ["a.md", "b.txt", "a/a.md", "a/b/a.md", "a/b/c/b.txt", "b/b.md", "b/a/b.md", "b/c/a/a.md", "c/b/c.md"]
PARTS = ["*", "*", "**", "**", "a", "b", "c", "*.md", "[ab]*", "?", "b.md"]
USUAL = [
    *(["*", "!*/", "!*.md"], ["b/**", "!b/b.md"], ["a/**", "!a/b/", "!a/b/**"], ["b/**/"], ["*", "!a/b/", "!b/**"]),
    *(["/*", "!/a/"], ["a/*", "!a/b", "a/b/*", "!a/b/c/"], ["a/**", "!a/**/", "!a/**/*.txt"], ["**/", "!a"]),
]


def random_patterns(source: random.Random) -> list[str]:
    def pattern() -> str:
        path = "/".join(source.choices(PARTS, k=source.randint(1, 3)))
        return source.choice(["", "", "!"]) + source.choice(["", "", "/"]) + path + source.choice(["", "", "/", "/ "])

    return [line for line in (pattern() for _ in range(5)) if line.count("**") < 3]


@pytest.mark.skipif(not GIT, reason="needs git")
def test_ignore_files_leave_out_the_same_files_as_git(tmp_path: Path) -> None:
    """This is compared for usual patterns that bring files back, and for random ones; half with another ignore file."""
    subprocess.run([GIT, "init", "--quiet"], cwd=tmp_path, check=True)
    for path in TREE:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    source = random.Random(1)  # noqa: S311
    for case in range(80):
        outer = USUAL[case] if case < len(USUAL) else random_patterns(source)
        inner = random_patterns(source) if case % 2 else []
        (tmp_path / ".gitignore").write_text("\n".join(outer))
        (tmp_path / "a" / ".gitignore").write_text("\n".join(inner))
        command = [GIT, "ls-files", "--others", "--exclude-per-directory=.gitignore", "*.md", "*.txt"]
        listed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
        assert [file.path for file in walk(tmp_path).files] == sorted(listed), (outer, inner)
