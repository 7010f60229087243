"""Where in the files of an index damage can strike, and what strikes: bits, lengths, whole files."""

from __future__ import annotations

import random
import sqlite3
import struct
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.robustness.samples import Sample
from tests.robustness.sqlite_structure import structure

_FRAME_HEADER = 24
_LOG_HEADER = 32
_SQLITE_HEADER = 100
# Of a page without children; pointers of two bytes follow.
_INDEX_HEADER = 8
# FAISS keeps what it needs to make sense of the rest here.
_FAISS_HEAD = 160


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a file: spans of bytes that hold the same kind of thing."""

    file: str
    name: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Damage:
    """What is done to an index.

    Attributes:
        kind: `flip`, or how a whole file was changed.
        file: Its name in the index folder.
        region: The part of it.
        place: Byte, for a flip; length, for a cut; number of bytes, of junk; generation, of a swap.
        bit: Of the byte, 0 to 7.
        changed: The files as they become; None where one goes.
    """

    kind: str
    file: str
    region: str
    place: int
    bit: int
    changed: dict[str, bytes | None]

    def __str__(self) -> str:
        return f"{self.kind}:{self.file}:{self.place}:{self.bit}"


def regions(sample: Sample) -> list[Region]:
    """The parts of all files."""
    found: list[Region] = []
    for name, data in sample.files.items():
        if name == "index.db":
            found += _database(data)
        elif name.endswith("-wal"):
            found += _log(name, data)
        elif name.endswith(".faiss"):
            head = min(_FAISS_HEAD, len(data))
            found.append(Region(name, "faiss head", ((0, head),)))
            found.append(Region(name, "faiss vectors", ((head, len(data)),)))
        elif data:
            found.append(Region(name, name.rpartition("-")[2] if "-" in name else name, ((0, len(data)),)))
    return [one for one in found if sum(end - start for start, end in one.spans)]


def structures(data: bytes) -> list[Region]:
    """The parts of a database that say how the rest is to be read, by table or index."""
    found = structure(data, *_pages(data))
    return [Region("index.db", f"structure: {name}", spans) for name, spans in sorted(found.items())]


def _pages(data: bytes) -> tuple[list[tuple[str, int, str]], int]:
    """Name, number and kind of each page that is in use, and how large pages are."""
    with tempfile.NamedTemporaryFile(suffix=".db") as copy:
        copy.write(data)
        copy.flush()
        uri = f"{Path(copy.name).as_uri()}?immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            return connection.execute("SELECT name, pageno, pagetype FROM dbstat").fetchall(), size


def _database(data: bytes) -> Iterator[Region]:
    pages, size = _pages(data)
    spans = defaultdict(list)
    for name, number, kind in pages:
        start = (number - 1) * size
        spans[f"{name} {kind}"].append((start + (_SQLITE_HEADER if number == 1 else 0), start + size))
    used = {number for _, number, _ in pages}
    for number in range(1, len(data) // size + 1):
        if number not in used:
            spans["free pages"].append(((number - 1) * size, number * size))
    yield Region("index.db", "header", ((0, _SQLITE_HEADER),))
    # The first bytes of a page say how the rest is to be read.
    yield Region("index.db", "page heads", tuple((start, start + 12) for many in spans.values() for start, _ in many))
    for name, many in spans.items():
        yield Region("index.db", name, tuple(many))


def _log(name: str, data: bytes) -> Iterator[Region]:
    if len(data) < _LOG_HEADER:
        return
    step = _FRAME_HEADER + int.from_bytes(data[8:12], "big")
    starts = range(_LOG_HEADER, len(data), step)
    yield Region(name, "log header", ((0, _LOG_HEADER),))
    yield Region(name, "frame headers", tuple((start, min(start + _FRAME_HEADER, len(data))) for start in starts))
    pages = ((start + _FRAME_HEADER, min(start + step, len(data))) for start in starts)
    yield Region(name, "frame pages", tuple((start, end) for start, end in pages if start < end))


def flip(sample: Sample, file: str, place: int, bit: int, *, region: str = "") -> Damage:
    """One bit turned over."""
    data = bytearray(sample.files[file])
    data[place] ^= 1 << bit
    return Damage("flip", file, region, place, bit, {file: bytes(data)})


def doubled(sample: Sample, index: str) -> bytes:
    """The database, with entries of an index standing there twice; from the last on, as many as there is room for."""
    data = bytearray(sample.files["index.db"])
    pages, size = _pages(bytes(data))
    for number in [number for name, number, kind in pages if name == index and kind == "leaf"]:
        start = (number - 1) * size
        cells, content = struct.unpack_from(">HH", data, start + 3)
        pointers = struct.unpack_from(f">{cells}H", data, start + _INDEX_HEADER)
        kept = max(0, 2 * cells - (content - _INDEX_HEADER) // 2)
        changed = [*pointers[:kept], *(pointer for pointer in pointers[kept:] for _ in range(2))]
        struct.pack_into(">H", data, start + 3, len(changed))
        struct.pack_into(f">{len(changed)}H", data, start + _INDEX_HEADER, *changed)
    return bytes(data)


def random_flip(sample: Sample, parts: list[Region], random_: random.Random) -> Damage:
    """A bit anywhere in all files, or, half of the time, in a part chosen without regard to its size."""
    if random_.random() < 0.5:
        return flip_within(sample, parts, random_)
    names = [name for name, data in sample.files.items() if data]
    file = random_.choices(names, [len(sample.files[name]) for name in names])[0]
    place = random_.randrange(len(sample.files[file]))
    return flip(sample, file, place, random_.randrange(8), region=region_of(parts, file, place))


def flip_within(sample: Sample, parts: list[Region], random_: random.Random) -> Damage:
    """A bit in one of these parts, which are chosen without regard to their size."""
    part = random_.choice(parts)
    start, end = random_.choice(part.spans)
    return flip(sample, part.file, random_.randrange(start, end), random_.randrange(8), region=part.name)


def region_of(parts: list[Region], file: str, place: int) -> str:
    """The part that a byte lies in."""
    for part in parts:
        if part.file == file and any(start <= place < end for start, end in part.spans):
            return part.name
    return "between"


WHOLE = ("cut", "cut", "cut", "junk", "empty", "missing", "swapped", "zeroed end")


def random_loss(sample: Sample, random_: random.Random) -> Damage:
    """Something done to a whole file, the database and its log more often than others."""
    names = sorted(sample.files)
    weights = [4 if name.startswith("index.db") else 1 for name in names]
    file = random_.choices(names, weights)[0]
    return loss(sample, random_.choice(WHOLE), file, random_)


def loss(sample: Sample, kind: str, file: str, random_: random.Random, *, place: int | None = None) -> Damage:
    """Damage to a whole file.

    Args:
        sample: Which index.
        kind: One of `WHOLE`.
        file: Its name in the index folder.
        random_: Chooses what is not given.
        place: The length that stays, the number of bytes of junk, or the generation that is swapped in.
    """
    data = sample.files[file]
    given, place = place, 0
    changed: dict[str, bytes | None]
    if kind == "cut":
        place = random_.randrange(max(len(data), 1)) if given is None else given
        changed = {file: data[:place]}
    elif kind == "junk":
        place = random_.choice([1, 100, 4096, 8192, 20_000]) if given is None else given
        changed = {file: data + random_.randbytes(place)}
    elif kind == "zeroed end":  # what a file system makes of a block that was never written
        place = random_.randrange(max(len(data), 1)) if given is None else given
        changed = {file: data[:place] + bytes(len(data) - place)}
    elif kind == "swapped":
        place, changed = _swapped(sample, file, random_, given)
    else:
        changed = {file: b"" if kind == "empty" else None}
    return Damage(kind, file, "whole", place, 0, changed)


def _swapped(
    sample: Sample, file: str, random_: random.Random, given: int | None
) -> tuple[int, dict[str, bytes | None]]:
    """A file of an earlier generation in its place, or of a segment another one."""
    older = [(number, state[file]) for number, state in enumerate(sample.past) if file in state]
    others = [(-1, state[name]) for state in (sample.files, *sample.past) for name in state if name.endswith(".faiss")]
    choices = [one for one in (others if file.endswith(".faiss") else older) if one[1] != sample.files[file]]
    number, data = random_.choice([one for one in choices if given in (None, one[0])] or [(-1, b"")])
    return number, {file: data}
