"""`qa similar`, `qa topics` and `qa map`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from corpus.errors import Unreadable
from corpus.formats import detect_format
from tests.corpus.readers.samples.archives import xlsx
from tests.qa.commands import qa


def test_similar(indexed: Path) -> None:
    done = qa("similar", "talks.md:3")
    assert done.exit_code == 0, done.output
    assert "[1] talks.md:5-7" in done.stdout
    assert "talks.md:1-3" not in done.stdout


def test_similar_to_words(indexed: Path) -> None:
    """Several words without quotes are one text."""
    done = qa("similar", "train", "to", "Lyon", "-k", "1", "--json")
    assert [hit["source"]["path"] for hit in json.loads(done.stdout)["passages"]] == ["sub/travel.md"]


def test_similar_shows_as_many_as_the_settings_say(indexed: Path) -> None:
    (indexed / "qa.toml").write_text("k = 1\n")
    counts = [len(json.loads(qa("similar", "train", "--json", *k).stdout)["passages"]) for k in ([], ["-k", "2"])]
    assert counts == [1, 2]


def test_similar_documents(indexed: Path) -> None:
    done = qa("similar", "talks.md:3", "--documents")
    assert done.exit_code == 0
    for part in ("[1] Travel", "sub/travel.md", "alike: talks.md:"):
        assert part in done.stdout


@pytest.mark.parametrize("command", [("similar", "whales", "--documents"), ("topics", "-n", "2")])
def test_files_that_are_gone_are_marked(indexed: Path, command: tuple[str, ...]) -> None:
    (indexed / "talks.md").unlink()
    lines = [line for line in qa(*command, "--no-update").stdout.splitlines() if "talks.md" in line]
    assert lines
    assert all(line.endswith("! file is missing") for line in lines if "alike" not in line)


@pytest.mark.parametrize("command", [("similar", "talks.md:3"), ("topics", "-n", "2")])
def test_output_saved_in_the_collection_is_no_document(indexed: Path, command: tuple[str, ...]) -> None:
    with pytest.raises(Unreadable, match="output of qa"):
        detect_format("saved.json", qa(*command, "--json").stdout_bytes)


def test_nothing_similar(indexed: Path) -> None:
    done = qa("similar", "talks.md", "--path", "talks.md")
    assert (done.exit_code, done.stdout) == (1, "Nothing in the collection is similar.\n")


def test_topics(indexed: Path) -> None:
    done = qa("topics", "-n", "2")
    assert done.exit_code == 0
    assert done.stdout.startswith("2 topics of 3 passages\n")
    assert "sub/travel.md:1-3" in done.stdout
    output = json.loads(qa("topics", "-n", "2", "--json").stdout)
    assert output.keys() >= {"version", "topics", "unassigned"}
    assert output["topics"][0].keys() == {"id", "label", "terms", "size", "passages", "topics"}
    refused = qa("ask", "Lyon", "--topic", "9")
    assert refused.exit_code == 2
    assert "no topic 9" in refused.stderr


def test_topics_tell_the_rows_of_a_sheet_apart(indexed: Path) -> None:
    rows: list[list[str | float]] = [["Hook", "Opens"], ["left", "Shed"], ["right", "Gate"]]
    (indexed / "keys.xlsx").write_bytes(xlsx({"Keys": rows}))
    qa("index")
    shown = qa("topics", "-n", "1", "--path", "keys.xlsx").stdout
    assert "keys.xlsx, sheet 1  Keys" in shown
    assert {"Row 2", "Row 3"} <= {line.rpartition(" › ")[2] for line in shown.splitlines()}


def test_map(indexed: Path) -> None:
    assert qa("map", "-o", "map.html").exit_code == 0
    assert "output of qa, not a document: map.html" in qa("index").stdout
    done = qa("map", "-o", "../map.html")
    assert (done.exit_code, done.stdout[:18]) == (0, "Wrote ../map.html "), done.output
    assert (indexed.parent / "map.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    for name, *options in (("map.svg", "--svg"), ("other.SVG",)):
        assert qa("map", *options, "-o", f"../{name}").exit_code == 0
        assert (indexed.parent / name).read_text(encoding="utf-8").startswith("<svg ")
    for refused in (["-o", "map.png"], ["--svg", "-o", "map.html"]):
        done = qa("map", *refused)
        assert (done.exit_code, done.stderr.count("a page (.html) or a picture (.svg)")) == (2, 1), done.output
    failed = qa("map", "-o", "nowhere/map.html")
    assert (failed.exit_code, failed.stderr) == (2, "qa: no such folder: nowhere. Create it, or choose another file.\n")


def test_a_map_is_written_through_a_link(indexed: Path) -> None:
    """The link stays; what it points at is replaced."""
    target, link = indexed.parent / "target.html", indexed.parent / "link.html"
    target.write_text("old")
    link.symlink_to(target.name)
    assert qa("map", "-o", link).exit_code == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_map_is_written_into_a_pipe(indexed: Path) -> None:
    """A pipe or a device is not replaced by a file."""
    pipe = indexed.parent / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert qa("map", "--svg", "-o", pipe).stdout == ""
        assert os.read(reader, 5) == b"<svg "
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["-", "/dev/fd/1"])
@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no names for open files")  # noqa: PTH110 - a device
def test_a_map_on_stdout(indexed: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing else is printed there."""
    assert qa("map", "--svg", "-o", name).stdout == ""
    written = capfd.readouterr().out
    assert written.startswith("<svg ")
    assert written.rstrip().endswith("</svg>")
    assert not (indexed / "-").exists()


def test_the_folder_may_come_first(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in every command; a folder alone is the item that others are compared with, if it is in the collection."""
    monkeypatch.chdir(tmp_path)
    done = qa("similar", "notes", "talks.md:3")
    assert done.exit_code == 0, done.output
    assert "[1] notes/talks.md:5-7" in done.stdout
    for command in (("topics", "notes"), ("map", "notes", "-o", "map.svg", "--svg")):
        assert qa(*command).exit_code == 0
    assert (tmp_path / "map.svg").exists()
    assert qa("topics", "notes", "--index", "notes").exit_code == 2
    refused = qa("similar", "notes")
    message = "qa: notes is a folder. Put a place or text after it: qa similar notes notes.md:12\n"
    assert (refused.exit_code, refused.stderr) == (2, message)
    assert qa("similar", "notes/sub", "--index", "notes", "-k", "1").stdout.startswith("[1] notes/sub/travel.md:1-3")
    monkeypatch.chdir(indexed)
    assert qa("similar", "sub/", "-k", "1").stdout.startswith("[1] sub/travel.md:1-3")
