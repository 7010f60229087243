"""What a question indexes first: only files with changed bytes, and only if no other process is doing so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from corpus import FoundFile, read_file
from corpus.errors import CorpusError, NoIndexError
from index.storage.locking import writer_lock
from index.update import diff, run, update
from qa.collection import listing, opening, status
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.qa.indexes import build, opened, write

MANY = {f"n{number:02}.md": f"Note {number:02}.\n" for number in range(70)}


def touch(root: Path, seconds: int) -> None:
    """Give every file the same new time."""
    for path in root.glob("*.md"):
        os.utime(path, (seconds, seconds))


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> BagEncoder:
    """The encoder that embeds what a question indexes."""
    bag_encoder = BagEncoder()
    monkeypatch.setattr(opening, "load_encoder", lambda *_, **__: bag_encoder)
    return bag_encoder


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that were read to compare them."""
    paths: list[str] = []

    def read_and_log(root: Path, path: str) -> bytes:
        paths.append(path)
        return read_file(root, path)

    monkeypatch.setattr(diff, "read_file", read_and_log)
    return paths


@pytest.fixture
def retriever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Retriever]:
    """A collection of more files than a question indexes, all of them old."""
    monkeypatch.setattr(diff, "_RACY_NS", 0)  # else files touched now would be read again for two seconds
    write(tmp_path, MANY)
    touch(tmp_path, 1_000_000_000)
    build(tmp_path)
    with opened(tmp_path) as old_collection:
        yield old_collection


def test_files_that_were_only_touched_are_read_once(retriever: Retriever, read: list[str]) -> None:
    """There is no note, and neither a later question nor another process reads them again."""
    touch(retriever.root, 1_100_000_000)
    assert status.status(retriever.root).changes == 0
    assert {file.state for file in listing.listing(retriever.root)} == {"unchanged"}
    read.clear()
    refreshed = opening.refresh_if_small(retriever)
    assert (refreshed.note, refreshed.report, sorted(read)) == ("", None, sorted(MANY))
    assert opening.refresh_if_small(retriever).note == ""
    with opened(retriever.root) as second:
        assert opening.refresh_if_small(second).note == ""
    assert len(read) == len(MANY)
    assert retriever.snapshot.info.generation == 1


def test_only_changed_bytes_count_as_a_change(retriever: Retriever, encoder: BagEncoder) -> None:
    touch(retriever.root, 1_100_000_000)
    (retriever.root / "n07.md").write_text("Harp 07.\n")
    (retriever.root / "n08.md").write_text("A longer note.\n")
    refreshed = opening.refresh_if_small(retriever)
    assert refreshed.note == ""
    assert refreshed.report is not None
    assert (refreshed.report.changed, refreshed.report.unchanged, len(encoder.embedded)) == (2, 68, 2)


