"""`qa show`: the text at a location of the collection, and whether its file is still what was indexed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from corpus import INDEX_FOLDER, LineMap, from_os_name, load, to_os_name
from corpus.errors import Unreadable, UsageError
from corpus.formats import PDF
from corpus.types import Document
from index import Snapshot, StoredDocument, StoredPassage
from qa.answer.results import State

_KEY = re.compile(r"[0-9a-f]{16}")
_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)
_PAGE = re.compile(
    r"(?P<path>.+?)(?:#page=|, (?:p\.|slide|sheet|cell|row|record|message) )(?P<page>\d{1,9})", re.DOTALL
)

Lines = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class View:
    """Some lines of a document, each with its number, from 1.

    `marked` are the first and last line asked for, None for all; `state` is None if the file is not in the index;
    `stored` text is the index's copy, because the file no longer has it.
    """

    path: str
    lines: Lines
    marked: tuple[int, int] | None
    state: State | None
    stored: bool = False


@dataclass(frozen=True, slots=True)
class ShowTarget:
    """Where another program should open a file: at a page of a PDF or a line of the text, 1-based."""

    file: Path
    page: int | None
    line: int | None
    state: State


@dataclass(frozen=True, slots=True)
class _ShowRequest:
    """What the user asked for: a document, or some lines, a page or a passage of it."""

    path: str
    document: StoredDocument | None
    lines: tuple[int, int] | None = None
    page: int | None = None
    passage: StoredPassage | None = None


def show(root: Path, location: str, *, context: int = 3, here: Path | None = None) -> View:
    """Return the lines at a location, and `context` lines before and after.

    A location is a passage id, `path`, `path:line`, `path:first-last`, `path#page=n`, or as cited, `path, p. n`; the
    path is relative to `here`, the user's working directory if that exists, or to the root. One that is not in the
    collection is a UsageError.
    """
    with Snapshot(root / INDEX_FOLDER) as snapshot:
        request, formats = _resolve(snapshot, root, location, here), snapshot.info.formats
        stored = snapshot.passages_of(request.path)
    try:
        document = load(root, request.path, formats=formats)
    except Unreadable as error:
        if request.document is None:
            raise UsageError(f"{request.path}: {error.reason}") from error
        return _stored_view(request, stored, State.MISSING if error.gone else State.CHANGED)
    state = _compare(document, request.document)
    if request.passage is not None and state is State.CHANGED:
        first = _line_of(document, request.passage)
        if first is None:
            return _stored_view(request, stored, state)
        marked: tuple[int, int] | None = (first, first + request.passage.lines[1] - request.passage.lines[0])
    elif request.page is not None and request.lines is None:
        marked, context = _lines_of_page(document, request.page), 0
    else:
        marked = request.lines
    lines = _numbered(document.text)
    if marked is None:
        return View(request.path, lines, None, state)
    _require_lines(request.path, marked, len(lines))
    return View(request.path, lines[max(0, marked[0] - 1 - context) : marked[1] + context], marked, state)


def find_target(root: Path, location: str, *, here: Path | None = None) -> ShowTarget:
    """Return where a program should open the file of a location, which is given as for `show`.

    A file that is missing, unreadable or not indexed is a UsageError.
    """
    with Snapshot(root / INDEX_FOLDER) as snapshot:
        request, formats = _resolve(snapshot, root, location, here), snapshot.info.formats
    try:
        document = load(root, request.path, formats=formats)
    except Unreadable as error:
        reason = "it no longer exists" if error.gone else error.reason
        raise UsageError(f"cannot open {request.path}: {reason}") from error
    state = _compare(document, request.document)
    if state is None:
        raise UsageError(f"cannot open {request.path}: it is not in the index")
    page, line = request.page, request.lines[0] if request.lines else None
    if request.passage is not None and state is State.CHANGED:
        line = _line_of(document, request.passage)
    elif request.lines:
        _require_lines(request.path, request.lines, len(_numbered(document.text)))
    if page is None and line is not None:
        page = document.page_of(LineMap(document.text).span(line)[0])
    is_pdf = document.media_type == PDF.media_type
    return ShowTarget(Path(os.path.realpath(root), request.path), page if is_pdf else None, line, state)


def _resolve(snapshot: Snapshot, root: Path, location: str, here: Path | None) -> _ShowRequest:
    if _KEY.fullmatch(location):
        passage = snapshot.find(location)
        if passage is not None:
            return _ShowRequest(passage.document.path, passage.document, passage.lines, passage.page, passage)
    documents = {document.path: document for document in snapshot.documents()}
    spellings = {location: None}
    with suppress(UnicodeEncodeError):  # as a file name where the locale's encoding is not that of names
        spellings[from_os_name(location)] = None
    for path, lines, page in chain.from_iterable(map(_parse, spellings)):
        for candidate in _candidates(root, path, here):
            document = documents.get(candidate)
            with suppress(OSError, UnicodeEncodeError):  # not a possible name, such as one of 5,000 characters
                if document is not None or (root / to_os_name(candidate)).is_file():
                    return _ShowRequest(candidate, document, lines, page)
    raise UsageError(
        f"{location} is not in the collection {root}. Give a path, path:line, path:first-last or a passage id."
    )


def _parse(location: str) -> Iterator[tuple[str, tuple[int, int] | None, int | None]]:
    """What a text may mean, likeliest first: a name may itself end like a line number."""
    yield location, None, None
    if found := _LINES.fullmatch(location):
        first = int(found["first"])
        yield found["path"], (first, int(found["last"] or first)), None
    if found := _PAGE.fullmatch(location):
        yield found["path"], None, int(found["page"])


def _candidates(root: Path, path: str, here: Path | None) -> Iterator[str]:
    """Paths in the collection that a path may mean: relative to here, as in a shell, then to the root."""
    base = os.path.realpath(root)
    for start in (here, root):
        if start is None or "\0" in path:
            continue
        full = os.path.normpath(Path(os.path.realpath(start), to_os_name(path)))
        with suppress(ValueError):  # outside the collection
            relative = Path(full).relative_to(base)
            if relative.parts:
                yield from_os_name(relative.as_posix())


def _compare(document: Document, indexed: StoredDocument | None) -> State | None:
    if indexed is None:
        return None
    return State.VERIFIED if document.sha256 == indexed.sha256 else State.CHANGED


def _line_of(document: Document, passage: StoredPassage) -> int | None:
    """The line where a changed file has a passage now, or None."""
    at = document.text.find(passage.text)
    return None if at < 0 else document.text.count("\n", 0, at) + 1


def _numbered(text: str) -> Lines:
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return tuple(enumerate((line.removesuffix("\r") for line in lines), 1))


def _lines_of_page(document: Document, page: int) -> tuple[int, int]:
    """First and last line of a page's text, without blank ones at its edges."""
    span = document.page_span(page)
    text = "" if span is None else document.text[slice(*span)]
    if span is None or not text.strip():
        raise UsageError(f"{document.path} has no text on page {page}")
    start = span[0] + len(text) - len(text.lstrip())
    return LineMap(document.text).range_of(start, span[0] + len(text.rstrip()))


