"""Which part of a collection is searched: one filter for every kind of question, applied before ranking."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from types import NoneType
from typing import TYPE_CHECKING

from corpus.errors import UsageError
from qa.fields import parts_of, plain_words
from qa.locate import suggest_paths
from qa.require import require_type

if TYPE_CHECKING:
    from index import Among, Index, Scope, StoredDocument

# One string or several; None for no condition. Paths may also be path objects.
Texts = str | Sequence[str] | None
Paths = Texts | os.PathLike[str] | Sequence[str | os.PathLike[str]]
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_WORD = re.compile(r"\w+")
# How many names an error message lists, and how many are compared to find similar ones.
_MAX_NAMES, _MAX_COMPARED = 10, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Selects the files and records that meet all conditions.

    Attributes:
        paths: Patterns in .gitignore syntax; the path matches at least one.
        types: Suffixes such as "pdf", or media types such as "text/markdown" or "text/*"; the file has one of them.
        since: The file was last changed at or after this time.
        until: The file was last changed before this time.
        where: Pairs of a field name and words; the document or record has each of these fields, which contains the
            words in this order, ignoring case.
        without: Paths of excluded files, such as the file of the questions.
    """

    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[tuple[str, str], ...] = ()
    without: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        path: Paths = None,
        types: Texts = None,
        since: str | date | None = None,
        until: str | date | None = None,
        where: Mapping[str, object] | Texts = None,
    ) -> Filter:
        """Return a filter parsed from user input.

        Args:
            path: One pattern or several; also path objects.
            types: One suffix or media type, or several.
            since: A day (`2024-05-01`), month, year or time (`2024-05-01T12:00`); local time unless it names an offset.
            until: The same; a day, month or year is included to its end.
            where: Values by field name, or one or several strings such as "author=Ida".

        Raises:
            UsageError: A time or a condition cannot be parsed, or a list of paths or types is empty.
            TypeError: An argument is of the wrong type.
        """
        fields = (
            [f"{name}={value}" for name, value in where.items()]
            if isinstance(where, Mapping)
            else _as_tuple("where", where or None)
        )
        return cls(
            paths=_as_tuple("path", path),
            types=_as_tuple("types", types),
            since=_parse_time("since", since, ends=False),
            until=_parse_time("until", until, ends=True),
            where=tuple(map(_parse_condition, fields)),
        )

    def __post_init__(self) -> None:
        for name in ("paths", "types", "where", "without"):
            require_type(name, getattr(self, name), tuple)
        for name in ("since", "until"):
            require_type(name, getattr(self, name), datetime, NoneType)

    def __bool__(self) -> bool:
        return self != Filter()


EVERYTHING = Filter()


def without_file(only: Filter, snapshot: Index, root: Path, file: str | os.PathLike[str]) -> Filter:
    """Exclude a file from a filter if it is one of the documents in `root`, unless the filter has paths."""
    path = Path(file).resolve()
    relative = path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else ""
    is_searched = not only.paths and any(document.path == relative for document in snapshot.documents())
    return replace(only, without=(*only.without, relative)) if is_searched else only


def add_path(path: Paths, only: Filter | None) -> Filter:
    """Add a path given separately to a filter; a path in both is a UsageError."""
    if only is not None:
        require_type("only", only, Filter)
    if path is None or path == "":
        return only or EVERYTHING
    if only and only.paths:
        raise UsageError("give the path as an argument or in the filter, not both.")
    return replace(only or EVERYTHING, paths=_as_tuple("path", path))


def select(snapshot: Index, only: Filter) -> Among:
    """Return ids of the documents that pass a filter, or a scope of passages if records do; None for everything.

    Raises:
        UsageError: Nothing passes; the message suggests similar names.
    """
    if not only:
        return None
    documents = snapshot.documents()
    ids = frozenset(document.id for document in documents)
    conditions = []
    for condition, matching_ids, hint in _conditions(snapshot, documents, only):
        if not matching_ids:
            raise UsageError(f"no indexed file {condition}.{hint()}")
        conditions.append(condition)
        ids &= matching_ids
    matching = [document for document in documents if document.id in ids]
    among = _matching_fields(snapshot, matching, only.where) if only.where else ids
    if not among:
        conditions += [f"has {name}={value}" for name, value in only.where]
        similar = _suggest_for_fields(snapshot, documents, only.where)
        raise UsageError(f"nothing in the collection {', and '.join(conditions)}.{similar}")
    # A search of everything is the fastest.
    return None if among == frozenset(document.id for document in documents) else among


def _matching_fields(
    snapshot: Index, documents: Sequence[StoredDocument], where: Sequence[tuple[str, str]]
) -> frozenset[int] | Scope | None:
    """Return ids of documents with matching fields, or a scope of passages if records match; None if nothing does."""
    wanted = [(name, plain_words(value)) for name, value in where]
    document_ids: set[int] = set()
    passage_ids: set[int] = set()
    for document in documents:
        for part in parts_of(snapshot, document):
            if all(part.has(name, words) for name, words in wanted):
                if part.passages is None:
                    document_ids.add(part.document)
                passage_ids.update(part.passages or ())
    if not passage_ids:
        return frozenset(document_ids) or None
    if document_ids:
        passage_ids.update(snapshot.columns(frozenset(document_ids)).passages.tolist())
    return snapshot.scope(frozenset(passage_ids))


