"""A stored index of this format can be read, and a new build has the same content."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import IncompatibleError
from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from qa.collection import check
from tests.encoders import BagEncoder
from tests.index.golden import (
    FIRST,
    GOLDEN,
    SECOND,
    build_golden,
    index_picture,
    read_tables,
    unpack_golden,
    write_files,
)


@pytest.fixture
def expected() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The golden corpus with its index."""
    folder = tmp_path / "golden"
    folder.mkdir()
    write_files(folder, FIRST, 0)
    write_files(folder, SECOND, 1)
    unpack_golden(folder / ".qa")
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of all files except those that readers share."""
    files = sorted(path for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm")))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_golden_index_gives_exactly_the_expected_answers(root: Path, expected: dict[str, Any]) -> None:
    picture = index_picture(root)
    assert picture["generation"] == expected["generation"] == 2
    for name, value in expected["answers"].items():
        assert picture["answers"][name] == value, name
    assert differences(picture["tables"], expected["tables"]) == []


def test_asking_and_checking_do_not_change_a_byte(root: Path) -> None:
    before = digests(root / ".qa")
    assert "index.db" in before
    assert any(name.endswith(".faiss") for name in before)
    index_picture(root)
    check.check(root)
    assert digests(root / ".qa") == before
    log = root / ".qa" / "index.db-wal"
    assert not log.exists() or log.stat().st_size == 0


def test_a_new_build_has_the_same_content(tmp_path: Path, expected: dict[str, Any]) -> None:
    """From the same files with the same times, every table has the same rows."""
    (tmp_path / "new").mkdir()
    build_golden(tmp_path / "new")
    tables = read_tables(tmp_path / "new" / ".qa" / "index.db")
    assert differences(json.loads(json.dumps(tables)), expected["tables"]) == []
    answers = index_picture(tmp_path / "new")["answers"]
    for name, value in expected["answers"].items():
        assert answers[name] == value, name


def differences(tables: dict[str, list[Any]], expected: dict[str, list[Any]]) -> list[str]:
    """Return the rows that only one of them has, as text."""
    lines = []
    for table in sorted(tables.keys() | expected.keys()):
        new, old = tables.get(table, []), expected.get(table, [])
        lines += [f"{table}: unexpected {row}" for row in new if row not in old]
        lines += [f"{table}: missing {row}" for row in old if row not in new]
    return lines


def test_previous_format_requires_a_rebuild_that_embeds_nothing(root: Path) -> None:
    shutil.rmtree(root / ".qa")
    (root / ".qa").mkdir()
    (root / ".qa" / "index.db").write_bytes(gzip.decompress((GOLDEN / "format-8.db.gz").read_bytes()))
    for action in (lambda: Snapshot(root / ".qa"), lambda: update_index(Request(root, BagEncoder()))):
        with pytest.raises(IncompatibleError, match=r"has the old format 8.*qa index --full"):
            action()
    report = rebuild_index(Request(root, BagEncoder()))
    assert (report.documents, report.embedded, report.reused) == (10, 0, 11)
