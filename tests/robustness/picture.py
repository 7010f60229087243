"""Everything visible of an index as plain values: two pictures are equal if the indexes cannot be told apart."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
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
class Refused:
    """A question that was not answered, with the typed error."""

    error: QAError


@dataclass(frozen=True, slots=True)
class Questions:
    """What to ask of an index.

    Attributes:
        texts: Questions in plain language; the first is also asked in every other way.
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
    found = []
    for one in snapshot.documents():
        passages = snapshot.passages_of(one.path)
        vectors = snapshot.vectors([passage.vector for passage in passages])
        rows = [
            [
                *(passage.key, passage.start, passage.end, passage.body, list(passage.lines or ()), passage.page),
                *(passage.title, list(passage.heading), passage.context, passage.text, passage.text_digest.hex()),
                hashlib.sha256(vector.tobytes()).hexdigest(),
            ]
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        found.append([one.path, one.sha256, one.size, one.mtime_ns, one.media_type, one.title, one.records, rows])
    return found


def left_out(snapshot: Index) -> list[Any]:
    """The skipped files, with reasons."""
    return [[one.path, one.reason, one.unreadable, one.size, one.mtime_ns] for one in snapshot.skipped()]


def ranked(candidates: Sequence[Candidate]) -> list[list[Any]]:
    """Keys and scores, in order."""
    return [[one.key, one.score] for one in candidates]


def answers(snapshot: Index, encoder: Encoder, texts: Sequence[str], limit: int = 10) -> Picture:
    """The results of dense and keyword search, with exact scores."""
    found: Picture = {}
    for text in texts:
        found[f"dense {text}"] = ranked(snapshot.dense(encoder.encode_query(text), limit))
        found[f"keyword {text}"] = ranked(snapshot.keyword(text, limit))
    return found


def ask_everything(root: Path, encoder: Encoder, questions: Questions) -> tuple[int | None, Picture]:
    """Open an index and ask every question, also after one is refused.

    Returns:
        The generation that answered (None if the index could not be opened) and the answers.
    """
    try:
        retriever = Retriever.open(root, encoder=encoder, reader=False)
    except QAError as error:
        return None, {"open": Refused(error)}
    with retriever:
        picture: Picture = {}
        for name, ask in _questions(root, retriever, encoder, questions).items():
            try:
                picture[name] = ask()
            except QAError as error:
                picture[name] = Refused(error)
        return retriever.snapshot.info.generation, picture


def whole_picture(root: Path, encoder: Encoder, questions: Questions) -> tuple[int, Picture]:
    """As `ask_everything`, but nothing may be refused.

    Raises:
        QAError: The first refusal.
    """
    generation, picture = ask_everything(root, encoder, questions)
    for one in picture.values():
        if isinstance(one, Refused):
            raise one.error
    if generation is None:
        raise AssertionError("not opened, and not refused")
    return generation, picture


def difference(found: Picture, expected: Picture) -> str:
    """The names of the questions with different answers, or ""."""
    return ", ".join(sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)))


def answer_to(retriever: Retriever, question: str, **how: Any) -> Any:
    """An answer as JSON, without what varies from run to run."""
    found = retriever.ask(question, **how).as_json()
    del found["timings_ms"], found["index"]["generation"]
    return found


def _questions(
    root: Path, retriever: Retriever, encoder: Encoder, questions: Questions
) -> Mapping[str, Callable[[], Any]]:
    snapshot = retriever.snapshot
    text, *others = questions.texts

    def shown(place: str) -> Any:
        view = show(root, place, context=1)
        return [view.path, [list(line) for line in view.lines], view.requested, str(view.state), view.stored]

    def duplicate() -> str:
        return snapshot.passages_of(questions.duplicate)[0].key

    def scoped() -> Any:
        documents = snapshot.match_paths(questions.pattern)
        dense = snapshot.dense(encoder.encode_query(text), 7, documents=documents)
        return [ranked(dense), ranked(snapshot.keyword(text, 7, documents=documents))]

    def within() -> Any:
        try:
            return answer_to(retriever, text, k=5, path=questions.pattern)
        except UsageError as error:  # no document matches, which is an answer too
            return str(error)

    return {
        "dense": lambda: [ranked(snapshot.dense(encoder.encode_query(one), 10)) for one in questions.texts],
        "dense, all": lambda: ranked(snapshot.dense(encoder.encode_query(text), 100_000)),
        "keyword": lambda: [ranked(snapshot.keyword(one, 10)) for one in questions.texts],
        "keyword, all": lambda: ranked(snapshot.keyword(text, 100_000)),
        "words": lambda: snapshot.frequencies(questions.words),
        "within": scoped,
        "hybrid": lambda: [answer_to(retriever, one, k=5) for one in others[:2]],
        "hybrid, within": within,
        "keyword, quick": lambda: answer_to(retriever, text, k=8, mode=Mode.KEYWORD, rerank=False),
        "duplicates": lambda: _duplicates(snapshot, duplicate()),
        "show passage": lambda: shown(duplicate()),
        "show file": lambda: shown(questions.path),
        "listing": lambda: listing(snapshot),
        "left out": lambda: left_out(snapshot),
    }


def _duplicates(snapshot: Index, key: str) -> list[Any]:
    passage = snapshot.find(key)
    if passage is None:
        return [None]
    return [[one.document.path, one.start, one.end, one.text] for one in snapshot.duplicates([passage])[passage.id]]


def stored_digests(folder: Path) -> frozenset[bytes]:
    """The digests of the intact vectors in an index, in use or not, as far as the database can be read."""
    found = set()
    file = folder / "index.db"
    if file.exists():
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection,
        ):
            for row in connection.execute("SELECT digest, vector, checksum FROM vectors"):
                if has_valid_checksum(*row):
                    found.add(row[0])
    return frozenset(found)


def strays(root: Path) -> list[str]:
    """Files in an index folder that do not belong to its generation, and files of the generation that are missing."""
    names = {path.name for path in (root / ".qa").iterdir()}
    with Snapshot(root / ".qa") as snapshot:
        own = {segment.name for segment in snapshot.info.segments}
    missing = [f"{name} (missing)" for name in own - names]
    return sorted(names - own - {".gitignore", "index.db", "index.db-wal", "index.db-shm", "lock"}) + missing


def temporary(root: Path) -> list[str]:
    """Temporary files anywhere under a folder."""
    return sorted(path.name for path in root.rglob("*.tmp"))
