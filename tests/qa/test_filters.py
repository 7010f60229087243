"""Filters: which files and records match, and the error if none do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from corpus.errors import UsageError
from index.dense.scope import Scope
from index.snapshot import Snapshot
from qa.explore.items import Items
from qa.fields import Part, plain_words
from qa.filters import Filter, add_path, select
from tests.corpus.readers.samples import archives
from tests.encoders import BagEncoder
from tests.qa.indexes import built, write

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
    write(root, FILES)
    for path in FILES:
        time = datetime.fromisoformat(CHANGED.get(path, "2026-03-01 08:00")).timestamp()
        os.utime(root / path, (time, time))
    with built(root) as opened:
        yield opened


def matching_paths(snapshot: Snapshot, **conditions: Any) -> list[str]:
    matching = select(snapshot, Filter.of(**conditions))
    assert not isinstance(matching, Scope)
    return [document.path for document in snapshot.documents() if matching is None or document.id in matching]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, ["gauge.py", "plain.txt", "talks/boats.md", "talks/rust.md"]),
        ({"types": "md"}, ["talks/boats.md", "talks/rust.md"]),
        ({"types": [".PY", "text/plain"]}, ["gauge.py", "plain.txt"]),
        ({"types": "python"}, ["gauge.py"]),
        ({"types": "text/x-*"}, ["gauge.py"]),
        # A month includes its first minute and its last.
        ({"until": "2024-01"}, ["talks/boats.md"]),
        ({"since": "2024-02", "until": "2024-02-01"}, ["talks/rust.md"]),
        ({"until": "2024"}, ["talks/boats.md", "talks/rust.md"]),
        ({"since": date(2025, 6, 1), "until": "2025-12"}, ["plain.txt"]),
        ({"since": "2025-06-01T12:01"}, ["gauge.py"]),
        ({"since": datetime(2025, 6, 1, 12).astimezone(), "until": "2025-06-01T12:01"}, ["plain.txt"]),
        # As a shell completes paths in the collection's folder.
        ({"path": "./talks"}, ["talks/boats.md", "talks/rust.md"]),
        ({"path": ["*.md", "!././talks/boats.md"]}, ["talks/rust.md"]),
        # A whole word of the value, ignoring case; neither part of a word, nor a line of the text.
        ({"where": "Author=IDA GRÜN"}, ["talks/boats.md"]),
        ({"where": "tags=rust"}, ["talks/boats.md"]),
        ({"where": {"status": "open"}}, ["talks/boats.md"]),
        # Several conditions must all hold, even on one field.
        ({"where": ["tags=sea", "tags=rust"]}, ["talks/boats.md"]),
        ({"where": "author=ida", "path": "*.md", "types": "md", "since": "2023"}, ["talks/boats.md"]),
    ],
)
def test_matching_files(snapshot: Snapshot, conditions: dict[str, Any], expected: list[str]) -> None:
    assert matching_paths(snapshot, **conditions) == expected


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"path": "tlaks/"}, "no indexed file matches the path 'tlaks/'. Similar: talks/."),
        (
            {"path": "filters0/talks"},
            "no indexed file matches the path 'filters0/talks'. Paths are relative to the collection: talks",
        ),
        ({"where": "owner=ida"}, "nothing in the collection has owner=ida. There are the fields: author, "),
        ({"types": "plai"}, "no indexed file is of type plai. There are: md, py, txt."),
        ({"types": "mdx"}, "no indexed file is of type mdx. Similar: md."),
        (
            {"since": "2027"},
            "no indexed file was changed since 2027-01-01 00:00. Files were changed between 2024-01-31 ",
        ),
        ({"where": "autor=Ida"}, "nothing in the collection has autor=Ida. Similar fields: author."),
        ({"where": "author=Eve"}, "nothing in the collection has author=Eve. There are: Ida Grün, Tom Adair."),
        ({"where": "tags=sea", "types": "py"}, "nothing in the collection is of type py, and has tags=sea."),
        ({"where": ["author=tom", "tags=sea"]}, "nothing in the collection has author=tom, and has tags=sea."),
    ],
)
def test_no_match_is_an_error_with_suggestions(snapshot: Snapshot, conditions: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        matching_paths(snapshot, **conditions)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "conditions",
    [
        *({"where": text} for text in ("author", "=Ida", "author=", "author= -")),
        *({"since": text} for text in ("yesterday", "2024-13", "2024-02-30", "9999999", "0000")),
        *({"until": text} for text in ("9999", "2024-12-32")),
        *({name: []} for name in ("path", "types")),
    ],
)
def test_an_invalid_filter_is_refused(conditions: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Filter.of(**conditions)


@pytest.mark.parametrize("name", ["path", "types", "since", "until", "where"])
def test_a_condition_of_the_wrong_type_is_named(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} must be "):
        Filter.of(**{name: 20})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["paths", "types", "since", "until", "where", "without"])
def test_an_attribute_of_the_wrong_type_is_named(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} must be of type "):
        Filter(**{name: "2024"})  # type: ignore[arg-type]


def test_a_path_with_the_marks_of_a_pattern_is_itself(tmp_path: Path) -> None:
    with built(tmp_path, {"[draft] plan.md": "A boat.", "d plan.md": "A car.", "x.md": "A hen."}) as snapshot:
        among = select(snapshot, Filter.of(path="[draft] plan.md"))
        assert isinstance(among, frozenset)
        assert {it.path for it in snapshot.documents() if it.id in among} == {"[draft] plan.md", "d plan.md"}


def test_paths_may_be_path_objects() -> None:
    assert Filter.of(path=Path("talks/a.md")) == Filter.of(path="talks/a.md")
    assert add_path([PurePosixPath("a"), "b/"], None).paths == ("a", "b/")


def test_a_separate_path_is_added_to_the_filter() -> None:
    """If the filter already has a path, that is refused."""
    assert add_path(None, None) == add_path("", None) == Filter() == Filter.of(where=())
    with pytest.raises(UsageError, match="path is an empty list"):
        add_path([], None)
    assert add_path("a/", Filter.of(types="md")) == Filter.of(path="a/", types="md")
    with pytest.raises(UsageError, match="not both"):
        add_path("a/", Filter.of(path="b/"))


MAILS = """From a Thu
From: Ida =?utf-8?q?Gr=C3=BCn?= <ida@example.org>
To: Tom <tom@example.org>
Subject: Boats for Monday
Date: Thu, 02 May 2024 10:00:00 +0200

