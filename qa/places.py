"""Resolve a place in the collection: `notes.md:9-14`, `paper.pdf, p. 3`, a passage id, or a path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice, takewhile
from pathlib import Path, PurePosixPath

from corpus import from_os_name, to_os_name
from corpus.errors import UsageError
from corpus.formats import SUFFIXES, page_label
from index import Index, StoredDocument, StoredPassage
from qa.locate import suggest_paths

_KEY = re.compile(r"[0-9a-f]{16}")
_LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?", re.DOTALL)
_PAGE = re.compile(
    r"(?P<path>.+?)(?:#page=|, (?P<label>p\.|page|slide|sheet|cell|row|record|message) )(?P<page>\d{1,9})", re.DOTALL
)
# Characters that the terminal shows escaped.
_ESCAPED = re.compile(r"\\(?:[ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5}|U0010[0-9a-f]{4})")
_ANCHOR = re.compile(r"(?P<path>[^#]+)#(?P<anchor>.+)", re.DOTALL)
# Separates a path from headings: in a citation, in the output of `qa ask`, and after a sheet.
_BEFORE_HEADINGS = re.compile(r" § | {2,}| › ")
# How many separators are tried, as a file name may contain some itself.
_MAX_SEPARATORS = 8
# How many headings an error message lists.
_MAX_HEADINGS = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or some of its lines, a page or passages; `document` is None if it is not indexed."""

    path: str
    document: StoredDocument | None
    lines: tuple[int, int] | None = None
    page: int | None = None
    passages: tuple[StoredPassage, ...] = ()


def require_place(
    snapshot: Index, root: Path, location: str, here: Path | None, *, indexed_only: bool = False
) -> Place:
    """Resolve a location as `find_place` does; one that is not in the collection is a UsageError."""
    place = find_place(snapshot, root, location, here, indexed_only=indexed_only)
    if place is None:
        near = suggest_paths(re.split("[:#,]", location)[0], (document.path for document in snapshot.documents()))
        hint = near or " Give a path, path:line, path:first-last or a passage id."
        raise UsageError(f"{location} is not in the collection {root}.{hint}")
    return place


def find_place(
    snapshot: Index, root: Path, location: str, here: Path | None, *, indexed_only: bool = False
) -> Place | None:
    """Resolve a location, or return None; its path is relative to `here`, if that exists, or to the root.

    With `indexed_only`, files that are not indexed are ignored.
    """
    if _KEY.fullmatch(location):
        passage = snapshot.find(location)
        if passage is not None:
            return Place(passage.document.path, passage.document, passages=(passage,))
    spellings = {location: None}
    with suppress(UnicodeEncodeError):  # the same name where the locale's encoding is not that of file names
        spellings[from_os_name(location)] = None
    if "\\" in location:  # as names are printed
        spellings[_ESCAPED.sub(lambda match: match[0].encode().decode("unicode_escape"), location)] = None
    for path, lines, page, section in chain.from_iterable(map(_parse, spellings)):
        for candidate in candidate_paths(root, path, here):
            # Only files with names in UTF-8 are indexed.
            document = snapshot.document(candidate) if _is_unicode(candidate) else None
            with suppress(OSError, UnicodeEncodeError):  # not a valid name, such as one of 5,000 characters
                if document is not None or (not indexed_only and (root / to_os_name(candidate)).is_file()):
                    passages = _section_passages(snapshot, candidate, section, page) if section else ()
                    return Place(candidate, document, lines, None if passages else page, passages)
    return None


def page_in_words(path: str, page: int) -> str:
    """Return a page or other numbered part of a file in words: "on page 3", "in message 3"."""
    label = page_label(path)
    return f"on page {page}" if label == "p." else f"in {label} {page}"


def looks_like_path(text: str) -> bool:
    """Return whether a text looks like a path, with or without a line or a page, rather than words."""
    return any(
        bool(suffix := PurePosixPath(path).suffix.lower()) and suffix in SUFFIXES and not re.search(r"\s", path)
        for path, *_ in _parse(text)
    )


