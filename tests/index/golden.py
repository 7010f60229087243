"""Build the index that pins the format: run `python -m tests.index.golden` when the format version rises.

Writes `golden/index/`, and its expected content to `golden/expected.json`, as literal values.
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
# Endings of the files to keep; logs and locks belong to a process.
KEPT_SUFFIXES = ("index.db", ".faiss")
# A file of six documents.
RECORDS = tuple(f"{number} Birds of the Upper Weir" for number in ("One", "Two", "Three", "Four", "Five", "Six"))
RECORD_TEXT = (
    "We counted them by hand in the morning, from hides of willow, over many winters and with little money. The "
    "counts are given here in full for the first time, and they show what was long held to be true nearby."
)
FIRST = {
    "birds.txt": b"Birds sing in the morning.\n",
    "notes/größe.md": "# Größe\n\nDie Straße ist 3 m breit.\n\n## Höhe\n\nDie Brücke ist hoch.\n".encode(),
    "notes/שלום.md": "# שלום\n\nירושלים היא עיר על הר.\n".encode(),
    "copy.txt": b"Birds sing in the morning.\n",
    "records.txt": "\n".join(f"{title}\n\n{RECORD_TEXT}\n" for title in RECORDS).encode(),
    "skipped.txt": b"\0\1\2",
}
# One passage fewer, so that a vector becomes unused, and a new one, in a segment of its own or a merged one.
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


def write_files(root: Path, files: dict[str, bytes], tick: int) -> None:
    """Write files with modification times in the past."""
    for path, data in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        os.utime(file, (1_600_000_000 + tick, 1_600_000_000 + tick))


def build_golden(root: Path) -> None:
    """Build the corpus and its index, in two generations."""
    write_files(root, FIRST, 0)
    update_index(Request(root, BagEncoder()))
    write_files(root, SECOND, 1)
    update_index(Request(root, BagEncoder()))


def read_tables(file: Path) -> dict[str, list[list[Any]]]:
    """Return every row of every table, without values that depend on the time or the version of FAISS."""
    tables: dict[str, list[list[Any]]] = {}
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(names):
            cursor = connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - a name from the file
            columns = [column[0] for column in cursor.description]
            rows = [_stable_values(table, dict(zip(columns, row, strict=True))) for row in cursor]
            tables[table] = sorted(rows, key=repr)
    return tables


def _stable_values(table: str, row: dict[str, Any]) -> list[Any]:
    if "checked_ns" in row:
        # They contain the time of reading.
        row |= {"checked_ns": None, "checksum": None}
    if table == "meta" and row["key"] in ("checksum", "splitter"):
        # Another splitter version that splits this corpus the same way writes the same index.
        row["value"] = None
    if table == "meta" and row["key"] == "segments":
        segments = json.loads(row["value"])
        row["value"] = [[segment["number"], segment["held"], segment["dead"]] for segment in segments]
    return [value.hex() if isinstance(value, bytes) else value for value in row.values()]


def index_picture(root: Path) -> dict[str, Any]:
    """Return everything that can be read from the index, as JSON values."""
    generation, answers = complete_picture(root, BagEncoder(), QUESTIONS)
    content = {"generation": generation, "answers": answers, "tables": read_tables(root / ".qa/index.db")}
    picture: dict[str, Any] = json.loads(json.dumps(content))
    return picture


def unpack_golden(folder: Path) -> None:
    """Unpack the files of the golden index into a new folder."""
    folder.mkdir()
    for path in sorted((GOLDEN / "index").iterdir()):
        (folder / path.name.removesuffix(".gz")).write_bytes(gzip.decompress(path.read_bytes()))


def main() -> None:
    """Replace the golden index."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "corpus"
        root.mkdir()
        build_golden(root)
        shutil.rmtree(GOLDEN / "index", ignore_errors=True)
        (GOLDEN / "index").mkdir(parents=True)
        for path in sorted((root / ".qa").iterdir()):
            if path.name.endswith(KEPT_SUFFIXES):
                # Most of a small database is empty space in its pages.
                (GOLDEN / "index" / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        expected = index_picture(root)
    text = json.dumps(expected, indent=1, ensure_ascii=False, sort_keys=True)
    (GOLDEN / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
