"""Readers during a write get answers of one generation; an open index survives deletion, other writers and forks."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from corpus.errors import NoIndexError, QAError
from index.commit.change import BuildMode
from index.commit.store import Store
from index.snapshot import Snapshot
from index.storage.files import make_folder
from index.storage.locking import writer_lock
from index.update.report import BuildReport, Request
from index.update.run import Build
from qa.answer.results import Mode
from qa.collection import build
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.marks import needs_fork
from tests.robustness import torn_reads
from tests.robustness.process import value_of
from tests.robustness.program import allow_interrupts, command, locked_by_other_process

QUESTION = torn_reads.QUESTIONS[0]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder in the first state, indexed."""
    torn_reads.change_to(tmp_path / "corpus", 0)
    return tmp_path / "corpus"


def test_answers_never_mix_generations() -> None:
    results = value_of(partial(torn_reads.run, 640, 4, seed=0), seconds=300)
    assert results["violations"] == []
    assert results["questions"] >= 640
    # Each reader saw several generations.
    assert min(results["generations_seen_by_a_reader"]) >= torn_reads.GENERATIONS


@pytest.mark.parametrize("commits", [1, 2, 5])
def test_cleanup_does_not_affect_open_readers(root: Path, commits: int) -> None:
    """A reader whose files were deleted before it loaded them still answers from its generation."""
    expected = torn_reads.answers_of(root)
    with Snapshot(root / ".qa") as snapshot:
        segments = {segment.name for segment in snapshot.info.segments}
        for number in range(commits):
            torn_reads.change_to(root, (number + 1) % 2)
        assert not segments & {path.name for path in (root / ".qa").iterdir()}
        retriever = Retriever(root, snapshot, BagEncoder())
        for mode in Mode:
            assert torn_reads.ask(retriever, QUESTION, mode) == expected[f"{mode.value}: {QUESTION}"]


@pytest.mark.parametrize("loaded", [True, False], ids=["files loaded", "files not loaded"])
def test_deleted_index_gives_correct_answers_or_a_typed_error(root: Path, loaded: bool) -> None:
    expected = torn_reads.answers_of(root)
    with Snapshot(root / ".qa") as snapshot:
        if loaded:
            snapshot.load()
        shutil.rmtree(root / ".qa")
        retriever = Retriever(root, snapshot, BagEncoder())
        for mode in Mode:
            try:
                answer = torn_reads.ask(retriever, QUESTION, mode)
            except QAError as error:
                assert ".qa" in str(error)  # noqa: PT017 - an answer is right too
            else:
                assert answer == expected[f"{mode.value}: {QUESTION}"]
    with pytest.raises(NoIndexError, match="qa index"):
        Snapshot(root / ".qa")


@pytest.mark.parametrize("event", ["lock released", "holder killed", "Ctrl-C"])
def test_a_second_writer_waits_if_asked(tmp_path: Path, event: str) -> None:
    """It says once which process it waits for, continues when that process ends, and stops at once on Ctrl-C."""
    folder = tmp_path / ".qa"
    make_folder(folder)
    (tmp_path / "a.md").write_text("Whales sing.")
    allow_interrupts()
    with locked_by_other_process(folder) as holder:
        waiting = subprocess.Popen(
            command(["index", "--wait", str(tmp_path)]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        with waiting:
            assert waiting.stderr is not None
            message = f"qa: {folder} is being written by process {holder.pid} on {socket.gethostname()}; waiting for it"
            assert waiting.stderr.readline().startswith(message)
            # It keeps waiting and prints nothing more.
            with pytest.raises(subprocess.TimeoutExpired):
                waiting.wait(timeout=0.5)
            if event == "Ctrl-C":
                waiting.send_signal(signal.SIGINT)
            elif event == "holder killed":
                holder.kill()
            else:
                holder.communicate()
            out, errors = waiting.communicate(timeout=600)
        if event == "Ctrl-C":
            assert (waiting.returncode, out, errors) == (130, "", "qa: interrupted\n")
            assert not (folder / "index.db").exists()
            holder.communicate()
        else:
            assert (waiting.returncode, errors) == (0, "")
            assert out.startswith("Indexed 1 file (1 document, 1 passage)")


@contextmanager
def build_waiting_for_lock(
    root: Path, caplog: pytest.LogCaptureFixture, encoder: BagEncoder | None = None
) -> Iterator[Future[BuildReport]]:
    """A build that waits for the writer lock during the block."""
    (root / "a.md").write_text("Whales sing.")
    make_folder(root / ".qa")
    with ThreadPoolExecutor() as threads, writer_lock(root / ".qa"):
        waiting = threads.submit(build.build_index, root, on_locked=build.OnLocked.WAIT, encoder=encoder)
        while not caplog.records and not waiting.done():
            time.sleep(0.01)
        yield waiting


def test_waiting_build_uses_the_model_chosen_by_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The waiting build reads the index's model after it has the lock, not before."""
    monkeypatch.setattr(build, "load_encoder", lambda name, **_: BagEncoder(name=name, fingerprint=name[0] * 64))
    first = Request(tmp_path, BagEncoder(name="another", fingerprint="a" * 64))
    with build_waiting_for_lock(tmp_path, caplog) as waiting, Store(tmp_path / ".qa") as store:
        Build(first, store, time.monotonic()).run(BuildMode.INCREMENTAL)
    report = waiting.result(timeout=600)
    assert (report.documents, report.embedded) == (1, 0)
    with Snapshot(tmp_path / ".qa") as snapshot:
        assert (snapshot.info.model, snapshot.info.generation) == ("another", 1)


def test_a_build_that_waits_for_a_lock_locks_the_new_index_if_the_old_one_is_deleted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A lock on a deleted file protects nothing."""
    with build_waiting_for_lock(tmp_path, caplog, BagEncoder()) as waiting:
        shutil.rmtree(tmp_path / ".qa")
        make_folder(tmp_path / ".qa")
    assert waiting.result(timeout=600).documents == 1
    assert (tmp_path / ".qa" / "index.db").exists()


FORKING_PROGRAM = """
import os, signal, sys
import faiss, numpy as np
from pathlib import Path
from index.dense import faiss_segments
from index.update.report import Request
from index.update.update import update_index
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder

root = Path(sys.argv[1])
faiss_segments.EXACT_MOST = 64
faiss.omp_set_num_threads(4)
many = faiss.IndexFlatIP(64)
many.add(np.ones((50_000, 64), dtype=np.float32))
many.search(np.ones((64, 64), dtype=np.float32), 5)  # starts its threads
child = os.fork()
if not child:
    signal.alarm(60)
    # Enough for FAISS to use several threads.
    text = "".join(f"# New {number}\\n\\nNothing of {number} was there before.\\n\\n" for number in range(1_500))
    (root / "new.md").write_text(text)
    print(update_index(Request(root, BagEncoder())).added, flush=True)
    with Retriever.open(root, encoder=BagEncoder(), reader=False) as retriever:
        print(retriever.search("What is new 333?", k=1)[0].heading[-1], flush=True)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@needs_fork
def test_a_process_forked_after_faiss_started_threads_answers_and_writes(root: Path) -> None:
    """The child compresses vectors with FAISS and searches them, without the threads of its parent."""
    program = [sys.executable, "-W", "ignore", "-c", FORKING_PROGRAM, str(root)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout.splitlines() == ["1", "New 333", "0"], done.stdout + done.stderr
