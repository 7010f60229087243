"""What an update reads, embeds, reuses and commits."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from corpus import read_file, walk
from corpus.chunking import splitter
from corpus.errors import CorpusError, DamagedIndexError, IncompatibleError
from corpus.loading.sandbox import Sandbox
from corpus.readers.source import grammars
from index.encoder.protocol import require_same_encoder
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.storage.metadata import Selection, SkippedRow
from index.update import diff as differences
from index.update import embed_queue
from index.update.copy import copy_index
from index.update.diff import find_changes
from index.update.report import BuildReport, Progress, Request
from index.update.update import preview_update, rebuild_index, update_index
from tests.encoders import BagEncoder
from tests.index.conftest import BIRDS, build, delete_documents


def counts(report: BuildReport) -> tuple[int, int, int, int, int, int]:
    """Added, changed, removed, unchanged, embedded, reused."""
    return report.added, report.changed, report.removed, report.unchanged, report.embedded, report.reused


def set_old_times(root: Path) -> None:
    """Set all modification times so far back that stat values alone are conclusive."""
    for path in root.rglob("*"):
        if path.is_file() and ".qa" not in path.parts:
            os.utime(path, (1_000_000_000, 1_000_000_000))


def generation(root: Path) -> int:
    with Snapshot(root / ".qa") as snapshot:
        return snapshot.info.generation


def texts(root: Path) -> list[str]:
    with Snapshot(root / ".qa") as snapshot:
        return [passage.text for document in snapshot.documents() for passage in snapshot.passages_of(document.path)]


def test_the_first_build_indexes_everything_and_the_next_nothing(root: Path) -> None:
    report = build(root)
    assert counts(report) == (3, 0, 0, 0, 4, 0)
    assert (report.documents, report.passages, report.skipped) == (3, 4, ())
    encoder = BagEncoder()
    assert counts(build(root, encoder)) == (0, 0, 0, 3, 0, 0)
    assert encoder.embedded == []
    assert generation(root) == 1


def test_a_copied_index_has_no_damaged_vectors_of_the_one_it_replaces(root: Path, tmp_path: Path) -> None:
    build(root)
    target = shutil.copytree(root, tmp_path / "other")
    with closing(sqlite3.connect(target / ".qa" / "index.db")) as connection, connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(128)")
    assert copy_index(root, target).passages == 4
    assert verify(target / ".qa").problems == ()


def test_text_inserted_above_changes_no_id_and_equal_passages_have_different_ids(root: Path) -> None:
    def keys() -> list[str]:
        with Snapshot(root / ".qa") as snapshot:
            return [passage.key for passage in snapshot.passages_of("song.md")]

    verses = "# Verse\n\nRow the boat.\n\n# Refrain\n\nMerrily.\n\n# Refrain\n\nMerrily.\n"
    (root / "song.md").write_text(verses, encoding="utf-8")
    build(root)
    before = keys()
    assert len(set(before)) == len(before) == 3
    (root / "song.md").write_text(f"# First\n\nA new verse.\n\n{verses}", encoding="utf-8")
    build(root)
    assert keys()[1:] == before
    with Snapshot(root / ".qa") as snapshot:
        assert [passage.start for key in before if (passage := snapshot.find(key))] == [
            passage.start for passage in snapshot.passages_of("song.md")[1:]
        ]


@pytest.mark.parametrize("target", ["sparrows.txt", "notes/birds.txt"])
def test_a_rename_or_move_embeds_nothing(root: Path, target: str) -> None:
    build(root)
    (root / "birds.txt").rename(root / target)
    assert counts(build(root)) == (1, 0, 1, 2, 0, 1)
    with Snapshot(root / ".qa") as snapshot:
        (candidate,) = snapshot.keyword("birds", 5)
        assert snapshot.passages([candidate.passage])[0].document.path == target


def test_a_copy_shares_the_vector_and_is_citable(root: Path) -> None:
    build(root)
    shutil.copy(root / "birds.txt", root / "copy.txt")
    assert counts(build(root)) == (1, 0, 0, 3, 0, 1)
    with Snapshot(root / ".qa") as snapshot:
        (bird,) = snapshot.passages_of("birds.txt")
        (copy,) = snapshot.passages_of("copy.txt")
        assert bird.vector == copy.vector
        assert snapshot.duplicates([bird]) == {bird.id: (copy,)}
    (root / "birds.txt").unlink()
    build(root)
    with Snapshot(root / ".qa") as snapshot:
        assert len(snapshot.keyword("birds", 5)) == 1


def test_a_file_changed_too_recently_is_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the same size and time is found."""
    monkeypatch.setattr(differences, "_RACY_NS", 3600 * 10**9)  # however long the build takes
    set_old_times(root)
    build(root)
    times = (root / "birds.txt").stat().st_atime_ns, (root / "birds.txt").stat().st_mtime_ns
    (root / "birds.txt").write_text(BIRDS.replace("morning", "evening"), encoding="utf-8")
    os.utime(root / "birds.txt", ns=times)
    with Snapshot(root / ".qa") as snapshot:
        diff = find_changes(root, snapshot)
    assert [file.path for file in diff.suspect] == ["birds.txt"]
    assert [file.path for file in diff.unchanged] == [it.path for it in diff.same] == ["cats.md", "notes/fish.md"]


