"""Fields of documents and records: front matter, mail headers, table columns, JSON keys.

The fields of a file are stored with it. Those of a record are parsed from its text, where `corpus/readers` wrote them
one per line, so existing indexes need no rebuild.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from corpus.formats import MAIL, RECORDS, SHEETS

if TYPE_CHECKING:
    from index import Index, StoredDocument, StoredPassage

Fields = tuple[tuple[str, str], ...]

_BIBTEX = "text/x-bibtex"
# A field on a line of its own, and a table row on one line.
_FIELD = re.compile(r"(.{1,80}?): (.*)")
_TABLE_ROW = re.compile(r"Row \d+: (.*)")
# Other names for the fields of a mail.
_ALIASES = {"from": ("sender", "author"), "title": ("subject",)}
# A number is whole: 4 is no word of "4.5" or "-4"; but dates, versions and addresses have several numbers.
_WORD = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\.?\w)|\w+")


@dataclass(frozen=True, slots=True)
class Part:
    """A document, or one record in it.

    Attributes:
        document: Row id of the document.
        passages: Row ids of the record's passages; None for a whole document.
        fields: Pairs of a lower-case name and a value.
    """

    document: int
    passages: tuple[int, ...] | None
    fields: Fields

    def has(self, name: str, words: str) -> bool:
        """Return whether a field of this name contains `words`, in the form of `plain_words`."""
        return any(field == name and f" {words} " in f" {plain_words(value)} " for field, value in self.fields)


def plain_words(text: str) -> str:
    """Return the casefolded words of a text, separated by single spaces."""
    return " ".join(_WORD.findall(text.replace("−", "-").casefold()))


def parts_of(snapshot: Index, document: StoredDocument) -> Iterator[Part]:
    """Yield a document, or each of its records, with its fields."""
    document_fields = tuple((name.lower(), value) for name, value in document.fields)
    kind = document.media_type
    if not document.records and kind not in RECORDS | MAIL:
        yield Part(document.id, None, (*_title_field(document.title), *document_fields))
        return
    for _, group in groupby(snapshot.passages_of(document.path), key=_record_key):
        passages = tuple(group)
        ids = tuple(passage.id for passage in passages)
        fields = (*_title_field(passages[0].title), *document_fields)
        if kind in MAIL:
            fields += _parse_fields(passages[0].text[: passages[0].body].split("\n"))
            fields += tuple((alias, value) for name, value in fields for alias in _ALIASES.get(name, ()))
        lines = "\n".join(passage.text for passage in passages).split("\n")
        rows = [match[1] for line in lines if (match := _TABLE_ROW.fullmatch(line))] if kind in RECORDS else []
        for row in rows:
            yield Part(document.id, ids, (*fields, *_parse_fields(row.split("; "))))
        if rows:
            continue
        if kind == _BIBTEX:
            fields += _parse_fields([part for line in lines for part in line.split("; ")])
        elif kind in RECORDS:
            fields += _parse_fields(lines)
        yield Part(document.id, ids, fields)


def _title_field(title: str) -> Fields:
    return (("title", title),) if title else ()


def _record_key(passage: StoredPassage) -> tuple[object, ...]:
    """Return the key that all passages of one record share."""
    if passage.document.media_type in SHEETS:
        return passage.page, passage.heading
    if passage.page is None and passage.record_title is None:
        return (passage.id,)
    return passage.page, passage.record_title


def _parse_fields(lines: Sequence[str]) -> Fields:
    matches = map(_FIELD.fullmatch, lines)
    return tuple((match[1].strip().lower(), match[2]) for match in matches if match)
