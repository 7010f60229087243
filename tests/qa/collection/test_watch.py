"""`qa watch`: what changes in a folder is in its index a moment later."""

from __future__ import annotations

import contextlib
import os
import pty
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from corpus.errors import CorpusError, LockedError, NoIndexError, QAError
from index.commit.change import BuildMode
from index.commit.store import Store
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.storage.locking import wait_for_writer, writer_lock
from index.update.report import BuildReport, Request
from index.update.run import Build
from index.update.update import update_index
from qa.collection import build, watch
from qa.collection.watch import Change, Kind, Update
from qa.terminal import reports
from qa.terminal.answers import TerminalStyle
from tests.encoders import BagEncoder
from tests.robustness.program import command, growing_to, has_namespaces, held

ADDED, CHANGED, REMOVED, SKIPPED = Kind.ADDED, Kind.CHANGED, Kind.REMOVED, Kind.SKIPPED
# A machine may be busy with other things; nothing here needs a tenth of it.
PATIENCE = 60


class Watching:
    """Runs `watch` in a thread, as a program that embeds it would."""

    def __init__(self, root: Path, encoder: BagEncoder | None, every: float | None = None) -> None:
        self._every = every
        self._updates: queue.SimpleQueue[Update | QAError] = queue.SimpleQueue()
        self._root = root
        self._encoder = encoder
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            for found in watch.watch(self._root, stop=self._stop, every=self._every, encoder=self._encoder):
                self._updates.put(found)
        except QAError as error:
            self._updates.put(error)

    def next(self) -> Update:
        found = self._updates.get(timeout=PATIENCE)
        assert isinstance(found, Update), found
        return found

    def changes(self) -> list[tuple[str, Kind]]:
        """Of the next update."""
        return [(change.path, change.kind) for change in self.next().changes]

    def error(self) -> QAError:
        """What ends it."""
        found = self._updates.get(timeout=PATIENCE)
        assert isinstance(found, QAError), found
        return found

    def __enter__(self) -> Watching:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def silent(self) -> bool:
        """Nothing more came."""
        return self._updates.empty()


def put(path: Path, content: str | bytes) -> None:
    """Let a file have this content at once: a busy machine may show it empty before."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(content.encode() if isinstance(content, str) else content)
    new.replace(path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two documents."""
    folder = tmp_path.resolve() / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("Whales sing.")
    (folder / "sub" / "b.md").write_text("Soup is served at noon.")
    return folder


@pytest.fixture
def encoder() -> BagEncoder:
    return BagEncoder()


@pytest.fixture
def watching(root: Path, encoder: BagEncoder) -> Iterator[Watching]:
    """The folder, watched, its first update taken."""
    with Watching(root, encoder) as found:
        report = found.next().report
        assert report is not None
        assert (report.added, report.documents) == (2, 2)
        yield found


def documents(root: Path) -> list[str]:
    with Snapshot(root / ".qa") as snapshot:
        return sorted(document.path for document in snapshot.documents())


def test_what_changes_is_brought_in_and_told(root: Path, watching: Watching, encoder: BagEncoder) -> None:
    """A new file, an edit, a deletion; a rename embeds nothing."""
    del encoder.embedded[:]
    put(root / "new.md", "The harp stands in the hall.")
    assert watching.changes() == [("new.md", ADDED)]
    put(root / "sub" / "b.md", "Soup is served at one.")
    found = watching.next()
    assert found.changes == (Change("sub/b.md", CHANGED),)
    assert found.report is not None
    assert (found.report.changed, found.report.embedded) == (1, 1)
    (root / "a.md").rename(root / "sub" / "z.md")
    assert watching.changes() == [("a.md", REMOVED), ("sub/z.md", ADDED)]
    (root / "new.md").unlink()
    assert watching.changes() == [("new.md", REMOVED)]
    assert encoder.embedded == ["The harp stands in the hall.", "Soup is served at one."]
    assert documents(root) == ["sub/b.md", "sub/z.md"]


