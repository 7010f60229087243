"""Check a citation against the file it cites, as the file is now."""

from __future__ import annotations

from pathlib import Path

from corpus import digest, read_file
from corpus.errors import Unreadable
from index import StoredPassage
from qa.answer.results import Place, Source, State


def file_state(root: Path, path: str, sha256: str) -> State:
    """Re-read a file and compare its bytes with those that were indexed."""
    try:
        data = read_file(root, path)
    except Unreadable as error:
        return State.MISSING if error.gone else State.CHANGED
    return State.VERIFIED if digest(data) == sha256 else State.CHANGED


def source_of(passage: StoredPassage, state: State) -> Source:
    """Where a passage stands, with what re-reading its file showed."""
    return Source(
        path=passage.document.path,
        media_type=passage.document.media_type,
        chars=(passage.start, passage.end),
        lines=passage.lines,
        page=passage.page,
        sha256=passage.document.sha256,
        state=state,
    )


def place_of(passage: StoredPassage) -> Place:
    """Where a passage stands besides."""
    return Place(passage.document.path, (passage.start, passage.end), passage.lines, passage.page)