def _require_lines(path: str, marked: tuple[int, int], count: int) -> None:
    first, last = marked
    if not 1 <= first <= last:
        raise UsageError(f"there are no lines {first}-{last}: lines count from 1, and the first comes first")
    if first > count:
        raise UsageError(f"{path} has {count:,} lines; there is no line {first:,}")


def _stored_view(request: _ShowRequest, stored: Sequence[StoredPassage], state: State) -> View:
    """What the index has of a location that the file no longer has."""
    text: dict[int, str] = {}
    end = 0
    for passage in [request.passage] if request.passage is not None else stored:
        for number, line in enumerate(passage.text.split("\n"), passage.lines[0]):
            # A long line may be in several passages, with white space in between.
            before = text[number] + " " * (passage.start - end) if number in text else ""
            text[number] = before + line.removesuffix("\r")
        end = passage.end
    marked = request.lines
    if marked is None and request.page is not None:
        spans = [passage.lines for passage in stored if passage.page == request.page]
        if not spans:
            raise UsageError(f"{request.path} has no text on page {request.page}")
        marked = min(first for first, _ in spans), max(last for _, last in spans)
    first, last = marked or (1, max(text, default=0))
    lines = tuple((number, line) for number, line in sorted(text.items()) if first <= number <= last)
    if marked is not None and not lines:
        raise UsageError(f"{request.path} cannot be read, and the index has no text of these lines")
    return View(request.path, lines, marked, state, stored=True)
