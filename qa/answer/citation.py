"""Cite passages, check each citation against the current file, and find its boxes on the pages of a PDF."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from corpus import digest, read_file, to_os_name
from corpus.errors import Unreadable
from corpus.formats import PDF
from index import Index, StoredDocument, StoredPassage
from qa.answer.extract import Extract
from qa.answer.results import Hit, Location, Result, Source, State

if TYPE_CHECKING:
    from corpus import Sandbox

_log = logging.getLogger(__name__)


def cited(
    root: Path,
    snapshot: Index,
    ranked: Sequence[tuple[StoredPassage, float]],
    extracts: Mapping[int, Extract],
) -> tuple[Hit, ...]:
    """Turn ranked passages into hits, reading each file once to check it.

    Args:
        root: The corpus root; any folder if the files are not here.
        snapshot: The passages' generation.
        ranked: Passages with their scores, best first.
        extracts: The answering sentences, by row number of their passage.
    """
    duplicates = snapshot.duplicates([passage for passage, _ in ranked])
    states = file_states(root, snapshot, [passage.document for passage, _ in ranked])
    return tuple(
        Hit(
            rank=rank,
            id=passage.key,
            score=score,
            text=passage.text,
            title=passage.title,
            heading=passage.heading,
            source=Source(
                path=passage.document.path,
                media_type=passage.document.media_type,
                chars=(passage.start, passage.end),
                lines=passage.lines,
                page=passage.page,
                anchor=passage.anchor,
                sha256=passage.document.sha256,
                state=states[passage.document.path],
                outdated=passage.document.outdated,
            ),
            highlights=extracts.get(passage.id, Extract()).highlights,
            also_in=tuple(
                Location(duplicate.document.path, (duplicate.start, duplicate.end), duplicate.lines, duplicate.page)
                for duplicate in duplicates[passage.id]
                # Even identical front matter describes only its own note.
                if not passage.is_front_matter and _may_be_cited(root, snapshot, duplicate.document)
            ),
        )
        for rank, (passage, score) in enumerate(ranked, start=1)
    )


def state_without(path: str, error: Unreadable) -> State:
    """Return the state of a file that cannot be read, with a warning if the system refuses to read it."""
    if error.unknown:
        _log.warning("%s: %s. Make it readable to have it checked.", path, error.reason)
        return State.UNCHECKED
    return State.MISSING if error.gone else State.CHANGED


def file_state(root: Path, path: str, sha256: str) -> State:
    """Read a file again and compare its bytes with those that were indexed."""
    try:
        data = read_file(root, path)
    except Unreadable as error:
        return state_without(path, error)
    return State.VERIFIED if digest(data) == sha256 else State.CHANGED


def file_states(root: Path, snapshot: Index, documents: Iterable[StoredDocument]) -> dict[str, State]:
    """Return the state of each document's file, by path; each file is read once."""
    files = {document.path: document.sha256 for document in documents}
    if snapshot.folder is None:  # the files are on another machine
        return dict.fromkeys(files, State.UNCHECKED)
    return {path: file_state(root, path, sha256) for path, sha256 in sorted(files.items())}


def _may_be_cited(root: Path, snapshot: Index, document: StoredDocument) -> bool:
    """Whether a file is on another machine, or as it was indexed, by its size and time or else by its bytes."""
    if snapshot.folder is None:
        return True
    with contextlib.suppress(OSError):
        stat = Path(root, to_os_name(document.path)).stat()
        if (stat.st_size, stat.st_mtime_ns) == (document.size, document.mtime_ns):
            return True
    return file_state(root, document.path, document.sha256) is State.VERIFIED


class BoxFinder(ExitStack):
    """Reads cited PDF pages again. Use it as a context manager; it costs nothing until a PDF is cited."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root
        self._sandbox: Sandbox | None = None
        self._starting = Lock()

    def fill(self, result: Result) -> Result:
        """Return the result with boxes for the highlights in PDF files, if they can be found."""
        return replace(result, passages=tuple(self._filled(result.passages)))

    def _filled(self, hits: tuple[Hit, ...]) -> Iterator[Hit]:
        for hit in hits:
            source = hit.source
            is_verified_pdf = source.media_type == PDF.media_type and source.state is State.VERIFIED
            if not is_verified_pdf or source.page is None or not hit.highlights:
                yield hit
                continue
            sentences = [(source.page, mark.text) for mark in hit.highlights]
            boxes_by_sentence: list[tuple[tuple[int, float, float, float, float], ...]] = [()] * len(sentences)
            # The file may have changed since it was verified, and a sentence that cannot be drawn still answers.
            with contextlib.suppress(Unreadable):
                data = read_file(self._root, source.path)
                if digest(data) == source.sha256:
                    boxes_by_sentence = self.sandbox.boxes(data, sentences)
            marks = (replace(mark, boxes=boxes) for mark, boxes in zip(hit.highlights, boxes_by_sentence, strict=True))
            yield replace(hit, highlights=tuple(marks))

    @property
    def sandbox(self) -> Sandbox:
        """The reader process, started when it is first needed."""
        with self._starting:
            if self._sandbox is None:
                from corpus import Sandbox  # noqa: PLC0415 - most answers cite text

                self._sandbox = self.enter_context(Sandbox())
            return self._sandbox
