"""Support articles: a section states the problem, as whoever asks does; those behind it resolve it.

A passage below "Problem", "Symptoms" or "Question" has more of the question's words than any other and ranks first, but
the answer is in the sections behind it, below "Cause", "Resolution", "Workaround" or "Answer".
"""

from __future__ import annotations

import re
from enum import Enum

from index import Index, StoredPassage

# A document with more passages is no article.
_MAX_PASSAGES = 200
# So many of the sections that resolve it are read.
_MOST = 8


class _Role(Enum):
    """What a section of a support article is for, by how its heading begins."""

    RESOLVES = r"(?:the )?(?:answer|resolution|solution|fix|work-?around)(?:s|es)?\b|problem solution\b" + (
        r"|(?:resolving|solving|fixing|how to (?:resolve|solve|fix))\b"
    )
    CAUSE = r"(?:the |root |possible |probable )?cause\b"
    STATES = r"(?:problem|symptoms?|question|issue)\b"


_ROLES = re.compile("|".join(f"(?P<{role.name}>{role.value})" for role in _Role), re.IGNORECASE)
_ASKS_FOR_PROBLEM = re.compile(r"\bsymptoms?\b|\b(?:what|which)\s+(?:problem|issue|question)s?\b", re.IGNORECASE)
# A longer heading tells what it is about instead.
_MOST_WORDS = 4


def resolving(snapshot: Index, question: str, passage: StoredPassage) -> tuple[StoredPassage, ...]:
    """The passages that resolve the problem which a passage states, in the order of the text.

    They are behind it, up to the next section that states one; none where no heading says that something is resolved:
    a page about a disease has symptoms and causes as well. Nor of a question for the problem itself.
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
    """What the innermost heading that tells it says."""
    for heading in reversed(passage.heading):
        words = heading.strip(" *#=_:.0123456789")
        known = _ROLES.match(words) if len(words.split()) <= _MOST_WORDS else None
        if known is not None and known.lastgroup is not None:
            return _Role[known.lastgroup]
    return None
