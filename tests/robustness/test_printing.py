"""Whatever a document, a name or a message holds, a terminal is only told to show it."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from tests.robustness.hostile_corpus import write
from tests.robustness.hostile_files import NAMES, TEXTS
from tests.robustness.hostile_strings import strings, trespasses
from tests.robustness.printing import LINK, PRINTERS, offences, shown_by
from tests.robustness.program import make_old

# `python -m tests.robustness.printing --strings 10000` is the long form.
COUNT = 200


def test_the_strings_are_hostile() -> None:
    """The same every time, and each dangerous kind is among them."""
    found = strings(COUNT)
    assert found == strings(COUNT)
    together = "".join(found)
    assert set("\x1b\x07\x9b\x00\r\u202e\u2066\u200b\ufeff\ud800\U000e0041") <= set(together)
    assert len(trespasses(together)) > 60


def test_what_is_looked_for_is_found() -> None:
    """The tool's own styles and newlines are none, anything else is."""
    assert not trespasses("\x1b[1mbold\x1b[0m, \x1b[2mdim\x1b[0m, \x1b[33mcare\x1b[0m\nمی\u200cخ")
    for text in ("\x1b[31m", "\x9b", "\x1b]0;x\x07", "\r", "\t", "\u202e", "\u2028", "\ud800", "\x1b [1m"):
        assert trespasses(text), ascii(text)
    assert not trespasses("\r 50%\x1b[A", drawing=True)


@pytest.mark.parametrize("name", PRINTERS)
def test_nothing_printed_drives_a_terminal(name: str) -> None:
    wrong, size = offences(name, COUNT)
    assert wrong == []
    assert size > 10 * COUNT


def qa(*args: str) -> list[str]:
    return [sys.executable, "-m", "qa", *args]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hostile names and texts, one file that is a copy of another under a hostile name."""
    root = tmp_path_factory.mktemp("notes")
    write(root, [*NAMES[:16], *NAMES[-2:], *TEXTS[:2]])
    (root / "copy\x1b[5m\u202e.md").write_bytes((root / "healthy" / "alpha.md").read_bytes())
    make_old(root)
    shown_by(qa("index", str(root)))
    return root


def test_the_program_on_a_terminal(notes: Path) -> None:
    """The real program with the real model: everything it shows of these files is clean."""
    commands = {
        "index": qa("index", "--full", str(notes)),
        "ask": qa("ask", "-k", "1000", "--index", str(notes), "where does the heron wait at the weir"),
        "show": qa("show", "--index", str(notes), "texts/escapes.md"),
        "show lines": qa("show", "--index", str(notes), "texts/escapes.md:1-3"),
        "show a name": qa(
            "show", "--index", str(notes), str(notes / "names" / "clipboard\x1b]52;c;ZXZpbA==\x07.md") + ":1"
        ),
        "check": qa("check", "--index", str(notes)),
        "trace": qa("show", "--index", str(notes), "no\x1b[2J\u202esuch.md"),
    }
    shown = {}
    for name, command in commands.items():
        code, data = shown_by(command)
        assert code in {0, 1, 2}, (name, data[-500:])
        shown[name] = data.decode()
        assert not trespasses(shown[name], drawing=name == "index"), name
    assert r"\x1b]52;c;ZXZpbA==\x07.md" in shown["ask"]
    assert "also in" in shown["ask"]
    assert r"copy\x1b[5m\u202e.md" in shown["ask"]
    assert "\u241b]52;c;ZXZpbA==\u2407" in shown["show"]
    assert r"\x1b]52;c;ZXZpbA==\x07.md:1" not in shown["show a name"]
    assert "\n> 1  # T\n" in shown["show a name"].replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert r"no\x1b[2J\u202esuch.md is not in the collection" in shown["trace"]
    assert r"latin\udce9.md" in shown["index"]


def test_links_of_hostile_names(notes: Path) -> None:
    """Each cited file is a link by its bytes; without the links nothing is different."""
    command = qa("ask", "--no-update", "-k", "1000", "--index", str(notes), "where does the heron wait at the weir")
    _, plain = shown_by(command)
    _, data = shown_by(command, {"FORCE_HYPERLINK": "1"})
    assert LINK.sub(r"\1", data.decode()) == plain.decode()
    urls = [unquote_to_bytes(url) for url in re.findall(rb"\x1b\]8;;file://[^/]*(/[^\x1b#]*)", data)]
    assert len(urls) == plain.decode().count("\n\x1b[1m[")
    assert all(Path(os.fsdecode(url)).exists() for url in urls)
    assert any(b"\x1b]52;c;ZXZpbA==\x07.md" in url for url in urls)


def test_json_on_a_terminal_is_safe_and_exact(notes: Path) -> None:
    """Every name and text comes back as it stands on the disk."""
    code, data = shown_by(qa("ask", "--json", "--no-update", "-k", "1000", "--index", str(notes), "heron"))
    assert code in {0, 1}
    shown = data.decode()
    assert not trespasses(shown)
    passages = json.loads(shown)["passages"]
    paths = {place["path"] for hit in passages for place in (hit["source"], *hit["also_in"])}
    on_disk = {
        Path(folder, name).relative_to(notes).as_posix()
        for folder, _, names in os.walk(notes)
        if ".qa" not in Path(folder).parts
        for name in names
    }
    assert paths == {path for path in on_disk if path.isprintable() or path.encode("utf-8", "ignore").decode() == path}
    for hit in passages:
        text = (notes / hit["source"]["path"]).read_bytes().decode()
        assert text[slice(*hit["source"]["chars"])] == hit["text"]
    assert any("\x1b]52;c;ZXZpbA==\x07" in hit["text"] for hit in passages)


def test_status_of_hostile_names(notes: Path, tmp_path: Path) -> None:
    """New and missing files are named, whatever their names; in JSON exactly."""
    names = [f"new{c}{n}.md" for n, c in enumerate("\x1b\x9b\u202e\r\n\u2066")]
    for name in names:
        (notes / name).write_text("New.\n", encoding="utf-8")
    try:
        code, data = shown_by(qa("status", "--index", str(notes)))
        assert code == 0
        assert not trespasses(data.decode())
        assert all(f"{name.encode('unicode_escape').decode()}\n" in data.decode() for name in names)
        code, data = shown_by(qa("status", "--json", "--index", str(notes)))
        assert not trespasses(data.decode())
        assert {example["path"] for example in json.loads(data)["changes"]["examples"]} == set(names)
    finally:
        for name in names:
            (notes / name).unlink()
