"""Find the answer in another section than the one with the words of the question.

A passage below "Problem", "Symptoms" or "Question" has more of the question's words than any other and ranks first, but
the answer is in later sections, below "Cause", "Resolution", "Workaround" or "Answer". In a post-mortem, "Impact" and
"Timeline" say what happened, and "Root cause" says why. In instructions, "Before you start" is right below the title,
but the procedure is below "Steps".
"""

from __future__ import annotations

import re
from enum import Enum

from corpus import lazy_pattern
from index import Index, StoredPassage
from qa.language.question_kinds import asks_why
from qa.language.terms import terms
from qa.questions.steps import asks_how_to, list_topic

# A document with more passages is not an article.
_MAX_PASSAGES = 200
# At most this many passages that resolve the problem are read.
_MOST = 8


class _Role(Enum):
    """The purpose of a section, by the beginning of its heading; the last four only matter for questions why or how."""

    RESOLVES = r"(?:the )?(?:answer|resolution|solution|fix|work-?around)(?:s|es)?\b|problem solution\b" + (
        r"|(?:resolving|solving|fixing|how to (?:resolve|solve|fix))\b"
    )
    CAUSE = r"(?:the |root |possible |probable )?cause\b"
    STATES = r"(?:problem|symptoms?|question|issue)\b(?!\s(?:date|from|number|set|sheet|time)s?\b)"
    REASON = r"(?:the |root |possible |probable |contributing )*(?:causes|reasons?)\b" + (
        r"|(?:what went wrong|why (?:it|this))\b.*"
    )
    EVENT = r"(?:impact|effects?|consequences|damage|summary|timeline|what happened|detection)\b"
    PREPARES = (
        r"before (?:you|we)\b|pre-?(?:requisites?|conditions?)\b|requirements\b|(?:what )?you(?: will)? need\b"
        r"|(?:scope|purpose|background|when to)\b"
        r"|(?:ingredients|tools|equipment|materials)\b(?!\s+(?!and\b|for\b|needed\b|required\b|you\b)\w)"
    )
    STEPS = r"(?:steps?|procedure|process|method|instructions?|directions)\b"


_ROLES = lazy_pattern("|".join(f"(?P<{role.name}>{role.value})" for role in _Role), re.IGNORECASE)
_ASKS_FOR_PROBLEM = lazy_pattern(r"\bsymptoms?\b|\b(?:what|which)\s+(?:problem|issue|question)s?\b", re.IGNORECASE)
# Questions for preparations, and headings of preparations below which the procedure may be, too.
_ASKS_BEFORE = lazy_pattern(r"\bbefore\b|\bneed\b|\brequire", re.IGNORECASE)
_MAY_SAY_HOW = lazy_pattern(r"\W*(?:\d[\d.]*\s+)?(?:scope|purpose|background|requirements|when)\b", re.IGNORECASE)
# The marks and numbers around the words of a heading.
_MARKS = " *#=_:.0123456789"
# An edition: "Issue 12".
_EDITION = lazy_pattern(r"\W*issue\W*(?:n(?:o|r|umber)\W*)?\d", re.IGNORECASE)
# Words of headings that name no other topic: "Resolving the problem".
_OF_ROLES = terms("problem symptom issue question error message description summary abstract cause user")
# Longer headings name a topic rather than a role.
_MOST_WORDS = 4


