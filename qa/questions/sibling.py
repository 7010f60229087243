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
_GENERAL = frozenset({"all", "basic", "common", "gener", "hous", "standard"})
_POSSESSIVE = re.compile(r"['’]s?\b")
_CALENDAR = re.compile(
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)\b"
)
# How many passages with a name are searched for the files that it names.
_DEPTH = 20
# Files with more passages are not searched for a name.
_MAX_PASSAGES = 1000


def is_of_another(snapshot: Index, question: str, passage: StoredPassage, rare: frozenset[str] = frozenset()) -> bool:
    """Whether a question names another section of the passage's file, or a file like it in its folder.

    The headings or the path of the other have the name, its last word, or two words in a row. The passage lacks one of
    these words, or both of the two, and so does its file if another file is named.
    """
    document = passage.document
    if document.passages > _MAX_PASSAGES:
        return False
    below_title = terms(" ".join((*passage.heading[1:], passage.text[passage.body :])))
    names = [one for one in _names(question) if not one <= below_title]
    last_names = _last_names(question, _title_terms(document))
    pairs = [one for one in (*_pairs(question), *last_names) if not one & below_title]
    return (
        _has_longer_name(snapshot, question, passage)
        or _is_of_other_subject(snapshot, question, document, rare)
        or _is_of_other_file(snapshot, document, names, pairs)
        or _is_of_other_section(snapshot, passage, names, pairs)
    )


def _has_longer_name(snapshot: Index, question: str, passage: StoredPassage) -> bool:
    """Whether a file's name goes on where that in the question, which is of a file like it, ends: "Zaprinol Plus".

    Without a hyphen ("CORVEX-ELD") it may just be a title, "Zaprinol Study"; so it may with one in the name of a file.
    """
    document = passage.document
    is_heading = document.title != PurePosixPath(document.path).stem
    for name in _NAME.findall(_POSSESSIVE.sub("", question)):
        longer = re.search(rf"\b{re.escape(name)}([ -])([A-Z][^\W\d_]*)", document.title)
        if longer is None or terms(longer[2]) <= terms(question):
            continue
        alone = re.compile(rf"\b{re.escape(name)}\b(?![ -][A-Z])")
        is_begun = longer[1] == "-" and is_heading and not longer.start() and not alone.search(passage.text)
        beside = _beside(snapshot, document, frozenset(terms(name)))
        for one in (one for one in beside if alone.search(one.title)):
            if (is_begun and one.title.startswith(name)) or _share_heading(snapshot, document, one):
                return True
    return False


def _is_of_other_subject(snapshot: Index, question: str, document: StoredDocument, rare: frozenset[str]) -> bool:
    """Whether the title of a file like this begins with a rare word of the question: "how is metformin stored?".

    Rare are words in lower case that are likely names (see `Query.rare_words`).
    The two titles differ in one word, as "Metformin tablets" and "Apixaban tablets" do, and the question does not have
    that of this one. No other title has the rare word, and this file nowhere.
    """
    title, asked = _title_terms(document), terms(question)
    for name in (name for name in map(terms, sorted(rare)) if len(name) == 1 and not name <= title):
        beside = _beside(snapshot, document, frozenset(name))
        first = _WORD.search(beside[0].title) if len(beside) == 1 else None
        theirs = _title_terms(beside[0]) if first and terms(first[0]) == name else set()
        # "General plant care" may hold for what "Hibiscus care" is about.
        is_one_of_series = theirs - title == name and len(title - theirs) == 1 and (title - theirs).isdisjoint(_GENERAL)
        if is_one_of_series and not asked & (title - theirs) and not name <= _all_terms(snapshot, document):
            return True
    return False


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


def _last_names(question: str, title: set[str]) -> list[frozenset[str]]:
    """Return the terms of the last word of each name, which may name a file alone, if no other word is in the title."""
    names = (_CALENDAR.sub("", one).split() for one in _NAME.findall(_without_titles(question)))
    others = ((terms(" ".join(first)), terms(last)) for *first, last in filter(None, names) if first)
    return [frozenset(last) for first, last in others if last and title.isdisjoint(first)]


def _without_titles(question: str) -> str:
    return _TITLE.sub("", _POSSESSIVE.sub("", question))


def _pairs(question: str) -> list[frozenset[str]]:
    words = list(_WORD.finditer(question))
    pairs = [(one[0], two[0]) for one, two in pairwise(words) if question[one.end() : two.start()] == " "]
    return [frozenset(terms(" ".join(pair))) for pair in pairs if all(map(terms, pair))]


def _title_terms(document: StoredDocument) -> set[str]:
    path = re.sub(r"[/_-]+", " ", PurePosixPath(document.path).stem)
    return {term for term in terms(f"{path} {document.title}") if not term.isdecimal()}