def test_find_changes_names_all_differences(root: Path) -> None:
    set_old_times(root)
    build(root)
    (root / "birds.txt").unlink()
    (root / "cats.md").write_text("Cats.", encoding="utf-8")
    (root / "owls.txt").write_text("Owls.", encoding="utf-8")
    with Snapshot(root / ".qa") as snapshot:
        diff = find_changes(root, snapshot)
    assert [file.path for file in diff.added] == ["owls.txt"]
    assert [file.path for file in diff.suspect] == ["cats.md"]
    assert diff.removed == ("birds.txt",)
    assert [file.path for file in diff.unchanged] == ["notes/fish.md"]
    assert not diff.is_current


def test_find_changes_checks_no_rows(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking them would take half the time of a question about a large folder."""
    set_old_times(root)
    build(root)

    def refuse(*_: object) -> NoReturn:
        raise AssertionError

    # As if it were long after the build: files of the seconds before it would have to be read again.
    monkeypatch.setattr(differences, "_changed_since_read", lambda *_: False)
    monkeypatch.setattr("index.storage.rows.parse_document", refuse)
    with Snapshot(root / ".qa") as snapshot:
        assert find_changes(root, snapshot).is_current


@pytest.mark.parametrize(
    "change",
    ["size = size + 1", "mtime_ns = mtime_ns - 4", "path = 'x'", "path = x'78'", "size = 'x'", "checked_ns = ''"],
)
def test_find_changes_in_a_damaged_index(root: Path, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It reports the damage or a change, and the update for that change reports the damage."""
    monkeypatch.setattr(differences, "_changed_since_read", lambda *_: False)  # as if long after the build
    set_old_times(root)
    build(root)
    with closing(sqlite3.connect(root / ".qa" / "index.db")) as connection, connection:
        connection.execute(f"UPDATE documents SET {change} WHERE path = 'cats.md'")  # noqa: S608 - from above
    with suppress(DamagedIndexError), Snapshot(root / ".qa") as snapshot:
        assert not find_changes(root, snapshot).is_current
    with pytest.raises(DamagedIndexError, match="checksum mismatch"):
        build(root)


def test_a_file_like_several_indexed_ones_is_read_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read to see whether it was moved; a folder may have hundreds of files with the same name and size."""
    for name in "abcdef":
        (root / name).mkdir()
        (root / name / "page.md").write_text(f"Page {name}.", encoding="utf-8")
    build(root)
    (root / "g").mkdir()
    (root / "g" / "page.md").write_text("Page g.", encoding="utf-8")
    (root / "a").rename(root / "h")
    read_paths: list[str] = []

    def record_and_read(folder: Path, path: str) -> bytes:
        read_paths.append(path)
        return read_file(folder, path)

    monkeypatch.setattr(differences, "read_file", record_and_read)
    new_files = [file for file in walk(root).files if file.path[0] in "gh"]
    with Snapshot(root / ".qa") as snapshot:
        unknown = differences.unknown_files(root, new_files, snapshot.documents(), limit=10**6)
    assert [file.path for file in unknown] == ["g/page.md"]
    assert read_paths == ["g/page.md", "h/page.md"]


def test_preview_counts_and_writes_nothing(root: Path) -> None:
    assert counts(preview_update(root)) == (3, 0, 0, 0, 0, 0)
    assert not (root / ".qa").exists()
    build(root)
    (root / "birds.txt").write_text("New.", encoding="utf-8")
    (root / "cats.md").unlink()
    assert counts(preview_update(root)) == (0, 1, 1, 1, 0, 0)
    assert generation(root) == 1


def test_an_edit_with_unchanged_size_and_time_is_found(root: Path) -> None:
    """The system records when a file or its metadata last changed, whatever its time was set to."""
    set_old_times(root)
    build(root)
    (root / "birds.txt").write_text(BIRDS.replace("morning", "evening"), encoding="utf-8")
    set_old_times(root)
    assert counts(preview_update(root)) == (0, 1, 0, 2, 0, 0)
    assert counts(build(root)) == (0, 1, 0, 2, 1, 0)


def test_rebuild_detects_edits_that_no_time_shows(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "_changed_since_read", lambda *_: False)
    set_old_times(root)
    build(root)
    (root / "birds.txt").write_text(BIRDS.replace("morning", "evening"), encoding="utf-8")
    set_old_times(root)
    assert counts(build(root)) == (0, 0, 0, 3, 0, 0)
    assert counts(rebuild_index(Request(root, BagEncoder()))) == (0, 1, 0, 2, 1, 3)


@pytest.mark.parametrize(
    ("seconds", "shift", "tried"), [(-3, 0, 3), (3, 0, 0), (-3, -99, 0)], ids=["before", "after", "clock set back"]
)
def test_an_unreadable_file_with_new_permissions_is_tried_again(
    root: Path, seconds: int, shift: int, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it was last read before they changed; a change in the future does not count, as the clock was set back."""
    set_old_times(root)
    rows = [
        SkippedRow(file.path, "no", True, file.size, file.mtime_ns, file.ctime_ns + seconds * 10**9)
        for file in walk(root).files
    ]
    now = time.time_ns() + shift * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: now)
    assert len(differences.compare_folder(root, {}, rows, Selection(), retry=False).added) == tried


