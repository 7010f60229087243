"""`qa watch`: changes in a folder are indexed a moment later."""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from corpus.errors import CorpusError, LockedError, NoIndexError, QAError
from index import Request, update_index
from index.encoder.devices import Device
from index.integrity.verify import verify
from index.snapshot import Snapshot
from index.update.report import BuildReport
from qa.collection import build, settings, watch
from qa.collection.watch import EventKind, FileEvent, Update
from tests.encoders import BagEncoder
from tests.qa.commands import documents
from tests.qa.conversation.terminal import Terminal
from tests.qa.indexes import write
from tests.robustness.program import file_size_limit, has_namespaces, locked_by_other_process

ADDED, CHANGED, REMOVED, SKIPPED = EventKind
# A timeout in seconds, more than ten times what any step needs on a busy machine.
PATIENCE = 600
HARP = "The harp stands in the hall."


class Watching:
    """Runs `watch` in a thread, as a program that embeds it would."""

    def __init__(self, root: Path, every: float | None = None, device: Device = Device.AUTO) -> None:
        self._updates: queue.SimpleQueue[Update | QAError] = queue.SimpleQueue()
        self._stop = threading.Event()
        updates = watch.watch(root, stop=self._stop, every=every, device=device)
        self._thread = threading.Thread(target=self._run, args=(updates,))

    def _run(self, updates: Iterator[Update]) -> None:
        try:
            for update in updates:
                self._updates.put(update)
        except QAError as error:
            self._updates.put(error)

    def next(self) -> Update:
        update = self._updates.get(timeout=PATIENCE)
        assert isinstance(update, Update), update
        return update

    def events(self) -> list[tuple[str, EventKind]]:
        """The events of the next update."""
        return [(event.path, event.kind) for event in self.next().events]

    def error(self) -> QAError:
        error = self._updates.get(timeout=PATIENCE)
        assert isinstance(error, QAError), error
        return error

    def __enter__(self) -> Watching:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 50):
        if condition():
            return
        time.sleep(0.02)
    raise TimeoutError("the condition never became true")


def put(path: Path, content: str | bytes) -> None:
    """Write a file atomically, so that nobody sees it empty."""
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(content.encode() if isinstance(content, str) else content)
    new.replace(path)


def test_rest_after_an_update() -> None:
    """Comparing many files takes a tenth of the time at most, but a large change does not delay the next."""
    report = BuildReport(1, 0, 0, 9, (), 10, 30, 3, 0, 60.0)
    update = Update(datetime.now().astimezone(), (), report)
    assert watch._rest_seconds(2.0, None) == 18
    assert watch._rest_seconds(2.0, update) == 23
    assert watch._rest_seconds(0.0, replace(update, report=replace(report, seconds=0.5))) == 4.5


class Stop(threading.Event):
    """Records the timeouts of waits, without waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return self.is_set()


@pytest.mark.usefixtures("encoder")
def test_no_rest_after_waiting_for_another_writer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, the next changes would go unnoticed for long."""
    stop, now = Stop(), [0.0]
    updates = watch.watch(root, stop=stop, every=1.0)
    next(updates)
    put(root / "new.md", HARP)
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(watch, "wait_for_writer", lambda _: now.append(now.pop() + 600))
    assert next(updates).events == (FileEvent("new.md", ADDED),)
    stop.set()
    assert list(updates) == []
    assert (stop.waits[0] or 0) <= 5