def test_a_burst_is_one_update(root: Path, tmp_path: Path, watching: Watching) -> None:
    """As of a folder that is moved in; and what changes in it later is seen too."""
    (tmp_path / "moved" / "deep").mkdir(parents=True)
    for number in range(50):
        (tmp_path / "moved" / "deep" / f"{number:02}.md").write_text(f"Number {number}.")
    (tmp_path / "moved").rename(root / "moved")
    assert watching.changes() == [(f"moved/deep/{number:02}.md", ADDED) for number in range(50)]
    (root / "moved" / "deep" / "07.md").unlink()
    assert watching.changes() == [("moved/deep/07.md", REMOVED)]


def test_a_folder_that_was_made_anew_is_watched(root: Path, watching: Watching) -> None:
    """It has the name of the old one, and is another."""
    shutil.rmtree(root / "sub")
    (root / "sub").mkdir()
    assert watching.changes() == [("sub/b.md", REMOVED)]
    for name in ("c.md", "d.md"):
        put(root / "sub" / name, f"What is in {name}.")
        assert watching.changes() == [(f"sub/{name}", ADDED)]


def test_what_is_left_out_is_no_change(root: Path, watching: Watching) -> None:
    """Ignored, hidden, of no known format, or only touched: the next update is of what came after."""
    put(root / ".gitignore", "drafts/\n*.log\n")
    (root / "drafts").mkdir()
    for name in ("drafts/a.md", "x.log", ".hidden.md", "picture.png", ".qa/note.md"):
        put(root / name, "Nobody asks for this.")
    os.utime(root / "a.md")
    time.sleep(1)
    put(root / "new.md", "The harp stands in the hall.")
    assert watching.changes() == [("new.md", ADDED)]
    assert watching.silent()
    (root / ".gitignore").unlink()
    assert watching.changes() == [("drafts/a.md", ADDED), ("x.log", ADDED)]


def test_a_file_that_cannot_be_read_has_its_reason(root: Path, watching: Watching) -> None:
    put(root / "binary.md", b"\x00\x01\x02")
    (change,) = watching.next().changes
    assert (change.path, change.kind) == ("binary.md", SKIPPED)
    assert change.reason.startswith("binary")
    put(root / "a.md", b"\x00\x01\x02")
    (change,) = watching.next().changes
    assert (change.path, change.kind) == ("a.md", REMOVED)
    assert change.reason.startswith("binary")


def test_other_writers_and_readers_go_on(root: Path, watching: Watching) -> None:
    """The lock is held only while something is written; what another one brought in is no news."""
    put(root / "sub" / "c.md", "The train leaves at nine.")
    deadline = time.monotonic() + PATIENCE
    while documents(root) != ["a.md", "sub/b.md", "sub/c.md"]:
        assert time.monotonic() < deadline
        with contextlib.suppress(LockedError):  # both may see it at once
            update_index(Request(root, BagEncoder()))
    put(root / "new.md", "The harp stands in the hall.")
    for _ in range(2):
        if ("new.md", ADDED) in watching.changes():
            break
    assert documents(root) == ["a.md", "new.md", "sub/b.md", "sub/c.md"]


def test_a_locked_index_is_waited_for(root: Path, watching: Watching) -> None:
    with held(root / ".qa") as holder:
        put(root / "new.md", "The harp stands in the hall.")
        time.sleep(1.5)
        assert watching.silent()
        holder.communicate()
        assert watching.changes() == [("new.md", ADDED)]


