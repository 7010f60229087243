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
_NAME = re.compile(r"(?<=\w\s)[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)*")
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

    The headings or the path of the other have the name, or two words in a row. The passage has none of these words, nor
    has its file if another file is named.
    """
    document, title = passage.document, _title_terms(passage.document)
    below_title = terms(" ".join((*passage.heading[1:], passage.text[passage.body :])))
    names = [one for one in _names(question) if not one & below_title]
    pairs = [one for one in _pairs(question) if not one & below_title]
    beside = {name: _titles_beside(snapshot, document, name) for name in (*names, *pairs) if not name & title}
    files = [name for name, titles in beside.items() if any(_names_like(names, name, title, one) for one in titles)]
    has_sections = bool((names or pairs) and passage.heading[1:])
    if not (has_sections or files) or document.passages > _MAX_PASSAGES:
        return False
    rest = snapshot.passages_of(document.path)
    whole = title.union(*(terms(f"{one.context} {one.text}") for one in rest)) if files else set()
    return any(not name & whole for name in files) or any(
        _names_like(names, name, terms(own), terms(other))
        for one in (rest if has_sections else ())
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


def _titles_beside(snapshot: Index, document: StoredDocument, name: frozenset[str]) -> list[set[str]]:
    """Return the terms of the titles of files in the folder of a document that have a name."""
    hits = snapshot.keyword(dict.fromkeys(sorted(name), 1.0), _DEPTH)
    documents = [one.document for one in snapshot.passages([hit.passage for hit in hits])]
    folder = PurePosixPath(document.path).parent
    return [_title_terms(one) for one in documents if PurePosixPath(one.path).parent == folder]


def _names(question: str) -> list[frozenset[str]]:
    """Return the terms of each word or run of words with a capital, other than the first word."""
    names = [_CALENDAR.sub("", one[0]) for one in _NAME.finditer(_POSSESSIVE.sub("", question))]
    return [frozenset(found) for one in names if (found := terms(one))]


def _pairs(question: str) -> list[frozenset[str]]:
    words = list(_WORD.finditer(question))
    pairs = [(one[0], two[0]) for one, two in pairwise(words) if question[one.end() : two.start()] == " "]
    return [frozenset(terms(" ".join(pair))) for pair in pairs if all(map(terms, pair))]


def _title_terms(document: StoredDocument) -> set[str]:
    path = re.sub(r"[/_-]+", " ", PurePosixPath(document.path).stem)
    return {term for term in terms(f"{path} {document.title}") if not term.isdecimal()}
