"""Detect that a question names a sibling of the answering passage: another file of its folder, or another section.

A folder often has much the same text about several things, such as the manuals of two machines: a question about one
must not be answered from the manual of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from corpus import lazy_pattern, path_words
from index import Index, StoredDocument, StoredPassage
from qa.language.spans import Span, line_start
from qa.language.terms import terms

_WORD = lazy_pattern(r"[^\W\d_]{2,}")
_NAME = lazy_pattern(r"(?<=\w\s)[A-Z][^\W\d_]+(?:[ -][A-Z][^\W\d_]+)*")
_TITLE = lazy_pattern(r"\b(?:Mrs?|Ms|Miss|Dr|Prof)\b\.?\s+")
_POSSESSIVE = lazy_pattern(r"['’]s?\b")
_CALENDAR = lazy_pattern(
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
)
# A name, and what names of its variants end in: "Kestrel XL", "Clivo 3 Pro". Overlapping, as in "BACK FIT PLUS".
_VARIANT = lazy_pattern(
    r"\b(?=(?P<name>[A-Z][^\W_]*(?:[ -]\d[\w.]*)?)[ -](?P<variant>[A-Z]{2}|[A-Z]?\d{1,4}[A-Z]?(?![\w.])"
    r"|(?i:plus|pro|max|mini|midi|maxi|xxl|xl|xs|lite|light|ultra|forte|retard|depot|duo|trio|extra|advanced?|premium|deluxe|superior|standard|basic"
    r"|classic|comfort|junior|senior|kids|family|student|business|home|turbo|eco|sport|compact|express|gold|silver"
    r"|platinum|iii?|iv))\b)"
)
# A line about somebody or something: "Ann: off until May", "- **Ann Lee:** off until May".
_NAMED_LINE = lazy_pattern(
    r"^[ \t]*(?:[-*•][ \t]+)?[*_]*(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’.-]*){0,2})[*_]*:[*_]*[ \t]+(?=\S)", re.MULTILINE
)
_ASKS_WHICH = lazy_pattern(r"\b(?:which|every|each|any|all)(?: of)?(?: the)? (?P<name>\w+)", re.IGNORECASE)
# How many passages with a name are searched for the files that it names.
_DEPTH = 20
# Files with more passages are not searched for a name.
_MAX_PASSAGES = 1000


def names_sibling(snapshot: Index, question: str, passage: StoredPassage) -> bool:
    """Whether a question names another section of the passage's file, or a similar file in its folder.

    The sibling's headings or path have a name from the question, or two consecutive words. The passage lacks a word of
    the name, or both of the two words; so does its whole file if the sibling is a file.
    """
    document = passage.document
    if document.passages > _MAX_PASSAGES:
        return False
    below_title = terms(" ".join((*_sections(passage), passage.text[passage.body :])))
    names = [name for name in _names(question) if not name <= below_title]
    pairs = [pair for pair in _word_pairs(question) if not pair & below_title]
    names_file = _names_other_file(snapshot, document, names, pairs)
    return names_file or _names_other_section(snapshot, question, passage, names, pairs)


def is_line_of_other(question: str, passage: StoredPassage, answer_span: Span) -> bool:
    """Whether a sentence is in the line of somebody, and the question names who has another line.

    "Ann: off until May" does not answer when Bob is back, if another line begins with "Bob: ". In a chat, names recur.
    """
    text = passage.text
    names = {line.start(): line["name"] for line in _NAMED_LINE.finditer(text, passage.body)}
    own = names.get(line_start(text, answer_span[0]))
    if own is None or len(set(names.values())) < len(names):
        return False
    asked = {name for name in names.values() if re.search(rf"(?<=\w ){re.escape(name)}\b", question)}
    is_theirs = own in question or any(name in text[slice(*answer_span)] for name in asked)
    return bool(asked) and not is_theirs


class Namesake(NamedTuple):
    """What a question names, beside a variant of it.

    Attributes:
        path: Its file.
        heading: Its section in that; None for all of it.
    """

    path: str
    heading: str | None

    def has(self, passage: StoredPassage) -> bool:
        """Whether a passage is about it."""
        return passage.document.path == self.path and (self.heading is None or self.heading in passage.heading)


def namesake_of_variant(snapshot: Index, question: str, passage: StoredPassage) -> Namesake | None:
    """Return the file or section about just what a question names, if a passage is about a variant of that.

    Such as "kestrel.md" beside "kestrel-xl.md", or a section "Swift" beside "Swift Plus". None if the question names
    the variant or asks which one, or if there is only the variant.
    """
    document = passage.document
    if document.passages > _MAX_PASSAGES:
        return None
    sections, path = _sections(passage), path_words(PurePosixPath(document.path).stem)
    for title in dict.fromkeys((document.title, path.title(), *sections)):
        for name, variant in _variants(title, question):
            # The text may also say something about the other one.
            if _has_plain(name, variant, passage.text[passage.body :]):
                continue
            for other in snapshot.passages_of(document.path) if title in sections else ():
                pair = next(_first_difference(sections, _sections(other)), None)
                if pair and pair[0] == title and _is_plain(pair[1], name, variant, title):
                    return Namesake(document.path, pair[1])
            words = frozenset(term for term in terms(name) if not term.isdecimal())
            for file in _files_beside(snapshot, document, words) if title not in sections else ():
                other_path = path_words(PurePosixPath(file.path).stem).title()
                if any(_is_plain(it, name, variant, title) for it in (file.title, other_path)):
                    return Namesake(file.path, None)
    return None


def _variants(title: str, question: str) -> Iterator[tuple[str, str]]:
    """Yield each name in a title that the question has, with the variant after it, which the question lacks."""
    asked = terms(question) - {term for match in _ASKS_WHICH.finditer(question) for term in terms(match["name"])}
    for match in _VARIANT.finditer(title):
        name, variant = match["name"], match["variant"]
        if terms(name) and terms(name) <= asked and not _has_word(variant, question):
            yield name, variant


def _is_plain(title: str, name: str, variant: str, longer: str) -> bool:
    """Whether a title has a name without its variant, and no word that the variant's title lacks."""
    return _has_plain(name, variant, title) and not _has_word(variant, title) and terms(title) <= terms(longer)


