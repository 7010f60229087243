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
from qa.questions.lookup import Lookup, lookup_of, lookup_of_any
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
    r"|refer(?:s|ring)? to|talk(?:s|ing)? about|(?:ha(?:s|ve|ving) )?to do with|us(?:es?|ing)"
)
_PAPERS = frozenset({"application/pdf", "text/x-tex"})
# What is a thing, too: letters on a door, paper that covers a wall.
_THINGS = r"(?:letter|note|paper|poster|post)s?\s+(?:(?:that|which)\s+)?(?:(?:is|are)\s+on\s+the\b|cover|contain)"
# A document with more passages is not searched for its entries.
_MAX_PASSAGES = 1000
# A topic with these words is more than its terms.
_LIMITED = r".*\b(?:not|without|except|nor|(?:more|less|fewer) than|at (?:least|most))\b"
_LIST = r"list|show|find|give|name|get|which|what|are there|is there|do i have|all|any|every|me|of"
_DETERMINER = r"the|my|our|your|other|more"
# Where the documents are: "in these notes", "on the abstracts page".
_HERE = (
    r"(?:\s+(?:in|on|from)\s+(?:here|(?:(?:the|this|these|my|our)\s+)(?:\w+\s+)?"
    r"(?:abstracts|blog|collection|documents|files|folder|list|notes|page|review|round-?up)))?"
)
_DOCUMENTS = lazy_pattern(
    rf"\W*(?:please\W+)?(?:(?:{_LIST}|{_DETERMINER})\s+)*(?!{_THINGS})(?P<kind>(?:{_KINDS})s?)\s+"
    rf"(?:(?:are |is )?there\s+)?(?:(?:that|which|do|does)\s+)?(?:{_ABOUT})\s++(?!{_LIMITED})(?P<topic>.+?){_HERE}\W*"
    # "all the grokking papers"
    rf"|\W*(?:please\W+)?(?:(?:list|show|find|give|name|all|any|are there|me|of)\s+)+(?:(?:{_DETERMINER})\s+)?"
    rf"(?!(?:{_LIST}|{_DETERMINER}|earlier|latest|new|newest|old|older|previous|recent)\b)"
    rf"(?P<before>[^\W\d_][\w-]+)\s+(?P<these>(?:{_KINDS})s){_HERE}\W*",
    re.IGNORECASE,
)


def topic_of_documents(question: str) -> str | None:
    """Return the topic of a question that asks for documents and nothing else; None for other questions."""
    match = _DOCUMENTS.fullmatch(question)
    return None if match is None else _topic(match)


def _topic(documents: re.Match[str]) -> str:
    return documents["topic"] or documents["before"]


def _kind(documents: re.Match[str]) -> str:
    return documents["kind"] or documents["these"]


def lookup_of_topic(topic: str) -> Lookup | None:
    """Return the lookup of the documents on a topic: any of the things that "or" joins, or else all."""
    is_any = re.search(r"\bor\b", topic, re.IGNORECASE) is not None
    return (lookup_of_any(topic) if is_any else None) or lookup_of(topic)


def is_of_requested_kind(question: str, passage: StoredPassage) -> bool:
    """Whether a document may be of the kind that a question asks for, such as mail, by its format, title or path."""
    match = _DOCUMENTS.fullmatch(question)
    kind = "" if match is None else _kind(match).lower().replace("-", "")
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

    If "and" joins things in the topic, and none has all of them, those on any.

    Args:
        question: A question that asks for documents.
        lookup: Their topic.
        passage: A passage.
        passages_of: Gives all passages of a document.
    """
    match = _DOCUMENTS.fullmatch(question)
    if match is None or not is_collected(_kind(match)) or passage.document.passages > _MAX_PASSAGES:
        return []
    of_document = passages_of(passage.document.path)
    around = f"{path_words(passage.document.path)}\n{of_document[0].title}"
    collected = [] if lookup.is_in(around) else entries(of_document)
    texts = {entry.name: f"{around}\n{entry.name}\n{entry.text}" for entry in collected}
    found = [name for name, text in texts.items() if lookup.is_in(text)]
    lookup_any = None if found else lookup_of_any(_topic(match))
    return found if lookup_any is None else [name for name, text in texts.items() if lookup_any.is_in(text)]


def titles_answer(
    lookup: Lookup, passages: Sequence[StoredPassage], shown: int, entries_of: Callable[[StoredPassage], list[str]]
) -> Answer | None:
    """Answer with a list of the titles, or else paths, of matching documents; None if none matches.

    Titles that several documents have are followed by the path. If some documents collect others, those are listed in
    place of documents that only mention the topic, unless they are papers by their format: a blog is no abstract.

    Args:
        lookup: Their topic.
        passages: The top of the ranking, one per document.
        shown: How many of these are shown, and so can be cited.
        entries_of: Gives the titles on the topic that the document of a passage collects.
    """
    top = list(enumerate(passages[:shown], start=1))
    first = {it.document.path: rank for rank, it in reversed(top)}
    collected = {rank: names for rank in sorted(first.values()) if (names := entries_of(passages[rank - 1]))}
    rank_by_entry = {it.heading[-1:]: rank for rank, it in reversed(top) if first[it.document.path] in collected}
    ranks: dict[tuple[str, str], int] = {}
    for rank, passage in enumerate(passages, start=1):
        is_other = first.get(passage.document.path) not in collected
        is_paper = not collected or lookup.is_in(passage.title) or passage.document.media_type in _PAPERS
        if rank in collected or (is_other and is_paper and lookup.rank(passage)):
            ranks.setdefault((passage.title, passage.document.path), rank)
    cited = tuple(rank for rank in ranks.values() if rank <= shown)
    if not cited:
        return None
    count = Counter(title for title, _ in ranks)
    names = [f"{title} ({path})" if title and count[title] > 1 else title or path for title, path in ranks]
    listed = [
        (it, rank_by_entry.get((it,), rank))
        for name, rank in zip(names, cited, strict=False)
        for it in collected.get(rank) or [name]
    ]
    text = "\n".join(f"- {name}" for name, _ in listed) if len(listed) > 1 else listed[0][0]
    by_line = tuple((rank,) for _, rank in listed) if len(listed) > 1 else ()
    citations = tuple(dict.fromkeys(rank for _, rank in listed))
    return Answer(text, citations, sentence=text, more=len(ranks) - len(cited), cited_by_line=by_line)


def highlight_title(lookup: Lookup, passage: StoredPassage, extract: Extract) -> Extract:
    """Highlight the title before the sentences, if it is at the head of the passage and names the topic."""
    title = passage.title
    at = passage.text.find(title, 0, passage.body)
    if not title or at < 0 or not lookup.is_in(title):
        return extract
    start = passage.start + at
    return replace(extract, highlights=(Highlight((start, start + len(title)), title), *extract.highlights))
