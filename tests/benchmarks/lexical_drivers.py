"""The keyword indexes compared by `tests.benchmarks.lexical`, each in a process of its own.

    python -m tests.benchmarks.lexical_drivers NAME build PASSAGES.jsonl STORE
    python -m tests.benchmarks.lexical_drivers NAME ask|ask-beside-numpy STORE QUESTION...

A passage is a list of title, heading, text and path. The last line printed is JSON: the CPU seconds of all cores, for
`build` without reading PASSAGES, for `ask` without the start of Python and imports; for `ask` also ten row numbers per
question. `ask-beside-numpy` imports NumPy first, which ours does anyway.
"""

from __future__ import annotations

import gc
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

LIMIT = 10
_MEMORY = 128_000_000  # bytes for a tantivy writer: its own default
_FILE = "index.db"

Passages = Iterator[tuple[int, list[str]]]
Ask = Callable[[Path, Sequence[str]], list[list[int]]]


def _passages(file: Path) -> Passages:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            yield number, json.loads(line)


def _build_ours(passages: Passages, store: Path) -> None:
    from index.lexical.writer import Fields, LexicalWriter
    from index.storage.database import open_for_writing

    connection = open_for_writing(store / _FILE)
    connection.execute("BEGIN IMMEDIATE")
    writer = LexicalWriter(connection, store / _FILE)
    count = 0
    for number, (title, heading, text, path) in passages:
        writer.add(number, Fields(title, heading, text, path))
        count = number
    writer.flush()
    connection.execute("INSERT INTO meta VALUES ('passages', ?)", (str(count),))
    connection.execute("COMMIT")
    connection.close()


def _ask_ours() -> Ask:
    from index.lexical.bm25 import LexicalIndex
    from index.lexical.query_terms import analyse
    from index.storage.database import open_for_reading

    def ask(store: Path, questions: Sequence[str]) -> list[list[int]]:
        connection = open_for_reading(store / _FILE)
        ((count,),) = connection.execute("SELECT value FROM meta").fetchall()
        index = LexicalIndex(connection, store / _FILE, int(count))
        return [index.search(analyse(question).terms, LIMIT)[0].tolist()[:LIMIT] for question in questions]

    return ask


def _build_tantivy(passages: Passages, store: Path) -> None:
    import tantivy  # type: ignore[import-not-found]

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", fast=True)
    builder.add_text_field("text", tokenizer_name="en_stem", index_option="freq")
    writer = tantivy.Index(builder.build(), path=str(store)).writer(_MEMORY, num_threads=1)
    for number, parts in passages:
        # Ours counts the path twice.
        writer.add_document(tantivy.Document(number=number, text=[*parts, parts[-1]]))
    writer.commit()
    writer.wait_merging_threads()


def _ask_tantivy() -> Ask:
    import tantivy

    def ask(store: Path, questions: Sequence[str]) -> list[list[int]]:
        index = tantivy.Index.open(str(store))
        searcher = index.searcher()
        results = []
        for question in questions:
            words = "".join(char if char.isalnum() else " " for char in question)
            hits = searcher.search(index.parse_query(words, ["text"]), LIMIT).hits
            results.append([address.doc + 1 for _, address in hits])
        return results

    return ask


def _build_fts5(passages: Passages, store: Path) -> None:
    connection = sqlite3.connect(store / _FILE, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA page_size = 8192")
    connection.execute(
        "CREATE VIRTUAL TABLE passages USING fts5 (title, heading, text, path, content = '', "
        "tokenize = 'porter unicode61')"
    )
    connection.execute("BEGIN")
    rows = ((number, *parts) for number, parts in passages)
    connection.executemany("INSERT INTO passages (rowid, title, heading, text, path) VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute("COMMIT")
    connection.close()


def _ask_fts5() -> Ask:
    def ask(store: Path, questions: Sequence[str]) -> list[list[int]]:
        connection = sqlite3.connect(store / _FILE)
        results = []
        for question in questions:
            words = "".join(char if char.isalnum() else " " for char in question).split()
            match = " OR ".join(f'"{word}"' for word in words)
            query = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"
            results.append([number for (number,) in connection.execute(query, (match, LIMIT))])
        return results

    return ask


_BUILD: dict[str, Callable[[Passages, Path], None]] = {
    "ours": _build_ours,
    "tantivy": _build_tantivy,
    "fts5": _build_fts5,
}
# Each imports what it needs, and returns a function that opens a store and asks it.
_ASK: dict[str, Callable[[], Ask]] = {"ours": _ask_ours, "tantivy": _ask_tantivy, "fts5": _ask_fts5}


def main() -> None:
    """Run the command line."""
    name, action, *arguments = sys.argv[1:]
    # `qa` sets these, so all engines get them.
    gc.set_threshold(50_000)
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    printed: dict[str, Any]
    if action == "build":
        file, store = map(Path, arguments)
        started = time.process_time()
        for _ in _passages(file):
            pass
        seconds_to_read = time.process_time() - started
        _BUILD[name](_passages(file), store)
        printed = {"cpu_seconds": time.process_time() - started - 2 * seconds_to_read}
    else:
        if action == "ask-beside-numpy":
            import numpy  # noqa: F401
        ask = _ASK[name]()
        started = time.process_time()
        row_numbers = ask(Path(arguments[0]), arguments[1:])
        printed = {"found": row_numbers, "cpu_seconds": time.process_time() - started}
    print(json.dumps(printed), flush=True)


if __name__ == "__main__":
    main()