def _conditions(
    snapshot: Index, documents: Sequence[StoredDocument], only: Filter
) -> Iterator[tuple[str, frozenset[int], Callable[[], str]]]:
    """Yield each condition on whole files: its wording in messages, the ids of matching documents, and a hint."""

    def ids_where(matches: Callable[[StoredDocument], bool]) -> frozenset[int]:
        return frozenset(document.id for document in documents if matches(document))

    if only.paths:
        wording = f"matches the path {' or '.join(map(repr, only.paths))}"
        hint = partial(_suggest_path, snapshot, only.paths[0], (document.path for document in documents))
        # "[draft] plan.md" is a path, too.
        named = ids_where(lambda document: document.path in only.paths)
        yield wording, snapshot.match_paths(*only.paths) | named, hint
    if only.without:
        yield f"is not {' or '.join(only.without)}", ids_where(lambda document: document.path not in only.without), str
    if only.types:
        matching = ids_where(lambda document: any(_has_type(document, kind) for kind in only.types))
        suffixes = (PurePosixPath(document.path).suffix[1:].lower() for document in documents)
        yield f"is of type {' or '.join(only.types)}", matching, partial(_suggest_names, only.types[0], suffixes)
    for name, time in (("since", only.since), ("before", only.until)):
        if time is not None:
            matching = ids_where(partial(_is_changed, name, time))
            yield f"was changed {name} {time:%Y-%m-%d %H:%M}", matching, partial(_describe_times, documents)


def _suggest_path(snapshot: Index, pattern: str, paths: Iterable[str]) -> str:
    """Suggest similar paths, or the pattern without the collection's own folder, which does not belong to it."""
    inside = f"/{pattern}".partition(f"/{snapshot.folder.parent.name}/")[2] if snapshot.folder else ""
    is_inside = bool(inside and snapshot.match_paths(inside))
    return f" Paths are relative to the collection: {inside}" if is_inside else suggest_paths(pattern, paths)


def _has_type(document: StoredDocument, kind: str) -> bool:
    if "/" in kind:
        return fnmatchcase(document.media_type, kind.lower())
    wanted = kind.lower().lstrip("*.")
    subtype = document.media_type.partition("/")[2].removeprefix("x-")
    return document.path.lower().removesuffix(".gz").endswith(f".{wanted}") or subtype == wanted


def _is_changed(name: str, time: datetime, document: StoredDocument) -> bool:
    limit = int(time.timestamp() * 1_000_000) * 1000
    return document.mtime_ns >= limit if name == "since" else document.mtime_ns < limit


def _describe_times(documents: Sequence[StoredDocument]) -> str:
    times = [document.mtime_ns // 1_000_000_000 for document in documents]
    if not times:
        return ""
    first, last = (datetime.fromtimestamp(time).astimezone() for time in (min(times), max(times)))
    return f" Files were changed between {first:%Y-%m-%d} and {last:%Y-%m-%d}."


def _suggest_for_fields(snapshot: Index, documents: Sequence[StoredDocument], where: Sequence[tuple[str, str]]) -> str:
    """Suggest names similar to an unknown field, or values of a field that never has the requested one."""
    parts = [part for document in documents for part in parts_of(snapshot, document)]
    for name, value in where:
        values = [field_value for part in parts for field, field_value in part.fields if field == name]
        if not values:
            fields = (field for part in parts for field, _ in part.fields)
            return _suggest_names(name, fields, "fields") or " No document has fields."
        if not any(part.has(name, plain_words(value)) for part in parts):
            return _suggest_names(value, values)
    return ""


def _suggest_names(wanted: str, names: Iterable[str], what: str = "") -> str:
    """Suggest names similar to an unknown one, or list the first that exist; `what` says what they are."""
    from difflib import get_close_matches  # noqa: PLC0415 - only errors need it

    unique = sorted(dict.fromkeys(filter(None, names)))
    similar = get_close_matches(wanted, unique[:_MAX_COMPARED], 3)
    if similar:
        return f" Similar{what and f' {what}'}: {', '.join(similar)}."
    more = f" and {len(unique) - _MAX_NAMES:,} more" if len(unique) > _MAX_NAMES else ""
    return f" There are{what and f' the {what}'}: {', '.join(unique[:_MAX_NAMES])}{more}." if unique else ""


def _as_tuple(name: str, value: object) -> tuple[str, ...]:
    """Return strings and path objects as a tuple of strings; an empty list, which matches nothing, is a UsageError."""
    if value is None or value == "":
        return ()
    values = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    texts = [os.fspath(item).replace(os.sep, "/") if isinstance(item, os.PathLike) else item for item in values]
    strings = tuple(item for item in texts if isinstance(item, str))
    if len(strings) < len(texts):
        raise TypeError(f"{name} must be a str, or several, not {value!r}")
    if not strings:
        raise UsageError(f"{name} is an empty list, which no file matches; leave it out for all files.")
    return strings


def _parse_condition(condition: str) -> tuple[str, str]:
    name, sign, value = condition.partition("=")
    if not (sign and name.strip() and _WORD.search(value)):
        raise UsageError(f"{condition} is not a condition. Write name=value, such as author=Ida.")
    return name.strip().lower(), value.strip()


def _parse_time(name: str, value: str | date | None, *, ends: bool) -> datetime | None:
    """Parse a time; a day, month or year becomes its beginning, or its end with `ends`."""
    if value is None or value == "":
        return None
    require_type(name, value, str, date)
    if isinstance(value, datetime):
        return value.astimezone()
    text = value.strip() if isinstance(value, str) else value.isoformat()
    try:
        match = _DAY.fullmatch(text)
        if match is None:
            return datetime.fromisoformat(text).astimezone()
        year, month, day = (int(part) if part else 0 for part in match.groups())
        start = datetime(year, month or 1, day or 1)
        if ends and day:
            start += timedelta(days=1)
        elif ends:
            start = start.replace(year=year + (month in (0, 12)), month=month % 12 + 1 if month else 1)
        return start.astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{name} is {text!r}. Write a date such as 2024-05-01, or 2024-05, or 2024.") from error