@pytest.mark.usefixtures("encoder")
def test_a_locked_database_is_tried_again_after_a_pause(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, update, tries = Stop(), update_index, [1, 2, 3]

    def locked(request: Request) -> BuildReport:
        if tries:
            tries.pop()
            raise LockedError("postgresql://db/x#notes is being written by another process.")
        return update(request)

    updates = watch.watch(root, stop=stop, every=1.0)
    next(updates)
    put(root / "new.md", HARP)
    monkeypatch.setattr(watch, "update_index", locked)
    assert next(updates).events == (FileEvent("new.md", ADDED),)
    assert stop.waits == [1.0] * 3


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "notes"
    write(folder, {"a.md": "Whales sing.", "sub/b.md": "Soup is served at noon."})
    return folder


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> BagEncoder:
    """The encoder that embeds what is watched."""
    bag_encoder = BagEncoder()
    monkeypatch.setattr(watch, "load_encoder", lambda *_, **__: bag_encoder)
    return bag_encoder


@pytest.fixture
def watching(root: Path, encoder: BagEncoder) -> Iterator[Watching]:
    """The folder is being watched, and its first update is done."""
    with Watching(root) as started:
        report = started.next().report
        assert report is not None
        assert (report.added, report.documents) == (2, 2)
        yield started


def test_changes_are_indexed_and_reported(root: Path, watching: Watching, encoder: BagEncoder) -> None:
    """New, changed and deleted files are reported; a renamed file is not embedded again."""
    del encoder.embedded[:]
    put(root / "new.md", HARP)
    assert watching.events() == [("new.md", ADDED)]
    put(root / "sub" / "b.md", "Soup is served at one.")
    update = watching.next()
    assert update.events == (FileEvent("sub/b.md", CHANGED),)
    assert update.report is not None
    assert (update.report.changed, update.report.embedded) == (1, 1)
    (root / "a.md").rename(root / "sub" / "z.md")
    assert watching.events() == [("a.md", REMOVED), ("sub/z.md", ADDED)]
    (root / "new.md").unlink()
    assert watching.events() == [("new.md", REMOVED)]
    assert encoder.embedded == [HARP, "Soup is served at one."]
    assert documents(root) == ["sub/b.md", "sub/z.md"]


def test_burst_of_changes_causes_one_update(root: Path, tmp_path: Path, watching: Watching) -> None:
    """A folder that is moved in causes one update; later changes in it are seen too."""
    write(tmp_path, {f"moved/deep/{number:02}.md": f"Number {number}." for number in range(50)})
    (tmp_path / "moved").rename(root / "moved")
    assert watching.events() == [(f"moved/deep/{number:02}.md", ADDED) for number in range(50)]
    (root / "moved" / "deep" / "07.md").unlink()
    assert watching.events() == [("moved/deep/07.md", REMOVED)]


def test_a_folder_that_was_replaced_is_watched(root: Path, watching: Watching) -> None:
    shutil.rmtree(root / "sub")
    (root / "sub").mkdir()
    assert watching.events() == [("sub/b.md", REMOVED)]
    for name in ("c.md", "d.md"):
        put(root / "sub" / name, f"What is in {name}.")
        assert watching.events() == [(f"sub/{name}", ADDED)]


@pytest.mark.usefixtures("encoder")
def test_a_folder_that_is_back_just_before_watching_begins_is_watched(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_folder, gone = os.path.isdir, ["sub"]

    def is_missing_once(path: str | Path) -> bool:
        if Path(path).name in gone:
            gone.remove(Path(path).name)
            return False
        return is_folder(path)

    monkeypatch.setattr(os.path, "isdir", is_missing_once)
    with Watching(root) as watching:
        watching.next()
        for name in ("c.md", "sub/d.md"):
            wait_until(lambda: not gone)
            put(root / name, f"What is in {name}.")
            assert watching.events() == [(name, ADDED)]


def test_files_that_are_not_indexed_cause_no_event(root: Path, watching: Watching) -> None:
    """They are ignored, hidden, of an unknown format, or only touched."""
    put(root / ".gitignore", "drafts/\n*.log\n")
    (root / "drafts").mkdir()
    for name in ("drafts/a.md", "x.log", ".hidden.md", "picture.png", ".qa/note.md"):
        put(root / name, "Nobody asks for this.")
    os.utime(root / "a.md")
    put(root / "new.md", HARP)
    assert watching.events() == [("new.md", ADDED)]
    (root / ".gitignore").unlink()
    assert watching.events() == [("drafts/a.md", ADDED), ("x.log", ADDED)]


def test_a_file_that_cannot_be_read_is_reported_with_the_reason(root: Path, watching: Watching) -> None:
    for name, kind in (("binary.md", SKIPPED), ("a.md", REMOVED)):
        put(root / name, b"\x00\x01\x02")
        (event,) = watching.next().events
        assert (event.path, event.kind) == (name, kind)
        assert event.reason.startswith("binary")


def test_watch_waits_for_a_locked_index(root: Path, watching: Watching, caplog: pytest.LogCaptureFixture) -> None:
    with locked_by_other_process(root / ".qa") as holder:
        put(root / "new.md", HARP)
        wait_until(lambda: "waiting for it to end" in caplog.text)
        holder.communicate()
        assert watching.events() == [("new.md", ADDED)]


def test_a_temporary_failure_is_reported_once_and_retried(
    root: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples are invalid settings, a folder that is suddenly empty, and a full disk."""
    tries: list[Path] = []
    original = settings.read_settings

    def read_settings(root: Path) -> settings.CollectionSettings:
        tries.append(root)
        return original(root)

    monkeypatch.setattr(watch, "_RETRY_SECONDS", 0.1)
    monkeypatch.setattr(watch, "read_settings", read_settings)
    put(root / "qa.toml", "exclude = 1")
    update = watching.next()
    assert (update.report, update.events) == (None, ())
    assert "exclude must be a list of patterns" in update.problem
    tries_before = len(tries)
    wait_until(lambda: len(tries) >= tries_before + 2)
    put(root / "qa.toml", 'exclude = ["sub/"]')
    assert watching.events() == [("sub/b.md", REMOVED)]
    (root / "a.md").rename(root.parent / "a.md")
    assert "no readable documents are left" in watching.next().problem
    (root.parent / "a.md").rename(root / "again.md")
    assert watching.events() == [("a.md", REMOVED), ("again.md", ADDED)]
    with file_size_limit(1000):
        put(root / "new.md", HARP)
        assert "space" in watching.next().problem
    assert watching.events() == [("new.md", ADDED)]


@pytest.mark.parametrize(("what", "kind"), [("", CorpusError), (".qa", NoIndexError)])
def test_watch_ends_when_folder_or_index_disappears(
    root: Path, watching: Watching, what: str, kind: type[QAError]
) -> None:
    (root / what).rename(root.parent / "elsewhere")
    error = watching.error()
    assert type(error) is kind
    assert f"{root} no longer exists" in str(error)


def test_the_model_of_the_index_is_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is loaded on the requested device, again when another process changes it."""
    devices: list[Device] = []

    def load(name: str, *, device: Device, **_: object) -> BagEncoder:
        devices.append(device)
        return BagEncoder(name=name, fingerprint=name[0] * 64)

    monkeypatch.setattr(watch, "load_encoder", load)
    with Watching(root, device=Device.CUDA) as watching:
        watching.next()
        other_encoder = BagEncoder(name="another", fingerprint="a" * 64)
        build.build_index(root, encoder=other_encoder, on_locked=build.OnLocked.WAIT)
        put(root / "new.md", HARP)
        report = watching.next().report
    assert report is not None
    assert (report.embedded, report.documents) == (1, 3)
    with Snapshot(root / ".qa") as snapshot:
        assert snapshot.info.model == "another"
    assert devices == [Device.CUDA, Device.CUDA]


@pytest.mark.usefixtures("encoder")
def test_polling(root: Path) -> None:
    """As needed on network drives; no change is missed, however soon a file changes again."""
    with Watching(root, every=0.1) as watching:
        watching.next()
        put(root / "new.md", HARP)
        assert watching.events() == [("new.md", ADDED)]
        for hour in ("one", "two", "six"):
            put(root / "sub" / "b.md", f"Soup is served at {hour}.")
            assert watching.events() == [("sub/b.md", CHANGED)]
        shutil.rmtree(root)
        assert "no longer exists" in str(watching.error())


WITHOUT_EVENTS = """
import logging, sys
from pathlib import Path
from qa.collection import watch
from tests.encoders import BagEncoder

class Warned(logging.Handler):
    def emit(self, record):
        print(record.getMessage(), file=sys.stderr)
        (root / "new.md").write_text("The harp stands in the hall.")

root = Path(sys.argv[1])
logging.getLogger("qa").addHandler(Warned())
watch.load_encoder = lambda *_, **__: BagEncoder()
updates = watch.watch(root)
next(updates)
print([event.path for event in next(updates).events])
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=2 * PATIENCE, env=environment)


@pytest.mark.skipif(not has_namespaces("-rU"), reason="needs a limit of its own")
@pytest.mark.parametrize("what", ["1 > /proc/sys/user/max_inotify_watches", "0 > /proc/sys/user/max_inotify_instances"])
def test_without_events_files_are_polled(root: Path, what: str) -> None:
    limit = f'echo {what} && exec "$@"'
    done = run("unshare", "-rU", "sh", "-c", limit, "sh", sys.executable, "-c", WITHOUT_EVENTS, str(root))
    assert (done.returncode, done.stdout) == (0, "['new.md']\n"), done.stderr
    assert re.fullmatch(r"no file system events \(.*\); polling all files every 1 s instead\n", done.stderr)


def test_program_output_on_a_terminal(root: Path) -> None:
    """With the real model, there is a line per update; Ctrl-C exits silently with code 130 and an intact index."""
    terminal = Terminal("watch", str(root), cwd=root, environ={})
    assert "Indexed 2 files (2 documents, 2 passages) in " in terminal.until(rf"Watching {root} \(Ctrl-C to stop\)\n")
    put(root / "new\x1b.md", HARP)
    terminal.until(r"\d\d:\d\d:\d\d  new\\x1b\.md added: 1 passage embedded, \d+\.\d\d s\n")
    terminal.type("\x03")
    with pytest.raises(AssertionError, match="no 'interrupted' in"):
        terminal.until("interrupted")
    assert terminal.close() == 130
    assert documents(root) == ["a.md", "new\x1b.md", "sub/b.md"]
    assert verify(root / ".qa").problems == ()
