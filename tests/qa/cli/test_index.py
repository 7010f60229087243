"""`qa index`: output and exit codes."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Timer

import pytest

from index.encoder.devices import Device
from index.storage.locking import writer_lock
from qa.collection import build
from tests.encoders import BagEncoder
from tests.qa.commands import documents, qa
from tests.qa.indexes import write


def test_index_prints_a_summary(notes: Path) -> None:
    done = qa("index")
    assert (done.exit_code, done.stderr) == (0, "")
    assert re.fullmatch(r"Indexed 2 files \(2 documents, 3 passages\) in \d+\.\d s\n", done.stdout)
    assert qa("index").stdout == "Up to date: 2 documents, 3 passages\n"


def test_index_json_matches_the_contract(notes: Path) -> None:
    (notes / "picture.png").write_bytes(b"\x89PNG")
    (notes / "node_modules").mkdir()
    value = json.loads(qa("index", ".", "--json").stdout)
    assert value.pop("seconds") >= 0
    changes = {"added": 2, "changed": 0, "removed": 0, "unchanged": 0}
    skipped = {"skipped": [{"path": "picture.png", "reason": "format not supported"}], "left_out": {"node_modules": 1}}
    totals = {"documents": 2, "passages": 3, "embedded": 3, "reused": 0}
    assert value == {"version": 1, "notes": []} | changes | skipped | totals


def test_excluded_folders_and_files_are_reported_in_one_line(notes: Path) -> None:
    for name in ("node_modules/x/node_modules", "sub/node_modules"):
        (notes / name).mkdir(parents=True)
    (notes / "uv.lock").write_text("lock")
    assert qa("index").stdout.splitlines()[1:] == ["Left out: lock files (1), node_modules (2)"]


def test_a_format_setting_changes_how_files_are_read(notes: Path) -> None:
    """It applies from the next build, also to `qa show`; without it, files are read as before."""
    (notes / "boats.foo").write_text("boat,berth\nOlga,7\n")
    qa("index")
    assert qa("show", "boats.foo").stdout == "boat,berth\nOlga,7\n"
    (notes / "qa.toml").write_text('[formats]\n".foo" = "csv"\n')
    assert qa("index", "--json").exit_code == 0
    assert qa("show", "boats.foo").stdout == "boat: Olga\nberth: 7\n"
    assert qa("index").stdout.startswith("Up to date")
    (notes / "qa.toml").unlink()
    qa("index")
    assert qa("show", "boats.foo").stdout == "boat,berth\nOlga,7\n"


def test_index_without_a_path_updates_the_collection_above(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(indexed / "sub")
    assert qa("index").stdout.startswith("Up to date: 2 documents")
    assert not (indexed / "sub" / ".qa").exists()


def test_index_accepts_several_folders_and_files(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(notes, dict.fromkeys(("plan.md", "other/plan.md"), "The plan is to sail."))
    monkeypatch.chdir(notes / "sub")
    assert "2 files added" in qa("index", ".", "../talks.md", "--dry-run").stdout
    assert not (notes / ".qa").exists()
    done = qa("index", ".", "../talks.md")
    assert (done.exit_code, done.stderr) == (0, f"Collection: {notes}, limited to the paths given.\n")
    assert done.stdout.startswith("Indexed 2 files (2 documents, 3 passages) in ")
    assert qa("index").stdout.startswith("Up to date: 2 documents")
    assert qa("ask", "soup").exit_code == 0
    assert qa("ask", "sail").exit_code == 1
    assert qa("index", "../plan.md").stdout.startswith("1 file added (3 documents, 4 passages) in ")
    assert qa("ask", "sail").exit_code == 0


def test_index_of_a_file_updates_its_collection(indexed: Path) -> None:
    (indexed / "new.md").write_text("The harp stands in the hall.")
    done = qa("index", "talks.md")
    assert done.stderr == f"Part of the collection {indexed}; updating all of it.\n"
    assert done.stdout.startswith("1 file added (3 documents, 4 passages) in ")
    assert not (indexed / "talks.md" / ".qa").exists()


def test_index_reports_a_path_without_documents(indexed: Path) -> None:
    """A skipped file is in the report anyway."""
    (indexed / ".gitignore").write_text("draft.md\n")
    (indexed / "draft.md").write_text("A draft.")
    (indexed / "picture.png").write_bytes(b"x")
    done = qa("index", "draft.md", "picture.png")
    assert done.stdout.startswith("Up to date: 2 documents")
    assert done.stderr.splitlines()[1:] == ["qa: nothing was indexed from draft.md: it is empty, or excluded"]


@pytest.mark.parametrize("paths", [["gone"], ["gone.md", "sub"], ["talks.md", "sub", "gone/"]])
def test_index_of_a_path_that_does_not_exist(notes: Path, paths: list[str]) -> None:
    """It is an error, and nothing is written."""
    done = qa("index", *paths)
    assert done.exit_code == 2
    assert re.fullmatch(r"qa: (\S*/)?gone\S* does not exist\. .*\n", done.stderr)
    assert not list(notes.rglob(".qa"))


def test_paths_in_the_settings_that_do_not_exist(notes: Path) -> None:
    """They are an error that names file and key, or a warning if other paths exist; neither changes an index."""
    wrong = "paths in qa.toml names what does not exist: nope. Correct it there.\n"
    (notes / "qa.toml").write_text('paths = ["nope"]')
    done = qa("index")
    assert (done.exit_code, done.stderr) == (2, f"qa: nothing to index in {notes}: {wrong}")
    assert not list(notes.rglob(".qa"))
    (notes / "qa.toml").write_text('paths = ["nope", "talks.md"]')
    done = qa("index")
    assert (done.exit_code, done.stderr) == (0, f"qa: {wrong}")
    assert documents(notes) == ["talks.md"]
    (notes / "qa.toml").write_text('paths = ["nope"]')
    assert qa("index").stderr == f"qa: nothing to index in {notes}: {wrong}"
    assert documents(notes) == ["talks.md"]


def test_a_full_build_of_an_old_format_gives_no_advice_to_run_it(notes: Path) -> None:
    assert qa("index").exit_code == 0
    with closing(sqlite3.connect(notes / ".qa" / "index.db")) as database:
        database.execute("PRAGMA user_version = 8")
    assert qa("index").exit_code == 5
    assert qa("index", "--dry-run").exit_code == 5
    done = qa("index", "--full", "--dry-run")
    assert (done.stdout, done.stderr) == ("Dry run: 2 files added. Nothing was written.\n", "")
    done = qa("index", "--full")
    warning = f"qa: rebuilding the index: {notes / '.qa' / 'index.db'} has the old format 8.\n"
    assert (done.exit_code, done.stderr) == (0, warning)


def test_dry_run_writes_nothing(notes: Path) -> None:
    done = qa("index", "--dry-run")
    assert done.stdout == ("Dry run: 2 files added. Nothing was written.\n")
    assert not (notes / ".qa").exists()
    assert json.loads(qa("index", "--dry-run", "--json").stdout)["added"] == 2


@pytest.mark.parametrize("option", ["--model", "--store"])
def test_dry_run_compares_only_files(notes: Path, option: str) -> None:
    """Another model would embed everything again, and another store has an index of its own."""
    done = qa("index", "--dry-run", option, "other")
    assert done.exit_code == 2
    assert "leave out --model and --store" in done.stderr


def test_dry_run_refuses_what_the_build_would(notes: Path) -> None:
    """Also if the patterns leave none of the documents."""
    assert qa("index").exit_code == 0
    for options in (("--include", "*.none"), ("--include", "*.none", "--full")):
        assert [qa("index", *options, *more).exit_code for more in ((), ("--dry-run",))] == [2, 2]
    assert qa("index", "--include", "*.none", "--dry-run", "--allow-empty").exit_code == 0


def test_a_folder_without_documents_is_an_error(notes: Path) -> None:
    """It gives the reason, and no index is created."""
    empty = notes / "empty"
    empty.mkdir()
    for options in ((), ("--dry-run",)):
        assert qa("index", empty, *options).stderr == f"qa: nothing to index in {empty}: the folder is empty.\n"
    (empty / "a.png").write_bytes(b"\x89PNG")
    done = qa("ask", "--corpus", empty, "soup")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"qa: nothing to index in {empty}: a.png: format not supported.\n"
    (empty / "a.png").rename(empty / ".a.md")
    assert qa("index", empty).stderr.endswith(": all its files are hidden or ignored.\n")
    assert not list(notes.rglob(".qa"))
    (empty / "a.pdf").write_bytes(b"%PDF-1.4 no more")
    assert "a.pdf: " in qa("index", empty).stderr
    assert qa("index", empty, "--allow-empty").exit_code == 0


def test_quiet_prints_only_what_went_wrong(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (notes / "picture.png").write_bytes(b"\x89PNG")
    for args in (["--exclude", "*.log"], [], ["talks.md"]):
        done = qa("index", "--quiet", *args)
        assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")

    def scandir(folder: Path) -> Iterator[os.DirEntry[str]]:
        if folder.name == "sub":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return list_folder(folder)

    list_folder = os.scandir
    monkeypatch.setattr("corpus.discovery.walk.os.scandir", scandir)
    done = qa("index", "-q")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "Skipped 1 file:\n  - folder cannot be read: Permission denied: sub/\n"
    for option in ("--json", "--dry-run"):
        refused = qa("index", "-q", option)
        assert (refused.exit_code, refused.stderr[:30]) == (2, "qa: --quiet prints no report; ")


def test_a_pattern_for_generated_files_must_not_replace_most_others(notes: Path) -> None:
    """A pattern selects what is indexed, which is easily forgotten where files left out by default are to be added."""
    (notes / "node_modules").mkdir()
    (notes / "node_modules" / "readme.md").write_text("A harp.")
    qa("index")
    only = ("--include", "node_modules/")
    for option in ((), ("--dry-run",)):
        refused = qa("index", *only, *option)
        assert refused.exit_code == 2
        assert "2 of 2 files would be removed" in refused.stderr
        assert "qa index --include '*' --include node_modules/." in refused.stderr
    assert "1 file added" in qa("index", "--include", "*", *only).stdout
    assert qa("index", "--allow-empty", *only).exit_code == 0
    assert "1 passage" in qa("index", *only).stdout


def test_patterns_that_leave_nothing_are_named(notes: Path) -> None:
    """They are the reason only if there are documents without them."""
    patterns, allow = "--include '*.pdf' and --exclude '*.txt' --exclude 'b d/'", "qa index --allow-empty"
    options = ("--include", "*.pdf", "--exclude", "*.txt", "--exclude", "b d/")
    assert qa("index", *options).stderr == f"qa: nothing to index in {notes}: no files are left with {patterns}.\n"
    qa("index")
    problem, empty = f"qa: no readable documents are left in {notes}", f"To empty the index on purpose: {allow}.\n"
    assert qa("index", *options).stderr == f"{problem} with {patterns}, and the index has 2 files. {empty}"
    (notes / "qa.toml").write_text('exclude = ["*"]')
    assert qa("index").stderr == f'{problem} with exclude = ["*"] in qa.toml, and the index has 2 files. {empty}'
    (notes / "talks.md").write_bytes(b"\0" * 100)
    (notes / "sub" / "travel.md").unlink()
    (notes / "qa.toml").write_text('exclude = ["*.pdf"]')
    assert qa("index").stderr == f"{problem}, and the index has 2 files. Skipped talks.md: binary, not text. {empty}"
    (notes / "talks.md").unlink()
    assert qa("index").stderr == f"{problem}, and the index has 2 files. All its files are hidden or ignored. {empty}"
    (notes / "sub").rmdir()
    (notes / "qa.toml").unlink()
    assert (
        qa("index", "--exclude", "*.pdf").stderr
        == f"{problem}, and the index has 2 files. Is the folder mounted? {empty}"
    )


def test_another_model_embeds_everything_again(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later builds without --model use the index's model."""
    monkeypatch.setattr(build, "load_encoder", lambda name, **_: BagEncoder(name=name, fingerprint=name[0] * 64))
    assert json.loads(qa("index", "--model", "other", "--json").stdout)["embedded"] == 3
    again = json.loads(qa("index", "--json").stdout)
    assert (again["embedded"], again["unchanged"]) == (0, 2)
    assert json.loads(qa("status", "--json").stdout)["model"] == "other"


def test_index_on_a_device(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models run on the named device, by default on any available."""
    used: list[Device] = []

    def load(name: str, *, device: Device, **_: object) -> BagEncoder:
        used.append(device)
        return BagEncoder(name=name)

    monkeypatch.setattr(build, "load_encoder", load)
    assert [qa("index", *more).exit_code for more in ([], ["--device", "mps"])] == [0, 0]
    assert used == [Device.AUTO, Device.MPS]


@pytest.mark.parametrize(("options", "is_said"), [(("--wait",), True), (("--wait", "-q"), False)])
def test_quiet_does_not_say_that_it_waits(indexed: Path, options: tuple[str, ...], is_said: bool) -> None:
    """It prints only what went wrong."""
    with ExitStack() as lock:
        lock.enter_context(writer_lock(indexed / ".qa"))
        Timer(0.3, lock.close).start()
        done = qa("index", *options)
    assert (done.exit_code, "waiting for it to end" in done.stderr) == (0, is_said)
    assert is_said or not done.stderr
