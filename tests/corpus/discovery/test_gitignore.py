"""Patterns for paths: literal ones, and the folders that a walk need not enter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.discovery import gitignore
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
def test_a_literal_pattern_matches_one_path_and_everything_below_it(path: str, other: str) -> None:
    line = gitignore.literal_pattern(path)
    assert gitignore.valid_patterns([line]) == [line]
    assert matches(line, path)
    assert matches(line, f"{path}/{other}")
    assert matches(line, other) == (other == path or other.startswith(path + "/"))


def usable(line: str) -> bool:
    try:
        return bool(gitignore.valid_patterns([line]))
    except UsageError:
        return False


@settings(max_examples=300, deadline=None)
@given(st.lists(PATTERNS.filter(usable), min_size=1, max_size=4), PATHS)
def test_folders_with_matching_files_are_never_skipped(lines: list[str], path: str) -> None:
    reach = gitignore.FolderFilter(lines)
    if gitignore.compile_patterns(lines).match_file(path):
        parts = path.split("/")
        assert all(reach.may_contain_matches("/".join(parts[:depth]) + "/") for depth in range(1, len(parts)))


@pytest.mark.parametrize(
    ("lines", "entered", "passed_over"),
    [
        (["/a/b/**"], ["a/", "a/b/", "a/b/c/", "a/b/c/d/"], ["b/", "a/c/", "a/c/b/"]),
        (["/a/b.md"], ["a/"], ["b/", "a/c/"]),
        (["/a/*/c.md", "/d"], ["a/", "a/x/", "d/", "d/e/"], ["c/", "a/x/y/"]),
        (["/a/**/b.md"], ["a/", "a/x/", "a/x/y/"], ["b/"]),
        (["/a/x", "!/b/x"], ["a/"], ["b/"]),
        ([r"/a\*/x"], ["a*/"], ["ab/"]),
        (["*.md"], ["a/", "b/c/"], []),
        (["docs/"], ["a/", "b/c/"], []),
        (["**/x", "/a/b"], ["a/", "b/c/"], []),
        (["/**/x"], ["a/", "b/c/"], []),
        (["# a comment alone"], ["a/"], []),
    ],
)
def test_only_folders_that_may_match_are_entered(lines: list[str], entered: list[str], passed_over: list[str]) -> None:
    reach = gitignore.FolderFilter(lines)
    assert [folder for folder in (*entered, *passed_over) if reach.may_contain_matches(folder)] == entered
