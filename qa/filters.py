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
            UsageError: A time or a condition cannot be read.
        """
        fields = [f"{name}={value}" for name, value in where.items()] if isinstance(where, Mapping) else _several(where)
        return cls(
            paths=_several(path),
            types=_several(types),
            since=_time("since", since, ends=False),
            until=_time("until", until, ends=True),
            where=tuple(map(_pair, fields)),
        )

    def __bool__(self) -> bool:
        return self != Filter()


EVERYTHING = Filter()


def merged(path: Texts, only: Filter | None) -> Filter:
    """Return a filter with a path that is given beside it; to give one twice is a UsageError."""
    if not path:
        return only or EVERYTHING
    if only and only.paths:
        raise UsageError("give a path by itself or in the filter, not both.")
    return replace(only or EVERYTHING, paths=_several(path))


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of a filter that looks at whole files.

    Attributes:
        words: As a message says it.
        among: The row ids of the documents for which it holds.
        near: What is like it, as a sentence, or "".
    """

    words: str
    among: Callable[[Index, Sequence[StoredDocument]], frozenset[int]]
    near: Callable[[Sequence[StoredDocument]], str]


def select(snapshot: Index, only: Filter) -> Among:
    """Return what passes a filter: documents by row id, or passages where some records of a file pass; None for all.

    Raises:
        UsageError: Nothing does; the message names what is near.
    """
    if not only:
        return None
    documents = snapshot.documents()
    found = frozenset(document.id for document in documents)
    conditions = list(_conditions(only))
    for one in conditions:
        here = one.among(snapshot, documents)
        if not here:
            raise UsageError(f"no indexed file {one.words}.{one.near(documents)}")
        found &= here
    among = _with_fields(snapshot, [one for one in documents if one.id in found], only.where) if only.where else found
    if not among:
        words = [one.words for one in conditions] + [f"has {name}={value}" for name, value in only.where]
        near = _near_field(snapshot, documents, only.where)
        raise UsageError(f"nothing in the collection {', and '.join(words)}.{near}")
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


def _conditions(only: Filter) -> Iterator[Condition]:
    if only.paths:
        yield Condition(
            f"matches the path {' or '.join(map(repr, only.paths))}",
            lambda snapshot, _: snapshot.match_paths(*only.paths),
            lambda documents: near_paths(only.paths[0], (one.path for one in documents)),
        )
    if only.types:
        yield Condition(
            f"is of type {' or '.join(only.types)}",
            _each(lambda one: any(_has_type(one, kind) for kind in only.types)),
            lambda documents: _near(only.types[0], (PurePosixPath(one.path).suffix[1:].lower() for one in documents)),
        )
    for name, time in (("since", only.since), ("before", only.until)):
        if time is not None:
            yield Condition(f"was changed {name} {time:%Y-%m-%d %H:%M}", _each(partial(_changed, name, time)), _times)


def _each(
    holds: Callable[[StoredDocument], bool],
) -> Callable[[Index, Sequence[StoredDocument]], frozenset[int]]:
    return lambda _, documents: frozenset(one.id for one in documents if holds(one))


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


def _near(wanted: str, names: Iterable[str]) -> str:
    """Which names are like one that is not there, or the first of those that there are."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed for errors alone

    known = sorted(dict.fromkeys(filter(None, names)))
    near = get_close_matches(wanted, known[:_MAX_COMPARED], 3)
    if near:
        return f" Similar: {', '.join(near)}."
    more = f" and {len(known) - _MAX_NAMES:,} more" if len(known) > _MAX_NAMES else ""
    return f" There are: {', '.join(known[:_MAX_NAMES])}{more}." if known else ""


def _several(given: Texts) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _pair(condition: str) -> tuple[str, str]:
    name, sign, value = condition.partition("=")
    if not (sign and name.strip() and _WORD.search(value)):
        raise UsageError(f"{condition} is no condition. Write name=value, such as author=Ida.")
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