@pytest.mark.parametrize(
    ("changed_ns", "after_ns", "tried"),
    [(5 * 10**9 + 1, 10**9, 0), (5 * 10**9 + 1, 10**7, 3), (5 * 10**9, 10**9, 3), (5 * 10**9, 3 * 10**9, 0)],
)
def test_a_file_skipped_soon_after_its_last_change(root: Path, changed_ns: int, after_ns: int, tried: int) -> None:
    """It is not tried again if its time is precise, as another change would have changed it."""
    for file in walk(root).files:
        os.utime(root / file.path, ns=(changed_ns, changed_ns))
    rows = [SkippedRow(it.path, "no", False, it.size, changed_ns, changed_ns + after_ns) for it in walk(root).files]
    assert len(differences.compare_folder(root, {}, rows, Selection(), retry=False).added) == tried


def test_progress_ends_at_the_total(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts the bytes of all files that are read, even if their texts are duplicates."""
    monkeypatch.setattr(embed_queue, "_CHUNK", 3)
    shutil.copy(root / "birds.txt", root / "copy.txt")
    (root / "empty.txt").write_text("", encoding="utf-8")
    total = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    steps: list[Progress] = []
    update_index(Request(root, BagEncoder(), progress=steps.append))
    assert steps[:2] == [Progress(0, 0), Progress(0, total)]  # while it searches for files, and before it reads them
    assert {step.total for step in steps[1:]} == {total}
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == total


def test_switching_models_embeds_everything_and_switching_back_nothing(root: Path) -> None:
    build(root)
    other_encoder = BagEncoder(name="other", fingerprint="e" * 64)
    other_encoder.dimension = 32
    with Snapshot(root / ".qa") as snapshot, pytest.raises(IncompatibleError, match="built with bag"):
        require_same_encoder(snapshot.info, other_encoder)
    assert counts(build(root, other_encoder)) == (0, 0, 0, 3, 4, 0)
    assert verify(root / ".qa").problems == ()
    with Snapshot(root / ".qa") as snapshot:
        require_same_encoder(snapshot.info, other_encoder)
    assert counts(build(root)) == (0, 0, 0, 3, 0, 4)


def test_another_splitter_cuts_everything_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_old_times(root)
    build(root)
    monkeypatch.setattr(splitter, "VERSION", splitter.VERSION + 1)
    assert counts(build(root)) == (0, 0, 0, 3, 0, 4)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.info.splitter == splitter.splitter_version()


@pytest.fixture
def without_grammars(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Removes the extra `code`, as far as the version of the splitter goes, until `undo`."""
    monkeypatch.setattr(grammars, "grammar_version", lambda: 0)
    return monkeypatch


def test_other_grammars_split_only_their_source_files_again(root: Path, without_grammars: pytest.MonkeyPatch) -> None:
    """All others, such as Python, are split as before."""
    (root / "row.h").write_text("int row;\n")
    (root / "row.py").write_text("row = 1\n")
    set_old_times(root)
    build(root)
    without_grammars.undo()
    assert counts(build(root)) == (0, 0, 0, 5, 0, 1)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.info.splitter == splitter.splitter_version()
    assert counts(build(root)) == (0, 0, 0, 5, 0, 0)
    assert verify(root / ".qa").problems == ()


def test_an_update_before_a_question_leaves_source_files_to_the_next(
    root: Path, without_grammars: pytest.MonkeyPatch
) -> None:
    """Until then the index remembers that they are split otherwise, even if the grammars change back."""
    (root / "row.js").write_text("row();\n")
    set_old_times(root)
    build(root)
    without_grammars.undo()
    (root / "new.md").write_text("A crane flew by.\n")
    update = partial(update_index, Request(root, BagEncoder(), retry=False))
    assert counts(update()) == (1, 0, 0, 4, 1, 0)
    without_grammars.setattr(grammars, "grammar_version", lambda: 0)
    (root / "new.md").write_text("A coot flew by.\n")
    assert counts(update()) == (0, 1, 0, 4, 1, 0)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.info.splitter == splitter.mixed_version() != splitter.splitter_version()
    assert counts(build(root)) == (0, 0, 0, 5, 0, 1)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.info.splitter == splitter.splitter_version()


def test_another_version_of_the_grammars_splits_everything_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(root)
    monkeypatch.setattr(grammars, "VERSION", grammars.VERSION + 1)
    assert splitter.types_split_otherwise(splitter.splitter_version()) == frozenset()
    assert counts(build(root)) == (0, 0, 0, 3, 0, 4)


def test_a_suddenly_empty_corpus_needs_permission(root: Path) -> None:
    build(root)
    delete_documents(root)
    with pytest.raises(CorpusError, match="no readable documents are left"):
        build(root)
    assert len(texts(root)) == 4
    report = update_index(Request(root, BagEncoder(), allow_empty=True))
    assert (report.removed, report.documents) == (3, 0)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.dense(BagEncoder().encode_query("cat"), 5) == []


def test_a_binary_file_is_skipped_until_it_changes(root: Path) -> None:
    (root / "blob.txt").write_bytes(b"\0\1\2")
    set_old_times(root)
    report = build(root)
    assert [(skip.path, skip.reason) for skip in report.skipped] == [("blob.txt", "binary, not text")]
    with Snapshot(root / ".qa") as snapshot:
        assert find_changes(root, snapshot).is_current
    assert [skip.path for skip in build(root).skipped] == ["blob.txt"]
    (root / "blob.txt").write_text("Now it is text.", encoding="utf-8")
    report = build(root)
    assert (report.added, report.skipped) == (1, ())


def test_a_file_that_takes_too_long_keeps_its_passages_and_is_retried(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next build reads it again even if it has not changed; a question does not."""
    (root / "swans.csv").write_text("swan,river\nOlga,Ems\n", encoding="utf-8")
    set_old_times(root)
    build(root)
    (root / "swans.csv").write_text("swan,river\nOlga,Elbe\n", encoding="utf-8")
    (root / "geese.csv").write_text("goose,river\nAnton,Oder\n", encoding="utf-8")
    set_old_times(root)
    texts_before = texts(root)
    with monkeypatch.context() as patch:
        patch.setattr("corpus.loading.prefetch.Sandbox", partial(Sandbox, patience=0.0))
        report = build(root)
    reason = "took longer than 0 s to read"
    assert [(skip.path, skip.reason) for skip in report.skipped] == [("geese.csv", reason), ("swans.csv", reason)]
    assert texts(root) == texts_before
    with Snapshot(root / ".qa") as snapshot:
        assert find_changes(root, snapshot).is_current
    # As a question does if something else has changed.
    report = update_index(Request(root, BagEncoder(), retry=False))
    assert (report.added, report.changed, report.removed, len(report.skipped)) == (0, 0, 0, 2)
    report = build(root)
    assert (report.added, report.changed, report.removed, report.skipped) == (1, 1, 0, ())
    assert {"swan: Olga\nriver: Elbe", "goose: Anton\nriver: Oder"} <= set(texts(root))


def test_a_reader_knows_what_was_skipped_since_it_was_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a new generation: else each of its questions would read these files again."""

    def change(text: str) -> None:
        (root / "swans.csv").write_text(f"swan,river\nOlga,{text}\n", encoding="utf-8")
        (root / "blob.txt").write_bytes(b"\0" + text.encode())
        set_old_times(root)

    change("Ems")
    build(root)
    monkeypatch.setattr("corpus.loading.prefetch.Sandbox", partial(Sandbox, patience=0.0))
    change("Elbe")
    build(root)
    with Snapshot(root / ".qa") as snapshot:
        change("Danube")
        diff = find_changes(root, snapshot)
        assert [file.path for file in (*diff.added, *diff.suspect)] == ["blob.txt", "swans.csv"]
        assert {file.path for file in build(root).skipped} == {"blob.txt", "swans.csv"}
        assert find_changes(root, snapshot).is_current
        assert snapshot.is_newest()


def test_unused_vectors_are_pruned_oldest_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for four unused vectors, the oldest of five is deleted."""
    monkeypatch.setattr("index.commit.store.SPARE_VECTORS", 4)
    # Vectors in a FAISS file are never pruned, so no file may have unused ones.
    monkeypatch.setattr("index.dense.segment_writer._MIN_DEAD", 0)
    monkeypatch.setattr("index.dense.segment_writer._DEAD_SHARE", 0)
    build(root)
    for number in range(6):
        (root / "birds.txt").write_text(f"Bird number {number}.", encoding="utf-8")
        build(root)
    (root / "birds.txt").write_text("Bird number 4.", encoding="utf-8")
    assert build(root).embedded == 0
    (root / "birds.txt").write_text(BIRDS, encoding="utf-8")
    assert build(root).embedded == 1
