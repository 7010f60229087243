"""Forged rows with matching checksums never cause a crash, a hang, memory growth or access outside the folder.

Rows that contradict the rest of the index are refused; a consistently forged text cannot be told from a real one.
"""

# ruff: noqa: S608 - statements contain only constants of this file

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
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
from tests.robustness.trials import UNUSED_ID, Outcome, ask_and_check

HARMLESS = (Outcome.RIGHT, Outcome.REFUSED)


def test_recomputing_checksums_changes_nothing(sample: Sample) -> None:
    """The tests below therefore detect what they forge, not the new checksums."""
    edit(sample.folder / "index.db")
    verdict = ask_and_check(sample)
    assert (verdict.outcome, verdict.check) == (Outcome.RIGHT, "")


# Counts and numbers (cases 30 and 31).
COUNTS = {
    "a document has one passage more": "UPDATE documents SET passages = passages + 1 WHERE id = 3",
    "a document is gone": "DELETE FROM documents WHERE id = 3",
    "a document occurs twice": "INSERT INTO documents SELECT id + 1000, path || '2', sha256, size, mtime_ns, "
    "checked_ns, media_type, title, passages, records, metadata, checksum FROM documents WHERE id = 3",
    "a document has two records more": "UPDATE documents SET records = records + 2 WHERE id = 3",
    "a passage is gone": "DELETE FROM passages WHERE id = 5",
    "a passage occurs twice": "INSERT INTO passages SELECT id + 100000, 'f' || substr(key, 2), document, vector, "
    "start, end, link_checksum, body, line_first, line_last, page, anchor, title, heading, context, text, text_digest, "
    "checksum FROM passages WHERE id = 5",
    "a passage has a missing vector": f"UPDATE passages SET vector = {UNUSED_ID} WHERE id = 5",
    "a passage has a missing document": f"UPDATE passages SET document = {UNUSED_ID} WHERE id = 5",
    "a vector is gone": "DELETE FROM vectors WHERE id = 7",
    "a vector reference is gone": "DELETE FROM vector_refs WHERE vector = 7",
    "a vector reference counts one passage more": "UPDATE vector_refs SET refcount = refcount + 1 WHERE vector = 7",
    "a vector reference is to a missing segment": "UPDATE vector_refs SET segment = 77 WHERE vector = 7",
    "a vector reference is of a missing vector": f"INSERT INTO vector_refs VALUES ({UNUSED_ID}, 1, 1, 0, 0)",
    "a repeated text is counted once more": "UPDATE duplicates SET passages = passages + 1",
    "repeated texts are forgotten": "DELETE FROM duplicates",
    "a row of the keyword index is gone": "DELETE FROM posting_lists WHERE id = (SELECT min(id) FROM posting_lists)",
    "the keyword index is gone": "DELETE FROM posting_lists",
    "a block is gone": "DELETE FROM blocks",
    "a block is of passages out of range": f"UPDATE blocks SET block = {UNUSED_ID}",
    "a row of the keyword index is of a block out of range": f"UPDATE posting_lists SET id = {UNUSED_ID} + id",
    "lengths are cut short": "UPDATE blocks SET lengths = substr(lengths, 1, 20)",
    "all lengths are the greatest": "UPDATE blocks SET lengths = replace(hex(lengths), '00', 'FF')",
    "free row ids are in use": "INSERT OR IGNORE INTO free_ids SELECT id FROM passages",
    "a free row id is out of range": f"INSERT INTO free_ids VALUES ({2**62})",
}


@pytest.mark.parametrize("name", COUNTS)
def test_inconsistent_numbers_are_detected(sample: Sample, name: str) -> None:
    """Every answer is right or refused, and `qa check` finds the damage even if no answer is affected."""
    edit(sample.folder / "index.db", COUNTS[name])
    verdict = ask_and_check(sample)
    assert verdict.outcome in HARMLESS, verdict.detail
    assert verdict.check != ""


def postings(positions: Sequence[int], weights: Sequence[int]) -> tuple[int, bytes]:
    """The length and bytes of a posting list with any values."""
    columns = (np.array(column, dtype=np.int64) for column in (positions, weights, [len(positions)]))
    return len(positions), pack(Postings(*columns))[0]