def test_a_build_does_not_parse_files_that_were_only_touched(
    retriever: Retriever, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load_nothing(_: Path, files: Sequence[FoundFile], **__: object) -> tuple[()]:
        loaded.extend(file.path for file in files)
        return ()

    monkeypatch.setattr(run, "load_all", load_nothing)
    touch(retriever.root, 1_100_000_000)
    assert build(retriever.root).unchanged == len(MANY)
    assert (len(read), loaded) == (len(MANY), [])


def test_a_question_reads_a_limited_amount(
    retriever: Retriever, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next question reads the next files, until all are known to be the same."""
    monkeypatch.setattr(diff, "MAX_READ_BYTES", 40 * 20_100)
    touch(retriever.root, 1_100_000_000)
    (retriever.root / "big.md").write_text("harp " * 500_000)
    assert opening.refresh_if_small(retriever).note.startswith("31 new or changed files are not indexed yet")
    assert opening.refresh_if_small(retriever).note.startswith("1 new or changed file is not indexed yet")
    assert sorted(read) == sorted(MANY)


def test_files_that_were_only_touched_need_no_writing(retriever: Retriever, read: list[str]) -> None:
    """While another process writes the index, a question neither waits for it nor has a note."""
    touch(retriever.root, 1_100_000_000)
    with writer_lock(retriever.root / ".qa"):
        assert opening.refresh_if_small(retriever).note == ""
        assert opening.refresh_if_small(retriever).note == ""
    assert len(read) == 2 * len(MANY)


def test_the_log_of_an_open_collection_does_not_grow_with_every_update(
    retriever: Retriever, encoder: BagEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite writes it from the start again; questions are answered from what was indexed last."""
    monkeypatch.setattr(update, "_LONG_LOG", 500_000)
    log, sizes = retriever.root / ".qa" / "index.db-wal", []
    for number in range(20):
        (retriever.root / "long.md").write_text("\n\n".join(f"Harp {number} {line}." for line in range(100)))
        assert opening.refresh_if_small(retriever).report is not None
        sizes.append(log.stat().st_size)
    assert retriever.search("harp 19 5", k=1)[0].source.state == "verified"
    assert max(sizes[10:]) == max(sizes[:10])
    assert encoder.embedded


def test_a_question_waits_for_another_writer(
    retriever: Retriever, encoder: BagEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once that has indexed the same changes, the question is answered from them without indexing anything."""
    (retriever.root / "new.md").write_text("A harp.\n")
    waits: list[Path] = []
    with ExitStack() as lock:
        lock.enter_context(writer_lock(retriever.root / ".qa"))

        def publish(folder: Path, *, until: float) -> None:
            waits.append(folder)
            lock.close()
            build(retriever.root)

        monkeypatch.setattr(opening, "wait_for_writer", publish)
        refreshed = opening.refresh_if_small(retriever)
    assert (refreshed.note, refreshed.report, encoder.embedded) == ("", None, [])
    assert waits == [retriever.root / ".qa"]
    assert [hit.source.path for hit in retriever.ask("harp").passages][:1] == ["new.md"]


def test_a_folder_that_was_moved_is_followed_at_once(retriever: Retriever, encoder: BagEncoder) -> None:
    """However many files it has, as all their passages are known and nothing is embedded."""
    (retriever.root / "old").mkdir()
    for name in MANY:
        (retriever.root / name).rename(retriever.root / "old" / name)
    (retriever.root / "new.md").write_text("A harp.\n")
    refreshed = opening.refresh_if_small(retriever)
    assert refreshed.note == ""
    assert refreshed.report is not None
    assert (refreshed.report.added, refreshed.report.removed, encoder.embedded) == (71, 70, ["A harp."])


def test_files_that_were_moved_and_changed_are_not_indexed_at_once(retriever: Retriever) -> None:
    (retriever.root / "old").mkdir()
    for at, (name, text) in enumerate(MANY.items()):
        (retriever.root / name).unlink()
        (retriever.root / "old" / name).write_text(text.replace("N", "n") if at < 66 else text)
    assert opening.refresh_if_small(retriever).note.startswith("66 new or changed files are not indexed yet")


def test_deleted_files_are_named_if_they_stay_in_the_index(retriever: Retriever) -> None:
    for number in range(66):
        (retriever.root / f"new{number}.txt").write_text(f"new {number}\n")
    for name in sorted(MANY)[:2]:
        (retriever.root / name).unlink()
    assert "(0.5 kB), and 2 deleted files still in the index. " in opening.refresh_if_small(retriever).note


def test_only_a_limited_amount_of_moved_files_is_read(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_MAX_MOVED_BYTES", 5 * 20_100)
    (retriever.root / "old").mkdir()
    for name in MANY:
        (retriever.root / name).rename(retriever.root / "old" / name)
    assert opening.refresh_if_small(retriever).note.startswith("65 new or changed files are not indexed yet")


def test_a_folder_that_was_renamed_is_named(retriever: Retriever) -> None:
    """The index is only missing because the folder is."""
    shutil.rmtree(retriever.root / ".qa")
    with pytest.raises(NoIndexError, match="there is no index in"):
        retriever.reload()
    retriever.root.rename(retriever.root.with_name("renamed"))
    with pytest.raises(CorpusError, match="no longer exists: deleted, renamed or unmounted"):
        retriever.reload()
