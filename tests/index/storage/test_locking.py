"""The writer lock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from corpus.errors import LockedError, NoIndexError
from index.commit.store import Store
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.storage.files import make_folder
from index.storage.locking import writer_lock
from tests.index.conftest import build

HOLD_LOCK = """
import sys, time
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from index.storage.locking import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_second_writer_is_refused_and_a_killed_one_releases_the_lock(root: Path) -> None:
    """Meanwhile, readers during the first build are told to wait, not to start the build again."""
    folder = root / ".qa"
    make_folder(folder)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_LOCK, str(folder), *sys.path], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    with holder, holder.stdout:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockedError, match=f"process {holder.pid} on"):
            build(root)
        Store(folder).__exit__()
        being_built = f"the index in {folder} is being built by process {holder.pid} on .*. Try again when it is done.$"
        for read in (Snapshot, verify):
            with pytest.raises(NoIndexError, match=being_built):
                read(folder)
        holder.kill()
        holder.wait()
    with pytest.raises(NoIndexError, match="never finished"):
        verify(folder)
    assert build(root).documents == 3


@pytest.mark.parametrize(
    ("lock_content", "holder"), [(None, "another thread of this process"), ("", "another process or")]
)
def test_a_thread_is_told_how_to_wait_for_another_of_its_process(
    root: Path, lock_content: str | None, holder: str
) -> None:
    """If the holder has not written its name yet, it may also be another process."""
    make_folder(root / ".qa")
    with writer_lock(root / ".qa"):
        if lock_content is not None:
            (root / ".qa" / "lock").write_text(lock_content)
        with pytest.raises(LockedError, match=rf'by {holder}.* qa index --wait \(on_locked="wait" in Python\)\.$'):
            build(root)
