"""All that an index shows, as plain values: two pictures are equal if the indexes cannot be told apart."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.errors import QAError, UsageError
from index.dense.search import Candidate
from index.encoder.protocol import Encoder
from index.protocol import Index
from index.snapshot import Snapshot
from index.storage.vectors import has_valid_checksum
from qa.answer.results import Mode
from qa.collection.show import show
from qa.retrieval.retriever import Retriever

# Answers by question name; each consists of lists, dicts, strings and numbers.
Picture = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """The typed error that a question got instead of an answer."""

    error: QAError


@dataclass(frozen=True, slots=True)
class Questions:
    """What to ask of an index.

    Attributes:
        texts: Questions in plain language; all other kinds of search use the first.
        words: Terms to count, some of them in no passage.
        pattern: A pattern of paths.
        path: The path of a document to show.
        duplicate: The path of a document whose first passage has duplicates.
    """

    texts: tuple[str, ...]
    words: tuple[str, ...]
    pattern: str
    path: str
    duplicate: str


def listing(snapshot: Index) -> list[Any]:
    """Every document with all its passages, without row numbers."""
    documents = []
    for document in snapshot.documents():
        passages = snapshot.passages_of(document.path)
        vectors = snapshot.vectors([passage.vector for passage in passages])
        rows = [
            [
                *(passage.key, passage.start, passage.end, passage.body, list(passage.lines or ()), passage.page),
                *(passage.title, list(passage.heading), passage.context, passage.text, passage.text_digest.hex()),
                hashlib.sha256(vector.tobytes()).hexdigest(),
            ]
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        file = [document.path, document.sha256, document.size, document.mtime_ns, document.media_type]
        documents.append([*file, document.title, document.records, rows])
    return documents


def skipped_files(snapshot: Index) -> list[Any]:
    """The skipped files, with reasons."""
    return [[file.path, file.reason, file.unreadable, file.size, file.mtime_ns] for file in snapshot.skipped()]


def ranked(candidates: Sequence[Candidate]) -> list[list[Any]]:
    """Keys and scores, in order."""
    return [[candidate.key, candidate.score] for candidate in candidates]


def search_results(snapshot: Index, encoder: Encoder, texts: Sequence[str], limit: int = 10) -> Picture:
    """The results of dense and keyword search, with exact scores."""
    results: Picture = {}
    for text in texts:
        results[f"dense {text}"] = ranked(snapshot.dense(encoder.encode_query(text), limit))
        results[f"keyword {text}"] = ranked(snapshot.keyword(text, limit))
    return results


def ask_everything(root: Path, encoder: Encoder, questions: Questions) -> tuple[int | None, Picture]:
    """Open an index and ask every question, also after one is refused.

    Returns:
        The generation that answered (None if the index could not be opened) and the answers.
    """
    try:
        retriever = Retriever.open(root, encoder=encoder, reader=False)
    except QAError as error:
        return None, {"open": Refusal(error)}
    with retriever:
        picture: Picture = {}
        for name, ask in _queries(root, retriever, encoder, questions).items():
            try:
                picture[name] = ask()
            except QAError as error:
                picture[name] = Refusal(error)
        return retriever.snapshot.info.generation, picture


def complete_picture(root: Path, encoder: Encoder, questions: Questions) -> tuple[int, Picture]:
    """Ask every question, none of which may be refused; returns the generation and the answers.

    Raises:
        QAError: The first refusal.
    """
    generation, picture = ask_everything(root, encoder, questions)
    for answer in picture.values():
        if isinstance(answer, Refusal):
            raise answer.error
    if generation is None:
        raise AssertionError("not opened, and not refused")
    return generation, picture


def differences(picture: Picture, expected: Picture) -> str:
    """The names of the questions with different answers, joined by commas; "" if there are none."""
    names = picture.keys() | expected.keys()
    return ", ".join(sorted(name for name in names if picture.get(name) != expected.get(name)))


def answer_to(retriever: Retriever, question: str, **options: Any) -> Any:
    """An answer as JSON, without times and generation, which differ from run to run."""
    answer = retriever.ask(question, **options).as_json()
    del answer["timings_ms"], answer["index"]["generation"]
    return answer


def _queries(root: Path, retriever: Retriever, encoder: Encoder, questions: Questions) -> dict[str, Callable[[], Any]]:
    snapshot = retriever.snapshot
    text, *more_texts = questions.texts

    def show_place(place: str) -> Any:
        view = show(root, place, context=1)
        return [view.path, [list(line) for line in view.lines], view.requested, str(view.state), view.stored]

    def duplicate_key() -> str:
        return snapshot.passages_of(questions.duplicate)[0].key

    def search_within() -> Any:
        documents = snapshot.match_paths(questions.pattern)
        dense = snapshot.dense(encoder.encode_query(text), 7, documents=documents)
        return [ranked(dense), ranked(snapshot.keyword(text, 7, documents=documents))]

    def ask_within() -> Any:
        try:
            return answer_to(retriever, text, k=5, path=questions.pattern)
        except UsageError as error:  # no document matches, which is an answer too
            return str(error)

    return {
        "dense": lambda: [ranked(snapshot.dense(encoder.encode_query(query), 10)) for query in questions.texts],
        "dense, all": lambda: ranked(snapshot.dense(encoder.encode_query(text), 100_000)),
        "keyword": lambda: [ranked(snapshot.keyword(query, 10)) for query in questions.texts],
        "keyword, all": lambda: ranked(snapshot.keyword(text, 100_000)),
        "words": lambda: snapshot.frequencies(questions.words),
        "within": search_within,
        "hybrid": lambda: [answer_to(retriever, query, k=5) for query in more_texts[:2]],
        "hybrid, within": ask_within,
        "keyword, quick": lambda: answer_to(retriever, text, k=8, mode=Mode.KEYWORD, rerank=False),
        "duplicates": lambda: _duplicates(snapshot, duplicate_key()),
        "show passage": lambda: show_place(duplicate_key()),
        "show file": lambda: show_place(questions.path),
        "listing": lambda: listing(snapshot),
        "left out": lambda: skipped_files(snapshot),
    }


def _duplicates(snapshot: Index, key: str) -> list[Any]:
    passage = snapshot.find(key)
    if passage is None:
        return [None]
    duplicates = snapshot.duplicates([passage])[passage.id]
    return [[duplicate.document.path, duplicate.start, duplicate.end, duplicate.text] for duplicate in duplicates]


def stored_digests(folder: Path) -> frozenset[bytes]:
    """The digests of the intact vectors in an index, in use or not, as far as the database can be read."""
    digests = set()
    file = folder / "index.db"
    if file.exists():
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection,
        ):
            for row in connection.execute("SELECT digest, vector, checksum FROM vectors"):
                if has_valid_checksum(*row):
                    digests.add(row[0])
    return frozenset(digests)


def stray_files(root: Path) -> list[str]:
    """Files in an index folder that do not belong to its generation, and files of the generation that are missing."""
    names = {path.name for path in (root / ".qa").iterdir()}
    with Snapshot(root / ".qa") as snapshot:
        segments = {segment.name for segment in snapshot.info.segments}
    missing = [f"{name} (missing)" for name in segments - names]
    return sorted(names - segments - {".gitignore", "index.db", "index.db-wal", "index.db-shm", "lock"}) + missing


def temporary_files(root: Path) -> list[str]:
    """Temporary files anywhere under a folder."""
    return sorted(path.name for path in root.rglob("*.tmp"))
