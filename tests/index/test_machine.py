"""After every update, whatever the history of the folder, the index equals that of a clean build.

Short by default. The long form has more and longer histories:

    pytest tests/index/test_machine.py --hypothesis-profile=long --no-cov
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from corpus.chunking import splitter
from corpus.discovery.safe_read import read_bytes
from corpus.errors import Unreadable
from corpus.loading import load
from index.snapshot import Snapshot
from index.storage.vectors import Vectors, vector_digest
from index.update.report import BuildReport, Request
from index.update.update import rebuild_index, update_index
from qa.collection import check
from tests.encoders import BagEncoder
from tests.index.segments import limit_sizes
from tests.robustness.dying import killed_at
from tests.robustness.picture import Picture, listing, search_results, skipped_files, stored_digests
from tests.robustness.process import in_fork, value_in_fork

# A file that was read this soon after its last change is read again by the next update.
RACY_NS = 2_000_000_000
PATHS = ["a.md", "b.md", "ä.txt", "notes/a.md", "notes/c.txt", "plans/old/d.md", "שלום.txt"]
SENTENCES = [
    "The cat sat on the mat.",
    "Dogs bark at night.",
    "Birds sing in the morning.",
    "Fish swim in the wide sea.",
    "Die Straße führt über die Brücke.",
    "Owls hunt while dogs sleep.",
    "A river passes the old bridge.",
    "ירושלים is a city on a hill.",
    "The morning sea is cold.",
]
QUESTIONS = ("cat on a mat", "dogs bark in the morning", "Straße Brücke bridge", "sea", "ירושלים", "unheard-of words")
BINARY = b"\0\1\2\3\4\5\6\7"

paths = st.sampled_from(PATHS)
sections = st.lists(st.sampled_from(SENTENCES), max_size=4)


class OtherEncoder(BagEncoder):
    """Another model of the same dimension, whose vectors all differ."""

    def __init__(self) -> None:
        super().__init__(name="other", fingerprint="e" * 64)

    def _direction(self, word: str) -> Vectors:
        return super()._direction(f"other {word}")


@dataclass(frozen=True, slots=True)
class File:
    """The content of a file, and when it last changed."""

    data: bytes
    mtime_ns: int


def sections_document(parts: list[str]) -> bytes:
    """Return a document with a section for each sentence; one sentence has no heading, no sentence is an empty file."""
    if len(parts) == 1:
        return f"{parts[0]}\n".encode()
    return "\n".join(f"## Part {number}\n\n{text}\n" for number, text in enumerate(parts)).encode()


def records(parts: list[str]) -> bytes:
    """Return a file of records: six or more become a document each, if its name is that of plain text."""
    return "\n".join(
        f"Notes by the Sea, Number {n}\n\n{' '.join([text] * 10)}\n" for n, text in enumerate(parts)
    ).encode()


def index_picture(root: Path) -> Picture:
    """Return everything that can be read from an index, including answers with their exact scores."""
    with Snapshot(root / ".qa") as snapshot:
        encoder = ENCODERS[snapshot.info.model]()
        return {
            "documents": listing(snapshot),
            "left out": skipped_files(snapshot),
            "words": snapshot.frequencies(["cat", "dog", "sea", "strass", "none"]),
            **search_results(snapshot, encoder, QUESTIONS, limit=4),
        }


ENCODERS: dict[str, Callable[[], BagEncoder]] = {"bag": BagEncoder, "other": OtherEncoder}


class Folder(RuleBasedStateMachine):
    """A folder, its index, and a model of the expected index.

    `disk` has the content of the files; `indexed`, the content that updates read last, of documents and skipped files.
    They differ for files that cannot be read.
    """

    def __init__(self) -> None:
        super().__init__()
        self._temporary = tempfile.TemporaryDirectory()
        self.root = Path(self._temporary.name) / "corpus"
        self.root.mkdir()
        self._patch = pytest.MonkeyPatch()
        lower_limits(self._patch)
        self._threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # threads of OpenMP do not survive a fork
        self.disk: dict[str, File] = {}
        self.indexed: dict[str, File] = {}
        self.earlier: list[tuple[str, bytes]] = []
        self.model = "bag"
        self.clock = 1_000_000_000
        self.built = False
        self._clean: dict[Any, Picture] = {}

    def teardown(self) -> None:
        self._patch.undo()
        faiss.omp_set_num_threads(self._threads)
        self._temporary.cleanup()

    # --- files ---

    def write(self, path: str, data: bytes, *, mtime_ns: int | None = None) -> None:
        """Write a file with the given modification time, or else a unique one in the past."""
        self.clock += 10
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        when = self.clock * 10**9 if mtime_ns is None else mtime_ns
        os.utime(file, ns=(when, when))
        if path in self.disk:
            self.earlier.append((path, self.disk[path].data))
        self.disk[path] = File(data, when)

    @initialize(files=st.dictionaries(paths, sections, max_size=4))
    def begin(self, files: dict[str, list[str]]) -> None:
        for path, parts in files.items():
            self.write(path, sections_document(parts))

    @rule(path=paths, parts=sections)
    def add_or_edit(self, path: str, parts: list[str]) -> None:
        self.write(path, sections_document(parts))

    @rule(path=paths, parts=st.lists(st.sampled_from(SENTENCES), min_size=5, max_size=9))
    def add_or_edit_records(self, path: str, parts: list[str]) -> None:
        self.write(path, records(parts))

    @rule(path=paths, text=st.sampled_from(SENTENCES))
    def append(self, path: str, text: str) -> None:
        self.write(path, self.disk.get(path, File(b"", 0)).data + f"\n{text}\n".encode())

    @rule(path=paths, parts=sections)
    def write_now(self, path: str, parts: list[str]) -> None:
        """Write a file so shortly before the update that the next one reads it again."""
        self.write(path, sections_document(parts))
        os.utime(self.root / path)
        self.disk[path] = File(self.disk[path].data, (self.root / path).stat().st_mtime_ns)

    @rule(data=st.data())
    @precondition(lambda self: self.disk)
    def delete(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.disk)))
        (self.root / path).unlink()
        self.earlier.append((path, self.disk.pop(path).data))

    @rule(data=st.data(), to=paths)
    @precondition(lambda self: self.disk)
    def rename_or_move(self, data: st.DataObject, to: str) -> None:
        path = data.draw(st.sampled_from(sorted(self.disk)))
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / to)
        self.disk[to] = self.disk.pop(path)

    @rule(data=st.data())
    @precondition(lambda self: len(self.disk) > 1)
    def swap(self, data: st.DataObject) -> None:
        first, second = data.draw(st.permutations(sorted(self.disk)))[:2]
        temporary = self.root / ".aside"
        (self.root / first).rename(temporary)
        (self.root / second).rename(self.root / first)
        temporary.rename(self.root / second)
        self.disk[first], self.disk[second] = self.disk[second], self.disk[first]

    @rule(data=st.data(), to=paths, as_old=st.sampled_from(["as old", "new"]))
    @precondition(lambda self: self.disk)
    def copy(self, data: st.DataObject, to: str, as_old: str) -> None:
        file = self.disk[data.draw(st.sampled_from(sorted(self.disk)))]
        self.write(to, file.data, mtime_ns=file.mtime_ns if as_old == "as old" else None)

    @rule(data=st.data())
    @precondition(lambda self: self.disk)
    def touch(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.disk)))
        self.write(path, self.disk[path].data)

    @rule(data=st.data())
    @precondition(lambda self: any(b"the" in file.data for file in self.disk.values()))
    def edit_in_secret(self, data: st.DataObject) -> None:
        """Keep size and modification time: only the time of the last change of content or metadata shows the edit."""
        path = data.draw(st.sampled_from(sorted(path for path, file in self.disk.items() if b"the" in file.data)))
        file = self.disk[path]
        self.write(path, file.data.replace(b"the", b"our", 1), mtime_ns=file.mtime_ns)

    @rule(path=paths)
    def make_binary(self, path: str) -> None:
        self.write(path, BINARY)

    @rule(data=st.data())
    @precondition(lambda self: self.earlier)
    def undo(self, data: st.DataObject) -> None:
        """Restore the earlier content of a file."""
        self.write(*data.draw(st.sampled_from(self.earlier)))

    # --- the index ---

    @rule()
    def index(self) -> None:
        self._update_and_check(update_index)

    @rule()
    def index_in_full(self) -> None:
        self._update_and_check(rebuild_index)

    @rule(unreadable=st.frozensets(paths, min_size=1), build=st.sampled_from([update_index, rebuild_index]))
    @precondition(lambda self: self.built)
    def update_with_unreadable_files(self, unreadable: frozenset[str], build: Callable[[Request], BuildReport]) -> None:
        """The passages of these files stay in the index."""
        read = read_bytes

        def refusing(root: Path, path: str, **limits: int) -> bytes:
            if root == self.root and path in unreadable:
                raise Unreadable("cannot be read: Permission denied", unknown=True)
            return read(root, path, **limits)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(load, "read_bytes", refusing)
            self._update_and_check(build, unreadable=unreadable)

    @rule()
    @precondition(lambda self: self.built)
    def change_model(self) -> None:
        self.model = "other" if self.model == "bag" else "bag"
        self._update_and_check(update_index, everything=True)

    @rule()
    @precondition(lambda self: self.built)
    def change_splitter(self) -> None:
        """Change to a version that splits differently."""
        self._patch.setattr(splitter, "VERSION", splitter.VERSION + 1)
        self._patch.setattr(splitter, "TARGET_TOKENS", 120 if splitter.TARGET_TOKENS != 120 else 12)
        self._update_and_check(update_index, everything=True)

    @rule(operation=st.integers(1, 250), build=st.sampled_from([update_index, update_index, rebuild_index]))
    def crash(self, operation: int, build: Callable[[Request], BuildReport]) -> None:
        """A kill before any operation on the database or a file leaves the old or the new generation."""
        before = self.indexed, self.built
        self._expect_update(build is rebuild_index)
        after = self.indexed
        request = Request(self.root, ENCODERS[self.model](), allow_empty=True)
        process = in_fork(killed_at(operation, lambda: build(request)), seconds=20)
        assert process.status in (0, 9), process
        assert not process.error, process
        note(f"killed at operation {operation}" if process.status else "not killed")
        if not process.status:
            self.built = True
            self._require_equal(index_picture(self.root))
            return
        try:
            picture = value_in_fork(lambda: index_picture(self.root))
        except RuntimeError as error:
            assert "NoIndexError" in str(error)  # noqa: PT017 - the child's
            assert not before[1]
            self.indexed = {}
            return
        picture["left out"] = [file for file in picture["left out"] if not file[2]]
        if picture != self._expected_picture():
            self.indexed, self.built = before
            assert self.built
            self._require_equal(picture)
            return
        self.indexed, self.built = after, True

    # --- invariants ---

    def _update_and_check(
        self,
        build: Callable[[Request], BuildReport],
        *,
        everything: bool = False,
        unreadable: frozenset[str] = frozenset(),
    ) -> None:
        encoder = ENCODERS[self.model]()
        stored_before = stored_digests(self.root / ".qa") if self.built else frozenset()
        self._expect_update(everything or build is rebuild_index, unreadable=unreadable)
        report = build(Request(self.root, encoder, allow_empty=True))
        self.built = True
        self._require_equal(index_picture(self.root))
        checked = check.check(self.root)
        assert (checked.documents, checked.passages) == (report.documents, report.passages)
        digests = [vector_digest(encoder.fingerprint, text) for text in encoder.embedded]
        assert len(set(digests)) == len(digests) == report.embedded
        assert not stored_before.intersection(digests)
        names = {path.name for path in (self.root / ".qa").iterdir()} - {"index.db", "index.db-wal", "index.db-shm"}
        assert all(name in ("lock", ".gitignore") or name.endswith(".faiss") for name in names), names

    def _expect_update(self, everything: bool, *, unreadable: frozenset[str] = frozenset()) -> None:
        """Compute the content that an update will have read: all files except unreadable ones."""
        stored = self._stored() if self.built else {}
        indexed = {}
        for path, file in self.disk.items():
            stat = len(file.data), file.mtime_ns
            is_unchanged = path in stored and stored[path][:2] == stat and abs(stored[path][2] - stat[1]) > RACY_NS
            previous = self.indexed.get(path)
            if path not in unreadable:
                indexed[path] = file
            elif previous is not None and ((is_unchanged and not everything) or BINARY not in previous.data):
                indexed[path] = previous
        self.indexed = indexed

    def _stored(self) -> dict[str, tuple[int, int, int]]:
        """Return the size, modification time and time of reading of all indexed and skipped files."""
        with Snapshot(self.root / ".qa") as snapshot:
            stats = {file.path: (file.size, file.mtime_ns, file.checked_ns) for file in snapshot.documents()}
            for file in snapshot.skipped():
                if not file.unreadable and file.size is not None:
                    stats[file.path] = (file.size, file.mtime_ns or 0, file.checked_ns or 0)
        return stats

    def _require_equal(self, picture: Picture) -> None:
        """Compare with a clean build, without the unreadable files, which that does not have."""
        picture["left out"] = [file for file in picture["left out"] if not file[2]]
        expected = self._expected_picture()
        for name, value in expected.items():
            assert picture[name] == value, name

    def _expected_picture(self) -> Picture:
        """Return the picture of a clean build of the expected content."""
        key = frozenset(self.indexed.items()), self.model, splitter.VERSION, splitter.TARGET_TOKENS
        if key not in self._clean:
            with tempfile.TemporaryDirectory() as folder:
                for path, file in self.indexed.items():
                    target = Path(folder) / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(file.data)
                    os.utime(target, ns=(file.mtime_ns, file.mtime_ns))
                update_index(Request(Path(folder), ENCODERS[self.model](), allow_empty=True))
                self._clean[key] = index_picture(Path(folder))
        return dict(self._clean[key])


def lower_limits(patch: pytest.MonkeyPatch) -> None:
    """Lower all limits, so that a few vectors are merged, compressed and pruned like millions."""
    limit_sizes(patch, exact=4, most=8)
    patch.setattr("index.dense.segment_writer._MIN_DEAD", 1)
    patch.setattr("index.commit.store.SPARE_VECTORS", 5)
    patch.setattr("index.update.embed_queue._CHUNK", 2)
    patch.setattr("index.lexical.posting_blocks.BLOCK", 8)


_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
_SHORT = settings(max_examples=25, stateful_step_count=12, deadline=None, suppress_health_check=_SLOW, derandomize=True)

TestFolder = Folder.TestCase
TestFolder.settings = _SHORT if settings().max_examples <= 100 else settings()
