"""`qa show`: the text of a place in the collection, and whether its file still is what was indexed."""

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


@dataclass(frozen=True, slots=True)
class View:
    """Some lines of a document.

    Attributes:
        path: Relative to the corpus root, with forward slashes.
        lines: Number (1-based) and text of each line, in order.
        marked: First and last line of the place, or None where the whole document was asked for.
        state: What comparing the file with the index showed; None where the file is not in the index.
        stored: Whether the text is what the index keeps, because the file no longer has it.
    """

    path: str
    lines: tuple[tuple[int, str], ...]
    marked: tuple[int, int] | None
    state: State | None
    stored: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """What the user means: a document, and some lines, a page or a passage of it."""

    path: str
    document: StoredDocument | None
    lines: tuple[int, int] | None = None
    page: int | None = None
    passage: StoredPassage | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in a file another program should begin.

    Attributes:
        file: Absolute.
        page: Of a PDF, 1-based, if one is meant.
        line: Of a text file, 1-based, if one is meant.
        state: Whether the file still is what was indexed.
    """

    file: Path
    page: int | None
    line: int | None
    state: State


def show(root: Path, place: str, *, context: int = 3, here: Path | None = None) -> View:
    """Look a place up.

    Args:
        root: The corpus root.
        place: A passage's id, `path`, `path:line`, `path:first-last`, `path#page=n` or as it is
            cited, `path, p. n`; the path is relative to `here` or to the root.
        context: Lines to give before and after the place.
        here: The user's working directory, if there is one.

    Raises:
        UsageError: There is no such place in the collection.
    """
    with Snapshot(root / INDEX_FOLDER) as snapshot:
        found = _find(snapshot, root, place, here)
        kept = snapshot.passages_of(found.path)
    return _view(root, found, kept, context)


def spot(root: Path, place: str, *, here: Path | None = None) -> Spot:
    """Look up where a place is, for a program that opens the file; as `show`.

    Raises:
        UsageError: There is no such place, its file is gone or cannot be read now, or it was never indexed.
    """
    with Snapshot(root / INDEX_FOLDER) as snapshot:
        found = _find(snapshot, root, place, here)
    try:
        document = load(root, found.path)
    except Unreadable as error:
        reason = "the file is gone" if error.gone else error.reason
        raise UsageError(f"{found.path} cannot be opened: {reason}") from error
    if found.document is None:
        raise UsageError(f"{found.path} is not in the index, so it is not opened")
    page, line = found.page, _first_line(found, document)
    if page is None and line is not None:
        page = document.page_of(LineMap(document.text).span(line)[0])
    return Spot(
        Path(os.path.realpath(root), found.path),
        page if document.media_type == PDF.media_type else None,
        line,
        _compare(document.sha256, found.document.sha256),
    )


def _first_line(found: _Place, document: Document) -> int | None:
    """The line that a place begins with, as the file is now."""
    if found.passage is not None and document.sha256 != found.passage.document.sha256:
        at = document.text.find(found.passage.text)
        return None if at < 0 else document.text.count("\n", 0, at) + 1
    if found.lines is None:
        return None
    _require_lines(found.path, found.lines, len(_lines_of(document.text)))
    return found.lines[0]


def _find(snapshot: Snapshot, root: Path, place: str, here: Path | None) -> _Place:
    if _KEY.fullmatch(place):
        passage = snapshot.find(place)
        if passage is not None:
            return _Place(passage.document.path, passage.document, passage.lines, passage.page, passage)
    documents = {document.path: document for document in snapshot.documents()}
    for path, lines, page in chain.from_iterable(map(_readings, _spellings(place))):
        for inside in _inside(root, path, here):
            document = documents.get(inside)
            if document is not None or _is_file(root, inside):
                return _Place(inside, document, lines, page)
    raise UsageError(
        f"{place} is not in the collection {root}. Give a path, path:line, path:first-last or a passage's id."
    )


def _is_file(root: Path, path: str) -> bool:
    try:
        return (root / to_os_name(path)).is_file()
    except (OSError, UnicodeEncodeError):  # a name that no file system has, such as one of 5,000 characters
        return False


def _spellings(place: str) -> dict[str, None]:
    """The text as it was given, and, where the locale has another encoding than names have, as a name."""
    found = {place: None}
    with suppress(UnicodeEncodeError):
        found[from_os_name(place)] = None
    return found


def _readings(place: str) -> Iterator[tuple[str, tuple[int, int] | None, int | None]]:
    """What a text may mean, likeliest first: a name may itself end like a line number."""
    yield place, None, None
    if found := _LINES.fullmatch(place):
        first = int(found["first"])
        yield found["path"], (first, int(found["last"] or first)), None
    if found := _PAGE.fullmatch(place):
        yield found["path"], None, int(found["page"])


def _inside(root: Path, path: str, here: Path | None) -> Iterator[str]:
    """Paths below the root that a path may mean: from here, as shells read it, then from the root."""
    base = os.path.realpath(root)
    for start in (here, root):
        if start is None or "\0" in path:
            continue
        try:
            full = os.path.normpath(Path(os.path.realpath(start), to_os_name(path)))
            inside = Path(full).relative_to(base)
        except ValueError:
            continue
        if inside.parts:
            yield from_os_name(inside.as_posix())


def _view(root: Path, place: _Place, kept: Sequence[StoredPassage], context: int) -> View:
    try:
        document = load(root, place.path)
    except Unreadable as error:
        if place.document is None:
            raise UsageError(f"{place.path}: {error.reason}") from error
        return _from_index(place, kept, State.MISSING if error.gone else State.CHANGED)
    state = None if place.document is None else _compare(document.sha256, place.document.sha256)
    lines = _lines_of(document.text)
    if place.passage is not None and state is State.CHANGED:
        at = document.text.find(place.passage.text)
        if at < 0:
            return _from_index(place, kept, state)
        first = document.text.count("\n", 0, at) + 1
        marked: tuple[int, int] | None = (first, first + place.passage.lines[1] - place.passage.lines[0])
    else:
        marked = place.lines if place.page is None or place.lines else _lines_of_page(document, place.page)
    if marked is None:
        return View(place.path, lines, None, state)
    if place.page is not None and not place.lines:
        context = 0
    _require_lines(place.path, marked, len(lines))
    shown = lines[max(0, marked[0] - 1 - context) : marked[1] + context]
    return View(place.path, shown, marked, state)


def _compare(now: str, indexed: str) -> State:
    return State.VERIFIED if now == indexed else State.CHANGED


def _lines_of(text: str) -> tuple[tuple[int, str], ...]:
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return tuple(enumerate((line.removesuffix("\r") for line in lines), 1))


def _lines_of_page(document: Document, page: int) -> tuple[int, int]:
    """First and last line of a page's text, blank ones at its edges left out."""
    span = document.page_span(page)
    text = "" if span is None else document.text[slice(*span)]
    if span is None or not text.strip():
        raise UsageError(f"{document.path} has no text on page {page}")
    start = span[0] + len(text) - len(text.lstrip())
    return LineMap(document.text).range_of(start, span[0] + len(text.rstrip()))


