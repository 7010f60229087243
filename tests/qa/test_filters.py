"""Filters: which files each part of one lets through, and what is said where nothing is left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import pytest

from corpus.errors import UsageError
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from qa.filters import Filter, merged, select
from tests.encoders import BagEncoder

FILES = {
    "talks/boats.md": "---\nauthor: Ida Grün\ntags: [sea, Rust]\nstatus: open\n---\n# Boats\n\nOars are long.\n",
    "talks/rust.md": "---\nauthor: Tom Adair\ntags: [rusty]\nstatus: reopened\n---\n# Rust\n\nIron rusts.\n",
    "plain.txt": "Author: Ida Grün wrote this line, and no field.\n",
    "gauge.py": '"""A gauge."""\n\nLEVEL = 3\n',
}
CHANGED = {"talks/boats.md": "2024-01-31 23:59", "talks/rust.md": "2024-02-01 00:00", "plain.txt": "2025-06-01 12:00"}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    root = tmp_path_factory.mktemp("filters")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
        time = datetime.fromisoformat(CHANGED.get(path, "2026-03-01 08:00")).timestamp()
        os.utime(root / path, (time, time))
    update_index(Request(root, BagEncoder()))
    with Snapshot(root / ".qa") as opened:
        yield opened


def selected(snapshot: Snapshot, **given: Any) -> list[str]:
    found = select(snapshot, Filter.of(**given))
    return [one.path for one in snapshot.documents() if found is None or one.id in found]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ["gauge.py", "plain.txt", "talks/boats.md", "talks/rust.md"]),
        ({"path": "talks/"}, ["talks/boats.md", "talks/rust.md"]),
        ({"path": ["*.py", "plain*"]}, ["gauge.py", "plain.txt"]),
        ({"types": "md"}, ["talks/boats.md", "talks/rust.md"]),
        ({"types": [".PY", "text/plain"]}, ["gauge.py", "plain.txt"]),
        ({"types": "python"}, ["gauge.py"]),
        ({"types": "text/x-*"}, ["gauge.py"]),
        # A month begins with its first minute, and ends with its last.
        ({"until": "2024-01"}, ["talks/boats.md"]),
        ({"since": "2024-02", "until": "2024-02-01"}, ["talks/rust.md"]),
        ({"until": "2024"}, ["talks/boats.md", "talks/rust.md"]),
        ({"since": date(2025, 6, 1), "until": "2025-12"}, ["plain.txt"]),
        ({"since": "2025-06-01T12:01"}, ["gauge.py"]),
        ({"since": datetime(2025, 6, 1, 12).astimezone(), "until": "2025-06-01T12:01"}, ["plain.txt"]),
        # A word of the value, whatever its case; not a part of one, and not a line of the text.
        ({"where": {"author": "grün"}}, ["talks/boats.md"]),
        ({"where": "Author=IDA GRÜN"}, ["talks/boats.md"]),
        ({"where": "tags=rust"}, ["talks/boats.md"]),
        ({"where": {"status": "open"}}, ["talks/boats.md"]),
        ({"where": "title=rust"}, ["talks/rust.md"]),
        # Several add up: also those of one name.
        ({"where": ["tags=sea", "tags=rust"]}, ["talks/boats.md"]),
        ({"where": "author=ida", "path": "*.md", "types": "md", "since": "2023"}, ["talks/boats.md"]),
    ],
)
def test_what_passes(snapshot: Snapshot, given: dict[str, Any], expected: list[str]) -> None:
    assert selected(snapshot, **given) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": "tlaks/"}, "no indexed file matches the path 'tlaks/'. Similar: talks/."),
        ({"types": "pdf"}, "no indexed file is of type pdf. There are: md, py, txt."),
        (
            {"since": "2027"},
            "no indexed file was changed since 2027-01-01 00:00. Files were changed between 2024-01-31 ",
        ),
        ({"where": "autor=Ida"}, "no indexed file has autor=Ida. Similar: author."),
        ({"where": "author=Eve"}, "no indexed file has author=Eve. There are: Ida Grün, Tom Adair."),
        ({"where": "tags=sea", "types": "py"}, "no indexed file is of type py, and has tags=sea."),
        ({"where": ["author=tom", "tags=sea"]}, "no indexed file has author=tom, and has tags=sea."),
    ],
)
def test_nothing_passes(snapshot: Snapshot, given: dict[str, Any], message: str) -> None:
    """What is near is named, so that the next try is right."""
    with pytest.raises(UsageError) as caught:
        selected(snapshot, **given)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "given",
    [
        *({"where": text} for text in ("author", "=Ida", "author=", "author= -")),
        *({"since": text} for text in ("yesterday", "2024-13", "2024-02-30", "9999999", "0000")),
        *({"until": text} for text in ("9999", "2024-12-32")),
    ],
)
def test_what_cannot_be_read(given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        Filter.of(**given)


def test_a_path_beside_a_filter() -> None:
    """It is part of the filter; two of them are none too many by chance, so that is refused."""
    assert merged(None, None) == Filter()
    assert merged("a/", Filter.of(types="md")) == Filter.of(path="a/", types="md")
    with pytest.raises(UsageError, match="not both"):
        merged("a/", Filter.of(path="b/"))
