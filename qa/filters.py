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
from qa.locate import near_paths

if TYPE_CHECKING:
    from index import Index, StoredDocument

# One text or several; None for no condition.
Texts = str | Sequence[str] | None
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_WORD = re.compile(r"\w+")
# Names that a message lists.
_MAX_NAMES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which files are meant: those for which everything holds that is given.

    Attributes:
        paths: Patterns in the syntax of .gitignore, of which the path matches one.
        types: Suffixes such as "pdf", or media types such as "text/markdown" or "text/*", of which the file has one.
        since: The file was not changed before this time.
        until: The file was changed before this time.
        where: Names and values of fields: of each name the file has a field with these words in this order, whatever
            their case.
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
    """One part of a filter.

    Attributes:
        words: As a message says it.
        among: The row ids of the documents for which it holds.
        near: What is like it, as a sentence, or "".
    """

    words: str
    among: Callable[[Index, Sequence[StoredDocument]], frozenset[int]]
    near: Callable[[Sequence[StoredDocument]], str]


def select(snapshot: Index, only: Filter) -> frozenset[int] | None:
    """Return the row ids of the documents that pass a filter; None for all.

    Raises:
        UsageError: There is none; the message names what is near.
    """
    conditions = list(_conditions(only))
    if not conditions:
        return None
    documents = snapshot.documents()
    found: frozenset[int] | None = None
    for one in conditions:
        here = one.among(snapshot, documents)
        if not here:
            raise UsageError(f"no indexed file {one.words}.{one.near(documents)}")
        found = here if found is None else found & here
    if not found:
        raise UsageError(f"no indexed file {', and '.join(one.words for one in conditions)}.")
    return found


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
    for name, value in only.where:
        yield Condition(f"has {name}={value}", _each(partial(_has_field, name, value)), partial(_near_field, name))


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


def _has_field(name: str, value: str, document: StoredDocument) -> bool:
    return any(own == name and has_words(text, value) for own, text in fields_of(document))


def fields_of(document: StoredDocument) -> tuple[tuple[str, str], ...]:
    """Return names in lower case and values that a file states about itself, its title among them."""
    found = tuple((name.lower(), value) for name, value in document.fields)
    return (
        found
        if not document.title or any(name == "title" for name, _ in found)
        else (("title", document.title), *found)
    )


def has_words(text: str, wanted: str) -> bool:
    """Return whether a text has some words in this order, whatever their case."""
    words, own = (" ".join(_WORD.findall(one.casefold())) for one in (wanted, text))
    return f" {words} " in f" {own} "


def _near_field(name: str, documents: Sequence[StoredDocument]) -> str:
    pairs = [pair for document in documents for pair in fields_of(document)]
    values = [value for own, value in pairs if own == name]
    return _near("", values) if values else _near(name, (own for own, _ in pairs))


def _near(wanted: str, names: Iterable[str]) -> str:
    """Which names are like one that is not there, or the first of those that there are."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed for errors alone

    known = sorted(dict.fromkeys(filter(None, names)))
    near = get_close_matches(wanted, known, 3) if wanted else []
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
