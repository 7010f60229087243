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
from typing import TYPE_CHECKING

from corpus.errors import UsageError
from qa.fields import parts_of, plain_words
from qa.locate import near_paths
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
    """Select the files and records that meet all of the conditions given.

    Attributes:
        paths: Patterns in .gitignore syntax; the path matches at least one.
        types: Suffixes such as "pdf", or media types such as "text/markdown" or "text/*"; the file has one of them.
        since: The file was last changed at or after this time.
        until: The file was last changed before this time.
        where: Pairs of a field name and words; the document or record has each of these fields, containing the words in
            this order, whatever their case.
        without: Paths of files that are left out, such as that of the questions asked.
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
            else _several("where", where or None)
        )
        return cls(
            paths=_several("path", path),
            types=_several("types", types),
            since=_time("since", since, ends=False),
            until=_time("until", until, ends=True),
            where=tuple(map(_pair, fields)),
        )

    def __bool__(self) -> bool:
        return self != Filter()


EVERYTHING = Filter()


def without_file(only: Filter, snapshot: Index, root: Path, file: str | os.PathLike[str]) -> Filter:
    """Leave a file out of a filter if it is one of the documents in `root`, unless the filter names paths."""
    path = Path(file).resolve()
    inside = path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else ""
    is_searched = not only.paths and any(document.path == inside for document in snapshot.documents())
    return replace(only, without=(*only.without, inside)) if is_searched else only


def merged(path: Paths, only: Filter | None) -> Filter:
    """Add a path given separately to a filter; a path in both is a UsageError."""
    if only is not None:
        require_type("only", only, Filter)
    if path is None or path == "":
        return only or EVERYTHING
    if only and only.paths:
        raise UsageError("give the path as an argument or in the filter, not both.")
    return replace(only or EVERYTHING, paths=_several("path", path))


def select(snapshot: Index, only: Filter) -> Among:
    """Return what passes a filter: ids of documents, or a scope of passages if records matched; None for everything.

    Raises:
        UsageError: Nothing passes; the message suggests similar names.
    """
    if not only:
        return None
    documents = snapshot.documents()
    ids = frozenset(document.id for document in documents)
    conditions = []
    for condition, matching, hint in _conditions(snapshot, documents, only):
        if not matching:
            raise UsageError(f"no indexed file {condition}.{hint()}")
        conditions.append(condition)
        ids &= matching
    among = _with_fields(snapshot, [each for each in documents if each.id in ids], only.where) if only.where else ids
    if not among:
        conditions += [f"has {name}={value}" for name, value in only.where]
        similar = _near_field(snapshot, documents, only.where)
        raise UsageError(f"nothing in the collection {', and '.join(conditions)}.{similar}")
    # A search of everything is the fastest.
    return None if among == frozenset(document.id for document in documents) else among


def _with_fields(
    snapshot: Index, documents: Sequence[StoredDocument], where: Sequence[tuple[str, str]]
) -> frozenset[int] | Scope | None:
    """Return ids of documents whose fields match, or a scope of passages if records match; None if nothing does."""
    wanted = [(name, plain_words(value)) for name, value in where]
    whole: set[int] = set()
    passages: set[int] = set()
    for document in documents:
        for part in parts_of(snapshot, document):
            if all(part.has(name, words) for name, words in wanted):
                if part.passages is None:
                    whole.add(part.document)
                passages.update(part.passages or ())
    if not passages:
        return frozenset(whole) or None
    if whole:
        passages.update(snapshot.columns(frozenset(whole)).passages.tolist())
    return snapshot.scope(frozenset(passages))


def _conditions(
    snapshot: Index, documents: Sequence[StoredDocument], only: Filter
) -> Iterator[tuple[str, frozenset[int], Callable[[], str]]]:
    """Yield each condition on whole files: its wording in messages, the ids of matching documents, and a hint."""

    def ids_where(holds: Callable[[StoredDocument], bool]) -> frozenset[int]:
        return frozenset(document.id for document in documents if holds(document))

    if only.paths:
        wording = f"matches the path {' or '.join(map(repr, only.paths))}"
        hint = partial(near_paths, only.paths[0], (document.path for document in documents))
        yield wording, snapshot.match_paths(*only.paths), hint
    if only.without:
        yield f"is not {' or '.join(only.without)}", ids_where(lambda document: document.path not in only.without), str
    if only.types:
        matching = ids_where(lambda document: any(_has_type(document, kind) for kind in only.types))
        suffixes = (PurePosixPath(document.path).suffix[1:].lower() for document in documents)
        yield f"is of type {' or '.join(only.types)}", matching, partial(_near, only.types[0], suffixes)
    for name, time in (("since", only.since), ("before", only.until)):
        if time is not None:
            matching = ids_where(partial(_changed, name, time))
            yield f"was changed {name} {time:%Y-%m-%d %H:%M}", matching, partial(_times, documents)


def _has_type(document: StoredDocument, kind: str) -> bool:
    if "/" in kind:
        return fnmatchcase(document.media_type, kind.lower())
    wanted = kind.lower().lstrip("*.")
    subtype = document.media_type.partition("/")[2].removeprefix("x-")
    return document.path.lower().removesuffix(".gz").endswith(f".{wanted}") or subtype == wanted


def _changed(name: str, time: datetime, document: StoredDocument) -> bool:
    limit = int(time.timestamp() * 1_000_000) * 1000
    return document.mtime_ns >= limit if name == "since" else document.mtime_ns < limit


def _times(documents: Sequence[StoredDocument]) -> str:
    times = [document.mtime_ns // 1_000_000_000 for document in documents]
    if not times:
        return ""
    first, last = (datetime.fromtimestamp(time).astimezone() for time in (min(times), max(times)))
    return f" Files were changed between {first:%Y-%m-%d} and {last:%Y-%m-%d}."


def _near_field(snapshot: Index, documents: Sequence[StoredDocument], where: Sequence[tuple[str, str]]) -> str:
    """Suggest names similar to an unknown field, or values of a field that never has the wanted one."""
    parts = [part for document in documents for part in parts_of(snapshot, document)]
    for name, value in where:
        values = [known_value for part in parts for known, known_value in part.fields if known == name]
        if not values:
            return _near(name, (known for part in parts for known, _ in part.fields))
        if not any(part.has(name, plain_words(value)) for part in parts):
            return _near(value, values)
    return ""


def _near(wanted: str, names: Iterable[str]) -> str:
    """Suggest names similar to an unknown one, or list the first that exist."""
    from difflib import get_close_matches  # noqa: PLC0415 - only errors need it

    known = sorted(dict.fromkeys(filter(None, names)))
    near = get_close_matches(wanted, known[:_MAX_COMPARED], 3)
    if near:
        return f" Similar: {', '.join(near)}."
    more = f" and {len(known) - _MAX_NAMES:,} more" if len(known) > _MAX_NAMES else ""
    return f" There are: {', '.join(known[:_MAX_NAMES])}{more}." if known else ""


def _several(name: str, given: object) -> tuple[str, ...]:
    """Return strings and path objects as a tuple of strings; an empty list, which nothing could match, is refused."""
    if given is None or given == "":
        return ()
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    plain = [os.fspath(value).replace(os.sep, "/") if isinstance(value, os.PathLike) else value for value in several]
    found = tuple(value for value in plain if isinstance(value, str))
    if len(found) < len(plain):
        raise TypeError(f"{name} must be a str, or several, not {given!r}")
    if not found:
        raise UsageError(f"{name} is an empty list, which no file matches; leave it out for all files.")
    return found


def _pair(condition: str) -> tuple[str, str]:
    name, sign, value = condition.partition("=")
    if not (sign and name.strip() and _WORD.search(value)):
        raise UsageError(f"{condition} is not a condition. Write name=value, such as author=Ida.")
    return name.strip().lower(), value.strip()


def _time(name: str, given: str | date | None, *, ends: bool) -> datetime | None:
    """Parse a time; a day, month or year becomes its beginning, or its end with `ends`."""
    if given is None or given == "":
        return None
    require_type(name, given, str, date)
    if isinstance(given, datetime):
        return given.astimezone()
    text = given.strip() if isinstance(given, str) else given.isoformat()
    try:
        found = _DAY.fullmatch(text)
        if found is None:
            return datetime.fromisoformat(text).astimezone()
        year, month, day = (int(part) if part else 0 for part in found.groups())
        begin = datetime(year, month or 1, day or 1)
        if ends and day:
            begin += timedelta(days=1)
        elif ends:
            begin = begin.replace(year=year + (month in (0, 12)), month=month % 12 + 1 if month else 1)
        return begin.astimezone()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{name} is {text!r}. Write a date such as 2024-05-01, or 2024-05, or 2024.") from error