# The number of passages that the row claims, and the bytes of its posting list.
ENTRIES = {
    "a position after the last": postings([3, 60_000], [1, 1]),
    "no positions": (0, b""),
    "fewer positions than stated": (3, postings([3, 4], [1, 1])[1]),
    "more positions than stated": (1, postings([3, 4], [1, 1])[1]),
    "a missing weight": (1, bytes([3 << 2 | 3])),
    "a weight without a position": (1, bytes([3 << 2, 0])),
    "a weight out of range": postings([3], [100_000]),
    "a number cut short": (1, b"\x8c"),
    "an endless number": (1, b"\xff" * 1000 + b"\0"),
    "all possible positions": postings(range(65_535), [255] * 65_535),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_forged_posting_entries_are_harmless(sample: Sample, name: str) -> None:
    """A question with the word is answered or refused, and `qa check` finds the damage."""
    word = posting_blocks.term_bytes("river")
    row = b"".join(posting_blocks.pack_posting_list(word, *ENTRIES[name]))
    number = posting_blocks.row_id(0, posting_blocks.term_hash(word))
    edit(sample.folder / "index.db", ("UPDATE posting_lists SET data = ? WHERE id = ?", (row, number)))
    assert ask_and_check(sample).check != ""


def test_check_finds_a_swapped_vector(sample: Sample) -> None:
    """Questions do not notice it, as the checksum of the link matches."""
    another = "(SELECT vector FROM passages WHERE id = 40)"
    edit(sample.folder / "index.db", f"UPDATE passages SET vector = {another} WHERE id = 5")
    assert "the refcount of a vector" in ask_and_check(sample).check


KINDS: dict[str, str | tuple[str, Sequence[object]]] = {
    "a title in bytes": "UPDATE documents SET title = x'ff00ff' WHERE id = 3",
    "a text in bytes": "UPDATE passages SET text = x'ff00ff' WHERE id = 5",
    "a start after the end": "UPDATE passages SET start = end + 10 WHERE id = 5",
    "a body after the end of the text": "UPDATE passages SET body = 1000000 WHERE id = 5",
    "a line out of range": f"UPDATE passages SET line_first = {2**62} WHERE id = 5",
    "headings that are not JSON": "UPDATE passages SET heading = '[' WHERE id = 5",
    "headings nested very deep": ("UPDATE passages SET heading = ? WHERE id = 5", ("[" * 100_000 + "]" * 100_000,)),
    "headings that are lists": "UPDATE passages SET heading = '[[7], {}]' WHERE id = 5",
    "a vector in words": "UPDATE vectors SET vector = 'vector' WHERE id = 7",
    "a row of the keyword index in words": "UPDATE posting_lists SET data = 'words'",
    "hashes in words": "UPDATE blocks SET hashes = 'words'",
}


@pytest.mark.parametrize("name", KINDS)
def test_values_of_another_kind_are_refused_or_harmless(sample: Sample, name: str) -> None:
    """Not every forged value can be detected, but none crashes its reader."""
    edit(sample.folder / "index.db", KINDS[name])
    ask_and_check(sample)


@pytest.mark.parametrize("column", ["path", "reason"])
def test_text_stored_as_bytes_is_detected(sample: Sample, column: str) -> None:
    """One flipped bit in a row's header turns text into bytes, and the checksum still matches."""
    edit(sample.folder / "index.db", f"UPDATE skipped SET {column} = CAST({column} AS BLOB)")
    assert "skipped" in ask_and_check(sample).check


# Case 32.
VECTORS = {
    "NaN": np.full(64, np.nan),
    "one value infinite": np.where(np.arange(64) == 3, -np.inf, 0.0),
    "all zeros": np.zeros(64),
    "ten times as long": np.eye(64)[3] * 10,
    "too short": np.eye(63)[3],
    "empty": np.zeros(0),
}


@pytest.mark.parametrize("name", VECTORS)
def test_invalid_vector_is_never_scored(sample: Sample, name: str) -> None:
    with np.errstate(invalid="ignore"):
        data = VECTORS[name].astype("<f2").tobytes()
    edit(sample.folder / "index.db", ("UPDATE vectors SET vector = ? WHERE id = 7", (data,)))
    # Otherwise the vector would be read from its segment.
    for file in sample.folder.glob("*.faiss"):
        file.unlink()
    verdict = ask_and_check(sample)
    assert verdict.outcome is Outcome.REFUSED, verdict.detail
    assert "open" in verdict.refusals
    assert verdict.check != ""


# Values of the whole index.
META: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "one document more": ("documents", lambda value: value + 1),
    "one passage more": ("passages", lambda value: value + 1),
    "no passages": ("passages", lambda _: 0),
    "one vector more": ("vectors", lambda value: value + 1),
    "a huge dimension": ("dimension", lambda _: 2**40),
    "another dimension": ("dimension", lambda _: 32),
    "no segments": ("segments", lambda _: []),
    "a segment twice": ("segments", lambda value: [*value, value[0]]),
    "a segment with more vectors": ("segments", lambda value: [value[0] | {"held": value[0]["held"] + 1}, *value[1:]]),
    "a segment with more dead": ("segments", lambda value: [value[0] | {"dead": value[0]["dead"] + 1}, *value[1:]]),
    "a segment elsewhere": ("segments", lambda value: [value[0] | {"name": "../../secret.txt"}, *value[1:]]),
    "a segment named as the folder": ("segments", lambda value: [value[0] | {"name": "."}, *value[1:]]),
    "a segment with an extra field": ("segments", lambda value: [value[0] | {"more": 7}, *value[1:]]),
    "segments that are a number": ("segments", lambda _: 7),
    "a passage count in words": ("passages", lambda _: "many"),
    "a fingerprint that is a number": ("fingerprint", lambda _: 7),
    "a model that is a list": ("model", lambda _: ["bag"]),
    "patterns that are numbers": ("include", lambda _: [7, 8]),
    "one skipped file more": ("skipped", lambda value: value + 1),
    "a negative number of skipped files": ("skipped", lambda _: -1),
}


