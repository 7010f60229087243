"""Entries of a document that holds many short texts, such as a book of abstracts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from corpus import lazy_pattern, path_words
from index import StoredPassage

# Kinds of texts that are collected, and what a document with several of them calls itself.
_KIND = r"(?:abstract|article|lecture|paper|poster|publication|stud(?:y|ie)|talk)"
_IS_COLLECTED = lazy_pattern(rf"{_KIND}s?", re.IGNORECASE)
_COLLECTION = lazy_pattern(rf"\b{_KIND}s\b", re.IGNORECASE)
_SPEAKS = lazy_pattern(r"\b(?:I|[Mm]e|[Mm]y)\b")
_LEAST = 3
_LONGEST_NAME = 150
_OPENING_LINES = 4
_CODE = lazy_pattern(r"(?=\S*\d)\S{1,12}")


class Entry(NamedTuple):
    """A text in a collection: its title and all of it."""

    name: str
    text: str


def is_collected(kind: str) -> bool:
    """Whether a kind of text, as a question calls it, is often collected in one document: "paper"."""
    return _IS_COLLECTED.fullmatch(kind) is not None


def entries(passages: Sequence[StoredPassage]) -> list[Entry]:
    """Return the entries of a document; none if it does not say that it has several, or has not.

    They are below headings of their own, or paragraphs that begin with a title. Who says "I" at the beginning writes
    about such texts, and collects none.

    Args:
        passages: All passages of the document, in order.
    """
    if not passages:
        return []
    first = passages[0]
    lines = [line for passage in passages[:2] for line in passage.text.split("\n") if line.strip()]
    about = [first.title, path_words(first.document.path), *lines[:_OPENING_LINES]]
    if not _COLLECTION.search("\n".join(about)) or _SPEAKS.search("\n".join(about)):
        return []
    found = _below_headings(passages) or _paragraphs(passages)
    return found if len(found) >= _LEAST else []


def _below_headings(passages: Sequence[StoredPassage]) -> list[Entry]:
    deepest = max(len(passage.heading) for passage in passages)
    by_heading: dict[tuple[str, ...], list[str]] = {}
    for passage in passages:
        if len(passage.heading) == deepest and passage.heading[-1:] not in ((), (passages[0].title,)):
            by_heading.setdefault(passage.heading, []).append(passage.text[passage.body :])
    return [Entry(heading[-1], "\n".join(texts)) for heading, texts in by_heading.items()]


def _paragraphs(passages: Sequence[StoredPassage]) -> list[Entry]:
    text = ""
    for before, passage in zip([None, *passages], passages, strict=False):
        # More than a line break is between paragraphs.
        gap = 0 if before is None else passage.start - before.end
        text += ("\n\n" if gap > 1 else "\n" if gap else "") + passage.text
    found = []
    for block in text.split("\n\n")[1:]:
        name, _, rest = block.strip().partition("\n")
        if _CODE.fullmatch(name) and rest:
            title, _, rest = rest.partition("\n")
            name = f"{name} {title}"
        if rest.strip() and len(name) <= _LONGEST_NAME and not name.endswith((".", ":", ";", ",")):
            found.append(Entry(name, rest))
    return found