def _lines_on_page(place: _Place, kept: Sequence[StoredPassage]) -> tuple[int, int]:
    found = [passage.lines for passage in kept if passage.page == place.page]
    if not found:
        raise UsageError(f"{place.path} has no text on page {place.page}")
    return min(first for first, _ in found), max(last for _, last in found)


def _require_lines(path: str, marked: tuple[int, int], count: int) -> None:
    first, last = marked
    if not 1 <= first <= last:
        raise UsageError(f"lines {first}-{last} cannot be: lines count from 1, and the first comes first")
    if first > count:
        raise UsageError(f"{path} has {count:,} lines; there is no line {first:,}")


def _from_index(place: _Place, kept: Sequence[StoredPassage], state: State) -> View:
    """What the index keeps of a place that the file no longer has."""
    passages = [place.passage] if place.passage is not None else kept
    found: dict[int, str] = {}
    for passage in passages:
        for number, line in enumerate(passage.text.split("\n"), passage.lines[0]):
            found.setdefault(number, line.removesuffix("\r"))
    marked = place.lines if place.page is None or place.lines else _lines_on_page(place, kept)
    lines = sorted(found.items())
    if marked is not None:
        lines = [(number, line) for number, line in lines if marked[0] <= number <= marked[1]]
        if not lines:
            raise UsageError(f"the file {place.path} cannot be read now, and the index keeps nothing of these lines")
    return View(place.path, tuple(lines), marked, state, stored=True)