def resolving_passages(snapshot: Index, question: str, passage: StoredPassage) -> tuple[StoredPassage, ...]:
    """Return the passages that resolve the problem that a passage states, in the order of the text.

    They are between it and the next section that states a problem. There are none if no heading announces a resolution,
    as a page about a disease has symptoms and causes, too, or if that is one of something else, as the "Solution of the
    crossword" is, or if the question asks for the problem itself. If it asks why, they are the causes in the document;
    if it asks how to do something, the procedure beside preparations.
    """
    if passage.document.passages > _MAX_PASSAGES:
        return ()
    if asks_why(question) and (causes := _causes(snapshot, question, passage)):
        return causes[:_MOST]
    if asks_how_to(question) and (procedure := _procedure(snapshot, question, passage)):
        return procedure[:_MOST]
    if _role(passage) is not _Role.STATES or _ASKS_FOR_PROBLEM.search(question):
        return ()
    resolving: list[StoredPassage] = []
    roles: set[_Role] = set()
    topic = terms(f"{question} {passage.title}") | _OF_ROLES
    for candidate in snapshot.passages_of(passage.document.path):
        states = _role(candidate) is _Role.STATES
        role = _role(candidate, topic=None if states else topic) if candidate.start > passage.start else None
        if role is _Role.STATES and resolving:
            break
        if role in (_Role.RESOLVES, _Role.CAUSE):
            resolving.append(candidate)
            roles.add(role)
    return tuple(resolving[:_MOST]) if _Role.RESOLVES in roles else ()


def _causes(snapshot: Index, question: str, passage: StoredPassage) -> tuple[StoredPassage, ...]:
    """Return the causes of what a passage states or reports; for the opening of a page, only if one is a root cause.

    Their headings name nothing but the topic: "reasons for leaving the club" do not say why the club moved.
    """
    is_opening = passage.heading in ((), (passage.title,))
    if not is_opening and _role(passage, *_Role) not in (_Role.STATES, _Role.EVENT):
        return ()
    passages = snapshot.passages_of(passage.document.path)
    topic = terms(f"{question} {passage.title}")
    causes = tuple(it for it in passages if _role(it, *_Role, topic=topic) in (_Role.CAUSE, _Role.REASON))
    has_root = any("root cause" in heading.lower() for cause in causes for heading in cause.heading)
    return causes if has_root or not is_opening else ()


def _procedure(snapshot: Index, question: str, passage: StoredPassage) -> tuple[StoredPassage, ...]:
    """Return the procedure that the headings of a passage name, if the passage only prepares for it.

    It is below a heading such as "Steps", or one with only terms of the question's topic.
    """
    topic, (*outer, _) = terms(list_topic(question) or ""), passage.heading or ("",)
    if not topic <= terms(" ".join((passage.title, *outer))) or _role(passage, *_Role) is not _Role.PREPARES:
        return ()
    if _ASKS_BEFORE.search(question) or (_MAY_SAY_HOW.match(passage.heading[-1]) and topic <= terms(passage.text)):
        return ()
    beside = [it for it in snapshot.passages_of(passage.document.path) if it.heading[:-1] == tuple(outer)]
    steps = (it for it in beside if _role(it, *_Role) is _Role.STEPS)
    procedure = tuple(it for it in steps if _names_only_topic(it.heading[-1], topic))
    return procedure or tuple(it for it in beside if it.heading and terms(it.heading[-1]) <= topic)


def _names_only_topic(heading: str, topic: set[str]) -> bool:
    """Whether the heading of a procedure has only its role and terms of the topic, unlike "Process owner"."""
    return terms(_ROLES.sub("", heading.strip(_MARKS), count=1)) <= topic


def _role(passage: StoredPassage, *among: _Role, topic: set[str] | None = None) -> _Role | None:
    """Return the role of a passage, by the innermost heading that names one of some; by default, of an article's.

    Headings that name more than a topic do not count, if that is given.
    """
    roles = among or (_Role.RESOLVES, _Role.CAUSE, _Role.STATES)
    for heading in reversed(passage.heading):
        words = heading.strip(_MARKS)
        match = _ROLES.match(words) if len(words.split()) <= _MOST_WORDS and not _EDITION.match(heading) else None
        if match is None or match.lastgroup is None or (topic is not None and not _names_only_topic(heading, topic)):
            continue
        if _Role[match.lastgroup] in roles:
            return _Role[match.lastgroup]
    return None
