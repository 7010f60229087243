"""Everything that an index holds and answers, as values that can be compared."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

from index.dense.search import Candidate
from index.dense.vector_rows import vector_checksum
from index.snapshot import Snapshot
from qa.answer.results import Mode
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder

QUESTIONS = (
    "Where did the cat sit?",
    "When do birds sing in the morning?",
    "Who swims in the sea?",
    "Which harbour closes at dusk?",
    "What do robots and dogs do?",
)
# Some of them in every mode, through everything that makes an answer.
_ASKED = QUESTIONS[:3]


def content(root: Path) -> dict[str, Any]:
    """A generation complete: what it is made of, every row, every vector, and the answers to some questions.

    Raises:
        QAError: As the index says.
    """
    encoder = BagEncoder()
    with Snapshot(root / ".qa") as snapshot:
        documents = snapshot.documents()
        passages = [one for document in documents for one in snapshot.passages_of(document.path)]
        vectors = snapshot.vectors([one.vector for one in passages])
        found: dict[str, Any] = {
            "info": asdict(snapshot.info),
            "documents": [asdict(document) | {"checked_ns": 0} for document in documents],
            "skipped": [asdict(left) | {"checked_ns": 0} for left in snapshot.skipped()],
            "passages": [asdict(one) | {"document": one.document.path, "text_digest": ""} for one in passages],
            "vectors": [vector.tobytes().hex() for vector in vectors],
            "keyword": [[_named(one) for one in snapshot.keyword(asked, 10)] for asked in QUESTIONS],
            "dense": [[_named(one) for one in snapshot.dense(encoder.encode_query(asked), 10)] for asked in QUESTIONS],
        }
    with Retriever.open(root, encoder=encoder) as retriever:
        found["answers"] = [retriever.ask(asked, mode=mode).as_json() for asked in _ASKED for mode in Mode]
    for answer in found["answers"]:
        del answer["timings_ms"]
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def logical(found: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on how a state was reached: no row numbers, no generation, no files."""
    vector_of = dict(zip((one["key"] for one in found["passages"]), found["vectors"], strict=True))
    return {
        "documents": [_without(one, "id") for one in found["documents"]],
        "skipped": found["skipped"],
        "passages": [_without(one, "id", "vector") for one in found["passages"]],
        "vectors": vector_of,
        "keyword": [[_without(one, "link") for one in several] for several in found["keyword"]],
        "dense": [[_without(one, "link") for one in several] for several in found["dense"]],
        "answers": [one | {"index": _without(one["index"], "generation")} for one in found["answers"]],
    }


def _named(one: Candidate) -> dict[str, Any]:
    return {"key": one.key, "score": one.score, "link": one.link}


def _without(one: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name not in names}


def difference(found: dict[str, Any], expected: dict[str, Any]) -> str:
    """The parts that differ, or ""."""
    return ", ".join(sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)))


def stored_digests(root: Path) -> set[str]:
    """What vectors are committed and hold, hex; none where the database cannot be read."""
    digests = set()
    file = root / ".qa" / "index.db"
    if file.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(_reading(file)) as connection:
            for digest, data, check in connection.execute("SELECT digest, vector, checksum FROM vectors"):
                if vector_checksum(digest, data) == check:
                    digests.add(digest.hex())
    return digests


def _reading(file: Path) -> sqlite3.Connection:
    # Leaves a log as it is.
    return sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)


def strays(root: Path) -> list[str]:
    """Files in an index folder that do not belong to its generation."""
    folder = root / ".qa"
    names = {path.name for path in folder.iterdir()}
    with Snapshot(folder) as snapshot:
        own = {segment.name for segment in snapshot.info.segments}
    missing = [f"{name} (missing)" for name in own - names]
    return sorted(names - own - {".gitignore", "index.db", "index.db-wal", "index.db-shm", "lock"}) + missing


def temporary(root: Path) -> list[str]:
    """Temporary files anywhere under a folder."""
    return sorted(path.name for path in root.rglob("*.tmp"))