Oars are long.

Author: Eve

From b Thu
From: Tom <tom@example.org>
To: Ida <ida@example.org>
Subject: Re: Boats
Date: Fri, 03 May 2024 10:00:00 +0200

"""
RECORDS = {
    "box.mbox": MAILS + "Masts are longer than oars are, and sails are wider.\n\n" * 30,
    "one.eml": "From: Eve <eve@example.org>\nSubject: Solo\nDate: Sat, 04 May 2024 10:00:00 +0200\n\nHi.\n",
    "people.csv": "name,author,dc:year\nHulls,Ida Grün,2020\nKeels,Tom,2021\n",
    "untitled.tsv": "river\tlength\nRhine\t1230\nSeine\t777\n",
    "wide.csv": "name,author\n" + "".join(f"n{i},{'Ida' if i == 4000 else 'Tom'}\n" for i in range(5001)),
    "list.json": '[{"title": "One", "author": {"name": "Ida"}, "tags": ["sea", "rust"]}, {"title": "Two", "n": 2}]',
    "refs.bib": "@book{k1,\n author={Ida Green},\n year=1999}\n@book{k2, author={Tom A}, title={Iron}, year=1999}\n",
    "page.md": "---\nauthor: Ida Page\n---\nA page of its own.\n",
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    root = tmp_path_factory.mktemp("records")
    rows: list[list[str | float]] = [["boat", "author"], ["Skiff", "Ida"], ["Punt", "Eve"]]
    (root / "boats.xlsx").write_bytes(archives.xlsx({"Boats": rows}))
    with built(root, RECORDS) as opened:
        yield opened


def matching_records(snapshot: Snapshot, **conditions: Any) -> list[str]:
    """Matching records without repetition, by file and title or page."""
    matching = select(snapshot, Filter.of(**conditions))
    assert matching is not None
    row_ids = matching.passages if isinstance(matching, Scope) else snapshot.columns(matching).passages
    passages = snapshot.passages(row_ids.tolist())
    return sorted({f"{passage.document.path} {passage.title or passage.page or ''}".strip() for passage in passages})


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        # Synonyms of "author" match; a line of the text is not a header.
        ("from=ida", ["box.mbox Boats for Monday"]),
        ("sender=eve", ["one.eml Solo"]),
        ("author=eve", ["boats.xlsx 1", "one.eml Solo"]),
        ("subject=boats", ["box.mbox Boats for Monday", "box.mbox Re: Boats"]),
        ("date=2024-05-03", ["box.mbox Re: Boats"]),
        # Records and whole files of all formats.
        ("author=tom", ["box.mbox Re: Boats", "people.csv Keels", "refs.bib Iron", "wide.csv"]),
        (
            "author=ida",
            [
                *("boats.xlsx 1", "box.mbox Boats for Monday", "page.md page"),
                *("people.csv Hulls", "refs.bib k1", "wide.csv"),
            ],
        ),
        ("title=hulls", ["people.csv Hulls"]),
        ("dc:year=2021", ["people.csv Keels"]),
        ("length=777", ["untitled.tsv 3"]),
        ("author.name=ida", ["list.json One"]),
        ("tags=rust", ["list.json One"]),
        (["year=1999", "author=tom"], ["refs.bib Iron"]),
        # Both conditions must hold for one row, not only for one passage.
        (["author=ida", "name=n4000"], ["wide.csv"]),
    ],
)
def test_matching_records(records: Snapshot, where: Any, expected: list[str]) -> None:
    assert matching_records(records, where=where) == expected


@pytest.mark.parametrize(
    ("value", "wanted", "is_found"),
    [
        ("-3", "-3", True),
        ("−3 °C", "-3", True),
        ("-3", "3", False),
        ("4.5 bar", "4.5", True),
        ("4.5 bar", "4", False),
        ("2-3", "3", True),
        ("2024-05-02", "2024-05", True),
        ("2.5.2024", "2024", True),
        ("version 3.10.2", "3", True),
        ("gate 4.", "4", True),
    ],
)
def test_numbers_match_as_a_whole(value: str, wanted: str, is_found: bool) -> None:
    """But dates and versions have several numbers."""
    assert Part(1, None, (("low", value),)).has("low", plain_words(wanted)) is is_found


def test_all_passages_of_a_record_match(records: Snapshot) -> None:
    """Even if they do not repeat its fields; in a table, only passages with the row match."""
    matching = select(records, Filter.of(where="subject=re boats", types="mbox"))
    assert isinstance(matching, Scope)
    row_ids = [passage.id for passage in records.passages_of("box.mbox") if passage.title == "Re: Boats"]
    assert len(row_ids) > 1
    assert sorted(matching.passages.tolist()) == row_ids
    table = select(records, Filter.of(where="author=ida", path="wide.csv"))
    assert isinstance(table, Scope)
    (row,) = records.passages(table.passages.tolist())
    assert "name: n4000; author: Ida" in row.text
    for where in (["author=ida", "name=n4001"], ["boat=punt", "author=ida"]):
        with pytest.raises(UsageError, match=f"nothing in the collection has {where[0]}, and has {where[1]}.$"):
            select(records, Filter.of(where=where))


def test_only_matching_records_are_ranked(records: Snapshot) -> None:
    """Keyword search, dense search, topics and similarity choose from the same passages, except front matter."""
    among = select(records, Filter.of(where="author=ida"))
    assert isinstance(among, Scope)
    chosen = set(among.passages.tolist())
    assert {hit.passage for hit in records.keyword("oars author", 1000, documents=among)} <= chosen
    vector = BagEncoder().encode_query("oars")
    assert {hit.passage for hit in records.dense(vector, 1000, documents=among)} == chosen
    texts = {hit.id for hit in records.passages(sorted(chosen)) if not hit.is_front_matter}
    assert set(Items.read(records, "passages", among).passages.tolist()) == texts < chosen
