"""Whatever the history of a folder: after every update, the index is the one that a clean build would make.

Short by default. The long form, with more and longer histories:

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

# A file read this soon after its last change is read again next time.
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


def document(parts: list[str]) -> bytes:
    """A document with a section for each sentence; a single sentence has no heading, none is an empty file."""
    if len(parts) == 1:
        return f"{parts[0]}\n".encode()
    return "\n".join(f"## Part {number}\n\n{text}\n" for number, text in enumerate(parts)).encode()


def page(parts: list[str]) -> bytes:
    """Records in one file: six or more become a document each, if the name is that of a plain text."""
    return "\n".join(
        f"Notes by the Sea, Number {n}\n\n{' '.join([text] * 10)}\n" for n, text in enumerate(parts)
    ).encode()


def picture(root: Path) -> Picture:
    """All that an index shows, including answers with every bit of their scores."""
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
    """A folder, its index, and a model of what the index must know.

    `disk` has the content of the files; `known`, the content that the index has read, of documents and skipped files.
    They differ if a change did not affect size and modification time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._place = tempfile.TemporaryDirectory()
        self.root = Path(self._place.name) / "corpus"
        self.root.mkdir()
        self._patch = pytest.MonkeyPatch()
        small(self._patch)
        self._threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # threads of OpenMP do not survive a fork
        self.disk: dict[str, File] = {}
        self.known: dict[str, File] = {}
        self.past: list[tuple[str, bytes]] = []
        self.model = "bag"
        self.clock = 1_000_000_000
        self.built = False
        self._clean: dict[Any, Picture] = {}

    def teardown(self) -> None:
        self._patch.undo()
        faiss.omp_set_num_threads(self._threads)
        self._place.cleanup()

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
            self.past.append((path, self.disk[path].data))
        self.disk[path] = File(data, when)

    @initialize(files=st.dictionaries(paths, sections, max_size=4))
    def begin(self, files: dict[str, list[str]]) -> None:
        for path, parts in files.items():
            self.write(path, document(parts))

    @rule(path=paths, parts=sections)
    def add_or_edit(self, path: str, parts: list[str]) -> None:
        self.write(path, document(parts))

    @rule(path=paths, parts=st.lists(st.sampled_from(SENTENCES), min_size=5, max_size=9))
    def add_or_edit_records(self, path: str, parts: list[str]) -> None:
        self.write(path, page(parts))

    @rule(path=paths, text=st.sampled_from(SENTENCES))
    def append(self, path: str, text: str) -> None:
        self.write(path, self.disk.get(path, File(b"", 0)).data + f"\n{text}\n".encode())

    @rule(path=paths, parts=sections)
    def write_now(self, path: str, parts: list[str]) -> None:
        """Write a file with the current time, so close to the update that the next one reads it again."""
        self.write(path, document(parts))
        os.utime(self.root / path)
        self.disk[path] = File(self.disk[path].data, (self.root / path).stat().st_mtime_ns)

    @rule(data=st.data())
    @precondition(lambda self: self.disk)
    def delete(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.disk)))
        (self.root / path).unlink()
        self.past.append((path, self.disk.pop(path).data))

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
        one, other = data.draw(st.permutations(sorted(self.disk)))[:2]
        aside = self.root / ".aside"
        (self.root / one).rename(aside)
        (self.root / other).rename(self.root / one)
        aside.rename(self.root / other)
        self.disk[one], self.disk[other] = self.disk[other], self.disk[one]

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
        """Keep size and modification time: only the time of the last change of any kind shows this."""
        path = data.draw(st.sampled_from(sorted(path for path, file in self.disk.items() if b"the" in file.data)))
        file = self.disk[path]
        self.write(path, file.data.replace(b"the", b"our", 1), mtime_ns=file.mtime_ns)

    @rule(path=paths)
    def make_binary(self, path: str) -> None:
        self.write(path, BINARY)

    @rule(data=st.data())
    @precondition(lambda self: self.past)
    def undo(self, data: st.DataObject) -> None:
        """Restore the earlier content of a file."""
        self.write(*data.draw(st.sampled_from(self.past)))

    # --- the index ---

    @rule()
    def index(self) -> None:
        self._bring_up_to_date(update_index)

    @rule()
    def index_in_full(self) -> None:
        self._bring_up_to_date(rebuild_index)

    @rule(refused=st.frozensets(paths, min_size=1), how=st.sampled_from([update_index, rebuild_index]))
    @precondition(lambda self: self.built)
    def update_while_files_cannot_be_read(self, refused: frozenset[str], how: Callable[[Request], BuildReport]) -> None:
        """What the index knew of these files stays."""
        read = read_bytes

        def refusing(root: Path, path: str, **limits: int) -> bytes:
            if root == self.root and path in refused:
                raise Unreadable("cannot be read: Permission denied", unknown=True)
            return read(root, path, **limits)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(load, "read_bytes", refusing)
            self._bring_up_to_date(how, refused=refused)

    @rule()
    @precondition(lambda self: self.built)
    def change_model(self) -> None:
        self.model = "other" if self.model == "bag" else "bag"
        self._bring_up_to_date(update_index, everything=True)

    @rule()
    @precondition(lambda self: self.built)
    def change_splitter(self) -> None:
        """Change to a version that splits differently."""
        self._patch.setattr(splitter, "VERSION", splitter.VERSION + 1)
        self._patch.setattr(splitter, "TARGET_TOKENS", 120 if splitter.TARGET_TOKENS != 120 else 12)
        self._bring_up_to_date(update_index, everything=True)

    @rule(place=st.integers(1, 250), how=st.sampled_from([update_index, update_index, rebuild_index]))
    def crash(self, place: int, how: Callable[[Request], BuildReport]) -> None:
        """A kill at any operation on the database or a file leaves the old or the new generation."""
        before = self.known, self.built
        self._expect(how is rebuild_index)
        after = self.known
        request = Request(self.root, ENCODERS[self.model](), allow_empty=True)
        ended = in_fork(killed_at(place, lambda: how(request)), seconds=20)
        assert ended.status in (0, 9), ended
        assert not ended.error, ended
        note(f"killed at operation {place}" if ended.status else "not killed")
        if not ended.status:
            self.built = True
            self._must_equal(picture(self.root))
            return
        try:
            found = value_in_fork(lambda: picture(self.root))
        except RuntimeError as error:
            assert "NoIndexError" in str(error)  # noqa: PT017 - the child's
            assert not before[1]
            self.known = {}
            return
        found["left out"] = [one for one in found["left out"] if not one[2]]
        if found != self._expected():
            self.known, self.built = before
            assert self.built
            self._must_equal(found)
            return
        self.known, self.built = after, True

    # --- invariants ---

    def _bring_up_to_date(
        self,
        how: Callable[[Request], BuildReport],
        *,
        everything: bool = False,
        refused: frozenset[str] = frozenset(),
    ) -> None:
        encoder = ENCODERS[self.model]()
        kept = stored_digests(self.root / ".qa") if self.built else frozenset()
        self._expect(everything or how is rebuild_index, refused=refused)
        report = how(Request(self.root, encoder, allow_empty=True))
        self.built = True
        self._must_equal(picture(self.root))
        checked = check.check(self.root)
        assert (checked.documents, checked.passages) == (report.documents, report.passages)
        digests = [vector_digest(encoder.fingerprint, text) for text in encoder.embedded]
        assert len(set(digests)) == len(digests) == report.embedded
        assert not kept.intersection(digests)
        names = {path.name for path in (self.root / ".qa").iterdir()} - {"index.db", "index.db-wal", "index.db-shm"}
        assert all(name in ("lock", ".gitignore") or name.endswith(".faiss") for name in names), names

    def _expect(self, everything: bool, *, refused: frozenset[str] = frozenset()) -> None:
        """Compute what the index will know after an update: everything but files that cannot be read."""
        stored = self._stored() if self.built else {}
        known = {}
        for path, file in self.disk.items():
            stat = len(file.data), file.mtime_ns
            same = path in stored and stored[path][:2] == stat and abs(stored[path][2] - stat[1]) > RACY_NS
            before = self.known.get(path)
            if path not in refused:
                known[path] = file
            elif (same and not everything and before is not None) or (before is not None and BINARY not in before.data):
                known[path] = before
        self.known = known

    def _stored(self) -> dict[str, tuple[int, int, int]]:
        """The size, modification time and time of reading of all known files, including skipped ones."""
        with Snapshot(self.root / ".qa") as snapshot:
            found = {one.path: (one.size, one.mtime_ns, one.checked_ns) for one in snapshot.documents()}
            for one in snapshot.skipped():
                if not one.unreadable and one.size is not None:
                    found[one.path] = (one.size, one.mtime_ns or 0, one.checked_ns or 0)
        return found

    def _must_equal(self, found: Picture) -> None:
        """Compare with a clean build; that has no files which could not be read, so these are left out."""
        found["left out"] = [one for one in found["left out"] if not one[2]]
        expected = self._expected()
        for name, value in expected.items():
            assert found[name] == value, name

    def _expected(self) -> Picture:
        """The picture of a clean build of what the index must know."""
        at = frozenset(self.known.items()), self.model, splitter.VERSION, splitter.TARGET_TOKENS
        if at not in self._clean:
            with tempfile.TemporaryDirectory() as place:
                for path, file in self.known.items():
                    target = Path(place) / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(file.data)
                    os.utime(target, ns=(file.mtime_ns, file.mtime_ns))
                update_index(Request(Path(place), ENCODERS[self.model](), allow_empty=True))
                self._clean[at] = picture(Path(place))
        return dict(self._clean[at])


def small(patch: pytest.MonkeyPatch) -> None:
    """Lower all limits, so that a few vectors are merged, compressed and pruned like millions."""
    limit_sizes(patch, exact=4, most=8)
    patch.setattr("index.dense.merge_policy._DEAD_FEW", 1)
    patch.setattr("index.commit.store.SPARE_VECTORS", 5)
    patch.setattr("index.update.embed_queue._CHUNK", 2)
    patch.setattr("index.lexical.posting_blocks.BLOCK", 8)


_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
_SHORT = settings(max_examples=25, stateful_step_count=12, deadline=None, suppress_health_check=_SLOW, derandomize=True)

TestFolder = Folder.TestCase
TestFolder.settings = _SHORT if settings().max_examples <= 100 else settings()
