"""What a place of the collection means: `notes.md:9-14`, `paper.pdf, p. 3`, a passage id, or a path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path, PurePosixPath

from corpus import from_os_name, to_os_name
from corpus.errors import UsageError
from corpus.formats import SUFFIXES
from index import Index, StoredDocument, StoredPassage
from qa.locate import near_paths

_KEY = re.compile(r"[0-9a-f]{16}")
_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)
_PAGE = re.compile(
    r"(?P<path>.+?)(?:#page=|, (?:p\.|slide|sheet|cell|row|record|message) )(?P<page>\d{1,9})", re.DOTALL
)
_SECTION = re.compile(r"(?P<path>.+?) § (?P<heading>.+)|(?P<file>[^#]+)#(?P<anchor>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """A document, or some lines, a page or passages of it; `document` is None where the index does not have it."""

    path: str
    document: StoredDocument | None
    lines: tuple[int, int] | None = None
    page: int | None = None
    passages: tuple[StoredPassage, ...] = ()


def required_place(
    snapshot: Index, root: Path, location: str, here: Path | None, *, indexed_only: bool = False
) -> Place:
    """Return what a location means, as `find_place`; one that is not in the collection is a UsageError."""
    found = find_place(snapshot, root, location, here, indexed_only=indexed_only)
    if found is None:
        near = near_paths(re.split("[:#,]", location)[0], (document.path for document in snapshot.documents()))
        how = near or " Give a path, path:line, path:first-last or a passage id."
        raise UsageError(f"{location} is not in the collection {root}.{how}")
    return found


def find_place(
    snapshot: Index, root: Path, location: str, here: Path | None, *, indexed_only: bool = False
) -> Place | None:
    """Return what a location means, or None; its path is relative to `here`, if that exists, or to the root.

    With `indexed_only` other files are as if they did not exist.
    """
    if _KEY.fullmatch(location):
        passage = snapshot.find(location)
        if passage is not None:
            return Place(passage.document.path, passage.document, passages=(passage,))
    spellings = {location: None}
    with suppress(UnicodeEncodeError):  # as a file name where the locale's encoding is not that of names
        spellings[from_os_name(location)] = None
    for path, lines, page, section in chain.from_iterable(map(_parse, spellings)):
        for candidate in candidates(root, path, here):
            document = snapshot.document(candidate)
            with suppress(OSError, UnicodeEncodeError):  # not a possible name, such as one of 5,000 characters
                if document is not None or (not indexed_only and (root / to_os_name(candidate)).is_file()):
                    passages = _in_section(snapshot, candidate, section) if section else ()
                    return Place(candidate, document, lines, page, passages)
    return None


def looks_like_path(text: str) -> bool:
    """Return whether a text is a path, with or without a line or a page, rather than words."""
    return any(
        bool(suffix := PurePosixPath(path).suffix.lower()) and suffix in SUFFIXES and not re.search(r"\s", path)
        for path, *_ in _parse(text)
    )


def _parse(location: str) -> Iterator[tuple[str, tuple[int, int] | None, int | None, str]]:
    """What a text may mean, likeliest first: a name may itself end like a line number."""
    yield location, None, None, ""
    if found := _LINES.fullmatch(location):
        first = int(found["first"])
        yield found["path"], (first, int(found["last"] or first)), None, ""
    if found := _PAGE.fullmatch(location):
        yield found["path"], None, int(found["page"]), ""
    if found := _SECTION.fullmatch(location):
        yield found["path"] or found["file"], None, None, found["heading"] or f"#{found['anchor']}"


def _in_section(snapshot: Index, path: str, section: str) -> tuple[StoredPassage, ...]:
    """The passages with a heading path or an `#anchor`, up to the first that has another."""
    wanted = tuple(re.split(r" [›>] ", section))

    def is_there(passage: StoredPassage) -> bool:
        if section.startswith("#"):
            return passage.anchor == section[1:]
        return passage.heading[-len(wanted) :] == wanted

    stored = snapshot.passages_of(path)
    first = next((i for i, passage in enumerate(stored) if is_there(passage)), None)
    if first is None:
        raise UsageError(f"{path} has no passage at {section}")
    return tuple(takewhile(is_there, stored[first:]))


def candidates(root: Path, path: str, here: Path | None) -> Iterator[str]:
    """Yield the paths in the collection that a path may mean: relative to here, as in a shell, then to the root."""
    base = os.path.realpath(root)
    for start in (here, root):
        if start is None or "\0" in path:
            continue
        full = os.path.normpath(Path(os.path.realpath(start), to_os_name(path)))
        with suppress(ValueError):  # outside the collection
            relative = Path(full).relative_to(base)
            if relative.parts:
                yield from_os_name(relative.as_posix())
