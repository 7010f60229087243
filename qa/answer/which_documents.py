"""Answer questions for documents with their titles: "list the papers on grokking"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from corpus import lazy_pattern, path_words
from corpus.formats import format_of
from index import StoredPassage, word_terms
from qa.answer.extract import Extract
from qa.answer.results import Answer, Highlight
from qa.language.values import WEEKDAY_NAME
from qa.questions.lookup import Lookup
from qa.structure.entries import entries, is_collected

# Kinds of documents, which do not include parts that questions name by number, such as a page or a clause.
_KINDS = (
    r"abstract|article|document|doc|e-?mail|essay|file|lecture|letter|mail|memo|message|minutes|note|paper|poem|poster|post"
    r"|publication|recipe|report|stor(?:y|ie)|stud(?:y|ie)|talk|thread|transcript"
)
# Mail is recognised by its format, and some other kinds by a word in the title or path.
_MAIL = frozenset({"mail", "mails", "email", "emails", "message", "messages"})
_NAMED = lazy_pattern(r"letters?|memos?|minutes|reports?|transcripts?")
_ABOUT = (
    r"(?:(?:is|are) )?(?:about|on(?!\s+(?:\d+|at|hold|time|today|tomorrow|(?:(?:next|this|last)\s+)?"
    rf"{WEEKDAY_NAME}s?)\b))|regarding|concerning"
    r"|(?:mention|discuss|cover|contain|describ)(?:s|es|e|ing)?|deal(?:s|ing)? with"
    r"|refer(?:s|ring)? to|talk(?:s|ing)? about"
)
# What is a thing, too: letters on a door, paper that covers a wall.
_THINGS = r"(?:letter|note|paper|poster|post)s?\s+(?:(?:that|which)\s+)?(?:(?:is|are)\s+on\s+the\b|cover|contain)"
# A document with more passages is not searched for its entries.
_MAX_PASSAGES = 1000
# A topic with these words is more than its terms.
_LIMITED = r".*\b(?:not|without|except|n?or|(?:more|less|fewer) than|at (?:least|most))\b"
_DOCUMENTS = lazy_pattern(
    r"\W*(?:please\W+)?(?:(?:list|show|find|give|name|get|which|what|are there|is there|do i have|all|any|every|me|of"
    rf"|the|my|our|your|other|more)\s+)*(?!{_THINGS})(?P<kind>(?:{_KINDS})s?)\s+(?:(?:are |is )?there\s+)?"
    rf"(?:(?:that|which|do|does)\s+)?(?:{_ABOUT})\s++(?!{_LIMITED})(?P<topic>.+?)\W*",
    re.IGNORECASE,
)


def topic_of_documents(question: str) -> str | None:
    """Return the topic of a question that asks for documents and nothing else; None for other questions."""
    match = _DOCUMENTS.fullmatch(question)
    return None if match is None else match["topic"]


def is_of_requested_kind(question: str, passage: StoredPassage) -> bool:
    """Whether a document may be of the kind that a question asks for, such as mail, by its format, title or path."""
    match = _DOCUMENTS.fullmatch(question)
    kind = "" if match is None else match["kind"].lower().replace("-", "")
    path = passage.document.path
    if kind in _MAIL and (named := format_of(path)) is not None and named.reader == "records.mail":
        return True
    words = re.findall(r"[^\W\d_]+", f"{passage.title} {path}".lower())
    is_known = kind in _MAIL or _NAMED.fullmatch(kind)
    return not is_known or any(word_terms(word) == word_terms(kind) for word in words)


def titles_of_entries(
    question: str, lookup: Lookup, passage: StoredPassage, passages_of: Callable[[str], Sequence[StoredPassage]]
) -> list[str]:
    """Return the titles of the abstracts, papers or the like on a topic that the document of a passage collects.

    Args:
        question: A question that asks for documents.
        lookup: Their topic.
        passage: A passage.
        passages_of: Gives all passages of a document.
    """
    match = _DOCUMENTS.fullmatch(question)
    if match is None or not is_collected(match["kind"]) or passage.document.passages > _MAX_PASSAGES:
        return []
    around = f"{path_words(passage.document.path)}\n{passage.title}"
    collected = [] if lookup.is_in(around) else entries(passages_of(passage.document.path))
    return [entry.name for entry in collected if lookup.is_in(f"{around}\n{entry.name}\n{entry.text}")]


def titles_answer(
    lookup: Lookup, passages: Sequence[StoredPassage], shown: int, entries_of: Callable[[StoredPassage], list[str]]
) -> Answer | None:
    """Answer with a list of the titles, or else paths, of matching documents; None if none matches.

    Titles that several documents have are followed by the path. In place of a document that collects others, those are
    listed.

    Args:
        lookup: Their topic.
        passages: The top of the ranking, one per document.
        shown: How many of these are shown, and so can be cited.
        entries_of: Gives the titles on the topic that the document of a passage collects.
    """
    ranks: dict[tuple[str, str], int] = {}
    for rank, passage in enumerate(passages, start=1):
        if lookup.rank(passage):
            ranks.setdefault((passage.title, passage.document.path), rank)
    cited = tuple(rank for rank in ranks.values() if rank <= shown)
    if not cited:
        return None
    count = Counter(title for title, _ in ranks)
    names = [f"{title} ({path})" if title and count[title] > 1 else title or path for title, path in ranks]
    listed = [
        (it, rank) for name, rank in zip(names, cited, strict=False) for it in entries_of(passages[rank - 1]) or [name]
    ]
    text = "\n".join(f"- {name}" for name, _ in listed) if len(listed) > 1 else listed[0][0]
    by_line = tuple((rank,) for _, rank in listed) if len(listed) > 1 else ()
    return Answer(text, cited, sentence=text, more=len(ranks) - len(cited), cited_by_line=by_line)


def highlight_title(lookup: Lookup, passage: StoredPassage, extract: Extract) -> Extract:
    """Highlight the title before the sentences, if it is at the head of the passage and names the topic."""
    title = passage.title
    at = passage.text.find(title, 0, passage.body)
    if not title or at < 0 or not lookup.is_in(title):
        return extract
    start = passage.start + at
    return replace(extract, highlights=(Highlight((start, start + len(title)), title), *extract.highlights))
