"""An index of this format as it was written once: it opens byte for byte, and a build of today is the same."""

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
from index.storage.database import FORMAT_VERSION
from index.update.report import Request
from index.update.update import rebuild_index, update_index
from qa.collection import check
from tests.encoders import BagEncoder
from tests.index.golden import FIRST, GOLDEN, SECOND, make, picture, tables, unpack, write


@pytest.fixture
def expected() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The golden index beside its corpus."""
    folder = tmp_path / "golden"
    folder.mkdir()
    write(folder, FIRST, 0)
    write(folder, SECOND, 1)
    unpack(folder / ".qa")
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Of every file but those that only readers share."""
    files = sorted(path for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm")))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_golden_index_is_of_this_format(expected: dict[str, Any]) -> None:
    """Where the number rises, make it anew: `python -m tests.index.golden`."""
    assert expected["format"] == FORMAT_VERSION
    size = sum(path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file())
    assert size < 120_000


def test_the_golden_index_gives_exactly_what_it_gave(root: Path, expected: dict[str, Any]) -> None:
    found = picture(root)
    assert found["generation"] == expected["generation"] == 2
    for name, value in expected["answers"].items():
        assert found["answers"][name] == value, name
    assert differences(found["tables"], expected["tables"]) == []


def test_asking_and_checking_change_no_byte(root: Path) -> None:
    before = digests(root / ".qa")
    assert "index.db" in before
    assert any(name.endswith(".faiss") for name in before)
    picture(root)
    check.check(root)
    assert digests(root / ".qa") == before
    log = root / ".qa" / "index.db-wal"
    assert not log.exists() or log.stat().st_size == 0


def test_a_build_of_today_has_the_same_content(tmp_path: Path, expected: dict[str, Any]) -> None:
    """Row by row, in every table, from the same files with the same times."""
    (tmp_path / "new").mkdir()
    make(tmp_path / "new")
    found = tables(tmp_path / "new" / ".qa" / "index.db")
    assert differences(json.loads(json.dumps(found)), expected["tables"]) == []
    answers = picture(tmp_path / "new")["answers"]
    for name, value in expected["answers"].items():
        assert answers[name] == value, name


def differences(found: dict[str, list[Any]], expected: dict[str, list[Any]]) -> list[str]:
    """Rows that are in one and not in the other."""
    lines = []
    for table in sorted(found.keys() | expected.keys()):
        new, old = found.get(table, []), expected.get(table, [])
        lines += [f"{table}: unexpected {row}" for row in new if row not in old]
        lines += [f"{table}: missing {row}" for row in old if row not in new]
    return lines


def test_an_index_of_the_format_before_asks_for_a_rebuild_that_embeds_nothing(root: Path) -> None:
    """As the last version with that format wrote it."""
    shutil.rmtree(root / ".qa")
    (root / ".qa").mkdir()
    (root / ".qa" / "index.db").write_bytes(gzip.decompress((GOLDEN / "format-8.db.gz").read_bytes()))
    for opening in (lambda: Snapshot(root / ".qa"), lambda: update_index(Request(root, BagEncoder()))):
        with pytest.raises(IncompatibleError, match=r"has the old format 8.*qa index --full"):
            opening()
    report = rebuild_index(Request(root, BagEncoder()))
    assert (report.documents, report.embedded, report.reused) == (10, 0, 11)
