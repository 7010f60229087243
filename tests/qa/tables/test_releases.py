"""Answers from changelogs."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.tables.blocks import block_answer
from tests.qa.indexes import built

SECTIONS = """# Changes of Dunlin

## [Unreleased]

- A map of the sky

## [2.10.0] - 2021-03-09

### Added

- Tides for Bergen
- Export to GPX

### Removed

- Support for Flash

## [2.9.1] - 2021-02-01

- Fixed a crash on leap days
- Shows the moon

## Contributors

- Vera Holt
"""
LINES = """Stint firmware notes

Version 1.4  (05.03.2019)
* fix: wrong beep
* quieter fan

Version 1.3.0  (11.12.2018)
* new menu for
  boilers
"""
OUTLINE = "# Rules\n\n## 2.9 Moorings\n\nTwo ropes.\n\n## 3.1 Tides\n\nNone.\n"
FILES = {"CHANGELOG.md": SECTIONS, "notes/stint.txt": LINES, "rules.md": OUTLINE}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


def answer(root: Path, question: str) -> str | None:
    with built(root, FILES) as snapshot:
        found = block_answer(snapshot, question, [it for path in FILES for it in snapshot.passages_of(path)])
        result = found.answer(found.passages) if found else None
    return result.text if result else None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was 2.9.1 released?", "2021-02-01"),
        ("release date of Dunlin v2.10.0", "2021-03-09"),
        ("when did version 1.4 of the stint come out?", "05.03.2019"),
        ("When was 1.3 released?", "11.12.2018"),
        ("When was 2.9.2 released?", None),
        ("When was 2.9 released?", None),
        ("When was 2.9.1 installed in Bergen?", None),
        ("When is the leap day?", None),
    ],
)
def test_the_date_of_a_release_is_in_its_heading(root: Path, question: str, text: str | None) -> None:
    """A heading with marks, or a line; another version does not answer."""
    assert answer(root, question) == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "What changed in 2.10.0?",
            "Added\n- Tides for Bergen\n- Export to GPX\nRemoved\n- Support for Flash",
        ),
        ("what was added in Dunlin 2.10.0", "- Tides for Bergen\n- Export to GPX"),
        ("What's new in 2.9.1?", "- Fixed a crash on leap days\n- Shows the moon"),
        ("What was fixed in 2.9.1?", "- Fixed a crash on leap days"),
        ("changes in version 1.3.0 of the stint", "* new menu for\n  boilers"),
        ("What changed in 2.8.0?", None),
        ("What changed in the moon of 2.9.1?", None),
        ("What changed between 2.9.1 and 2.10.0?", None),
        ("What changed since 2.9.1?", None),
    ],
)
def test_all_changes_of_a_release_answer_what_changed(root: Path, question: str, text: str | None) -> None:
    """Or all of the kind that the question names; later sections are not part of the last release."""
    assert answer(root, question) == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which version added tides for Bergen?", "2.10.0"),
        ("in which version was Flash dropped", "2.10.0"),
        ("Which version of Dunlin fixed the crash on leap days?", "2.9.1"),
        ("which stint firmware has the boilers menu?", "1.3.0"),
        ("Which version added Flash?", None),
        ("Which version does not have tides?", None),
        ("Which version added a map of the sky?", None),
        ("Which version fixed the crash on Mondays?", None),
        ("Which version of Flash is supported?", None),
        ("What is the latest version of Dunlin?", "2.10.0"),
        ("newest release of the stint", "1.4"),
        ("What is the latest version of Flash?", None),
    ],
)
def test_the_only_release_with_a_change_is_the_version_that_made_it(
    root: Path, question: str, text: str | None
) -> None:
    """A removal adds nothing, and what is not released has no version."""
    assert answer(root, question) == text
