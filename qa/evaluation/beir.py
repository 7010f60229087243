"""Sets in the layout of BEIR (https://github.com/beir-cellar/beir): a corpus of records, queries, graded judgements."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.errors import StorageError, UsageError
from index import write_atomically
from qa.evaluation.questions import Asked, read_json_lines
from qa.retrieval.query import ask_text

CORPUS, QUERIES, JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
# Says that a folder was made here, so that what is in it may be written over.
_MARKER = "qa-eval.json"
_DOCUMENTS = "documents"
# What Windows takes for devices.
_DEVICE = re.compile(r"(?i)con|prn|aux|nul|com\d|lpt\d")


@dataclass(frozen=True, slots=True)
class RecordSet:
    """A set whose records lie in a folder as documents, a file each.

    Attributes:
        root: The folder of documents.
        questions: The queries that have judgements; what they are judged by are files of that folder.
    """

    root: Path
    questions: tuple[Asked, ...]


def is_record_set(path: Path) -> bool:
    """Whether a path is a folder with a corpus of records in it."""
    return (path / CORPUS).is_file()


def prepare(folder: Path, work: Path) -> RecordSet:
    """Read a set and put its records into `work`, as documents; what lies there from the last time is kept.

    Args:
        folder: Has `corpus.jsonl` ({"_id", "title", "text"}), `queries.jsonl` ({"_id", "text"}) and `qrels.tsv`
            (query, record, grade; the first line is a header).
        work: A folder that is not there yet, is empty, or was made by an earlier call.

    Raises:
        UsageError: A file is missing or a line cannot be meant, or `work` has other things in it.
        StorageError: The disk refused.
    """
    records = read_json_lines(folder / CORPUS)
    texts = _texts(folder / CORPUS, records)
    names = file_names({record: bool(title) for record, (title, _) in texts.items()})
    questions = _questions(folder, names)
    _lay_out(work, {names[record]: _document(*text) for record, text in texts.items()})
    return RecordSet(work / _DOCUMENTS, questions)


def file_names(titled: Mapping[str, bool]) -> dict[str, str]:
    """A file name for each record's id: the id itself where any file system takes it, else with a digest.

    Args:
        titled: By id, whether the record has a title; it is written as Markdown then.
    """
    safe = {record: re.sub(r"[^0-9A-Za-z_-]", "_", record)[:80] for record in titled}
    taken = Counter(name.casefold() for name in safe.values())
    names = {}
    for record, name in safe.items():
        plain = name == record and taken[name.casefold()] == 1 and not _DEVICE.fullmatch(name)
        digest = "" if plain else "-" + hashlib.sha256(record.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        names[record] = f"{name}{digest}{'.md' if titled[record] else '.txt'}"
    return names


def _texts(file: Path, records: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, tuple[str, str]]:
    """Title and text of each record, by id."""
    found: dict[str, tuple[str, str]] = {}
    for number, value in records:
        own_id, title, text = value.get("_id"), value.get("title") or "", value.get("text") or ""
        if not isinstance(own_id, str) or not own_id or not isinstance(title, str) or not isinstance(text, str):
            raise UsageError(f'{file} line {number} must have "_id", "title" and "text" as texts')
        if own_id in found:
            raise UsageError(f"{file} line {number}: the record {own_id} is there already")
        found[own_id] = (" ".join(title.split()), text)
    if not found:
        raise UsageError(f"{file} has no records")
    return found


def _document(title: str, text: str) -> bytes:
    whole = f"# {title}\n\n{text}\n" if title else f"{text}\n"
    return whole.encode("utf-8", "replace")


def _questions(folder: Path, names: Mapping[str, str]) -> tuple[Asked, ...]:
    judged = _judgements(folder / JUDGEMENTS)
    found = []
    for number, value in read_json_lines(folder / QUERIES):
        own_id, text = value.get("_id"), value.get("text")
        if not isinstance(own_id, str) or not isinstance(text, str) or not text.strip():
            raise UsageError(f'{folder / QUERIES} line {number} must have "_id" and "text" as texts')
        grades = judged.pop(own_id, {})
        if any(grades.values()):
            question, cut = ask_text(text)
            relevant = tuple((names.get(record, record), grade) for record, grade in grades.items() if grade)
            found.append(Asked(own_id, question, relevant=relevant, cut=cut))
    if not found:
        raise UsageError(f"{folder} has no queries with judgements above 0")
    return tuple(found)


def _judgements(file: Path) -> dict[str, dict[str, int]]:
    """Grades by query and record."""
    try:
        lines = file.read_bytes().decode("utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 (byte {error.start})") from error
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        parts = line.split("\t")
        if len(parts) != 3 or not re.fullmatch(r"-?\d+", parts[2].strip()):
            raise UsageError(f"{file} line {number} must be a query, a record and a grade, with tabs between")
        found.setdefault(parts[0], {})[parts[1]] = max(0, int(parts[2]))
    return found


def _lay_out(work: Path, documents: Mapping[str, bytes]) -> None:
    """Make the folder of documents hold exactly these."""
    state = hashlib.sha256()
    for name in sorted(documents):
        state.update(b"%s\0%d\0%s" % (name.encode(), len(documents[name]), documents[name]))
    marker, root = work / _MARKER, work / _DOCUMENTS
    try:
        if work.exists() and not marker.is_file() and any(work.iterdir()):
            raise UsageError(f"{work} has other things in it. Give --work a folder of its own.")
        if _state(marker) == state.hexdigest() and root.is_dir():
            return
        root.mkdir(parents=True, exist_ok=True)
        write_atomically(marker, _marker(""))
        for file in root.iterdir():
            if file.is_file() and file.name not in documents:
                file.unlink()
        for name, data in documents.items():
            file = root / name
            if not file.is_file() or file.read_bytes() != data:
                file.write_bytes(data)
        write_atomically(marker, _marker(state.hexdigest()))
    except OSError as error:
        raise StorageError(f"cannot write the records into {work}: {error.strerror or error}") from error


def _marker(state: str) -> bytes:
    return json.dumps({"version": 1, "documents": state}).encode()


def _state(marker: Path) -> str:
    """The digest of what was laid out last; "" where that is unknown or was not finished."""
    try:
        value = json.loads(marker.read_bytes())
    except (OSError, ValueError):
        return ""
    return str(value.get("documents", "")) if isinstance(value, dict) else ""
