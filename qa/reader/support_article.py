"""Support articles: one section states the problem, as questions do, and later sections resolve it.

A passage below "Problem", "Symptoms" or "Question" has more of the question's words than any other and ranks first, but
the answer is in later sections, below "Cause", "Resolution", "Workaround" or "Answer".
"""

from __future__ import annotations

import re
from enum import Enum

from index import Index, StoredPassage

# A document with more passages is not an article.
_MAX_PASSAGES = 200
# At most this many passages that resolve the problem are read.
_MOST = 8


class _Role(Enum):
    """The purpose of a section of a support article, by the beginning of its heading."""

    RESOLVES = r"(?:the )?(?:answer|resolution|solution|fix|work-?around)(?:s|es)?\b|problem solution\b" + (
        r"|(?:resolving|solving|fixing|how to (?:resolve|solve|fix))\b"
    )
    CAUSE = r"(?:the |root |possible |probable )?cause\b"
    STATES = r"(?:problem|symptoms?|question|issue)\b"


_ROLES = re.compile("|".join(f"(?P<{role.name}>{role.value})" for role in _Role), re.IGNORECASE)
_ASKS_FOR_PROBLEM = re.compile(r"\bsymptoms?\b|\b(?:what|which)\s+(?:problem|issue|question)s?\b", re.IGNORECASE)
# Longer headings name a topic rather than a role.
_MOST_WORDS = 4


def resolving(snapshot: Index, question: str, passage: StoredPassage) -> tuple[StoredPassage, ...]:
    """Return the passages that resolve the problem that a passage states, in the order of the text.

    They are between it and the next section that states a problem. Returns none if no heading announces a resolution,
    as a page about a disease has symptoms and causes too, or if the question asks for the problem itself.
    """
    if _role(passage) is not _Role.STATES or _ASKS_FOR_PROBLEM.search(question):
        return ()
    if passage.document.passages > _MAX_PASSAGES:
        return ()
    found: list[StoredPassage] = []
    roles: set[_Role] = set()
    for one in snapshot.passages_of(passage.document.path):
        role = _role(one) if one.start > passage.start else None
        if role is _Role.STATES and found:
            break
        if role in (_Role.RESOLVES, _Role.CAUSE):
            found.append(one)
            roles.add(role)
    return tuple(found[:_MOST]) if _Role.RESOLVES in roles else ()


def _role(passage: StoredPassage) -> _Role | None:
    """Return the role of a passage, by the innermost heading that names one."""
    for heading in reversed(passage.heading):
        words = heading.strip(" *#=_:.0123456789")
        match = _ROLES.match(words) if len(words.split()) <= _MOST_WORDS else None
        if match is not None and match.lastgroup is not None:
            return _Role[match.lastgroup]
    return None
