"""`qa show`: the text at a location of the collection, and whether its file has changed since it was indexed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from corpus import INDEX_FOLDER, FileLines, LineMap, load
from corpus.errors import Unreadable, UsageError
from corpus.formats import HTML, PDF, page_label
from corpus.types import Document
from index import Index, StoredDocument, StoredPassage, open_index
from qa.answer.citation import state_without
from qa.answer.display import count
from qa.answer.results import State
from qa.places import Place, page_in_words, require_place

# Each line with its number in the file; None if the file has no lines or the line is blank.
Lines = tuple[tuple[int | None, str], ...]


@dataclass(frozen=True, slots=True)
class View:
    """Some lines of a document.

    `requested` is the requested range in `lines` (first, one past the last), None for a whole document; `state` is None
    if the file is not in the index; `stored` tells that the text is the index's copy, as the file no longer has it.
    """

    path: str
    lines: Lines
    requested: tuple[int, int] | None
    state: State | None
    stored: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the object that `qa show --json` prints."""
        first, end = self.requested or (0, len(self.lines))
        lines = [
            {"number": number, "text": text, "marked": first <= at < end}
            for at, (number, text) in enumerate(self.lines)
        ]
        return {"version": 1, "path": self.path, "state": self.state, "stored": self.stored, "lines": lines}


@dataclass(frozen=True, slots=True)
class ShowTarget:
    """Where another program should open a file: at a page of a PDF or a line of the text, 1-based."""

    file: Path
    page: int | None
    line: int | None
    state: State


def show(root: Path, location: str, *, context: int = 3, here: Path | None = None) -> View:
    """Return the lines at a location, and `context` lines before and after.

    A location is a passage id, `path`, `path:line`, `path:first-last`, `path#page=n`, `path#anchor`, or a citation,
    `path, p. n` or `path § heading`, also with headings after two spaces. The path is relative to `here`, the user's
    working directory if that exists, or to the root. A location outside of the collection is a UsageError.
    """
    with open_index(root / INDEX_FOLDER) as snapshot:
        return _view_at(root, snapshot, require_place(snapshot, root, location, here), context)


def show_indexed(root: Path, snapshot: Index, location: str, *, context: int = 3) -> View:
    """Return the lines at a location of an indexed file; any other file counts as missing."""
    return _view_at(root, snapshot, require_place(snapshot, root, location, None, indexed_only=True), context)


def _view_at(root: Path, snapshot: Index, place: Place, context: int) -> View:
    stored = snapshot.passages_of(place.path)
    if snapshot.folder is None:  # only the store is here
        return _stored_view(place, stored, State.UNCHECKED)
    try:
        document = load(root, place.path, formats=snapshot.info.formats)
    except Unreadable as error:
        if place.document is None:
            raise UsageError(f"{place.path}: {error.reason}.") from error
        return _stored_view(place, stored, state_without(place.path, error))
    state = _state_of(document, place.document)
    lines = _numbered_lines(document)
    if place.lines is not None:
        first, end = _requested_lines(document, place.lines)
    elif (span := _find_span(document, place, state)) is None:
        return _stored_view(place, stored, state) if place.passages else View(place.path, lines, None, state)
    else:
        first, last = LineMap(document.text).range_of(*span)
        first, end = first - 1, last
    begin = max(0, first - (0 if place.page else context))
    stop = end + (0 if place.page else context)
    return View(place.path, lines[begin:stop], (first - begin, end - begin), state)


def find_target(root: Path, location: str, *, here: Path | None = None) -> ShowTarget:
    """Return where a program should open the file of a location, as described for `show`.

    A file that is missing, unreadable or not indexed is a UsageError.
    """
    with open_index(root / INDEX_FOLDER) as snapshot:
        place, formats = require_place(snapshot, root, location, here), snapshot.info.formats
    try:
        document = load(root, place.path, formats=formats)
    except Unreadable as error:
        reason = "it no longer exists" if error.gone else error.reason
        raise UsageError(f"cannot open {place.path}: {reason}.") from error
    state = _state_of(document, place.document)
    if state is None:
        raise UsageError(f"cannot open {place.path}: it is not in the index.")
    page, lines = place.page, place.lines
    if lines is not None:
        _requested_lines(document, lines)
    elif place.passages:
        page = place.passages[0].page
        span = _find_span(document, place, state)
        lines = None if span is None else FileLines(document).range_of(*span)
    is_pdf = document.media_type == PDF.media_type
    line = lines[0] if lines else None
    return ShowTarget(Path(os.path.realpath(root), place.path), page if is_pdf else None, line, state)


