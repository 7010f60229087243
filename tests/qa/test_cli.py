"""The commands: what they print, what they exit with. The retriever is a double that searches by words alone."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from corpus.errors import DamagedIndexError, ModelError, StorageError
from index.encoder import Encoder
from index.models import DEFAULT_MODEL
from index.snapshot import Snapshot
from qa import batch as batch_module
from qa import build, cli, console, results
from qa.retriever import Retriever
from tests.encoders import BagEncoder

REPOSITORY = Path(__file__).resolve().parents[2]
TALKS = "# Talks\n\nThe keynote on Monday is about whales.\n\n## Lunch\n\nSoup is served at noon.\n"
TRAVEL = "# Travel\n\nThe train to Lyon leaves at nine.\n"


class WordRetriever:
    """Stands for `qa.retriever.Retriever`: passages that share words with the question, found if there is one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.snapshot = Snapshot(root / ".qa")

    @classmethod
    def open(cls, path: Path, *, encoder: Encoder | None = None) -> WordRetriever:
        return cls(path)

    def __enter__(self) -> WordRetriever:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.snapshot.close()

    def ask(
        self,
        question: str,
        *,
        k: int,
        mode: results.Mode,
        path: str | None,
        rerank: bool,
        question_id: str | int | None,
    ) -> results.Result:
        among = None if path is None else self.snapshot.match_paths(path)
        found = self.snapshot.keyword(question, k, documents=among)
        passages = self.snapshot.passages([candidate.passage for candidate in found])
        hits = tuple(self._hit(rank, passage) for rank, passage in enumerate(passages, 1))
        info = self.snapshot.info
        facts = results.IndexInfo(info.documents, info.passages, info.model, info.generation)
        confidence = 0.9 if hits else 0.1
        return results.Result(question, question_id, bool(hits), confidence, None, hits, facts, {"total": 1.0})

    def _hit(self, rank: int, passage: Any) -> results.Hit:
        there = (self.root / passage.document.path).exists()
        state = results.State.VERIFIED if there else results.State.MISSING
        span = (passage.start, passage.end)
        source = results.Source(
            passage.document.path, "text/markdown", span, passage.lines, None, passage.document.sha256, state
        )
        return results.Hit(rank, passage.key, 0.5, passage.text, passage.title, passage.heading, source)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two documents that is the working directory; models are doubles."""
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    for path, text in (("talks.md", TALKS), ("sub/travel.md", TRAVEL)):
        (root / path).write_text(text)
        os.utime(root / path, (1_000_000_000, 1_000_000_000))
    monkeypatch.chdir(root)
    monkeypatch.delenv("QA_INDEX", raising=False)
    monkeypatch.setattr(build, "load_encoder", lambda name: BagEncoder(name=name))
    monkeypatch.setattr(build, "Retriever", WordRetriever)
    return root


@pytest.fixture
def indexed(notes: Path) -> Path:
    """The same folder with an index."""
    build.build_index(notes)
    return notes


def qa(*args: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli.app, args, input=stdin, prog_name="qa")


# qa index


def test_index_reports_in_words(notes: Path) -> None:
    """Files by what happened to them, passages by where their vectors came from."""
    done = qa("index")
    assert done.exit_code == 0
    first, second = done.stdout.splitlines()
    assert first == "2 documents, 3 passages: 2 files added, 0 changed, 0 removed, 0 unchanged."
    assert second.startswith("3 texts embedded, 0 reused; ")
    assert done.stderr == ""
    assert qa("index").stdout.startswith("Up to date: 2 documents, 3 passages (")


def test_index_json_is_the_contract(notes: Path) -> None:
    """One object with the fields of the contract."""
    (notes / "picture.png").write_bytes(b"\x89PNG")
    done = qa("index", ".", "--json")
    value = json.loads(done.stdout)
    assert value.pop("seconds") >= 0
    assert value == {
        "version": 1,
        "added": 2,
        "changed": 0,
        "removed": 0,
        "unchanged": 0,
        "skipped": [{"path": "picture.png", "reason": "not a format that can be read"}],
        "notes": [],
        "documents": 2,
        "passages": 3,
        "embedded": 3,
        "reused": 0,
    }


def test_index_groups_what_it_skips(notes: Path) -> None:
    """A line a reason, with the first few names, cleaned."""
    for number in range(5):
        (notes / f"p{number}\x1b.png").touch()
    (notes / "z.md").write_bytes(b"caf\xe9")
    lines = qa("index").stdout.splitlines()[2:]
    assert lines == [
        "Skipped 5:",
        r"  - 5 not a format that can be read: p0\x1b.png, p1\x1b.png, p2\x1b.png and 2",
        "    more",
        "Worth knowing:",
        "  - 1 read as windows-1252: z.md",
    ]


def test_index_without_path_means_the_collection_around(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of a collection, that collection is brought up to date; no second one begins."""
    monkeypatch.chdir(indexed / "sub")
    assert qa("index").stdout.startswith("Up to date: 2 documents")
    assert not (indexed / "sub" / ".qa").exists()


