"""The state of a page, kept in its URL, so that every view can be linked to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from qa.web.page.marks import Span

_MARK = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class PageState:
    """The parameters of the page; "" if not given.

    Attributes:
        q: The question.
        like: Instead of a question, a place to find similar passages for.
        path: Patterns of paths, separated by commas.
        type: Suffixes or media types, separated by commas.
        since: The first day on which files were changed.
        until: The last day on which files were changed.
        where: Fields as `name=value`, separated by semicolons.
        mode: How to search.
        k: How many passages to show.
        open: The place whose source is open.
        mark: The sentence marked in the source, as `first-end`.
        at: Another part of the source to show: a character, or a page of a PDF.
    """

    q: str = ""
    like: str = ""
    path: str = ""
    type: str = ""
    since: str = ""
    until: str = ""
    where: str = ""
    mode: str = ""
    k: str = ""
    open: str = ""
    mark: str = ""
    at: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> PageState:
        """Return the state in a URL's query; unknown parameters are ignored, as other sites may add them to links."""
        return cls(**{field.name: query.get(field.name, "").strip() for field in fields(cls)})

    def link(self, **changes: Any) -> str:
        """Return the URL of the page with some parameters changed."""
        parameters = {name: str(value) for name, value in (asdict(self) | changes).items() if value not in ("", None)}
        return f"/?{urlencode(parameters, errors='surrogatepass')}" if parameters else "/"

    def source_link(self, place: str, mark: Span | None = None, at: int | None = None) -> str:
        """Return the URL with a source open, scrolled to the cited place."""
        marked = f"{mark[0]}-{mark[1]}" if mark else ""
        return self.link(open=place, mark=marked, at="" if at is None else at) + "#place"

    @property
    def closed(self) -> PageState:
        """The same state without an open source."""
        return replace(self, open="", mark="", at="")

    @property
    def filter_count(self) -> int:
        """How many filters are set."""
        return sum(map(bool, (self.path, self.type, self.since, self.until, self.where, self.mode)))

    @property
    def part(self) -> int | None:
        """The number in `at`."""
        return number_in(self.at)

    @property
    def sentence(self) -> Span | None:
        """The characters of `mark`."""
        mark = _MARK.fullmatch(self.mark)
        return (int(mark[1]), int(mark[2])) if mark else None


def number_in(value: str) -> int | None:
    """Return a parameter as a number of at most nine digits; None if it is not one."""
    return int(value) if _NUMBER.fullmatch(value) else None