def _state_of(document: Document, indexed: StoredDocument | None) -> State | None:
    if indexed is None:
        return None
    return State.VERIFIED if document.sha256 == indexed.sha256 else State.CHANGED


def _find_span(document: Document, place: Place, state: State | None) -> tuple[int, int] | None:
    """Return the span of a page or of passages; None for a whole document, or if a passage is no longer there."""
    if place.page is not None:
        return _page_span(document, place.page)
    if not place.passages:
        return None
    first, last = place.passages[0], place.passages[-1]
    if state is not State.CHANGED:
        return first.start, last.end
    at = document.text.find(first.text)
    return None if at < 0 else (at, at + len(first.text))


def _page_span(document: Document, page: int) -> tuple[int, int]:
    """Return the span of a page, without white space at its ends."""
    if not document.pages:
        notation = f"{document.path} § Heading" if document.file_lines is None else f"{document.path}:LINE"
        raise UsageError(f"{document.path} has no numbered parts: write {notation}, or a passage id.")
    span = document.page_span(page)
    if span is None and document.pages and page_label(document.path) == PDF.page:
        raise UsageError(f"{document.path} has {count(len(document.pages), 'page')}; there is no page {page:,}.")
    text = "" if span is None else document.text[slice(*span)]
    if span is None or not text.strip():
        raise UsageError(f"{document.path} has no text {page_in_words(document.path, page)}.")
    return span[0] + len(text) - len(text.lstrip()), span[0] + len(text.rstrip())


def _numbered_lines(document: Document) -> Lines:
    lines = document.text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    numbers = FileLines(document)
    if document.file_lines == ():
        return tuple(enumerate((line.removesuffix("\r") for line in lines), 1))
    spans = zip(lines, starts, strict=False)
    ranges = [(numbers.range_of(start, start) if line.strip() else None, line) for line, start in spans]
    return tuple((line_range[0] if line_range else None, line) for line_range, line in ranges)


def _requested_lines(document: Document, file_lines: tuple[int, int]) -> tuple[int, int]:
    """Return the range of lines in a document's text, (first, one past the last), for some lines of its file."""
    first, last = file_lines
    path = document.path
    if not first:
        raise UsageError("there is no line 0; lines count from 1.")
    if first > last:
        raise UsageError(f"{first}-{last} is not a range of lines: write the lower number first.")
    if document.file_lines is None:
        notation = f"{path}, {page_label(path)} {first}" if document.pages else f"{path} § Heading"
        raise UsageError(f"{path} has no numbered lines: write {notation}, or a passage id.")
    total = len(LineMap(document.text))
    if document.file_lines == ():
        if first > total:
            raise UsageError(f"{path} has {total:,} lines; there is no line {first:,}.")
        return first - 1, min(last, total)
    lines, numbers = LineMap(document.text), FileLines(document)
    ranges = [numbers.range_of(*span) if span[0] < span[1] else None for span in map(lines.span, range(1, total + 1))]
    positions = [at for at, lines_at in enumerate(ranges) if lines_at and lines_at[0] <= last and first <= lines_at[1]]
    if not positions:
        raise UsageError(f"{path} has no text on line {first:,}.")
    return positions[0], positions[-1] + 1


def _stored_view(place: Place, stored: Sequence[StoredPassage], state: State | None) -> View:
    """Return the index's copy of a location that the file no longer has."""
    first, last = place.lines or (0, sys.maxsize)
    chosen = place.passages or tuple(stored)
    if place.page is not None:
        chosen = tuple(passage for passage in stored if passage.page == place.page)
        if not chosen:
            raise UsageError(f"{place.path} has no text {page_in_words(place.path, place.page)}.")
    numbered: dict[int, str] = {}
    lines: list[tuple[int | None, str]] = []
    end = 0
    for passage in chosen:
        texts = [line.removesuffix("\r") for line in passage.text.split("\n")]
        if passage.lines is None or passage.document.media_type == HTML.media_type:
            within = place.lines is None or (passage.lines and passage.lines[0] <= last and first <= passage.lines[1])
            lines += [(None, line) for line in texts if within]
            continue
        for number, line in enumerate(texts, passage.lines[0]):
            if first <= number <= last:
                # A long line may be in several passages, with white space in between.
                earlier = numbered[number] + " " * (passage.start - end) if number in numbered else ""
                numbered[number] = earlier + line
        end = passage.end
    shown = (*lines, *sorted(numbered.items()))
    if place.lines is not None and not shown:
        raise UsageError(f"{place.path} cannot be read, and these lines are not in the index.")
    is_whole = place.lines is None and place.page is None and not place.passages
    return View(place.path, shown, None if is_whole else (0, len(shown)), state, stored=True)
