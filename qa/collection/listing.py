"""`qa ls`: the indexed files."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from corpus import INDEX_FOLDER
from corpus.errors import CorpusError
from index import Scope, find_changes, open_index
from qa.filters import EVERYTHING, Filter, select


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of the index; its state is "unchanged", "changed", "missing" or "unknown"."""

    path: str
    title: str
    media_type: str
    documents: int
    passages: int
    bytes: int
    state: str


def listing(root: Path, only: Filter = EVERYTHING) -> tuple[ListedFile, ...]:
    """Return the indexed files that pass a filter, in order of path; a UsageError if none does."""
    with open_index(root / INDEX_FOLDER) as snapshot:
        documents = {document.path: document for document in snapshot.documents()}
        matching = select(snapshot, only)
        states = dict.fromkeys(documents, "unknown")
        with suppress(CorpusError):
            diff = find_changes(root, snapshot)
            states.update(dict.fromkeys((file.path for file in diff.unchanged), "unchanged"))
            states.update(dict.fromkeys(diff.removed, "missing"))
            states.update(dict.fromkeys((file.path for file in diff.suspect), "changed"))
    return tuple(
        ListedFile(path, file.title, file.media_type, file.records or 1, file.passages, file.size, states[path])
        for path, file in sorted(documents.items())
        if matching is None or file.id in (matching.documents if isinstance(matching, Scope) else matching)
    )
