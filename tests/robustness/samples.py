"""Small indexes to damage, with every structure of a large index, and the answers they must give."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from index.snapshot import Snapshot
from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.index.segments import limit_sizes
from tests.robustness.picture import Picture, Questions, Refusal, ask_everything
from tests.robustness.process import value_in_fork

# So old that an unchanged file is recognised by its time alone.
_TIME = 1_500_000_000
_TEXT = (
    "anchor bridge candle desert engine forest garden harbour island jungle kettle ladder marble needle orchard "
    "planet quarry river saddle temple umbrella valley window yellow zebra amber basket copper dragon ember falcon "
    "glacier hammer iron jacket kernel lantern meadow nectar oyster pepper quartz ribbon silver thunder velvet "
    "walnut yeast zinc größe straße überfluss äpfel ölmühle naïve façade שלום ירושלים سلام مدينة 東京 京都"
)
_WORDS = _TEXT.split()
QUESTIONS = Questions(
    texts=(
        "Where does the river pass the old bridge?",
        "größe of the straße near ירושלים",
        "copper lantern and silver needle",
        "zebra island",
        "duplicate paragraph about the walnut orchard",
    ),
    words=("river", "zebra", "strass", "walnut", "unheard-of", "ירושלים", "東京"),
    pattern="notes/",
    path="notes/03.md",
    duplicate="copies/0.txt",
)
VECTORS = "SELECT id, digest, vector, checksum FROM vectors"
DUPLICATE = "A duplicate paragraph about the walnut orchard, the river and the bridge, word for word the same.\n"


@dataclass(slots=True)
class Sample:
    """An index that no process has open, and its expected answers.

    Attributes:
        name: The name of its shape.
        root: The corpus root.
        files: Contents of the files in the index folder, by name.
        past: `files` of earlier generations, oldest first.
        expected: The complete picture by generation.
        newest: The number of the last generation.
        vectors: The rows that `VECTORS` selects.
    """

    name: str
    root: Path
    files: dict[str, bytes] = field(default_factory=dict)
    past: list[dict[str, bytes]] = field(default_factory=list)
    expected: dict[int, Picture] = field(default_factory=dict)
    newest: int = 0
    vectors: list[tuple[int, bytes, bytes, int]] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / ".qa"

    @property
    def size(self) -> int:
        """The total size of the index in bytes."""
        return sum(len(data) for data in self.files.values())

    def restore(self, changed: dict[str, bytes | None] | None = None) -> None:
        """Restore the index folder to its original state, except for changed files; None leaves a file out."""
        contents: dict[str, bytes | None] = {**self.files, **(changed or {})}
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name, data in contents.items():
            if data is not None:
                (self.folder / name).write_bytes(data)

    @contextmanager
    def limits(self) -> Iterator[None]:
        """While this is open, the segments of the shape `compressed` are small, and FAISS compresses most of them."""
        with pytest.MonkeyPatch.context() as patch:
            if self.name == "compressed":
                limit_sizes(patch, exact=24, most=60)
            yield

    def ask(self) -> tuple[int | None, Picture]:
        """Ask the index every question in its current state."""
        with self.limits():
            return ask_everything(self.root, BagEncoder(), QUESTIONS)


def read_folder(folder: Path) -> dict[str, bytes]:
    """The contents of every file by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def write(root: Path, path: str, data: str | bytes, *, tick: int = 0) -> None:
    """Write a file with a modification time in the past; later states have a larger `tick`."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    os.utime(file, (_TIME + tick, _TIME + tick))


def _document(random_: random.Random, title: str, sections: int) -> str:
    parts = [f"# {title}\n"]
    for number in range(sections):
        heading = " ".join(random_.sample(_WORDS, 2))
        body = " ".join(random_.choices(_WORDS, k=random_.randint(20, 40)))
        parts.append(f"## {number} {heading}\n\n{body.capitalize()}.\n")
    return "\n".join(parts)


def _write_first_files(root: Path, documents: int, sections: int) -> None:
    random_ = random.Random(11)  # noqa: S311 - not for secrets
    for number in range(documents):
        folder = ("notes/", "plans/2024/", "")[number % 3]
        write(root, f"{folder}{number:02}.md", _document(random_, f"Paper {number}", sections))
    for number in range(4):
        write(root, f"copies/{number}.txt", DUPLICATE)
    # Several documents in one file, each with a title and a paragraph.
    titles = (f"Paper {number} on the {random_.choice(_WORDS)}" for number in range(6))
    page = "\n".join(f"{title}\n\n{' '.join(random_.choices(_WORDS, k=50)).capitalize()}.\n" for title in titles)
    write(root, "page of records.txt", page)
    write(root, "skipped/binary.txt", b"\0\1\2\3")
    write(root, "skipped/latin.txt", "größe".encode("latin-1"))
    write(root, "empty.txt", "")


def _later_changes(root: Path) -> Iterator[Callable[[], None]]:
    """Yield changes, each for one update: edits leave unused vectors and row ids, additions make segments."""
    random_ = random.Random(12)  # noqa: S311

    def edit() -> None:
        for path in ("notes/03.md", "plans/2024/04.md"):
            text = (root / path).read_text(encoding="utf-8")
            write(root, path, text.replace("## 2 ", "## two ") + "\nA river came past the bridge.\n", tick=10)

    def add() -> None:
        for number in range(3):
            write(root, f"later/{number}.md", _document(random_, f"Later {number}", 5), tick=20)

    def remove() -> None:
        (root / "05.md").unlink()
        (root / "copies" / "3.txt").rename(root / "copies" / "moved.txt")

    def last() -> None:
        write(root, "later/last.txt", "A zebra on an island.\n", tick=30)

    yield from (edit, add, remove, last)


SHAPES = ("plain", "log", "compressed")
_OPEN_SNAPSHOTS: list[Snapshot] = []  # until the process ends


def _build(sample: Sample, documents: int, sections: int) -> list[dict[str, bytes]]:
    """Build with fixed reading times, which an index stores: a trial can be repeated only if builds are identical."""
    ticks = itertools.count((_TIME + 86_400) * 10**9, 1_000_000)
    with pytest.MonkeyPatch.context() as patch, sample.limits():
        patch.setattr("corpus.loading.prefetch.time.time_ns", lambda: next(ticks))
        _write_first_files(sample.root, documents, sections)
        update_index(Request(sample.root, BagEncoder()))
        if sample.name == "log":
            # SQLite keeps the log as long as a reader is open, here until the process ends.
            _OPEN_SNAPSHOTS.append(Snapshot(sample.folder))
            _OPEN_SNAPSHOTS[0].documents()
        earlier_files = []
        for change in _later_changes(sample.root):
            earlier_files.append(read_folder(sample.folder))
            change()
            update_index(Request(sample.root, BagEncoder()))
        return earlier_files


def make_sample(name: str, root: Path, *, documents: int = 44, sections: int = 6) -> Sample:
    """Build an index in a fork, which leaves its log behind, and record its answers.

    Args:
        name: One of `SHAPES`.
        root: An empty folder.
        documents: Number of documents, not counting a few with a single passage.
        sections: Number of sections of each document; most of them become a passage.
    """
    root.mkdir(parents=True, exist_ok=True)
    sample = Sample(name, root)
    sample.past = value_in_fork(partial(_build, sample, documents, sections), seconds=120)
    # The real lock file has the writer's process id, which is never the same.
    sample.files = read_folder(sample.folder) | {"lock": b'{"pid": 4242, "host": "gone"}'}
    for state in _reachable_states(sample):
        sample.restore(state)
        generation, picture = value_in_fork(sample.ask)
        refusals = [answer.error for answer in picture.values() if isinstance(answer, Refusal)]
        if generation is None or refusals:
            raise RuntimeError(f"{name}, {generation}: {refusals}")
        sample.expected[generation] = picture
        sample.newest = max(sample.newest, generation)
    sample.restore()
    sample.vectors = value_in_fork(partial(_vectors, sample.folder))
    sample.restore()
    return sample


def _vectors(folder: Path) -> list[tuple[int, bytes, bytes, int]]:
    with closing(sqlite3.connect(folder / "index.db")) as connection:
        return connection.execute(VECTORS).fetchall()


def _reachable_states(sample: Sample) -> Iterator[dict[str, bytes | None]]:
    """The states to which damage may revert an index: earlier generations, and the transactions in its log."""
    yield {}
    for files in sample.past:
        yield {**dict.fromkeys(sample.files), **files}
    log = sample.files.get("index.db-wal", b"")
    for length in transaction_ends(log):
        yield {"index.db-wal": log[:length], "index.db-shm": None}
    if log:
        yield {"index.db-wal": None, "index.db-shm": None}


def transaction_ends(log: bytes) -> Sequence[int]:
    """The offsets at which transactions of a log end: the last frame of each contains the size of the database."""
    step = 24 + int.from_bytes(log[8:12], "big")
    starts = range(32, len(log) - step + 1, step)
    return [start + step for start in starts if int.from_bytes(log[start + 4 : start + 8], "big")]
