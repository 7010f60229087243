"""Sections that answer as a whole: what stands below the heading, or the line, that a question names.

"What are the risks of the project?" is answered with all of "Risks", whether that is prose or a list, and however the
items of the list are marked. Every word of the question has to be accounted for, by the heading, those above it, the
title, the path or the first lines of the document, and every word of the heading by the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from corpus import lazy_pattern, path_words
from corpus.formats import RECORDS
from index import StoredPassage
from qa.language.question_kinds import AUXILIARY
from qa.language.spans import Span, trimmed
from qa.language.terms import terms

_LONGEST_HEADING = 90
_LONGEST_INTRODUCTION = 160
# Prose is quoted as a whole up to this many characters or, if it is not much longer, sentences; lists may be longer.
_LONGEST_PROSE, _MOST_SENTENCES, _LONGEST_FEW = 600, 5, 800
_MOST_ITEMS, _LONGEST_LIST = 40, 2500
# A document with more passages is not searched for all of a section.
_MAX_PASSAGES = 200
# The first lines of a document may say what it is about, without being headings.
_OPENING_LINES = 4
_BEGINNING = 3
_WORD = lazy_pattern(r"\w+")
_BLANK_LINE = lazy_pattern(r"\n[ \t]*\n")
_LINE = lazy_pattern(r"[^\n]*\S")
_ITEM = lazy_pattern(r"[ \t]*(?:[•◦▪‣●○■□–—*+-]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])[ \t]+")
_STEP = lazy_pattern(r"^[ \t]*\(?\d{1,2}[.)][ \t]", re.MULTILINE)
_SENTENCE_END = lazy_pattern(r"[.!?][\"')\]]*\s+(?=[A-ZÀ-Þ0-9\"'(])")
# What is no list of plain items: rows of a table, code, tasks with boxes.
_OTHER = lazy_pattern(r"^[ \t]*(?:\||```|~~~|\.\. |(?:[*+-] )?\[[ xX]?\]|\S[^\n]*\S(?: {3,}|\t)\S)", re.MULTILINE)
_MARKS = " \t*_#=:"
# The parts of a heading: "Social: the congress dinner", "Risks and how we deal with them", "Budget (in pounds)".
_PART = lazy_pattern(r"(?::\s|\s[–—-]\s|\([^()]{0,80}\)|\band (?:how|what|why)\b|\bcompared (?:to|with)\b)")
# Questions that a few words or rows answer, and words that limit what is asked for.
_ASKS_FOR_ELSE = lazy_pattern(
    r"\W*(?:when|where|why|whose|whom|who(?! (?:are|were|is on|was on)\b)"
    rf"|how (?!(?:{AUXILIARY}|to)\b)\w+|in what|in which|{AUXILIARY}"
    r"|(?:what|which) (?:do|does|did|happens?|if|about|day|date|time|year|month|number))\b",
    re.IGNORECASE,
)
_LIMITS = lazy_pattern(
    r"\b(?:above|after|before|below|between|compared|during|each|else|except|fewer|first|if|instead|last|least|less|more"
    r"|most|never|next|not?|only|other|over|second|than|third|under|unless|until|vs|without)\b",
    re.IGNORECASE,
)
_PLURAL = lazy_pattern(
    r"\b[^\W\d_]{2,40}[^\Wisu\d_]s\b|\b(?:children|criteria|data|people|staff|equipment|gear|kit)\b", re.I
)
_COLLECTIVE = lazy_pattern(
    r"\b(?:agenda|contents|curriculum|itinerary|line-?up|menu|programme|schedule|timetable)\b"
    r"|(?<=who is on the )\w+|(?<=who was on the )\w+"
    r"|(?:(?<=what is the )|(?<=what was the ))(?:approach|background|impact|mission|outlook|purpose|rationale"
    r"|scope)\b",
    re.IGNORECASE,
)
# The end of what is asked for itself: "the price | of the kayaks".
_OF = lazy_pattern(r"(?<=\w) (?:about|at|by|during|for|from|in|of|on|to|with)\b", re.IGNORECASE)
_CLAUSE = lazy_pattern(r"\W*(?P<word>what|how)\b", re.IGNORECASE)
# Tasks, in words that are stop words: "what is left to do?", "To do:".
_TO_DO = lazy_pattern(
    r"(?:\bon (?:my|our|the) )?\bto-?do(?:s|['’]s)?\b(?: (?:list|items?)\b)?|\b(?:still|left) to (?:do|be done)\b"
    r"|\bto do\b(?=\W*\Z| list\b)",
    re.IGNORECASE,
)
_ASKS_WHAT_HAPPENED = lazy_pattern(
    r"\W*(?:what happened (?:at|to|on|with|during|in)|tell me about|describe"
    r"|what (?:was|were) (?:agreed|announced|decided|discussed|said) (?:at|in|on))\b",
    re.IGNORECASE,
)


# Words that questions add to the name of a section, and headings to what questions call it.
_GENERIC = terms(
    "apply available complete current describe detail different document exist file find following found full give"
    " here important include information item kind known list made main name need offer page paper part point project"
    " provide remain report said say section see show taken tell think thought thing tip type various"
)
# Those that say that there are several, while the heading names them: "budget items".
_ITEMS = terms("items points things details tips")
_OF_EVENTS = terms("agreed announced decided discussed happened")


Part = tuple[StoredPassage, Span]
# Gives all passages of the document at a path, in order.
PassagesOf = Callable[[str], Sequence[StoredPassage]]


class Section(NamedTuple):
    """A section of a document.

    Attributes:
        name: Its heading, or the line above it, without marks.
        outer: The headings above that.
        parts: Its text: passages, and which of their characters, without the name.
        heading: The characters of its name in the passage it begins in; None if they are not in the text.
        is_known: Whether the name is a heading of the document, and not only a line.
    """

    name: str
    outer: tuple[str, ...]
    parts: tuple[Part, ...]
    heading: Span | None
    is_known: bool

    @property
    def text(self) -> str:
        """All of its text below the name."""
        parts = [passage.text[slice(*span)].strip("\n") for passage, span in self.parts]
        # A passage may end within a line.
        lines = [passage.lines or (0, -1) for passage, _ in self.parts]
        marks = [" " if first[1] == second[0] else "\n" for first, second in pairwise(lines)]
        return "".join(mark + part for mark, part in zip(["", *marks], parts, strict=True))


@dataclass(frozen=True, slots=True)
class SectionQuestion:
    """A question that a whole section may answer.

    Attributes:
        asked: The terms of the question.
        plural: Those that name several things, if these are asked for: not the kayaks of "the price of the kayaks".
        word: "what" or "how", if a heading that begins with it may ask the same.
        words: All words, in lower case.
        limits: Those that limit what is asked for, as in "before the exam".
        is_open: Whether it asks what happened at, or was said by, what a heading names.
    """

    asked: frozenset[str]
    plural: frozenset[str]
    word: str
    words: frozenset[str]
    limits: frozenset[str]
    is_open: bool

    @classmethod
    def of(cls, question: str) -> SectionQuestion | None:
        """Return what a question asks for; None if a section surely does not answer it."""
        question = _TO_DO.sub("tasks", question)
        clause = _CLAUSE.match(question)
        is_open = _ASKS_WHAT_HAPPENED.match(question) is not None
        plural: set[str] = set()
        if not _ASKS_FOR_ELSE.match(question):
            head = " ".join(_PLURAL.findall(_OF.split(question, maxsplit=1)[0]))
            # "What kinds of animals?"
            head = head if terms(head) - _GENERIC else " ".join(_PLURAL.findall(question)) if head else ""
            plural = terms(" ".join([head, *_COLLECTIVE.findall(question)]))
        if not plural and not is_open and clause is None:
            return None
        asked = terms(question) - (_OF_EVENTS if is_open else set())
        words = frozenset(_WORD.findall(question.lower()))
        word = clause["word"].lower() if clause else ""
        limits = frozenset(_LIMITS.findall(question.lower()))
        return cls(frozenset(asked), frozenset(plural), word, words, limits, is_open)

    def names(self, section: Section) -> bool:
        """Whether the question asks for what is below a heading; the rest of its words may be accounted for around."""
        name = _TO_DO.sub("tasks", section.name.lower())
        # Comparing the beginnings of words is faster than stemming all headings.
        if not any(term[:_BEGINNING] in name for term in self.asked) or not self.asked & terms(name):
            return False
        if not self.limits <= set(_WORD.findall(name)):
            return False
        # A line such as "Lena: see you at five" is by Lena, and what follows is not.
        parts = _PART.split(section.name) if section.is_known or ":" not in section.name else ()
        return any(self._names(part) for part in {name, *parts} if part.strip())

    def missing(self, section: Section) -> set[str]:
        """Return the terms that the heading does not have."""
        return set(self.asked) - terms(_TO_DO.sub("tasks", section.name)) - _GENERIC

    def _names(self, name: str) -> bool:
        named = terms(name)
        core = named - _GENERIC
        if not named & self.asked or not core <= self.asked or not any(map(str.isalpha, named)):
            return False
        # "budget items"
        if self.plural & named or (self.plural and self.plural <= _ITEMS and core):
            return True
        clause = _CLAUSE.match(name)
        if clause is not None and core:
            # A question as a heading asks for something in particular: "What is the fee?" Nor does "What the hall
            # provides" tell the hours of the hall's office on Tuesdays.
            is_about = 2 * len(named & self.asked) >= len(self.asked - _GENERIC)
            return is_about and clause["word"].lower() == self.word and not name.endswith("?")
        # "How is it funded?" below "Funding".
        forms = set(_WORD.findall(name.lower()))
        is_form = self.word == "how" and len(core) == 1 and forms.isdisjoint(self.words)
        return is_form or (self.is_open and bool(core))


def answering_section(
    question: str, passages: Sequence[StoredPassage], passages_of: PassagesOf, *, is_how_to: bool
) -> tuple[Part, ...]:
    """Return the section that a question names; () if there is none, if it is long, or if several are as likely.

    Of several, that in the document of the best passage answers.

    Args:
        question: The question.
        passages: The passages to search, best first.
        passages_of: Gives all passages of a document.
        is_how_to: Whether it asks how to do something; numbered steps are answered elsewhere.
    """
    asked = SectionQuestion.of(question)
    found: dict[tuple[str, str, str], tuple[int, Section]] = {}
    for passage in passages if asked else ():
        for part in sections(passage):
            if not asked or not asked.names(part) or passage.document.passages > _MAX_PASSAGES:
                continue
            beside = passages_of(passage.document.path)
            section, missing = whole_section(part, beside), asked.missing(part)
            if section is not None and missing <= around(part, beside):
                found.setdefault((passage.document.path, part.name, section.text), (len(missing), section))
    least = min((missing for missing, _ in found.values()), default=0)
    best = [section for missing, section in found.values() if missing == least]
    if len(best) > 1:
        best = [it for it in best if it.parts[0][0].document.path == passages[0].document.path]
    is_sure = len(best) == 1 and is_short(best[0]) and not (is_how_to and _STEP.search(best[0].text))
    return best[0].parts if is_sure else ()


def sections(passage: StoredPassage) -> Iterator[Section]:
    """Yield the section that a passage is part of, and those below short lines and lines that end in a colon."""
    if passage.is_front_matter or passage.document.media_type in RECORDS:
        return
    text, body = passage.text, passage.body
    if passage.heading and passage.heading[-1]:
        name = passage.heading[-1]
        at = text.rfind(name, 0, body)
        heading = (at, at + len(name)) if at >= 0 else None
        yield Section(name.strip(_MARKS), passage.heading[:-1], ((passage, (body, len(text))),), heading, is_known=True)
    blocks = list(_blocks(text, body))
    for number, (start, end) in enumerate(blocks):
        line = _LINE.match(text, start, end)
        if line is None or _ITEM.match(text, start) or not _is_name(line[0]):
            continue
        first, last = line.end(), end
        following = blocks[number + 1 :]
        if not text[first:end].strip():
            # The line is a paragraph: what follows is the next one.
            if not following or not (line[0].endswith((":", "*")) or passage.document.media_type == "text/plain"):
                continue
            first, last = following.pop(0)
        while following and _ITEM.match(text, first) and _ITEM.match(text, following[0][0]):
            last = following.pop(0)[1]
        first = trimmed(text, (first, last), "\n")[0]
        part = passage, (first, last)
        yield Section(line[0].strip(_MARKS), passage.heading, (part,), (start, line.end()), is_known=False)


def whole_section(section: Section, passages: Sequence[StoredPassage]) -> Section | None:
    """Return all of a section, which may go on in the next passages; None if there are sections below it.

    Args:
        section: A section as part of one passage.
        passages: All passages of its document, in order.
    """
    passage, span = section.parts[0]
    at = next((number for number, it in enumerate(passages) if it.id == passage.id), None)
    if at is None:
        return section
    if not section.is_known:
        parts = [*section.parts]
        while span[1] == len(passage.text) and at + 1 < len(passages):
            following = passages[at + 1]
            # More than a line break is between paragraphs.
            if following.start - passage.end != 1 or following.body or following.heading != passage.heading:
                break
            end = next((end for _, end in _blocks(following.text, 0)), len(following.text))
            passage, span, at = following, (0, end), at + 1
            parts.append((passage, span))
        return section._replace(parts=tuple(parts))
    depth = len(passage.heading)
    if any(len(it.heading) > depth and it.heading[:depth] == passage.heading for it in passages):
        return None
    first, last = at, at + 1
    while first and not passages[first].body and passages[first - 1].heading == passage.heading:
        first -= 1
    while last < len(passages) and passages[last].heading == passage.heading and not passages[last].body:
        last += 1
    parts = [(it, (it.body, len(it.text))) for it in passages[first:last]]
    return section._replace(parts=tuple(parts))


def is_short(section: Section) -> bool:
    """Whether a section can be quoted as a whole: a list, or a few sentences, but neither a table nor code."""
    text = section.text.strip()
    lines = [line for line in text.split("\n") if line.strip()]
    if not text or _OTHER.search(text):
        return False
    if _is_list(lines):
        return len(lines) <= _MOST_ITEMS and len(text) <= _LONGEST_LIST
    sentences = len(_SENTENCE_END.findall(text)) + 1
    is_alone = sentences == 1 and len(lines) == 1 and not _ITEM.match(text)
    is_few = len(text) <= _LONGEST_PROSE or (sentences <= _MOST_SENTENCES and len(text) <= _LONGEST_FEW)
    return is_few and not is_alone


def around(section: Section, passages: Sequence[StoredPassage]) -> set[str]:
    """Return the terms of the headings above a section, and of the title, path and first lines of its document."""
    passage = section.parts[0][0]
    opening = passages[0].text.split("\n")[: 2 * _OPENING_LINES] if passages else []
    names = [line for line in opening if line.strip() and not line.rstrip().endswith((".", "!", "?"))]
    names = [line for line in names if len(line) <= _LONGEST_HEADING][:_OPENING_LINES]
    first = next((it.heading[0] for it in passages if it.heading), "")
    above = [*passage.heading, passage.title, path_words(passage.document.path), first, *names]
    return terms("\n".join(above))


def _is_list(lines: Sequence[str]) -> bool:
    """Whether lines are the items of a list: with marks, or each beginning with a capital letter or a number."""
    if any(_ITEM.match(line) for line in lines):
        return all(_ITEM.match(line) or line[:1].isspace() for line in lines)
    return len(lines) > 1 and all(not line.lstrip()[:1].islower() for line in lines)


def _is_name(line: str) -> bool:
    """Whether a line may be the name of what follows it."""
    if line.endswith(":"):
        return len(line) <= _LONGEST_INTRODUCTION
    return len(line) <= _LONGEST_HEADING and not line.endswith((".", "!", ";", ","))


def _blocks(text: str, start: int) -> Iterator[Span]:
    """Yield the paragraphs of a text, without the blank lines between them."""
    breaks = [(start, start), *(match.span() for match in _BLANK_LINE.finditer(text, start)), (len(text), len(text))]
    for (_, first), (last, _) in pairwise(breaks):
        begin = trimmed(text, (first, last), "\n")[0]
        end = first + len(text[first:last].rstrip())
        if begin < end:
            yield begin, end
