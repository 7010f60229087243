"""A collection that is limited to some files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.discovery.limits import outermost
from corpus.discovery.walk import walk

FILES = ("papers/a.md", "papers/b.txt", "papers/deep/c.md", "papers [1]/d.md", "notes/e.md", "notes/f.txt", "talk.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"What is in {name}.")
    return tmp_path


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
    root: Path, paths: tuple[str, ...], include: tuple[str, ...], taken: tuple[str, ...]
) -> None:
    """Patterns apply in each folder; a file in `paths` need not match one."""
    assert [file.path for file in walk(root, include=include, paths=paths).files] == sorted(taken)


def test_nested_paths_are_dropped() -> None:
    """Paths inside another are dropped; a folder whose name only begins the same is not inside."""
    assert outermost(["b/c.md", "a/x/", "a/", "a b/", "b/", "d.md", "d.md"]) == ("a b/", "a/", "b/", "d.md")
    assert outermost([]) == ()
