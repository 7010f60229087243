"""Rows that the tool never wrote, under checksums that fit: nothing crashes, hangs, grows or leads out of the folder.

What does not agree with the rest of the index is refused; a text that was forged with care is the index's own text.
"""

# ruff: noqa: S608 - what is in the statements is written in this file

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.errors import QAError
from index.lexical import posting_blocks
from index.lexical.postings import Postings, pack
from qa.collection.show import show
from tests.robustness.process import value_of
from tests.robustness.reseal import edit, set_meta
from tests.robustness.samples import QUESTIONS, Sample
from tests.robustness.trials import NOWHERE, Outcome, asked_and_checked

NOTICED = (Outcome.RIGHT, Outcome.REFUSED)


def test_a_seal_alone_changes_nothing(sample: Sample) -> None:
    """Else the tests below would be of the seals."""
    edit(sample.folder / "index.db")
    judged = asked_and_checked(sample)
    assert (judged.outcome, judged.check) == (Outcome.RIGHT, "")


# Counts and numbers (cases 30 and 31).
COUNTS = {
    "a document has one passage more": "UPDATE documents SET passages = passages + 1 WHERE id = 3",
    "a document has a negative number of passages": "UPDATE documents SET passages = -1 WHERE id = 3",
    "a document is gone": "DELETE FROM documents WHERE id = 3",
    "a document stands twice": "INSERT INTO documents SELECT id + 1000, path || '2', sha256, size, mtime_ns, "
    "checked_ns, media_type, title, passages, records, metadata, checksum FROM documents WHERE id = 3",
    "a document has two records more": "UPDATE documents SET records = records + 2 WHERE id = 3",
    "a document has a negative number of records": "UPDATE documents SET records = -1 WHERE id = 3",
    "a passage is gone": "DELETE FROM passages WHERE id = 5",
    "a passage stands twice": "INSERT INTO passages SELECT id + 100000, 'f' || substr(key, 2), document, vector, "
    "start, end, link_checksum, body, line_first, line_last, page, anchor, title, heading, context, text, text_digest, "
    "checksum FROM passages WHERE id = 5",
    "a passage has a vector that is not there": f"UPDATE passages SET vector = {NOWHERE} WHERE id = 5",
    "a passage has a vector with a negative number": "UPDATE passages SET vector = -3 WHERE id = 5",
    "a passage has a document that is not there": f"UPDATE passages SET document = {NOWHERE} WHERE id = 5",
    "a vector is gone": "DELETE FROM vectors WHERE id = 7",
    "a place is gone": "DELETE FROM vector_refs WHERE vector = 7",
    "a place counts one passage more": "UPDATE vector_refs SET refcount = refcount + 1 WHERE vector = 7",
    "no place counts a passage": "UPDATE vector_refs SET refcount = 0",
    "a place is in a segment that is not there": "UPDATE vector_refs SET segment = 77 WHERE vector = 7",
    "a place is of a vector that is not there": f"INSERT INTO vector_refs VALUES ({NOWHERE}, 1, 1, 0, 0)",
    "a repeated text is counted once more": "UPDATE duplicates SET passages = passages + 1",
    "repeated texts are forgotten": "DELETE FROM duplicates",
    "a row of the keyword index is gone": "DELETE FROM posting_lists WHERE id = (SELECT min(id) FROM posting_lists)",
    "the keyword index is gone": "DELETE FROM posting_lists",
    "a block is gone": "DELETE FROM blocks",
    "a block is of passages far away": f"UPDATE blocks SET block = {NOWHERE}",
    "a row of the keyword index is of a block far away": f"UPDATE posting_lists SET id = {NOWHERE} + id",
    "lengths are cut": "UPDATE blocks SET lengths = substr(lengths, 1, 20)",
    "lengths are all the greatest": "UPDATE blocks SET lengths = replace(hex(lengths), '00', 'FF')",
    "there are free rows that are taken": "INSERT OR IGNORE INTO free_ids SELECT id FROM passages",
    "there are free rows far away": f"INSERT INTO free_ids VALUES ({2**62})",
}


@pytest.mark.parametrize("name", COUNTS)
def test_numbers_that_do_not_fit_are_noticed(sample: Sample, name: str) -> None:
    """Every answer is right or refused, and `qa check` finds it even where no answer meets it."""
    edit(sample.folder / "index.db", COUNTS[name])
    judged = asked_and_checked(sample)
    assert judged.outcome in NOTICED, judged.detail
    assert judged.check != ""


def postings(positions: Sequence[int], weights: Sequence[int]) -> tuple[int, bytes]:
    """A posting list, whatever is in it."""
    columns = (np.array(column, dtype=np.int64) for column in (positions, weights, [len(positions)]))
    return len(positions), pack(Postings(*columns))[0]


