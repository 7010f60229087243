"""Reasons that a text only mentions to refute them, as in "It is often said that it failed because of the weather".

Such a sentence has more of the words of "why did it fail?" than the one that follows and gives the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus import lazy_pattern
from qa.language.values import Span

_SAYS = r"(?:assumed|alleged|believed|claimed|held|said|supposed|thought|told)"
_OFTEN = r"(?:often|sometimes|commonly|frequently|usually|popularly)"
# Beliefs of people who need not know; what follows is meant to be right.
_BELIEF = lazy_pattern(
    rf"\W*(?:it is {_OFTEN} {_SAYS}|{_OFTEN},? it is {_SAYS}|legend has it|rumour has it"
    rf"|(?:[\w-]+ ){{1,8}}(?:is|are|was|were) {_OFTEN} blamed\b"
    rf"|the (?:reason|explanation|cause) {_OFTEN} (?:given|named|offered)\b"
    r"|the (?:usual|common|popular) (?:explanation|reason|story)\b"
    r"|(?:(?:most|many|some) )?(?:children|guidebooks|laymen|locals|people|schoolbooks|textbooks|tourists|villagers"
    r"|visitors)(?: often| still| commonly)? (?:assume|believe|claim|imagine|say|suppose|think)\b)",
    re.IGNORECASE,
)
# These may be right, unless what follows says that they are not.
_OPINION = lazy_pattern(
    rf"\W*(?:it (?:is|was) (?:\w+ly )?{_SAYS}|(?:[\w-]+ ){{1,8}}(?:is|are|was|were) (?:\w+ )?{_SAYS} to\b"
    r"|according to (?:legend|folklore|tradition))",
    re.IGNORECASE,
)
_DENIES = lazy_pattern(
    r"\b(?:actually|another|but|cannot|different|false|however|in (?:fact|reality|truth)|instead|myth|never|no|none|not"
    r"|nothing|otherwise|really|untrue|wrong|yet|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CONFIRMS = lazy_pattern(
    r"\b(?:agrees?|bears? (?:it|that|this) out|confirm(?:s|ed)?|correct|indeed|right|rightly|true)\b", re.IGNORECASE
)
# The belief and what is right in one sentence.
_TURN = lazy_pattern(r"[,;:–—]\s*(?:but|whereas|while|yet|although)\b", re.IGNORECASE)
# At most this many sentences after it are the reason, and characters.
_MOST_SENTENCES, _LONGEST = 2, 400


def reason_after_belief(text: str, spans: Sequence[Span], sentence: Span) -> Span:
    """Return what follows in its paragraph if a sentence is a reason that the text refutes; else the sentence.

    Args:
        text: The text of a passage.
        spans: Its sentences, in order.
        sentence: One of them.
    """
    quoted = text[slice(*sentence)]
    following = [sentence, *(span for span in spans if span[0] >= sentence[1])][: _MOST_SENTENCES + 1]
    ends = next((at for at in range(1, len(following)) if _is_apart(text, *following[at - 1 : at + 1])), len(following))
    following = following[1:ends]
    opinion, belief = _OPINION.match(quoted), _BELIEF.match(quoted)
    if not following or not (opinion or belief) or _TURN.search(quoted):
        return sentence
    start, end = following[0][0], following[-1][1]
    is_denied = _DENIES.search(text, start, end) is not None
    if not (belief or is_denied) or (_CONFIRMS.search(text, *following[0]) and not is_denied):
        return sentence
    return start, end if end - start <= _LONGEST else following[0][1]


def _is_apart(text: str, span: Span, following: Span) -> bool:
    return "\n\n" in text[span[1] : following[0]]