def _has_plain(name: str, variant: str, text: str) -> bool:
    plain = rf"\b{re.escape(name)}\b(?!\W{{1,3}}{re.escape(variant)}\b)"
    return re.search(plain, text) is not None


def _has_word(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def _names_other_file(
    snapshot: Index, document: StoredDocument, names: Sequence[frozenset[str]], pairs: Sequence[frozenset[str]]
) -> bool:
    title = _title_terms(document)
    files = [
        name
        for name in (*names, *pairs)
        if not name <= title
        for other in _files_beside(snapshot, document, name)
        if _is_in_similar_title(names, name, title, _title_terms(other)) or _share_heading(snapshot, document, other)
    ]
    whole = title | _all_terms(snapshot, document) if files else title
    return any(not name <= whole for name in files)


def _names_other_section(
    snapshot: Index,
    question: str,
    passage: StoredPassage,
    names: Sequence[frozenset[str]],
    pairs: Sequence[frozenset[str]],
) -> bool:
    asked, title = terms(question), _title_terms(passage.document)
    sections = _sections(passage)
    return any(
        _is_in_similar_title(names, name, terms(heading), terms(other_heading))
        for other in (snapshot.passages_of(passage.document.path) if sections and (names or pairs) else ())
        for heading, other_heading in _first_difference(sections, _sections(other))
        for name in (*names, *pairs)
        # A name in the file's title only counts if the passage's own heading is not the one that is asked for.
        if not (name <= title and terms(heading) & asked - terms(other_heading))
    )


def _sections(passage: StoredPassage) -> tuple[str, ...]:
    """Return the headings of a passage, without its title."""
    return passage.heading[passage.heading[:1] == (passage.title,) :]


def _first_difference(headings: tuple[str, ...], other_headings: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the first pair of headings in which two passages of a document differ."""
    pairs = ((name, other) for name, other in zip(headings, other_headings, strict=False) if name != other)
    yield from islice(pairs, 1)


def _is_in_similar_title(
    names: Sequence[frozenset[str]], name: frozenset[str], title: set[str], other_title: set[str]
) -> bool:
    """Whether a name is in another title that is similar to this one: they share a word, or it is just that name."""
    return name <= other_title and bool(title & other_title or (other_title == name and name in names))


def _files_beside(snapshot: Index, document: StoredDocument, name: frozenset[str]) -> list[StoredDocument]:
    """Return the other files in the folder of a document whose titles have a name."""
    hits = snapshot.keyword(dict.fromkeys(sorted(name), 1.0), _DEPTH)
    passages = snapshot.passages([hit.passage for hit in hits])
    others = {passage.document.path: passage.document for passage in passages if passage.document.path != document.path}
    folder = PurePosixPath(document.path).parent
    beside = (other for path, other in others.items() if PurePosixPath(path).parent == folder)
    return [other for other in beside if name <= _title_terms(other)]


def _share_heading(snapshot: Index, document: StoredDocument, other: StoredDocument) -> bool:
    """Whether two files have sections with the same heading."""
    if other.passages > _MAX_PASSAGES:
        return False
    headings, other_headings = (
        {heading.lower() for passage in snapshot.passages_of(path) for heading in passage.heading[1:]}
        for path in (document.path, other.path)
    )
    return bool(headings & other_headings)


def _all_terms(snapshot: Index, document: StoredDocument) -> set[str]:
    passages = snapshot.passages_of(document.path)
    return {term for passage in passages for term in terms(f"{passage.context} {passage.text}")}


def _names(question: str) -> list[frozenset[str]]:
    """Return the terms of each word or run of words with a capital, other than the first word."""
    names = [_CALENDAR.sub("", name) for name in _NAME.findall(_without_titles(question))]
    return [frozenset(stems) for name in names if (stems := terms(name))]


def _without_titles(question: str) -> str:
    return _TITLE.sub("", _POSSESSIVE.sub("", question))


def _word_pairs(question: str) -> list[frozenset[str]]:
    words = list(_WORD.finditer(question))
    pairs = [(first[0], last[0]) for first, last in pairwise(words) if question[first.end() : last.start()] == " "]
    return [frozenset(terms(" ".join(pair))) for pair in pairs if all(map(terms, pair))]


def _title_terms(document: StoredDocument) -> set[str]:
    path = re.sub(r"[/_-]+", " ", PurePosixPath(document.path).stem)
    return {term for term in terms(f"{path} {document.title}") if not term.isdecimal()}
