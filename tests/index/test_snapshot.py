"""A snapshot has one generation, the right candidates in the right order, and checked rows."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from corpus.errors import DamagedIndexError, IncompatibleError
from index.dense.search import Candidate
from index.snapshot import Snapshot
from tests.encoders import BagEncoder
from tests.index.conftest import build
from tests.robustness.process import value_in_fork

MAILBOX = b"".join(
    b"From a@example.org Thu Jan  1 00:00:00 2026\nFrom: a@example.org\nSubject: %s\n\nThe %s are in the shed.\n\n"
    % (word, word.lower())
    for word in (b"Boats", b"Oars")
)


def test_a_passage_is_a_slice_of_its_document_with_metadata(root: Path) -> None:
    build(root)
    text = (root / "cats.md").read_text(encoding="utf-8")
    with Snapshot(root / ".qa") as snapshot:
        first, second = snapshot.passages_of("cats.md")
        assert second.text == "## Dogs\n\nDogs bark at state-of-the-art robots."
        assert text[second.start : second.end] == second.text
        assert second.text[second.body :] == "Dogs bark at state-of-the-art robots."
        assert (second.lines, second.page, second.heading, second.title) == ((5, 7), None, ("Cats", "Dogs"), "Cats")
        assert second.encoder_text == "Cats › Dogs\nDogs bark at state-of-the-art robots."
        assert snapshot.passages([second.id, first.id]) == [second, first]


def test_the_passage_before_is_near_and_in_the_same_document_or_record(root: Path) -> None:
    (root / "mail.mbox").write_bytes(MAILBOX)
    build(root)
    with Snapshot(root / ".qa") as snapshot:
        first, second = snapshot.passages_of("cats.md")
        assert second.start - first.end == 2
        assert snapshot.preceding([first, second], 2) == {second.id: first}
        assert snapshot.preceding([first, second], 1) == {}
        mails = snapshot.passages_of("mail.mbox")
        assert [mail.title for mail in mails] == ["Boats", "Oars"]
        assert mails[1].start - mails[0].end < 9
        assert snapshot.preceding(mails, 9) == {}


def test_an_opening_is_the_first_passage_of_the_document_or_record(root: Path) -> None:
    (root / "mail.mbox").write_bytes(MAILBOX)
    (root / "blank.md").write_text("\n\n\n# Owls\n\nOwls hoot.\n\n## Bats\n\nBats squeak.\n\n## Ants\n\nAnts do not.\n")
    build(root)
    with Snapshot(root / ".qa") as snapshot:
        first, second = snapshot.passages_of("cats.md")
        owls, bats, ants = snapshot.passages_of("blank.md")
        assert snapshot.openings([first, second, ants, owls, bats]) == {second.id: first, bats.id: owls, ants.id: owls}
        assert snapshot.openings(snapshot.passages_of("mail.mbox")) == {}


def test_a_vector_of_another_dimension_is_refused(root: Path) -> None:
    build(root)
    with Snapshot(root / ".qa") as snapshot, pytest.raises(IncompatibleError, match=r"shape \(3,\)"):
        snapshot.dense(np.ones(3, dtype=np.float32), 5)


def test_a_file_that_vanishes_has_no_size(root: Path) -> None:
    build(root)
    with Snapshot(root / ".qa") as snapshot:
        size = snapshot.size()
        (root / ".qa" / "gone").symlink_to(root / "nowhere")
        assert snapshot.size() == size > 0


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_finds_nothing(root: Path, limit: int) -> None:
    build(root)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.dense(BagEncoder().encode_query("cat"), limit) == []
        assert snapshot.keyword("cat", limit) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to become another user")
def test_a_read_only_index_answers(root: Path) -> None:
    """A user without write permission can ask: no lock, log or shared memory file is needed."""
    build(root)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        target = root.rename(Path(folder) / "corpus") / ".qa"

        def ask() -> tuple[int, int]:
            os.setuid(65534)
            with Snapshot(target) as snapshot:
                vector = BagEncoder().encode_query("cat")
                return len(snapshot.keyword("birds", 5)), len(snapshot.dense(vector, 9))

        assert value_in_fork(ask) == (1, 4)


def test_threads_can_share_a_snapshot(root: Path) -> None:
    build(root)
    with Snapshot(root / ".qa") as snapshot:

        def ask(_: int) -> tuple[list[Candidate], list[Candidate]]:
            return snapshot.dense(BagEncoder().encode_query("cat"), 3), snapshot.keyword("cat dogs fish", 3)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, range(200)))
        assert answers == [answers[0]] * 200
        assert len(answers[0][1]) == 3


def test_a_lost_duplicate_is_noticed(root: Path) -> None:
    """If a passage with the same text as another is missing, "also in" would be incomplete."""
    for name in ("one.md", "two.md", "three.md"):
        (root / name).write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
    build(root)
    with Snapshot(root / ".qa") as snapshot:
        (first,) = snapshot.passages_of("one.md")
        assert len(snapshot.duplicates([first])[first.id]) == 2
    with closing(sqlite3.connect(root / ".qa" / "index.db")) as connection, connection:
        connection.execute(
            "DELETE FROM passages WHERE id = (SELECT max(id) FROM passages WHERE text_digest = ?)", (first.text_digest,)
        )
    with Snapshot(root / ".qa") as snapshot, pytest.raises(DamagedIndexError, match="duplicates of passage"):
        snapshot.duplicates([first])
