"""Cite passages, and check each citation against its file as it is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from corpus import digest, read_file
from corpus.errors import Unreadable
from index import Snapshot, StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Hit, Location, Source, State


def cited(
    root: Path,
    snapshot: Snapshot,
    passages: Sequence[StoredPassage],
    scores: Sequence[float],
    extracts: Mapping[int, Extract],
) -> tuple[Hit, ...]:
    """Passages as hits, each file read again once.

    Args:
        root: The corpus root.
        snapshot: The passages' generation.
        passages: Best first.
        scores: Theirs.
        extracts: The answering sentences, by the row number of their passage.
    """
    duplicates = snapshot.duplicates(passages)
    files = {(passage.document.path, passage.document.sha256) for passage in passages}
    states = {path: file_state(root, path, sha256) for path, sha256 in sorted(files)}
    return tuple(
        Hit(
            rank=rank,
            id=passage.key,
            score=score,
            text=passage.text,
            title=passage.title,
            heading=passage.heading,
            source=source_of(passage, states[passage.document.path]),
            highlights=extracts.get(passage.id, Extract()).highlights,
            also_in=tuple(location_of(other) for other in duplicates[passage.id]),
        )
        for rank, (passage, score) in enumerate(zip(passages, scores, strict=True), start=1)
    )


def file_state(root: Path, path: str, sha256: str) -> State:
    """Read a file again and compare its bytes with those that were indexed."""
    try:
        data = read_file(root, path)
    except Unreadable as error:
        return State.MISSING if error.gone else State.CHANGED
    return State.VERIFIED if digest(data) == sha256 else State.CHANGED


def source_of(passage: StoredPassage, state: State) -> Source:
    """Where a passage is, and the state of its file."""
    return Source(
        path=passage.document.path,
        media_type=passage.document.media_type,
        chars=(passage.start, passage.end),
        lines=passage.lines,
        page=passage.page,
        sha256=passage.document.sha256,
        state=state,
    )


def location_of(passage: StoredPassage) -> Location:
    """Where a duplicate is."""
    return Location(passage.document.path, (passage.start, passage.end), passage.lines, passage.page)