@pytest.mark.parametrize("name", META)
def test_forged_index_metadata_is_detected(sample: Sample, name: str) -> None:
    key, change = META[name]
    set_meta(sample.folder / "index.db", key, change)
    verdict = ask_and_check(sample)
    harmless = name in ("a model that is a list", "patterns that are numbers")
    assert verdict.outcome in HARMLESS, verdict.detail
    assert harmless or verdict.check != ""


# Case 34.
OUTSIDE = "The harbour opens with walnut.\n"
PATHS = ["../secret.txt", "/etc/passwd", "notes/../../secret.txt", "..", "", "a\0b"]
# Strange paths, but within the folder.
ODD_PATHS = ["notes/" + "x" * 5000, "..\\secret.txt", "C:/secret.txt", "\N{REPLACEMENT CHARACTER}.txt"]


@pytest.mark.parametrize("path", [*PATHS, *ODD_PATHS])
def test_forged_paths_never_open_files_outside_the_folder(sample: Sample, path: str) -> None:
    """Neither questions nor `show` open a file outside the folder, and a path to one is reported as damage."""
    secret = sample.root.parent / "secret.txt"
    secret.write_text(OUTSIDE, encoding="utf-8")
    edit(sample.folder / "index.db", ("UPDATE documents SET path = ? WHERE path = ?", (path, QUESTIONS.path)))
    assert value_of(partial(_opened_outside, sample, path, secret)) == []
    if path in PATHS:
        verdict = ask_and_check(sample)
        assert verdict.outcome is Outcome.REFUSED, verdict.detail
        assert "listing" in verdict.refusals
        assert "document" in verdict.check


def _opened_outside(sample: Sample, path: str, secret: Path) -> list[str]:
    """Ask, and show this path and similar ones; return the files outside the folder that were opened."""
    opened: list[str] = []
    sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
    sample.ask()
    for place in (path, f"{path}:1", "../secret.txt", str(secret)):
        with suppress(QAError):
            assert OUTSIDE.strip() not in "".join(line for _, line in show(sample.root, place).lines)
    return [name for name in opened if os.path.normpath(name) in (str(secret), "/etc/passwd")]
