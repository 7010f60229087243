"""What the commands do where files, folders or streams are not as they should be."""

from __future__ import annotations

import io
import os
import runpy
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from corpus.errors import CorpusError, DamagedIndexError, NoIndexError, UsageError
from index.update.report import Progress, Request
from index.update.update import update_index
from qa import locate
from qa.answer.results import State
from qa.cli import errors, session
from qa.collection import build, check, show, status
from qa.retrieval.retriever import Retriever
from qa.terminal import answers, reports
from tests.corpus.readers.samples import pdf
from tests.encoders import BagEncoder

TEXT = "# Talks\n\nThe keynote is about whales.\n\n## Lunch\n\nSoup at noon.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """One document of two passages, indexed."""
    (tmp_path / "talks.md").write_text(TEXT)
    update_index(Request(tmp_path, BagEncoder()))
    return tmp_path


@pytest.fixture
def database(root: Path) -> Iterator[sqlite3.Connection]:
    """The index, for damaging it."""
    with closing(sqlite3.connect(root / ".qa" / "index.db", isolation_level=None)) as connection:
        yield connection


# qa check


def test_check_counts(root: Path) -> None:
    """What was read and holds."""
    assert check.check(root) == check.CheckReport(root / ".qa", documents=1, passages=2)
    assert check.repair(root).kind is check.RepairKind.NONE


def test_check_finds_passages_of_no_document(root: Path, database: sqlite3.Connection) -> None:
    """A passage that no document owns is damage, though its text holds."""
    database.execute("UPDATE passages SET document = 77 WHERE id = 1")
    with pytest.raises(DamagedIndexError, match=r"the number of passages of a document .* So is 1 other part of it\.$"):
        check.check(root)


def test_check_sees_that_the_tables_are_others(root: Path, database: sqlite3.Connection) -> None:
    """What SQLite believes its tables to be is checked before anything is read."""
    database.execute("PRAGMA writable_schema = ON")
    database.execute("UPDATE sqlite_master SET sql = replace(sql, 'page INTEGER', 'page INTEGER NOT NULL')")
    database.execute("PRAGMA writable_schema = RESET")
    with pytest.raises(DamagedIndexError, match=r"index\.db is damaged: checksum mismatch in the list of tables"):
        check.check(root)


def test_check_asks_sqlite(root: Path, database: sqlite3.Connection) -> None:
    """Damage to SQLite's own structure is told in its words; it is cured without reading a document."""
    (page,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'passages_document'").fetchone()
    (size,) = database.execute("PRAGMA page_size").fetchone()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = root / ".qa" / "index.db"
    data = bytearray(file.read_bytes())
    data[page * size - 2] ^= 1  # the document or the row number of the index's first entry
    file.write_bytes(data)
    with pytest.raises(DamagedIndexError, match=r"index\.db is damaged: (row|wrong)"):
        check.check(root)
    found = check.repair(root)
    assert (found.kind, found.rebuilt) == (check.RepairKind.DERIVED, None)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM vector_refs WHERE vector = 1",
        "UPDATE vector_refs SET refcount = 7",
        "DELETE FROM posting_lists",
        "UPDATE blocks SET lengths = x'0000'",
        "INSERT INTO free_ids (passage) VALUES (1)",
        "INSERT INTO duplicates (text_digest, passages, checksum) VALUES (x'00', 2, 3)",
        "UPDATE posting_lists SET data = x'00' WHERE id = (SELECT min(id) FROM posting_lists)",
    ],
)
def test_what_follows_from_the_rest_is_repaired_from_it(root: Path, database: sqlite3.Connection, damage: str) -> None:
    """Without a document or the model: both may be gone."""
    sound = check.check(root)
    database.execute(damage)
    for file in root.glob("*.md"):
        file.unlink()
    with pytest.raises(DamagedIndexError):
        check.check(root)
    found = check.repair(root)
    assert (found.kind, found.rebuilt, found.passages) == (check.RepairKind.DERIVED, None, sound.passages)
    assert check.check(root) == sound


# qa status