def _parse(location: str) -> Iterator[tuple[str, tuple[int, int] | None, int | None, str]]:
    """Yield possible meanings, likeliest first: a file name may itself end in a line number or contain a separator."""
    yield from _parse_without_headings(location)
    for separator in islice(_BEFORE_HEADINGS.finditer(location), _MAX_SEPARATORS):
        for path, lines, page, _ in _parse_without_headings(location[: separator.start()]):
            # Headings after a line or page add nothing, but those after a sheet do.
            is_exact = lines or (page and page_label(path) != "sheet")
            yield path, lines, page, "" if is_exact else location[separator.end() :].strip()


def _parse_without_headings(location: str) -> Iterator[tuple[str, tuple[int, int] | None, int | None, str]]:
    yield location, None, None, ""
    if match := _LINES.fullmatch(location):
        first = int(match["first"])
        yield match["path"], (first, int(match["last"] or first)), None, ""
    if match := _PAGE.fullmatch(location):
        is_row_of_sheet = match["label"] == "row" and page_label(match["path"]) not in {"row", "record"}
        page = int(match["page"])
        yield (match["path"], None, None, f"(row {page})") if is_row_of_sheet else (match["path"], None, page, "")
    if match := _ANCHOR.fullmatch(location):
        yield match["path"], None, None, f"#{match['anchor']}"


def _section_passages(snapshot: Index, path: str, section: str, page: int | None = None) -> tuple[StoredPassage, ...]:
    """Return the first run of passages under a heading path, an `#anchor` or a `(row n)`, on a page or any."""
    stored = [passage for passage in snapshot.passages_of(path) if page in {None, passage.page}]
    section_words = _words(section)

    def is_in_section(passage: StoredPassage) -> bool:
        if section.startswith("#"):
            return passage.anchor == section[1:]
        names = (passage.document.title, *passage.heading)
        if section.startswith("(row "):
            return names[-1].endswith(section) or names[-1] == section[1:-1].capitalize()
        parts = [_words(" ".join(names[at:])) for at in range(len(names))]
        parts += [_words(" ".join(passage.heading[:1]))] if page is not None else []  # the name of the sheet
        return section_words in parts if section_words else section in names

    start = next((i for i, passage in enumerate(stored) if is_in_section(passage)), None)
    if start is None:
        headings = dict.fromkeys(passage.heading[-1] for passage in stored if passage.heading)
        near = [name for name in headings if section_words and set(section_words) <= set(_words(name))]
        kind = "" if section.startswith("(row ") else "anchor " if section.startswith("#") else "heading "
        listed = ", ".join(f"§ {name}" for name in islice(near or (headings if kind else ()), _MAX_HEADINGS))
        hint = f" {'Similar' if near else 'It begins with'}: {listed}." if listed else ""
        raise UsageError(f"{path} has no {kind}{section if kind else section[1:-1]}.{hint}")
    return tuple(takewhile(is_in_section, stored[start:]))


def _is_unicode(path: str) -> bool:
    """Whether a path has no lone surrogates, which stand for bytes that are not UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in path)


def _words(text: str) -> list[str]:
    """Return the words of headings, without their separators and unprintable characters."""
    return re.findall(r"\w+", "".join(c for c in text if c.isprintable() or c.isspace()))


def candidate_paths(root: Path, path: str, here: Path | None) -> Iterator[str]:
    """Yield the paths in the collection that a path may mean: relative to `here`, as in a shell, then to the root."""
    base = os.path.realpath(root)
    for start in (here, root):
        if start is None or "\0" in path:
            continue
        full = os.path.normpath(Path(os.path.realpath(start), to_os_name(path)))
        with suppress(ValueError):  # outside the collection
            relative = Path(full).relative_to(base)
            if relative.parts:
                yield from_os_name(relative.as_posix())
