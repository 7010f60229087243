"""Without space or descriptors, the old index stays and the error is typed; updates work again once there is enough."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.marks import needs_limits
from tests.robustness import limits
from tests.robustness.process import value_of
from tests.robustness.program import command, has_namespaces


@needs_limits
def test_too_few_descriptors_lose_nothing() -> None:
    """With few descriptors, builds, updates, repairs and questions succeed or give a typed error."""
    results = value_of(partial(limits.run, 5), seconds=300)
    assert results["violations"] == []
    # Some limits were too low, and some were high enough.
    assert results["ended"]["StorageError"] >= 5
    assert results["ended"]["done"] >= 1


@pytest.mark.skipif(not has_namespaces("-rm"), reason="needs a mount namespace of its own")
def test_full_disk_keeps_the_old_index(tmp_path: Path) -> None:
    """On a disk of a megabyte, filled document by document, the last good index still answers."""
    disk, out = tmp_path / "disk", tmp_path / "results.json"
    disk.mkdir()
    program = f"{sys.executable} -m {limits.__name__} --full-disk {disk} --out {out}"
    mounted = ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size=1m tmpfs {disk} && {program}"]
    done = subprocess.run(mounted, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(out.read_text(encoding="utf-8"))
    assert results["documents"] >= 2
    assert results["refused"].startswith("StorageError")
    assert results["violations"] == []


@needs_limits
@pytest.mark.parametrize("blocks", [0, 1])
def test_file_size_limit_on_a_reader_gives_a_one_line_error(tmp_path: Path, blocks: int) -> None:
    """SQLite needs a shared-memory file to read the database; without it the command fails and changes nothing."""
    (tmp_path / "a.md").write_text("The cat sat on the mat.\n", encoding="utf-8")
    update_index(Request(tmp_path, BagEncoder()))
    status = command(["status", "--index", str(tmp_path)])
    limited = ["sh", "-c", f'ulimit -f {blocks} && exec "$@"', "sh", *status]
    done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout) == (74, "")
    assert done.stderr.count("\n") == 1
    assert f"the system refused to read or write {tmp_path / '.qa' / 'index.db'}" in done.stderr
    assert "Check space and permissions." in done.stderr
    assert subprocess.run(status, capture_output=True, check=False, timeout=600).returncode == 0