def test_status_of_a_folder_that_cannot_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is described, and why the files could not be compared."""

    def refuse(*_: object) -> None:
        raise CorpusError("cannot read the folder")

    monkeypatch.setattr(status, "find_changes", refuse)
    found = status.status(root)
    assert (found.documents, found.passages, found.drift, found.problem) == (1, 2, 0, "cannot read the folder")
    assert found.as_json()["changes"]["problem"] == "cannot read the folder"
    assert "Changed     cannot be told: cannot read the folder\n" in reports.status(
        found, answers.TerminalStyle.of(None)
    )


def test_size_of_what_vanishes(tmp_path: Path) -> None:
    """The sizes of the files; a name that leads nowhere counts nothing."""
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "b").symlink_to(tmp_path / "gone")
    assert status.size_of(tmp_path) == 5


# qa show


def test_show_the_index_of_a_file_that_is_gone(root: Path) -> None:
    """The whole, some lines of it, and no line that it never had."""
    (root / "talks.md").unlink()
    whole = show.show(root, "talks.md")
    assert (whole.stored, whole.state, whole.marked) == (True, State.MISSING, None)
    assert [number for number, _ in whole.lines] == [1, 2, 3, 5, 6, 7]
    assert show.show(root, "talks.md:7").lines == ((7, "Soup at noon."),)
    with pytest.raises(UsageError, match=r"the index keeps nothing of these lines"):
        show.show(root, "talks.md:99")


def test_show_a_page(tmp_path: Path) -> None:
    """All lines on a page, as the file has them, or those of its passages, as the index keeps them."""
    pages = [[pdf.Words(60, 700, f"Page {n} is about {what}.")] for n, what in enumerate(("whales", "soup"), 1)]
    (tmp_path / "talks.pdf").write_bytes(pdf.make(pages))
    update_index(Request(tmp_path, BagEncoder()))
    for place in ("talks.pdf#page=2", "talks.pdf, p. 2"):
        found = show.show(tmp_path, place, context=3)
        assert (found.marked, found.lines) == ((3, 3), ((3, "Page 2 is about soup."),))
    with pytest.raises(UsageError, match=r"^talks.pdf has no text on page 3$"):
        show.show(tmp_path, "talks.pdf#page=3")
    (tmp_path / "talks.pdf").unlink()
    assert show.show(tmp_path, "talks.pdf#page=2").lines == ((3, "Page 2 is about soup."),)


# qa ask


def test_ask_when_the_folder_cannot_be_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers come from the index as it is, with a note."""

    def refuse(*_: object) -> None:
        raise CorpusError("cannot read the folder.")

    monkeypatch.setattr(build, "find_changes", refuse)
    with Retriever.open(root, encoder=BagEncoder()) as retriever:
        opened = build.refresh_if_small(retriever)
        assert opened.retriever is retriever
        assert opened.note == (
            "the index is not brought up to date: cannot read the folder. The answers come from it as it is."
        )


def test_the_model_of_a_damaged_index_is_what_it_still_says(root: Path, database: sqlite3.Connection) -> None:
    """Where it says nothing any more, what is lost is embedded with the default, rather than not at all."""
    assert build.model_of(root) == "bag"
    database.execute("UPDATE meta SET value = '7' WHERE key IN ('generation', 'model')")
    assert build.model_of(root) == "bag"
    for value in ("7", "not JSON"):
        database.execute("UPDATE meta SET value = ? WHERE key = 'model'", (value,))
        # As long as the log is there, the row stands behind it as it was.
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert build.model_of(root) == "sentence-transformers/all-MiniLM-L6-v2"
    assert build.model_of(root / "nowhere") == "sentence-transformers/all-MiniLM-L6-v2"


# qa index


def test_a_name_too_long_is_no_index() -> None:
    """Where the system refuses to look there is no index."""
    assert not locate.has_index(Path("x" * 5000))


def test_the_working_directory_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be meant by it."""
    monkeypatch.delenv("QA_INDEX", raising=False)
    monkeypatch.chdir(tmp_path)
    assert locate.find_or_here() == locate.working_directory() == tmp_path
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert locate.working_directory() is None
    with pytest.raises(NoIndexError, match="the working directory is gone"):
        locate.find_or_here()


# Streams


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal a bar appears with the first passage to embed, and goes; nothing to embed shows nothing."""
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    with session.progress() as tell:
        assert tell is not None
        tell(Progress(5, 5))
        assert shown.getvalue() == ""
        tell(Progress(10, 40))
        assert "| 10.0/40.0 [" in shown.getvalue()
        tell(Progress(40, 40))
    assert shown.getvalue().rpartition("\r")[2].strip() == ""


def test_progress_without_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where stderr came closed, nothing is drawn."""
    monkeypatch.setattr(sys, "stderr", None)
    with session.progress() as tell:
        assert tell is None


def test_the_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m qa` runs the command line, ignores a second Ctrl-C at its end, and leaves with the exit code."""
    handled: list[object] = []

    def leave(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr("os._exit", leave)
    monkeypatch.setattr("signal.signal", lambda *what: handled.append(what))
    monkeypatch.setattr(sys, "argv", ["qa", "--version"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("qa", run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("qa ")
    assert len(handled) == 1


def test_a_broken_stream_cannot_fail_again() -> None:
    """What is left for a reader who has gone is thrown away, so closing the stream succeeds."""
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    os.close(reading)
    stream.write("too late")
    errors._abandon(stream)
    stream.close()
    errors._abandon(stream)
    errors._abandon(None)