def test_what_fails_for_now_is_told_once_and_does_not_end_it(
    root: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a folder that is suddenly empty, or settings with a mistake."""
    monkeypatch.setattr(watch, "_RETRY_SECONDS", 0.1)
    put(root / "qa.toml", "exclude = 1")
    found = watching.next()
    assert (found.report, found.changes) == (None, ())
    assert "exclude is to be a list of patterns" in found.problem
    time.sleep(1.5)
    assert watching.silent()
    put(root / "qa.toml", 'exclude = ["sub/"]')
    assert watching.changes() == [("sub/b.md", REMOVED)]
    (root / "a.md").rename(root.parent / "a.md")
    assert "Is it mounted?" in watching.next().problem
    (root.parent / "a.md").rename(root / "again.md")
    assert watching.changes() == [("a.md", REMOVED), ("again.md", ADDED)]


def test_a_full_disk_is_told_and_tried_again(root: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_RETRY_SECONDS", 0.1)
    with growing_to(1000):
        put(root / "new.md", "The harp stands in the hall.")
        assert "space" in watching.next().problem
    assert watching.changes() == [("new.md", ADDED)]


@pytest.mark.parametrize(("what", "kind"), [("", CorpusError), (".qa", NoIndexError)])
def test_it_ends_where_the_folder_or_the_index_is_gone(
    root: Path, watching: Watching, what: str, kind: type[QAError]
) -> None:
    (root / what).rename(root.parent / "elsewhere")
    error = watching.error()
    assert type(error) is kind
    assert f"{root} is gone: deleted, " in str(error)


def test_the_model_of_the_index_counts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where another process embeds everything with another model, the watching goes on with that."""
    for module in (build, watch):
        monkeypatch.setattr(module, "load_encoder", lambda name, **_: BagEncoder(name=name, fingerprint=name[0] * 64))
    with Watching(root, None) as watching:
        watching.next()
        other = BagEncoder(name="another", fingerprint="a" * 64)
        build.build_index(root, encoder=other, on_locked=build.OnLocked.WAIT)
        put(root / "new.md", "The harp stands in the hall.")
        report = watching.next().report
    assert report is not None
    assert (report.embedded, report.documents) == (1, 3)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.info.model == "another"


def test_a_model_that_comes_while_it_waits_counts(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What it brings in then is of that model: nothing is embedded back."""
    for module in (build, watch):
        monkeypatch.setattr(module, "load_encoder", lambda name, **_: BagEncoder(name=name, fingerprint=name[0] * 64))
    other = Request(root, BagEncoder(name="another", fingerprint="a" * 64))
    folder = root / ".qa"
    with Watching(root, None) as watching:
        watching.next()
        with contextlib.ExitStack() as stack:
            while True:
                wait_for_writer(folder)
                with contextlib.suppress(LockedError):  # it may look just now
                    stack.enter_context(writer_lock(folder))
                    break
            caplog.clear()
            put(root / "new.md", "The harp stands in the hall.")
            deadline = time.monotonic() + PATIENCE
            while not any("waiting for it to end" in record.getMessage() for record in caplog.records):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            with Store(folder) as store:
                Build(other, store, 0).run(BuildMode.INCREMENTAL)
        put(root / "newer.md", "The cello stands beside it.")
        report = watching.next().report
    assert report is not None
    assert (report.embedded, report.documents) == (1, 4)
    with Snapshot(folder) as snapshot:
        assert snapshot.info.model == "another"


def test_where_the_system_tells_of_no_changes_files_are_looked_at(root: Path, encoder: BagEncoder) -> None:
    """As on network drives; however soon one changes again."""
    with Watching(root, encoder, every=0.1) as watching:
        watching.next()
        put(root / "new.md", "The harp stands in the hall.")
        assert watching.changes() == [("new.md", ADDED)]
        for hour in ("one", "two", "six"):
            put(root / "sub" / "b.md", f"Soup is served at {hour}.")
            assert watching.changes() == [("sub/b.md", CHANGED)]
        shutil.rmtree(root)
        assert "is gone" in str(watching.error())


FEW = """
import sys, threading
from pathlib import Path
from qa.collection.watch import watch
from tests.encoders import BagEncoder
import logging
logging.basicConfig(format="%(message)s")
root = Path(sys.argv[1])
updates = watch(root, encoder=BagEncoder())
next(updates)
threading.Timer(3, (root / "new.md").write_text, ["The harp stands in the hall."]).start()
print([change.path for change in next(updates).changes])
"""


@pytest.mark.skipif(not has_namespaces("-rU"), reason="needs a limit of its own")
@pytest.mark.parametrize("what", ["1 > /proc/sys/user/max_inotify_watches", "0 > /proc/sys/user/max_inotify_instances"])
def test_where_there_is_too_much_to_watch_it_is_looked_at_instead(root: Path, what: str) -> None:
    limit = f'echo {what} && exec "$@"'
    done = subprocess.run(
        ["unshare", "-rU", "sh", "-c", limit, "sh", sys.executable, "-c", FEW, str(root)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (0, "['new.md']\n"), done.stderr
    assert re.fullmatch(r"the system does not tell what changes \(.*\), so all files are .*\n", done.stderr)


def test_without_its_library_it_names_the_extra(root: Path) -> None:
    program = "import sys; sys.modules['watchfiles'] = None\nfrom qa.cli.main import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", program, "watch", str(root)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("is not installed. Run: pip install 'qa[watch]'\n")
    assert not (root / ".qa").exists()


@contextlib.contextmanager
def on_a_terminal(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Shown]]:
    """The program as people run it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell; children would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    parent, child = pty.openpty()
    with subprocess.Popen(command(arguments), stdin=child, stdout=child, stderr=child) as process:
        os.close(child)
        try:
            yield process, Shown(parent)
        finally:
            process.kill()
            os.close(parent)


class Shown:
    """What a program wrote on its terminal so far."""

    def __init__(self, descriptor: int) -> None:
        self.text = ""
        self._descriptor = descriptor

    def until(self, pattern: str) -> None:
        """Read on until it has this."""
        os.set_blocking(self._descriptor, False)
        deadline = time.monotonic() + 2 * PATIENCE
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, self.text
            with contextlib.suppress(BlockingIOError):
                self.text += os.read(self._descriptor, 65536).decode()
            time.sleep(0.02)

    def rest(self) -> str:
        """All of it, once the program has ended."""
        with contextlib.suppress(OSError):
            while data := os.read(self._descriptor, 65536):
                self.text += data.decode()
        return self.text


def test_the_program_on_a_terminal(root: Path) -> None:
    """With the real model: a line a change, Ctrl-C ends it with 130 and no word, and the index is whole."""
    with on_a_terminal("watch", str(root)) as (process, shown):
        shown.until("Watching")
        assert "2 documents, 2 passages: 2 files added" in shown.text
        assert f"Watching {root}; Ctrl-C ends it." in shown.text
        put(root / "new\x1b.md", "The harp stands in the hall.")
        line = r"\d\d:\d\d:\d\d(\x1b\[0m)?  new\\x1b\.md added: 1 passage embedded, \d+\.\d\d s\r\n"
        shown.until(line)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert re.search(line + r"\Z", shown.rest())
    assert documents(root) == ["a.md", "new\x1b.md", "sub/b.md"]
    assert verify(root / ".qa").problems == ()


def test_lines() -> None:
    """Short, whatever happened at once."""
    at = datetime(2025, 1, 2, 14, 3, 22)
    report = BuildReport(1, 0, 0, 9, (), 10, 30, 3, 0, 0.2149)

    def line(*changes: Change, embedded: int = 3, problem: str = "") -> str:
        done = None if problem else replace(report, embedded=embedded)
        return reports.watched(Update(at, changes, done, problem), TerminalStyle())

    changed = Change("talks/a.md", CHANGED)
    assert line(changed) == "14:03:22  talks/a.md changed: 3 passages embedded, 0.21 s\n"
    assert line(Change("b.md", REMOVED), embedded=0) == "14:03:22  b.md removed: 0.21 s\n"
    assert line(Change("x\n.pdf", SKIPPED, "encrypted"), embedded=0) == (
        "14:03:22  x\\n.pdf skipped (encrypted): 0.21 s\n"
    )
    assert line(*[changed] * 5, embedded=1) == (
        "14:03:22  talks/a.md changed, talks/a.md changed, talks/a.md changed and 2 more: 1 passage embedded, 0.21 s\n"
    )
    assert line(problem="disk\x1b full.") == "14:03:22  not brought up to date: disk\\x1b full.\n"
