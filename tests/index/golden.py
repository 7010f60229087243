"""Make the index that pins the format: run `python -m tests.index.golden` when the format version rises.

Writes `golden/index/`, and to `golden/expected.json` all that must be found in it, as literal values.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from index.update.report import Request
from index.update.update import update_index
from tests.encoders import BagEncoder
from tests.robustness.picture import Questions, complete_picture

GOLDEN = Path(__file__).parent / "golden"
# Endings of the index files to keep: logs and locks belong to a process.
KEPT = ("index.db", ".faiss")
# A file of six documents.
RECORDS = tuple(f"{number} Birds of the Upper Weir" for number in ("One", "Two", "Three", "Four", "Five", "Six"))
RECORD = (
    "We counted them by hand in the morning, from hides of willow, over many winters and with little money. The "
    "counts are given here in full for the first time, and they show what was long held to be true nearby."
)
FIRST = {
    "birds.txt": b"Birds sing in the morning.\n",
    "notes/größe.md": "# Größe\n\nDie Straße ist 3 m breit.\n\n## Höhe\n\nDie Brücke ist hoch.\n".encode(),
    "notes/שלום.md": "# שלום\n\nירושלים היא עיר על הר.\n".encode(),
    "copy.txt": b"Birds sing in the morning.\n",
    "records.txt": "\n".join(f"{title}\n\n{RECORD}\n" for title in RECORDS).encode(),
    "skipped.txt": b"\0\1\2",
}
# One passage fewer, so that a vector becomes unused, and a new one, in its own segment or a merged one.
SECOND = {
    "notes/größe.md": "# Größe\n\nDie Straße ist 3 m breit.\n\n## Länge\n\nDer Weg führt über 12 km.\n".encode(),
}
QUESTIONS = Questions(
    texts=("Wie breit ist die Straße?", "birds in the morning", "ירושלים"),
    words=("bird", "strass", "hohe", "ירושלים"),
    pattern="notes/",
    path="notes/größe.md",
    duplicate="birds.txt",
)


def write(root: Path, files: dict[str, bytes], tick: int) -> None:
    """Write files with modification times in the past."""
    for path, data in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (1_600_000_000 + tick, 1_600_000_000 + tick))


def make(root: Path) -> None:
    """Build the corpus and its index, in two generations."""
    write(root, FIRST, 0)
    update_index(Request(root, BagEncoder()))
    write(root, SECOND, 1)
    update_index(Request(root, BagEncoder()))


def tables(file: Path) -> dict[str, list[list[Any]]]:
    """Return every row of every table, without values that depend on the time or the version of FAISS."""
    found: dict[str, list[list[Any]]] = {}
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(names):
            cursor = connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - a name from the file
            columns = [column[0] for column in cursor.description]
            rows = [_row(table, dict(zip(columns, row, strict=True))) for row in cursor]
            found[table] = sorted(rows, key=repr)
    return found


def _row(table: str, row: dict[str, Any]) -> list[Any]:
    if "checked_ns" in row:
        # The time of reading, and a checksum that includes it.
        row |= {"checked_ns": None, "checksum": None}
    if table == "meta" and row["key"] in ("checksum", "splitter"):
        # Another splitter version that splits this corpus the same way writes the same index.
        row["value"] = None
    if table == "meta" and row["key"] == "segments":
        segments = json.loads(row["value"])
        row["value"] = [[one["number"], one["held"], one["dead"]] for one in segments]
    return [value.hex() if isinstance(value, bytes) else value for value in row.values()]


def picture(root: Path) -> dict[str, Any]:
    """Return all that is found in the index, as JSON represents it."""
    generation, found = complete_picture(root, BagEncoder(), QUESTIONS)
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return {"generation": generation, "answers": plain, "tables": json.loads(json.dumps(tables(root / ".qa/index.db")))}


def unpack(folder: Path) -> None:
    """Unpack the files of the golden index into a new folder."""
    folder.mkdir()
    for path in sorted((GOLDEN / "index").iterdir()):
        (folder / path.name.removesuffix(".gz")).write_bytes(gzip.decompress(path.read_bytes()))


def main() -> None:
    """Replace the golden index."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "corpus"
        root.mkdir()
        make(root)
        shutil.rmtree(GOLDEN / "index", ignore_errors=True)
        (GOLDEN / "index").mkdir(parents=True)
        for path in sorted((root / ".qa").iterdir()):
            if path.name.endswith(KEPT):
                # Most of a small database is empty space in its pages.
                (GOLDEN / "index" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        expected = picture(root)
    text = json.dumps(expected, indent=1, ensure_ascii=False, sort_keys=True)
    (GOLDEN / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
