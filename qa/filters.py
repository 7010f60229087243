"""Which part of a collection is asked: one value that every kind of question takes, applied before ranking."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from corpus.errors import UsageError
from corpus.formats import format_of
from qa.fields import parts_of, plain_words
from qa.locate import near_paths

if TYPE_CHECKING:
    from index import Among, Index, Scope, StoredDocument

# One text or several; None for no condition.
Texts = str | Sequence[str] | None
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_WORD = re.compile(r"\w+")
# Names that a message lists, and that are compared for it.
_MAX_NAMES, _MAX_COMPARED = 10, 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which files and records are meant: those for which everything holds that is given.

    Attributes:
        paths: Patterns in the syntax of .gitignore, of which the path matches one.
        types: Suffixes such as "pdf", or media types such as "text/markdown" or "text/*", of which the file has one.
        since: The file was not changed before this time.
        until: The file was changed before this time.
        where: Names and values of fields: of each name the document or record has a field with these words in this
            order, whatever their case.
    """

    paths: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        *,
        path: Texts = None,
        types: Texts = None,
        since: str | date | None = None,
        until: str | date | None = None,
        where: Mapping[str, object] | Texts = None,
    ) -> Filter:
        """Return the filter that is written in any of these ways.

        Args:
            path: One pattern or several.
            types: One suffix or media type, or several.
            since: A day, `2024-05-01`, a month, a year, or a time, `2024-05-01T12:00`; local time, if it does not say.
            until: The same; a day, month or year counts to its end.
            where: Fields by name, or one text or several such as "author=Ida".

        Raises:
            UsageError: A time or a condition cannot be read, or a list of paths or types is empty.
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


def merged(path: Texts, only: Filter | None) -> Filter:
    """Return a filter with a path that is given beside it; to give one twice is a UsageError."""
    if not isinstance(only, Filter | None):
        raise TypeError(f"only must be of type Filter, not {type(only).__name__}")
    if path is None or path == "":
        return only or EVERYTHING
    if only and only.paths:
        raise UsageError("give a path by itself or in the filter, not both.")
    return replace(only or EVERYTHING, paths=_several("path", path))


def select(snapshot: Index, only: Filter) -> Among:
    """Return what passes a filter: documents by row id, or passages where some records of a file pass; None for all.

    Raises:
        UsageError: Nothing does; the message names what is near.
    """
    if not only:
        return None
    documents = snapshot.documents()
    found = frozenset(document.id for document in documents)
    words = []
    for what, here, near in _conditions(snapshot, documents, only):
        if not here:
            raise UsageError(f"no indexed file {what}.{near()}")
        words.append(what)
        found &= here
    among = _with_fields(snapshot, [one for one in documents if one.id in found], only.where) if only.where else found
    if not among:
        words += [f"has {name}={value}" for name, value in only.where]
        like = _near_field(snapshot, documents, only.where)
        raise UsageError(f"nothing in the collection {', and '.join(words)}.{like}")
    # A search of everything is the fastest.
    return None if among == frozenset(document.id for document in documents) else among


def _with_fields(
    snapshot: Index, documents: Sequence[StoredDocument], where: Sequence[tuple[str, str]]
) -> frozenset[int] | Scope | None:
    """Of some documents those that have fields, or the passages of their records that have; None where nothing has."""
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
    """What is asked of whole files, as a message says it, the documents of which it holds, and what is like it."""

    def those(holds: Callable[[StoredDocument], bool]) -> frozenset[int]:
        return frozenset(one.id for one in documents if holds(one))

    if only.paths:
        what = f"matches the path {' or '.join(map(repr, only.paths))}"
        near = partial(near_paths, only.paths[0], (one.path for one in documents))
        yield what, snapshot.match_paths(*only.paths), near
    if only.types:
        found = those(lambda one: any(_has_type(one, kind) for kind in only.types))
        yield f"is of type {' or '.join(only.types)}", found, partial(_near_type, only.types[0], documents)
    for name, time in (("since", only.since), ("before", only.until)):
        if time is not None:
            found = those(partial(_changed, name, time))
            yield f"was changed {name} {time:%Y-%m-%d %H:%M}", found, partial(_times, documents)


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
    times = [one.mtime_ns // 1_000_000_000 for one in documents]
    if not times:
        return ""
    first, last = (datetime.fromtimestamp(time).astimezone() for time in (min(times), max(times)))
    return f" Files were changed between {first:%Y-%m-%d} and {last:%Y-%m-%d}."


def _near_field(snapshot: Index, documents: Sequence[StoredDocument], where: Sequence[tuple[str, str]]) -> str:
    """Names like one that no field has, or values of the one whose value none has."""
    parts = [part for document in documents for part in parts_of(snapshot, document)]
    for name, value in where:
        values = [own for part in parts for known, own in part.fields if known == name]
        if not values:
            return _near(name, (known for part in parts for known, _ in part.fields))
        if not any(part.has(name, plain_words(value)) for part in parts):
            return _near(value, values)
    return ""


def _near_type(wanted: str, documents: Sequence[StoredDocument]) -> str:
    """Suffixes whose format is called so, as docx and xlsx are "word" and "excel", or that are like it."""
    suffixes = dict.fromkeys(PurePosixPath(one.path).suffix[1:].lower() for one in documents)
    # Office programs are named by the media types of their older formats only: xls, not xlsx.
    kinds = {suffix: (format_of(f"a.{suffix}"), format_of(f"a.{suffix.removesuffix('x')}")) for suffix in suffixes}
    called = {suffix: " ".join(kind.media_type for kind in both if kind) for suffix, both in kinds.items()}
    named = [suffix for suffix in sorted(called) if len(wanted) > 2 and wanted.lower() in called[suffix]]
    return f" Similar: {', '.join(named[:_MAX_NAMES])}." if named else _near(wanted, suffixes)


def _near(wanted: str, names: Iterable[str]) -> str:
    """Which names are like one that is not there, or the first of those that there are."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed for errors alone

    known = sorted(dict.fromkeys(filter(None, names)))
    near = get_close_matches(wanted, known[:_MAX_COMPARED], 3)
    if near:
        return f" Similar: {', '.join(near)}."
    more = f" and {len(known) - _MAX_NAMES:,} more" if len(known) > _MAX_NAMES else ""
    return f" There are: {', '.join(known[:_MAX_NAMES])}{more}." if known else ""


def _several(name: str, given: Texts) -> tuple[str, ...]:
    """One text or several; none of several would let nothing through."""
    if given is not None and not given and not isinstance(given, str):
        raise UsageError(f"{name} is an empty list, which no file matches; leave it out for all files.")
    return (given,) if isinstance(given, str) else tuple(given or ())


def _pair(condition: str) -> tuple[str, str]:
    name, sign, value = condition.partition("=")
    if not (sign and name.strip() and _WORD.search(value)):
        raise UsageError(f"{condition} is not a condition. Write name=value, such as author=Ida.")
    return name.strip().lower(), value.strip()


def _time(name: str, given: str | date | None, *, ends: bool) -> datetime | None:
    """The beginning of a day, month or year, or its end; a time as it is."""
    if given is None or given == "":
        return None
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
