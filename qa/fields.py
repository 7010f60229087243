"""Fields of documents and records: front matter, the headers of a mail, the columns of a row, the keys of an object.

What a file states about itself is stored with it. The fields of a record are in its text, one a line, as its reader
wrote them there (`corpus/readers`), and are read from that: so no index has to be made anew for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from corpus.formats import ODS, XLS, XLSX

if TYPE_CHECKING:
    from index import Index, StoredDocument, StoredPassage

Fields = tuple[tuple[str, str], ...]

_SHEETS = frozenset({XLSX.media_type, ODS.media_type, XLS.media_type})
_ROWS = _SHEETS | {"text/csv", "text/tab-separated-values", "application/json", "application/jsonl"}
_MAIL = frozenset({"application/mbox", "message/rfc822"})
_BIBTEX = "text/x-bibtex"
# A line of a record, and of a table whose rows are a line each.
_FIELD = re.compile(r"(.{1,80}?): (.*)")
_TABLE_ROW = re.compile(r"Row \d+: (.*)")
# What the fields of mail are called besides.
_ALSO = {"from": ("sender", "author"), "title": ("subject",)}
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Part:
    """A document, or a record of one.

    Attributes:
        document: Row id of its file.
        passages: Row ids of its passages; None for the whole file.
        fields: Names in lower case, and values.
    """

    document: int
    passages: tuple[int, ...] | None
    fields: Fields

    def has(self, name: str, words: str) -> bool:
        """Return whether a field of this name has some words, given as `plain_words`."""
        return any(own == name and f" {words} " in f" {plain_words(value)} " for own, value in self.fields)


def plain_words(text: str) -> str:
    """Return the words of a text without case, with one blank between."""
    return " ".join(_WORD.findall(text.casefold()))


def parts_of(snapshot: Index, document: StoredDocument) -> Iterator[Part]:
    """Yield a document, or each of its records, with its fields."""
    stated = tuple((name.lower(), value) for name, value in document.fields)
    kind = document.media_type
    if not document.records and kind not in _ROWS | _MAIL:
        yield Part(document.id, None, (*_titled(document.title), *stated))
        return
    for _, several in groupby(snapshot.passages_of(document.path), key=_record_of):
        passages = tuple(several)
        ids = tuple(passage.id for passage in passages)
        own = (*_titled(passages[0].title), *stated)
        if kind in _MAIL:
            own += _pairs(passages[0].text[: passages[0].body].split("\n"))
            own += tuple((also, value) for name, value in own for also in _ALSO.get(name, ()))
        lines = "\n".join(passage.text for passage in passages).split("\n")
        table = [found[1] for line in lines if (found := _TABLE_ROW.fullmatch(line))] if kind in _ROWS else []
        for row in table:
            yield Part(document.id, ids, (*own, *_pairs(row.split("; "))))
        if table:
            continue
        if kind == _BIBTEX:
            own += _pairs([part for line in lines for part in line.split("; ")])
        elif kind in _ROWS:
            own += _pairs(lines)
        yield Part(document.id, ids, own)


def _titled(title: str) -> Fields:
    return (("title", title),) if title else ()


def _record_of(passage: StoredPassage) -> tuple[object, ...]:
    """What the passages of one record have in common."""
    if passage.document.media_type in _SHEETS:
        return passage.page, passage.heading
    if passage.page is None and passage.record_title is None:
        return (passage.id,)
    return passage.page, passage.record_title


def _pairs(lines: Sequence[str]) -> Fields:
    found = map(_FIELD.fullmatch, lines)
    return tuple((pair[1].strip().lower(), pair[2]) for pair in found if pair)