# Passages, as the row counts them, and the bytes of the posting list.
ENTRIES = {
    "a place behind the last": postings([3, 60_000], [1, 1]),
    "no places": (0, b""),
    "fewer places than are counted": (3, postings([3, 4], [1, 1])[1]),
    "more places than are counted": (1, postings([3, 4], [1, 1])[1]),
    "a weight that is not there": (1, bytes([3 << 2 | 3])),
    "a weight of no place": (1, bytes([3 << 2, 0])),
    "a weight beyond all": postings([3], [100_000]),
    "a number that is cut": (1, b"\x8c"),
    "a number without end": (1, b"\xff" * 1000 + b"\0"),
    "all places there are": postings(range(65_535), [255] * 65_535),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_foreign_entries_of_a_word_are_harmless(sample: Sample, name: str) -> None:
    """Of a word that is asked for; `qa check` reads all words."""
    word = posting_blocks.term_bytes("river")
    row = b"".join(posting_blocks.row_part(word, *ENTRIES[name]))
    number = posting_blocks.row_id(0, posting_blocks.term_hash(word))
    edit(sample.folder / "index.db", ("UPDATE posting_lists SET data = ? WHERE id = ?", (row, number)))
    assert asked_and_checked(sample).check != ""


def test_the_vector_of_another_passage_is_found_by_a_check(sample: Sample) -> None:
    """Where links are forged with care, a question takes the one vector for the other."""
    other = "(SELECT vector FROM passages WHERE id = 40)"
    edit(sample.folder / "index.db", f"UPDATE passages SET vector = {other} WHERE id = 5")
    assert "the refcount of a vector" in asked_and_checked(sample).check


KINDS: dict[str, str | tuple[str, Sequence[object]]] = {
    "a title of bytes": "UPDATE documents SET title = x'ff00ff' WHERE id = 3",
    "a size in words": "UPDATE documents SET size = 'large' WHERE id = 3",
    "a number of passages in words": "UPDATE documents SET passages = 'some' WHERE id = 3",
    "a text of bytes": "UPDATE passages SET text = x'ff00ff' WHERE id = 5",
    "a start in words": "UPDATE passages SET start = 'first' WHERE id = 5",
    "a start after the end": "UPDATE passages SET start = end + 10 WHERE id = 5",
    "a body behind the text": "UPDATE passages SET body = 1000000 WHERE id = 5",
    "a line far away": f"UPDATE passages SET line_first = {2**62} WHERE id = 5",
    "headings that are no JSON": "UPDATE passages SET heading = '[' WHERE id = 5",
    "headings nested without end": ("UPDATE passages SET heading = ? WHERE id = 5", ("[" * 100_000 + "]" * 100_000,)),
    "headings that are lists": "UPDATE passages SET heading = '[[7], {}]' WHERE id = 5",
    "a context of bytes": "UPDATE passages SET context = x'ff' WHERE id = 5",
    "a key of bytes": "UPDATE passages SET key = x'ff' WHERE id = 5",
    "a text digest in words": "UPDATE passages SET text_digest = 'same' WHERE id = 5",
    "a vector in words": "UPDATE vectors SET vector = 'vector' WHERE id = 7",
    "a vector digest in words": "UPDATE vectors SET digest = 'digest' WHERE id = 7",
    "a row of the keyword index in words": "UPDATE posting_lists SET data = 'words'",
    "hashes in words": "UPDATE blocks SET hashes = 'words'",
    "a reason of bytes": "UPDATE skipped SET reason = x'ff'",
    "a time in words": "UPDATE skipped SET mtime_ns = 'long ago'",
}


@pytest.mark.parametrize("name", KINDS)
def test_values_of_another_kind_are_refused_or_harmless(sample: Sample, name: str) -> None:
    """A row may say what nobody can tell from the truth; it is not to break what reads it."""
    edit(sample.folder / "index.db", KINDS[name])
    asked_and_checked(sample)


@pytest.mark.parametrize("column", ["path", "reason"])
def test_bytes_in_place_of_the_same_words_are_noticed(sample: Sample, column: str) -> None:
    """One bit in the head of a row does that, and the checksum of the words still fits."""
    edit(sample.folder / "index.db", f"UPDATE skipped SET {column} = CAST({column} AS BLOB)")
    assert "skipped" in asked_and_checked(sample).check


# Case 32.
VECTORS = {
    "not a number": np.full(64, np.nan),
    "one infinite": np.where(np.arange(64) == 3, -np.inf, 0.0),
    "nothing but zeros": np.zeros(64),
    "ten times as long": np.eye(64)[3] * 10,
    "too short": np.eye(63)[3],
    "empty": np.zeros(0),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_that_is_none_is_never_scored(sample: Sample, name: str) -> None:
    with np.errstate(invalid="ignore"):
        data = VECTORS[name].astype("<f2").tobytes()
    edit(sample.folder / "index.db", ("UPDATE vectors SET vector = ? WHERE id = 7", (data,)))
    # While its segment is there the vector is had from that.
    for file in sample.folder.glob("*.faiss"):
        file.unlink()
    judged = asked_and_checked(sample)
    assert judged.outcome is Outcome.REFUSED, judged.detail
    assert "open" in judged.refused
    assert judged.check != ""


# Of the whole index.
META: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "one document more": ("documents", lambda value: value + 1),
    "one passage more": ("passages", lambda value: value + 1),
    "no passages": ("passages", lambda _: 0),
    "a negative number of passages": ("passages", lambda _: -5),
    "one vector more": ("vectors", lambda value: value + 1),
    "a huge dimension": ("dimension", lambda _: 2**40),
    "another dimension": ("dimension", lambda _: 32),
    "no segments": ("segments", lambda _: []),
    "a segment twice": ("segments", lambda value: [*value, value[0]]),
    "a segment with more vectors": ("segments", lambda value: [value[0] | {"held": value[0]["held"] + 1}, *value[1:]]),
    "a segment with a huge number": ("segments", lambda value: [value[0] | {"held": 2**62}, *value[1:]]),
    "a segment with more dead": ("segments", lambda value: [value[0] | {"dead": value[0]["dead"] + 1}, *value[1:]]),
    "a segment elsewhere": ("segments", lambda value: [value[0] | {"name": "../../secret.txt"}, *value[1:]]),
    "a segment that is the folder": ("segments", lambda value: [value[0] | {"name": "."}, *value[1:]]),
    "a segment with a field too many": ("segments", lambda value: [value[0] | {"more": 7}, *value[1:]]),
    "segments that are a number": ("segments", lambda _: 7),
    "a passage count in words": ("passages", lambda _: "many"),
    "a dimension in words": ("dimension", lambda _: "sixty-four"),
    "a fingerprint that is a number": ("fingerprint", lambda _: 7),
    "a model that is a list": ("model", lambda _: ["bag"]),
    "patterns that are numbers": ("include", lambda _: [7, 8]),
    "one skipped file more": ("skipped", lambda value: value + 1),
    "a negative number of skipped files": ("skipped", lambda _: -1),
    "a generation in words": ("generation", lambda _: "first"),
}


@pytest.mark.parametrize("name", META)
def test_foreign_values_of_the_whole_index_are_noticed(sample: Sample, name: str) -> None:
    key, change = META[name]
    set_meta(sample.folder / "index.db", key, change)
    judged = asked_and_checked(sample)
    harmless = name in ("a model that is a list", "patterns that are numbers")
    assert judged.outcome in NOTICED, judged.detail
    assert harmless or judged.check != ""


# Case 34.
OUTSIDE = "The harbour opens with walnut.\n"
PATHS = [
    "../secret.txt",
    "/etc/passwd",
    "notes/../../secret.txt",
    "..",
    "",
    "notes//03.md",
    "a\0b",
    "notes/" + "x" * 5000,
    "..\\secret.txt",
    "C:/secret.txt",
    "\ud800.txt".encode("utf-8", "surrogatepass").decode("utf-8", "replace"),
]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_of_the_index_leads_out_of_the_folder(sample: Sample, path: str) -> None:
    """Citations are compared with files, and places are shown: never with a file outside, whatever the index says."""
    secret = sample.root.parent / "secret.txt"
    secret.write_text(OUTSIDE, encoding="utf-8")
    edit(sample.folder / "index.db", ("UPDATE documents SET path = ? WHERE path = ?", (path, QUESTIONS.path)))
    assert value_of(partial(_opened_outside, sample, path, secret)) == []


def _opened_outside(sample: Sample, path: str, secret: Path) -> list[str]:
    """Files outside the folder that are opened by questions, and by showing what the path and others lead to."""
    opened: list[str] = []
    sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
    sample.ask()
    for place in (path, f"{path}:1", "../secret.txt", str(secret)):
        try:
            shown = show(sample.root, place)
        except QAError:
            continue
        assert OUTSIDE.strip() not in "".join(line for _, line in shown.lines)
    return [name for name in opened if os.path.normpath(name) in (str(secret), "/etc/passwd")]


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "a\0b", ""])
def test_an_index_with_such_a_path_is_called_damaged(sample: Sample, path: str) -> None:
    edit(sample.folder / "index.db", ("UPDATE documents SET path = ? WHERE path = ?", (path, QUESTIONS.path)))
    judged = asked_and_checked(sample)
    assert judged.outcome is Outcome.REFUSED, judged.detail
    assert "listing" in judged.refused
    assert "document" in judged.check
