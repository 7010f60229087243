"""Tell whether a question names another file of the folder, or another section, than the passage that answers is of.

A folder often has much the same text about several things: the manuals of two machines, the records of two animals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import PurePosixPath

from index import Index, StoredDocument, StoredPassage
from qa.questions.steps import terms

_WORD = re.compile(r"[^\W\d_]{2,}")
_NAME = re.compile(r"(?<=\w\s)[A-Z][^\W\d_]+(?:[ -][A-Z][^\W\d_]+)*")
_TITLE = re.compile(r"\b(?:Mrs?|Ms|Miss|Dr|Prof)\b\.?\s+")
_POSSESSIVE = re.compile(r"['’]s?\b")
_CALENDAR = re.compile(
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
)
# How many passages with a name are searched for the files that it names.
_DEPTH = 20
# Files with more passages are not searched for a name.
_MAX_PASSAGES = 1000


def is_of_another(snapshot: Index, question: str, passage: StoredPassage) -> bool:
    """Whether a question names another section of the passage's file, or a file like it in its folder.

    The headings or the path of the other have the name, or two words in a row. The passage lacks one of these words, or
    both of the two, and so does its file if another file is named.
    """
    document = passage.document
    if document.passages > _MAX_PASSAGES:
        return False
    below_title = terms(" ".join((*passage.heading[1:], passage.text[passage.body :])))
    names = [one for one in _names(question) if not one <= below_title]
    pairs = [one for one in _pairs(question) if not one & below_title]
    is_of_file = _is_of_other_file(snapshot, document, names, pairs)
    return is_of_file or _is_of_other_section(snapshot, passage, names, pairs)


def _is_of_other_file(
    snapshot: Index, document: StoredDocument, names: Sequence[frozenset[str]], pairs: Sequence[frozenset[str]]
) -> bool:
    title = _title_terms(document)
    files = [
        name
        for name in (*names, *pairs)
        if not name <= title
        for one in _beside(snapshot, document, name)
        if _names_like(names, name, title, _title_terms(one)) or _share_heading(snapshot, document, one)
    ]
    whole = title | _all_terms(snapshot, document) if files else title
    return any(not name <= whole for name in files)


def _is_of_other_section(
    snapshot: Index, passage: StoredPassage, names: Sequence[frozenset[str]], pairs: Sequence[frozenset[str]]
) -> bool:
    has_sections = bool((names or pairs) and passage.heading[1:])
    return any(
        _names_like(names, name, terms(own), terms(other))
        for one in (snapshot.passages_of(passage.document.path) if has_sections else ())
        for own, other in _differing(passage.heading, one.heading)
        for name in (*names, *pairs)
    )


def _differing(own: tuple[str, ...], other: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the first headings in which two passages differ, unless it is the title."""
    pairs = ((mine, its) for mine, its in zip(own[1:], other[1:], strict=False) if mine != its)
    yield from islice(pairs if own[:1] == other[:1] else (), 1)


def _names_like(names: Sequence[frozenset[str]], name: frozenset[str], own: set[str], other: set[str]) -> bool:
    """Whether a name is in another title that is like the own one: they share a word, or it is but a name."""
    return name <= other and bool(own & other or (other == name and name in names))


def _beside(snapshot: Index, document: StoredDocument, name: frozenset[str]) -> list[StoredDocument]:
    """Return the other files in the folder of a document whose titles have a name."""
    hits = snapshot.keyword(dict.fromkeys(sorted(name), 1.0), _DEPTH)
    found = {one.document.path: one.document for one in snapshot.passages([hit.passage for hit in hits])}
    folder = PurePosixPath(document.path).parent
    near = (one for path, one in found.items() if path != document.path and PurePosixPath(path).parent == folder)
    return [one for one in near if name <= _title_terms(one)]


def _share_heading(snapshot: Index, one: StoredDocument, other: StoredDocument) -> bool:
    """Whether two files have sections with the same heading."""
    if other.passages > _MAX_PASSAGES:
        return False
    own, others = (
        {heading.lower() for passage in snapshot.passages_of(document.path) for heading in passage.heading[1:]}
        for document in (one, other)
    )
    return bool(own & others)


def _all_terms(snapshot: Index, document: StoredDocument) -> set[str]:
    own = snapshot.passages_of(document.path)
    return {term for one in own for term in terms(f"{one.context} {one.text}")}


def _names(question: str) -> list[frozenset[str]]:
    """Return the terms of each word or run of words with a capital, other than the first word."""
    names = [_CALENDAR.sub("", one) for one in _NAME.findall(_without_titles(question))]
    return [frozenset(found) for one in names if (found := terms(one))]


def _without_titles(question: str) -> str:
    return _TITLE.sub("", _POSSESSIVE.sub("", question))


def _pairs(question: str) -> list[frozenset[str]]:
    words = list(_WORD.finditer(question))
    pairs = [(one[0], two[0]) for one, two in pairwise(words) if question[one.end() : two.start()] == " "]
    return [frozenset(terms(" ".join(pair))) for pair in pairs if all(map(terms, pair))]


def _title_terms(document: StoredDocument) -> set[str]:
    path = re.sub(r"[/_-]+", " ", PurePosixPath(document.path).stem)
    return {term for term in terms(f"{path} {document.title}") if not term.isdecimal()}
