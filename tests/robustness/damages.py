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
# Here FAISS stores how to interpret the file.
_FAISS_HEADER = 160
# First bytes of the leaf pages of tables and indexes.
_LEAVES = (0x0D, 0x0A)
# About this many bytes of a cell hold the lengths, the number and the types of its values.
_CELL_HEAD = 12


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage to an index.

    Attributes:
        kind: `flip`, or one of `FILE_DAMAGES`.
        file: The file's name in the index folder.
        place: The byte of a flip, the length of a cut, the number of bytes of junk, the generation of a swap.
        bit: The bit of the byte, 0 to 7.
        contents: New contents by file; None deletes the file.
    """

    kind: str
    file: str
    place: int
    bit: int
    contents: dict[str, bytes | None]

    def __str__(self) -> str:
        return f"{self.kind}:{self.file}:{self.place}:{self.bit}"


def structural_spans(data: bytes) -> dict[str, list[Span]]:
    """The bytes of a database that determine how other bytes are read, by table or index and by kind."""
    pages, size = _pages(data)
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    spans["header"].append((0, _SQLITE_HEADER))
    for name, number, kind in pages:
        start = (number - 1) * size
        if kind == "overflow":
            spans[f"{name} overflow pointers"].append((start, start + 4))
        else:
            for part, span in _page_spans(data, start, start + (_SQLITE_HEADER if number == 1 else 0), size):
                spans[f"{name} {part}"].append(span)
    used = {number for _, number, _ in pages}
    for number in range(1, len(data) // size + 1):
        if number not in used:
            # A page of the free list begins with the number of the next one and the count of pages it lists.
            spans["list of free pages"].append(((number - 1) * size, (number - 1) * size + 16))
    return dict(spans)


def _pages(data: bytes) -> tuple[list[tuple[str, int, str]], int]:
    """The name, number and kind of each page in use, and the page size."""
    with tempfile.NamedTemporaryFile(suffix=".db") as copy:
        copy.write(data)
        copy.flush()
        with closing(sqlite3.connect(f"{Path(copy.name).as_uri()}?immutable=1", uri=True)) as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            return connection.execute("SELECT name, pageno, pagetype FROM dbstat").fetchall(), size


def _page_spans(data: bytes, start: int, head: int, size: int) -> Iterator[tuple[str, Span]]:
    pointers = head + (8 if data[head] in _LEAVES else 12)
    yield "page heads", (head, pointers)
    cells = int.from_bytes(data[head + 3 : head + 5], "big")
    if cells:
        yield "cell pointers", (pointers, pointers + 2 * cells)
    for place in range(pointers, pointers + 2 * cells, 2):
        cell = start + int.from_bytes(data[place : place + 2], "big")
        yield "cell heads", (cell, min(cell + _CELL_HEAD, start + size))


def structural_parts(sample: Sample) -> list[tuple[str, list[Span]]]:
    """The parts of each file that determine how its other bytes are read."""
    parts: list[tuple[str, list[Span]]] = []
    for name, data in sample.files.items():
        if name == "index.db":
            parts += [(name, spans) for spans in structural_spans(data).values()]
        elif name.endswith("-wal") and data:
            step = FRAME_HEADER + int.from_bytes(data[8:12], "big")
            parts.append((name, [(0, LOG_HEADER)]))
            parts.append((name, [(at, at + FRAME_HEADER) for at in range(LOG_HEADER, len(data) - FRAME_HEADER, step)]))
        elif data:
            parts.append((name, [(0, min(_FAISS_HEADER, len(data)))]))
    return parts


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


def with_duplicate_entries(sample: Sample, index: str) -> bytes:
    """The database with entries of an index duplicated, from the last one on, as far as the pages have room."""
    data = bytearray(sample.files["index.db"])
    pages, size = _pages(bytes(data))
    for number in [number for name, number, kind in pages if name == index and kind == "leaf"]:
        start = (number - 1) * size
        cells, content = struct.unpack_from(">HH", data, start + 3)
        pointers = struct.unpack_from(f">{cells}H", data, start + 8)
        unchanged = max(0, 2 * cells - (content - 8) // 2)
        changed = [*pointers[:unchanged], *(pointer for pointer in pointers[unchanged:] for _ in range(2))]
        struct.pack_into(">H", data, start + 3, len(changed))
        struct.pack_into(f">{len(changed)}H", data, start + 8, *changed)
    return bytes(data)


FILE_DAMAGES = ("cut", "cut", "cut", "junk", "empty", "missing", "swapped", "zeroed end")


def random_file_damage(sample: Sample, random_: random.Random) -> Damage:
    """Damage a whole file, more often the database and its log than others."""
    names = sorted(sample.files)
    file = random_.choices(names, [4 if name.startswith("index.db") else 1 for name in names])[0]
    kind = random_.choice(FILE_DAMAGES)
    data, place = sample.files[file], 0
    changed: bytes | None = None
    if kind in ("cut", "zeroed end"):
        place = random_.randrange(max(len(data), 1))
        # File systems fill blocks that were never written with zeros.
        changed = data[:place] + bytes(len(data) - place if kind == "zeroed end" else 0)
    elif kind == "junk":
        place = random_.choice([1, 100, 4096, 8192, 20_000])
        changed = data + random_.randbytes(place)
    elif kind == "swapped":
        place, changed = _other_contents(sample, file, random_)
    elif kind == "empty":
        changed = b""
    return Damage(kind, file, place, 0, {file: changed})


def _other_contents(sample: Sample, file: str, random_: random.Random) -> tuple[int, bytes]:
    """Contents for a file from an earlier generation, with its number; for a segment those of any other segment."""
    older = [(number, state[file]) for number, state in enumerate(sample.past) if file in state]
    every = [item for state in (sample.files, *sample.past) for item in state.items()]
    choices = [(-1, data) for name, data in every if name.endswith(".faiss")] if file.endswith(".faiss") else older
    return random_.choice([choice for choice in choices if choice[1] != sample.files[file]] or [(-1, b"")])