def test_index_takes_several_folders_and_files(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They make one collection, which later builds and questions from anywhere below go on with."""
    for name in ("notes/plan.md", "notes/other/plan.md"):
        (notes.parent / name).parent.mkdir(exist_ok=True)
        (notes.parent / name).write_text("The plan is to sail.")
    monkeypatch.chdir(notes / "sub")
    done = qa("index", ".", "../talks.md", "--dry-run")
    assert "find 2 files added" in done.stdout
    assert not (notes / ".qa").exists()
    done = qa("index", ".", "../talks.md")
    assert (done.exit_code, done.stderr) == (0, f"The collection is {notes}, limited to what is named.\n")
    assert done.stdout.startswith("2 documents, 3 passages: 2 files added")
    assert qa("index").stdout.startswith("Up to date: 2 documents")
    assert qa("ask", "soup").exit_code == 0
    assert qa("ask", "sail").exit_code == 1
    assert qa("index", "../plan.md").stdout.startswith("3 documents, 4 passages: 1 file added")
    assert qa("ask", "sail").exit_code == 0


def test_index_of_a_file_brings_its_collection_up_to_date(indexed: Path) -> None:
    """All of it, which is said."""
    (indexed / "new.md").write_text("The harp stands in the hall.")
    done = qa("index", "talks.md")
    assert done.stderr == f"What is named lies in the collection {indexed}, which is brought up to date.\n"
    assert done.stdout.startswith("3 documents, 4 passages: 1 file added, 0 changed, 0 removed, 2 unchanged.")
    assert not (indexed / "talks.md" / ".qa").exists()


def test_index_says_what_was_named_and_left_out(indexed: Path) -> None:
    """A file that is ignored is not taken in because it was named."""
    (indexed / ".gitignore").write_text("draft.md\n")
    (indexed / "draft.md").write_text("A draft.")
    done = qa("index", "draft.md")
    assert done.stdout.startswith("Up to date: 2 documents")
    assert done.stderr.splitlines()[1] == (
        "qa: nothing is taken in from draft.md: it is empty, or a pattern leaves it out"
    )


@pytest.mark.parametrize("paths", [["gone"], ["gone.md", "sub"], ["talks.md", "sub", "gone/"]])
def test_index_wants_what_is_there(notes: Path, paths: list[str]) -> None:
    """What does not exist is said before any model is looked for, and nothing is written."""
    done = qa("index", *paths)
    assert done.exit_code == 2
    assert re.fullmatch(r"qa: (\S*/)?gone\S* does not exist\. .*\n", done.stderr)
    assert not list(notes.rglob(".qa"))


def test_dry_run_writes_nothing(notes: Path) -> None:
    """A dry run counts files and leaves no trace."""
    done = qa("index", "--dry-run")
    assert done.stdout == (
        "A build would find 2 files added, 0 changed, 0 removed, 0 unchanged. Nothing was written.\n"
    )
    assert not (notes / ".qa").exists()
    assert json.loads(qa("index", "--dry-run", "--json").stdout)["added"] == 2


def test_include_and_exclude_are_kept(notes: Path) -> None:
    """Patterns are given once; later builds go on with them."""
    qa("index", "--include", "*.md", "--exclude", "sub/")
    assert "0 files added" in qa("index").stdout or "Up to date: 1 document," in qa("index").stdout
    assert json.loads(qa("index", "--exclude", "nothing", "--json").stdout)["added"] == 1


def test_another_model_embeds_anew(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--model with another model replaces all vectors; without it the index's own is used."""
    monkeypatch.setattr(build, "load_encoder", lambda name: BagEncoder(name=name, fingerprint=name[0] * 64))
    assert json.loads(qa("index", "--model", "other", "--json").stdout)["embedded"] == 3
    again = json.loads(qa("index", "--json").stdout)
    assert (again["embedded"], again["unchanged"]) == (0, 2)
    assert json.loads(qa("status", "--json").stdout)["model"] == "other"


def test_full_reads_everything(indexed: Path) -> None:
    """--full sees what stat cannot: same size, same time, other bytes."""
    (indexed / "talks.md").write_text(TALKS.replace("Monday", "Friday"))
    os.utime(indexed / "talks.md", (1_000_000_000, 1_000_000_000))
    assert json.loads(qa("index", "--json").stdout)["changed"] == 0
    assert json.loads(qa("index", "--full", "--json").stdout)["changed"] == 1


def test_emptied_folder_needs_a_flag(indexed: Path) -> None:
    """A folder that is suddenly empty is likelier not mounted."""
    for path in ("talks.md", "sub/travel.md"):
        (indexed / path).unlink()
    refused = qa("index")
    assert refused.exit_code == 2
    assert "mounted" in refused.stderr
    assert qa("index", "--allow-empty").exit_code == 0


# qa ask


def test_ask_prints_an_answer(indexed: Path) -> None:
    """Found is 0, with the passages as text."""
    done = qa("ask", "when", "is", "soup", "served?")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "[1] talks.md:5-7  Talks › Lunch\n    Soup is served at noon.\n" in done.stdout


def test_ask_not_found(indexed: Path) -> None:
    """Not found is 1, and says so."""
    done = qa("ask", "xylophone")
    assert (done.exit_code, done.stdout) == (1, "Not in this collection: no passage comes near the question.\n")


def test_ask_json_is_the_result(indexed: Path) -> None:
    """--json prints the result's own object on one line; the exit code is the same."""
    done = qa("ask", "--json", "soup")
    assert done.exit_code == 0
    assert done.stdout.count("\n") == 1
    value = json.loads(done.stdout)
    assert (value["version"], value["question"], value["found"]) == (1, "soup", True)
    assert value["passages"][0]["source"]["path"] == "talks.md"
    assert qa("ask", "--json", "xylophone").exit_code == 1


def test_ask_from_a_folder_inside(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places open from where the user is."""
    monkeypatch.chdir(indexed / "sub")
    assert "[1] ../talks.md:5-7" in qa("ask", "soup").stdout
    assert "[1] travel.md:" in qa("ask", "train").stdout


@pytest.mark.parametrize("question", [[], [""], ["  ", "\t"]])
def test_ask_nothing(indexed: Path, question: list[str]) -> None:
    """An empty question is wrong usage."""
    done = qa("ask", *question)
    assert done.exit_code == 2
    assert done.stderr.startswith("qa: the question is empty.")


def test_ask_too_much(indexed: Path) -> None:
    """A question of any length is answered, with a notice of what was left out."""
    done = qa("ask", "soup " * 3000)
    assert done.exit_code == 0
    assert done.stderr == "The question is cut to 10,000 characters; 4,999 are left out.\n"


@pytest.mark.parametrize("k", ["0", "-1", "1001", "1000000000", "x"])
def test_ask_k_out_of_range(indexed: Path, k: str) -> None:
    """From 1 to 1,000 passages can be asked for."""
    done = qa("ask", "soup", "-k", k)
    assert done.exit_code == 2
    assert done.stderr.startswith("qa: Invalid value for '-k'")


def test_ask_path_and_k(indexed: Path) -> None:
    """--path limits the files, -k the passages."""
    assert json.loads(qa("ask", "--json", "--path", "sub/*", "the").stdout)["passages"][0]["source"]["path"] == (
        "sub/travel.md"
    )
    assert len(json.loads(qa("ask", "--json", "-k", "1", "the train keynote").stdout)["passages"]) == 1


def test_ask_goes_by_what_is_set(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options count before qa.toml, and that before what is usual."""
    asked: list[tuple[int, str, bool]] = []
    plain = WordRetriever.ask

    def ask(self: WordRetriever, question: str, **how: Any) -> results.Result:
        asked.append((how["k"], how["mode"].value, how["rerank"]))
        return plain(self, question, **how)

    monkeypatch.setattr(WordRetriever, "ask", ask)
    qa("ask", "soup")
    (indexed / "qa.toml").write_text('k = 1\nmode = "keyword"\nrerank = false\n')
    qa("ask", "soup")
    qa("ask", "soup", "-k", "2", "--mode", "dense", "--rerank")
    assert asked == [(5, "hybrid", True), (1, "keyword", False), (2, "dense", True)]


def test_settings_that_cannot_be_used(indexed: Path) -> None:
    """Wrong usage, which names the file, the key and the keys there are."""
    (indexed / "qa.toml").write_text("colour = 1\n")
    for command in (("ask", "soup"), ("index",), ("ask", "--corpus", ".", "soup")):
        done = qa(*command)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == (
            f"qa: {indexed / 'qa.toml'} has the key 'colour', which is not known. "
            "Known are include, exclude, k, mode, rerank.\n"
        )


@pytest.mark.parametrize("question", ["--", "'; DROP TABLE passages --", 'NEAR("a" OR', "a\x00b", "\udce9"])
def test_ask_strange_questions(indexed: Path, question: str) -> None:
    """All of it is literal text."""
    done = qa("ask", "--", question)
    assert done.exit_code in {0, 1}
    assert done.stderr == ""


def test_ask_without_an_index(notes: Path) -> None:
    """No index is 3, with the command that makes one."""
    done = qa("ask", "soup")
    assert done.exit_code == 3
    assert f"Build one with: qa index {notes}" in done.stderr


def test_ask_corpus_builds_first(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One command on a fresh machine gives an answer; the report goes to stderr."""
    monkeypatch.chdir(tmp_path)
    done = qa("ask", "--corpus", "notes", "--json", "soup")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["found"]
    assert done.stderr.startswith("2 documents, 3 passages: 2 files added")


def test_ask_corpus_excludes_others(indexed: Path) -> None:
    """--corpus says which index and that it is updated; what contradicts it is refused."""
    for other in (["--index", "."], ["--no-update"]):
        assert qa("ask", "--corpus", ".", *other, "soup").exit_code == 2


def test_ask_brings_small_changes_in(indexed: Path) -> None:
    """What was added, changed or deleted a moment ago is in the answer, and is said."""
    (indexed / "new.md").write_text("The harp stands in the hall.")
    (indexed / "sub" / "travel.md").unlink()
    done = qa("ask", "--json", "harp")
    assert json.loads(done.stdout)["passages"][0]["source"]["path"] == "new.md"
    assert done.stderr == "Index brought up to date: 1 file added, 0 changed, 1 removed.\n"
    assert qa("ask", "train").exit_code == 1


def test_ask_no_update_leaves_the_index(indexed: Path) -> None:
    """--no-update answers from the index as it is; what is gone is marked."""
    (indexed / "talks.md").unlink()
    done = qa("ask", "--no-update", "soup")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "    ! the file is gone\n" in done.stdout


@pytest.mark.parametrize("count", [1, 65])
def test_ask_leaves_large_changes(indexed: Path, count: int) -> None:
    """Many files, or large ones, wait; one line says so and names the command."""
    for number in range(count):
        (indexed / f"n{number}.md").write_text("harp " * (10 if count > 1 else 500_000))
    done = qa("ask", "soup")
    assert done.exit_code == 0
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"qa: {count} new or changed file")
    assert f"Run: qa index {indexed}" in done.stderr
    assert json.loads(qa("status", "--json").stdout)["generation"] == 1


def test_ask_when_the_folder_is_emptied(indexed: Path) -> None:
    """Nothing is forgotten because a disk is not mounted; the passages are marked."""
    for path in ("talks.md", "sub/travel.md"):
        (indexed / path).unlink()
    done = qa("ask", "soup")
    assert done.exit_code == 0
    assert done.stderr.startswith("qa: all 2 documents are gone; is the folder mounted?")
    assert "! the file is gone" in done.stdout


def test_ask_while_another_writes(indexed: Path) -> None:
    """A held lock stops no question: the index answers as it is, with a note."""
    (indexed / "new.md").write_text("The harp stands in the hall.")
    with _locked(indexed):
        done = qa("ask", "soup")
        assert done.exit_code == 0
        assert done.stderr.startswith("qa: the index is not brought up to date: ")
        assert done.stderr.count("\n") == 1
        assert qa("ask", "--corpus", ".", "soup").exit_code == 0
        refused = qa("index")
        assert refused.exit_code == 6
        assert "being written by" in refused.stderr


def test_ask_where_the_index_cannot_be_written(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only folder answers, with a note; only where there is no index yet is it an error."""

    def refuse(*_: object, **__: object) -> None:
        raise StorageError("cannot write into .qa: it is read-only.")

    (indexed / "new.md").write_text("The harp stands in the hall.")
    monkeypatch.setattr("index.update.update", refuse)
    note = (
        "qa: the index is not brought up to date: cannot write into .qa: it is read-only. "
        "The answers come from it as it is.\n"
    )
    for how in ([], ["--corpus", "."]):
        done = qa("ask", *how, "soup")
        assert (done.exit_code, done.stderr) == (0, note)
    shutil.rmtree(indexed / ".qa")
    assert qa("ask", "--corpus", ".", "soup").exit_code == 74


def test_ask_after_the_splitter_changed(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question never cuts and embeds a whole collection anew; it says that this is to be done."""
    (indexed / "new.md").write_text("The harp stands in the hall.")
    monkeypatch.setattr("corpus.split.VERSION", 10_000)
    done = qa("ask", "soup")
    assert done.exit_code == 0
    assert done.stderr.startswith("qa: this version reads or cuts documents in another way")


def test_the_real_retriever(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands and `qa.retriever.Retriever` fit together."""

    class BagRetriever(Retriever):
        @classmethod
        def open(cls, path: str | os.PathLike[str] | None = None, *, encoder: Encoder | None = None) -> Retriever:
            return super().open(path, encoder=encoder or BagEncoder(name=DEFAULT_MODEL))

    monkeypatch.setattr(build, "Retriever", BagRetriever)
    (indexed / "new.md").write_text("The harp stands in the hall.")
    done = qa("ask", "--json", "-k", "1", "where does the harp stand")
    assert done.exit_code in {0, 1}
    assert done.stderr == "Index brought up to date: 1 file added, 0 changed, 0 removed.\n"
    value = json.loads(done.stdout)
    assert value["passages"][0]["source"]["path"] == "new.md"
    assert "The harp stands in the hall." in qa("ask", "where does the harp stand").stdout
    assert qa("show", value["passages"][0]["id"]).stdout == "new.md  as indexed\n> 1  The harp stands in the hall.\n"


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[None]:
    with (root / ".qa" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@pytest.mark.parametrize(
    ("error", "code"), [(DamagedIndexError("bad row"), 4), (ModelError("no model"), 5), (StorageError("EIO"), 74)]
)
def test_ask_passes_errors_on(indexed: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int) -> None:
    """What the index raises is a line and a code."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(WordRetriever, "ask", fail)
    done = qa("ask", "soup")
    assert (done.exit_code, done.stdout, done.stderr) == (code, "", f"qa: {error}\n")


def test_damaged_index_is_4(indexed: Path) -> None:
    """A database that is none is damage, not a trace."""
    (indexed / ".qa" / "index.db").write_bytes(b"x" * 5000)
    for command in (["ask", "soup"], ["show", "talks.md"], ["status"]):
        assert qa(*command).exit_code in {4, 5}, command


# qa ask --batch


def test_batch_answers_in_order(indexed: Path, tmp_path: Path) -> None:
    """A line a question, in order, with the caller's ids; 0 although some were not found."""
    batch = tmp_path / "questions"
    batch.write_text('soup\n{"id": "b", "question": "xylophone"}\n{"id": 3, "question": "train"}\n')
    done = qa("ask", "--batch", str(batch))
    values = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert [(value["id"], value["question"], value["found"]) for value in values] == [
        (None, "soup", True),
        ("b", "xylophone", False),
        (3, "train", True),
    ]


def test_batch_from_stdin(indexed: Path) -> None:
    """A dash reads stdin; an empty batch answers nothing."""
    assert json.loads(qa("ask", "--batch", "-", stdin=b"soup\n").stdout)["question"] == "soup"
    assert (qa("ask", "--batch", "-", stdin=b"").exit_code, qa("ask", "--batch", "-", stdin=b"").stdout) == (0, "")


@pytest.mark.parametrize("line", ["", '{"question": 3}', "{"])
def test_batch_with_a_bad_line(indexed: Path, line: str) -> None:
    """Nothing is answered if any line is bad, and its number is named."""
    done = qa("ask", "--batch", "-", stdin=f"soup\n{line}\nsoup\n".encode())
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("qa: batch line 2")


def test_batch_cuts_long_questions(indexed: Path) -> None:
    """The notice names the line."""
    done = qa("ask", "--batch", "-", stdin=b"soup\n" + b"soup " * 3000 + b"\n")
    assert done.exit_code == 0
    assert done.stderr == "The question in batch line 2 is cut to 10,000 characters; 4,999 are left out.\n"


def test_batch_and_question(indexed: Path) -> None:
    """One or the other; and a file that can be read."""
    assert qa("ask", "--batch", "-", "soup", stdin=b"x\n").exit_code == 2
    done = qa("ask", "--batch", "gone")
    assert (done.exit_code, done.stderr) == (2, "qa: cannot read the batch gone: No such file or directory\n")


def test_batch_from_closed_stdin(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed stdin is said."""
    monkeypatch.setattr(batch_module, "_stdin", lambda: None)
    done = qa("ask", "--batch", "-")
    assert (done.exit_code, done.stderr) == (2, "qa: --batch - reads stdin, which is closed\n")


# qa show


def test_show_lines(indexed: Path) -> None:
    """The lines of a place are marked, with numbers, between some others."""
    done = qa("show", "talks.md:5-7", "-C", "1")
    assert done.stdout == ("talks.md  as indexed\n  4\n> 5  ## Lunch\n> 6\n> 7  Soup is served at noon.\n")
    assert qa("show", "talks.md:3", "-C", "0").stdout.endswith("\n> 3  The keynote on Monday is about whales.\n")


def test_show_a_passage(indexed: Path) -> None:
    """The id of a passage shows its lines, also after they moved."""
    key = json.loads(qa("ask", "--json", "soup").stdout)["passages"][0]["id"]
    assert "> 7  Soup is served at noon.\n" in qa("show", key).stdout
    (indexed / "talks.md").write_text("New first line.\n\n" + TALKS)
    moved = qa("show", key).stdout
    assert moved.startswith("talks.md  changed since it was indexed\n")
    assert "> 9  Soup is served at noon.\n" in moved
    (indexed / "talks.md").write_text("All is different.\n")
    assert qa("show", key).stdout.startswith(
        "talks.md  the file no longer has this; this is the text that was indexed\n> 5  ## Lunch\n"
    )
    (indexed / "talks.md").unlink()
    assert qa("show", key).stdout.startswith("talks.md  the file is gone; this is the text that was indexed\n> 5")


def test_show_a_whole_document(indexed: Path) -> None:
    """A path alone gives the text and nothing else on stdout."""
    done = qa("show", "talks.md")
    assert (done.stdout, done.stderr) == (TALKS, "")
    (indexed / "talks.md").write_text(TALKS + "More.\n")
    done = qa("show", "talks.md")
    assert (done.stdout, done.stderr) == (TALKS + "More.\n", "talks.md: changed since it was indexed\n")


def test_show_from_a_folder_inside(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place means what it means here; else what it means in the collection."""
    monkeypatch.chdir(indexed / "sub")
    assert qa("show", "../talks.md:3").stdout.startswith("../talks.md  as indexed\n")
    assert qa("show", "travel.md:1").stdout.startswith("travel.md  as indexed\n")
    assert qa("show", "sub/travel.md:1").stdout.startswith("travel.md  as indexed\n")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("talks.md:99", "talks.md has 7 lines; there is no line 99"),
        ("talks.md:5-3", "lines 5-3 cannot be"),
        ("talks.md:0", "lines 0-0 cannot be"),
        ("talks.md#page=4", "talks.md has no text on page 4"),
        ("gone.md", "gone.md is not in the collection"),
        ("0123456789abcdef", "is not in the collection"),
        ("../../etc/passwd", "is not in the collection"),
        ("/etc/passwd:1", "is not in the collection"),
        (".", "is not in the collection"),
        ("", "is not in the collection"),
        ("a\x00b", "is not in the collection"),
    ],
)
def test_show_what_is_not_there(indexed: Path, place: str, words: str) -> None:
    """A place that is none, or outside the collection, is wrong usage."""
    done = qa("show", "--", place)
    assert done.exit_code == 2
    assert words in done.stderr


def test_show_odd_names(indexed: Path) -> None:
    """Names with colons and leading dashes are found; a file that is not indexed is shown as such."""
    (indexed / "a:3").write_text("x\n")
    (indexed / "-x.md").write_text("dash\x1b[2J\n")
    assert qa("show", "--", "-x.md:1").stdout == "./-x.md  not in the index\n> 1  dash␛[2J\n"
    assert qa("show", "a:3").stdout == "x\n"
    assert qa("show", "a:3:1").stdout == "a:3  not in the index\n> 1  x\n"
    (indexed / "p.png").write_bytes(b"\x89PNG")
    assert qa("show", "p.png").stderr == "qa: p.png: not a format that can be read\n"


# qa status, qa check


def test_status(indexed: Path) -> None:
    """What is there, and what has changed since."""
    fresh = qa("status").stdout.splitlines()
    assert fresh[1:] == [
        "Documents   2",
        "Passages    3",
        "Model       sentence-transformers/all-MiniLM-L6-v2",
        "Generation  1",
        "Format      4",
        "Changed     nothing since it was built",
    ]
    assert fresh[0].startswith(f"Index       {indexed / '.qa'} (")
    (indexed / "new.md").write_text("x")
    (indexed / "talks.md").write_text("y")
    (indexed / "sub" / "travel.md").unlink()
    assert qa("status").stdout.splitlines()[6:] == [
        "Changed     1 new, 1 maybe changed, 1 gone:",
        "            new       new.md",
        "            changed   talks.md",
        "            gone      sub/travel.md",
        f"Bring it up to date with: qa index {indexed}",
    ]


def test_status_lists_ten(indexed: Path) -> None:
    """Of many changes the first ten are listed."""
    for number in range(15):
        (indexed / f"n{number:02}.md").write_text("x")
    value = json.loads(qa("status", "--json").stdout)
    assert value["changes"]["added"] == 15
    assert [example["path"] for example in value["changes"]["examples"]] == [f"n{number:02}.md" for number in range(10)]
    assert value["bytes"] > 0
    assert "15 new, 0 maybe changed, 0 gone (the first 10):" in qa("status").stdout


@pytest.mark.parametrize("command", ["status", "check", "show x", "ask x"])
def test_index_option(indexed: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reading command takes --index, the root or the .qa folder, and has exit code 3 without an index."""
    monkeypatch.chdir(tmp_path)
    name, *rest = command.split()
    assert qa(name, *rest).exit_code == 3
    assert qa(name, *rest, "--index", str(tmp_path)).exit_code == 3
    for where in (indexed, indexed / ".qa"):
        assert qa(name, *rest, "--index", str(where)).exit_code != 3


# The program as a whole


def test_help_imports_nothing_heavy() -> None:
    """`qa --help` has no use for numpy, faiss, torch, tqdm or the index package."""
    program = (
        "import sys\nfrom qa.cli import app\n"
        "try: app(['--help'], prog_name='qa')\nexcept SystemExit as end: assert not end.code\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'faiss', 'torch', 'transformers', "
        "'sentence_transformers', 'tokenizers', 'tqdm', 'index', 'pathspec', 'sqlite3'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: qa [OPTIONS] [COMMAND] [ARGS]...")
    assert done.stdout.splitlines()[-1] == "[]"


def test_without_a_command() -> None:
    """`qa` alone explains itself."""
    done = qa()
    assert done.exit_code == 0
    assert done.stdout.startswith("Usage: qa ")


def test_version() -> None:
    """The version is one line."""
    done = qa("--version")
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert done.stdout.startswith("qa ")


@pytest.mark.parametrize("command", ["index", "watch", "ask", "eval", "show", "status", "check"])
def test_every_option_is_explained(command: str) -> None:
    """Each option and each command has its words."""
    found = cli.app.commands[command]
    assert found.help
    for parameter in found.params:
        assert parameter.param_type_name == "argument" or getattr(parameter, "help", None), parameter.name


def _on_a_terminal(program: str, *args: str, **environ: str) -> str:
    """What a Python program writes on a pseudo-terminal."""
    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", program, *args],
        cwd=REPOSITORY,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm", **environ},
    ) as process:
        os.close(child)
        out = b""
        with contextlib.suppress(OSError):  # Linux says EIO at the end
            while data := os.read(parent, 4096):
                out += data
        assert process.wait(timeout=30) == 0
    os.close(parent)
    return out.decode()


def test_colour_on_a_terminal_only(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal gets styles unless NO_COLOR is set; a pipe never does."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    command = ("from qa.cli import main; main()", "status", "--index", str(indexed))
    assert "\x1b[2mIndex" in _on_a_terminal(*command)
    assert "\x1b" not in _on_a_terminal(*command, NO_COLOR="1")
    assert "\x1b" not in qa("status").stdout


def test_progress_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    """A terminal shows bytes read, rate and remaining time; nothing else does, and nothing stays."""
    program = (
        "import time\nfrom index.report import Progress\nfrom qa.console import progress\n"
        "with progress() as tell:\n    for done in (10, 20, 30): tell(Progress(done, 40)); time.sleep(0.15)\n"
    )
    shown = _on_a_terminal(program)
    assert "| 10.0/40.0 [00:00<" in shown
    assert re.search(r"\| [23]0.0/40.0 \[00:00<00:00, +[0-9.]+B/s\]", shown)
    assert shown.split("\r")[-1].strip() == ""
    with console.progress() as tell:
        assert tell is None  # pytest has no terminal
    assert capsys.readouterr().err == ""


def test_interrupt_is_130(indexed: Path) -> None:
    """Ctrl-C ends a running program with one line."""
    program = (
        "import os, signal\nfrom qa import build, cli\n"
        "build.open_current = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)\ncli.main()"
    )
    command = [sys.executable, "-c", program, "ask", "soup", "--index", str(indexed)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (130, b"qa: interrupted\n")


def test_check_and_repair(indexed: Path) -> None:
    """A sound index is 0; a changed byte is 4, in the database and in the FAISS file; --repair cures both."""
    sound = f"{indexed / '.qa'} is sound: 2 documents, 3 passages and their vectors hold what was written.\n"
    assert qa("check").stdout == sound
    database = indexed / ".qa" / "index.db"
    database.write_bytes(database.read_bytes().replace(b"Soup is served", b"Salt is served"))
    for file in ("database", "vectors"):
        if file == "vectors":
            (vectors,) = (indexed / ".qa").glob("vectors-*.faiss")
            vectors.write_bytes(vectors.read_bytes()[:-1] + b"\x55")
        broken = qa("check")
        assert (broken.exit_code, broken.stdout) == (4, "")
        assert "is damaged" in broken.stderr
        mended = qa("check", "--repair")
        assert mended.exit_code == 0
        assert mended.stdout.startswith("Damaged were:\n- ")
        again = "every document was read again" if file == "database" else "what follows from documents"
        assert f"\nRepaired: {again}" in mended.stdout
        assert mended.stdout.endswith(sound)
    assert qa("check").stdout == qa("check", "--repair").stdout == sound
