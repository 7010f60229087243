"""Path patterns: literal patterns, and the folder of all matches."""

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
