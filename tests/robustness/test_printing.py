"""No document, file name or message can control the terminal that shows it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from tests.robustness.hostile_corpus import write
from tests.robustness.hostile_files import NAMES, TEXTS
from tests.robustness.hostile_strings import forbidden_characters, strings
from tests.robustness.printing import PRINTERS, output_problems, terminal_output
from tests.robustness.program import backdate

# `python -m tests.robustness.printing --strings 10000` is the long form.
COUNT = 100
# A link to a file, opened and closed on one line; its URL contains only plain characters.
LINK = re.compile(r"\x1b\]8;;file://[\w.~:/%-]*(?:#page=\d+)?\x1b\\([^\n]*?)\x1b\]8;;\x1b\\", re.ASCII)


def test_the_strings_are_hostile() -> None:
    """They are the same every time, and include every dangerous kind."""
    generated = strings(COUNT)
    assert generated == strings(COUNT)
    text = "".join(generated)
    assert set("\x1b\x07\x9b\x00\r\u202e\u2066\u200b\ufeff\ud800\U000e0041") <= set(text)
    assert len(forbidden_characters(text)) > 60


def test_control_characters_are_detected() -> None:
    """Only newlines and the tool's own styles are allowed."""
    assert not forbidden_characters("\x1b[1mbold\x1b[0m, \x1b[2mdim\x1b[0m, \x1b[33mcare\x1b[0m\nمی\u200cخ")
    for text in ("\x1b[31m", "\x9b", "\x1b]0;x\x07", "\r", "\t", "\u202e", "\u2028", "\ud800", "\x1b [1m"):
        assert forbidden_characters(text), ascii(text)
    assert not forbidden_characters("\r 50%\x1b[A", drawing=True)


@pytest.mark.parametrize("name", PRINTERS)
def test_printed_output_cannot_control_the_terminal(name: str) -> None:
    assert output_problems(name, COUNT) == []


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with hostile names and texts, and a copy of one file under a hostile name."""
    root = tmp_path_factory.mktemp("notes")
    write(root, [*NAMES[:16], *NAMES[-2:], *TEXTS[:2]])
    (root / "copy\x1b[5m\u202e.md").write_bytes((root / "healthy" / "alpha.md").read_bytes())
    backdate(root)
    return root


@pytest.fixture(scope="module")
def shown(notes: Path) -> dict[str, str]:
    """What the real program shows, with the real model."""
    index = ["--index", str(notes)]
    ask = ["ask", "-k", "1000", *index, "where does the heron wait at the weir"]
    commands = {
        "index": ["index", str(notes)],
        "ask": ask,
        "JSON": ["ask", "--json", "-k", "1000", *index, "heron"],
        "show": ["show", *index, "texts/escapes.md"],
        "show lines": ["show", *index, "texts/escapes.md:1-3"],
        "show a name": ["show", *index, str(notes / "names" / "clipboard\x1b]52;c;ZXZpbA==\x07.md") + ":1"],
        "check": ["check", *index],
        "trace": ["show", *index, "no\x1b[2J\u202esuch.md"],
    }
    with_links = {f"{name} with links": commands[name] for name in ("ask", "show a name")}
    return terminal_output(commands) | terminal_output(with_links, links=True)


def test_program_output_on_a_terminal(shown: dict[str, str]) -> None:
    """All output is clean."""
    for name in shown.keys() - {"JSON"}:
        assert not forbidden_characters(LINK.sub(r"\1", shown[name]), drawing=name == "index"), name
    assert r"\x1b]52;c;ZXZpbA==\x07.md" in shown["ask"]
    assert "also in" in shown["ask"]
    assert r"copy\x1b[5m\u202e.md" in shown["ask"]
    assert "\u241b]52;c;ZXZpbA==\u2407" in shown["show"]
    assert r"\x1b]52;c;ZXZpbA==\x07.md:1" not in shown["show a name"]
    assert "\n> 1  # T\n" in shown["show a name"].replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert r"no\x1b[2J\u202esuch.md is not in the collection" in shown["trace"]
    assert r"latin\udce9.md" in shown["index"]


def test_links_of_hostile_names(shown: dict[str, str]) -> None:
    """Each cited file is a link to its exact name; without the links the output is the same."""
    for name in ("ask", "show a name"):
        without, count = LINK.subn(r"\1", shown[f"{name} with links"])
        assert (without, count > 0) == (shown[name], True)
    linked = shown["ask with links"]
    urls = [unquote_to_bytes(url) for url in re.findall(r"\x1b\]8;;file://[^/]*(/[^\x1b#]*)", linked)]
    assert len(urls) == shown["ask"].count("\n\x1b[1m[")
    assert all(Path(os.fsdecode(url)).exists() for url in urls)
    assert any(b"\x1b]52;c;ZXZpbA==\x07.md" in url for url in urls)


def test_json_on_a_terminal_is_safe_and_exact(notes: Path, shown: dict[str, str]) -> None:
    """Every name and text in JSON is exactly as on the disk."""
    assert not forbidden_characters(shown["JSON"])
    passages = json.loads(shown["JSON"])["passages"]
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


@pytest.mark.usefixtures("shown")  # which indexes the notes
def test_status_of_hostile_names(notes: Path, tmp_path: Path) -> None:
    """New files are listed with their names escaped, and exactly in JSON."""
    root = shutil.copytree(notes, tmp_path / "notes")
    names = [f"new{c}{n}.md" for n, c in enumerate("\x1b\x9b\u202e\r\n\u2066")]
    for name in names:
        (root / name).write_text("New.\n", encoding="utf-8")
    status = ["status", "--index", str(root)]
    shown = terminal_output({"text": status, "JSON": [*status, "--json"]})
    assert not any(forbidden_characters(text) for text in shown.values())
    assert all(f"{name.encode('unicode_escape').decode()}\n" in shown["text"] for name in names)
    assert {example["path"] for example in json.loads(shown["JSON"])["changes"]["examples"]} == set(names)
