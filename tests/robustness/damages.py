"""Damage to the files of an index: flipped bits, truncation, whole files lost or replaced."""

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

Span = tuple[int, int]

FRAME_HEADER = 24
LOG_HEADER = 32
_SQLITE_HEADER = 100
# FAISS stores how to interpret the rest here.
_FAISS_HEADER = 160
# The first byte of a page that is a leaf of a table or of an index.
_LEAVES = (0x0D, 0x0A)
# The lengths, the number and the types of the values of a cell are in about so many bytes.
_CELL_HEAD = 12


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage to an index.

    Attributes:
        kind: `flip`, or one of `WHOLE`.
        file: The file's name in the index folder.
        place: For a flip the byte, for a cut the length, for junk the number of bytes, for a swap the generation.
        bit: Of the byte, 0 to 7.
        changed: New contents by file; None deletes the file.
    """

    kind: str
    file: str
    place: int
    bit: int
    changed: dict[str, bytes | None]

    def __str__(self) -> str:
        return f"{self.kind}:{self.file}:{self.place}:{self.bit}"


def structures(data: bytes) -> dict[str, list[Span]]:
    """The bytes of a database that determine how the rest is read, by table or index and by kind."""
    pages, size = _pages(data)
    found: defaultdict[str, list[Span]] = defaultdict(list)
    found["header"].append((0, _SQLITE_HEADER))
    for name, number, kind in pages:
        start = (number - 1) * size
        if kind == "overflow":
            found[f"{name} overflow pointers"].append((start, start + 4))
        else:
            for what, span in _of_page(data, start, start + (_SQLITE_HEADER if number == 1 else 0), size):
                found[f"{name} {what}"].append(span)
    used = {number for _, number, _ in pages}
    for number in range(1, len(data) // size + 1):
        if number not in used:
            # A page of the free list begins with the number of the next one and the count of pages it lists.
            found["list of free pages"].append(((number - 1) * size, (number - 1) * size + 16))
    return dict(found)


def _pages(data: bytes) -> tuple[list[tuple[str, int, str]], int]:
    """The name, number and kind of each page in use, and the page size."""
    with tempfile.NamedTemporaryFile(suffix=".db") as copy:
        copy.write(data)
        copy.flush()
        with closing(sqlite3.connect(f"{Path(copy.name).as_uri()}?immutable=1", uri=True)) as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            return connection.execute("SELECT name, pageno, pagetype FROM dbstat").fetchall(), size


def _of_page(data: bytes, start: int, head: int, size: int) -> Iterator[tuple[str, Span]]:
    pointers = head + (8 if data[head] in _LEAVES else 12)
    yield "page heads", (head, pointers)
    cells = int.from_bytes(data[head + 3 : head + 5], "big")
    if cells:
        yield "cell pointers", (pointers, pointers + 2 * cells)
    for place in range(pointers, pointers + 2 * cells, 2):
        cell = start + int.from_bytes(data[place : place + 2], "big")
        yield "cell heads", (cell, min(cell + _CELL_HEAD, start + size))


def vital_parts(sample: Sample) -> list[tuple[str, list[Span]]]:
    """The parts of each file that determine how the rest is read."""
    found: list[tuple[str, list[Span]]] = []
    for name, data in sample.files.items():
        if name == "index.db":
            found += [(name, spans) for spans in structures(data).values()]
        elif name.endswith("-wal") and data:
            step = FRAME_HEADER + int.from_bytes(data[8:12], "big")
            found.append((name, [(0, LOG_HEADER)]))
            found.append((name, [(at, at + FRAME_HEADER) for at in range(LOG_HEADER, len(data) - FRAME_HEADER, step)]))
        elif data:
            found.append((name, [(0, min(_FAISS_HEADER, len(data)))]))
    return found


def flip(sample: Sample, file: str, place: int, bit: int) -> Damage:
    """Flip one bit."""
    data = bytearray(sample.files[file])
    data[place] ^= 1 << bit
    return Damage("flip", file, place, bit, {file: bytes(data)})


def random_flip(sample: Sample, parts: list[tuple[str, list[Span]]], random_: random.Random) -> Damage:
    """Flip a bit in one of these parts, each equally likely whatever its size; without parts, anywhere."""
    if parts:
        file, spans = random_.choice(parts)
        start, end = random_.choice(spans)
    else:
        names = [name for name, data in sample.files.items() if data]
        file = random_.choices(names, [len(sample.files[name]) for name in names])[0]
        start, end = 0, len(sample.files[file])
    return flip(sample, file, random_.randrange(start, end), random_.randrange(8))


def doubled(sample: Sample, index: str) -> bytes:
    """The database with as many entries of an index duplicated as there is room for, starting with the last."""
    data = bytearray(sample.files["index.db"])
    pages, size = _pages(bytes(data))
    for number in [number for name, number, kind in pages if name == index and kind == "leaf"]:
        start = (number - 1) * size
        cells, content = struct.unpack_from(">HH", data, start + 3)
        pointers = struct.unpack_from(f">{cells}H", data, start + 8)
        kept = max(0, 2 * cells - (content - 8) // 2)
        changed = [*pointers[:kept], *(pointer for pointer in pointers[kept:] for _ in range(2))]
        struct.pack_into(">H", data, start + 3, len(changed))
        struct.pack_into(f">{len(changed)}H", data, start + 8, *changed)
    return bytes(data)


WHOLE = ("cut", "cut", "cut", "junk", "empty", "missing", "swapped", "zeroed end")


def random_loss(sample: Sample, random_: random.Random) -> Damage:
    """Damage a whole file, the database and its log more often than others."""
    names = sorted(sample.files)
    file = random_.choices(names, [4 if name.startswith("index.db") else 1 for name in names])[0]
    kind = random_.choice(WHOLE)
    data, place = sample.files[file], 0
    changed: bytes | None = None
    if kind in ("cut", "zeroed end"):
        place = random_.randrange(max(len(data), 1))
        # File systems fill a block that was never written with zeros.
        changed = data[:place] + bytes(len(data) - place if kind == "zeroed end" else 0)
    elif kind == "junk":
        place = random_.choice([1, 100, 4096, 8192, 20_000])
        changed = data + random_.randbytes(place)
    elif kind == "swapped":
        place, changed = _swapped(sample, file, random_)
    elif kind == "empty":
        changed = b""
    return Damage(kind, file, place, 0, {file: changed})


def _swapped(sample: Sample, file: str, random_: random.Random) -> tuple[int, bytes]:
    """Replace a file by that of an earlier generation, or a segment by another one."""
    older = [(number, state[file]) for number, state in enumerate(sample.past) if file in state]
    others = [(-1, state[name]) for state in (sample.files, *sample.past) for name in state if name.endswith(".faiss")]
    choices = others if file.endswith(".faiss") else older
    return random_.choice([one for one in choices if one[1] != sample.files[file]] or [(-1, b"")])
