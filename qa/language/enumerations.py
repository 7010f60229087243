"""Enumerations: whether a question asks for several things, and all the items of which an answer has one.

For "which funds are there?", the answer "Shares (2%)" is extended to "Shares (2%), Bonds and Cash".
"""

from __future__ import annotations

import re

from corpus import lazy_pattern
from qa.language.values import NUMBERED, Span, spans_overlap

_WORD = lazy_pattern(r"\w+")
_DIGIT = lazy_pattern(r"\d")
# A line that is a name with its value, perhaps after a box or with marks of emphasis.
_FIELD = lazy_pattern(r"(?:\[[ xX]\] )?[*_]*[^\W\d_][^\n:]{0,40}:[*_]*[ \t]+(?P<value>\S[^\n]{0,199}?)[*_.]*")
_PART = lazy_pattern(r"[^,;]+")
# A plural noun. The -s of "which bird eats fish?" is a verb's, of "opening hours" and "gas" no sign of several things.
_PLURAL = (
    r"(?!(?:always|does|gas|goes|happens|has|hours|its|lens|perhaps|this|times|was)\b)\w+[^\Wisu]s\b"
    r"|\b(?:children|criteria|(?:wo)?men|people)\b"
)
_HELPS = r"(?:are|can|could|did|do|does|had|has|have|may|might|must|shall|should|will|would|were)\b"
_PREPOSITION = r"(?:about|after|and|at|before|besides|by|except|for|from|in|of|on|over|since|to|with)\b"
# Questions for several things.
_ASKS_FOR_SEVERAL = lazy_pattern(
    r"\W*(?:(?:please )?(?:list|name(?! of))\b|(?:what|which|who) (?:are|were) (?!(?:\w+ ){1,3}(?:hours|times)\b)"
    r"|what to (?:bring|buy|pack|take)\b"
    r"|what (?:can|did|do|must|shall|should) (?:i|we|you) (?:(?:also|always|have to|need to) )*"
    r"(?:bring|buy|need|pack|take)\b"
    # Which four beaches, which plots had thefts; but not: which tastes better, which comes first.
    r"|(?:what|which)(?: of the| other)? (?:two|three|four|five|six|seven|eight|nine|ten|\d+) [^\W\d]"
    rf"|which (?:{_PLURAL})(?! (?:an?|best|better|first|is|last|less|more|most|than|the|to|was)\b)"
    # Which side events are there, which seats in the front row do we have; but not: which train stops in Ely.
    rf"|(?:what|which) (?:(?!{_HELPS}|{_PREPOSITION}|is\b|was\b)[\w'’-]+ ){{0,3}}?(?:{_PLURAL})"
    rf" (?:(?!and\b){_PREPOSITION} (?:(?!{_HELPS}|and\b|or\b)[\w'’-]+ ){{1,4}}?)?(?:{_HELPS}|there\b|of\b|besides\b)"
    rf"|where (?:are|were) (?:(?:all|my|our|the) )?(?:(?!{_PREPOSITION})\w+ )?(?:{_PLURAL})"
    r"|who (?:is|are|was|were|sat|sits|served?|serves) (?:on|in) (?:(?!call\b)\w+ ){1,3}?"
    r"(?:board|committee|council|crew|jury|panel|team)\b)",
    re.IGNORECASE,
)
# Members of the board, earlier meetings.
_NAMES_SEVERAL = lazy_pattern(
    rf"(?!.*\?|(?:am|how|is|was|wh\w+|{_HELPS}))(?:(?!{_PREPOSITION})[\w'’-]+ ){{0,3}}?"
    rf"(?-i:(?=[a-z])|(?<!\w )(?=[A-Z]))(?:{_PLURAL})(?= {_PREPOSITION}|\W*\Z)",
    re.IGNORECASE,
)
# Questions for all the names in a list.
_ASKS_FOR_ALL = lazy_pattern(r"\b(?:who|whom|whose|which|names?|list)\b", re.IGNORECASE)
_OF_LETTERS = lazy_pattern(r"(?<![^\W_])[^\W\d_]\w*")
# Lower-case words inside names and between them.
_JOINING = frozenset({"and", "de", "der", "di", "du", "la", "le", "of", "und", "van", "von"})
# A comma or semicolon between items, or brackets, in which they separate none.
_COMMA = lazy_pattern(r"\([^()]*\)|(?P<comma>[,;]\s+)")
_AND = lazy_pattern(r"\b(?:and|or)\s+|&\s+")
# What may be in a chunk after an item: "(41%)".
_ENDS = lazy_pattern(r"[\s*_\"”’]*(?:\([^()]*\))?[\s*_\"”’]*(?:\Z|\b(?:and|or)\s|&)")
_IS_AFTER_AND = lazy_pattern(r"(?:\b(?:and|or)|&)\s+\Z")
# What is before the first item.
_INTRODUCES = lazy_pattern(r"[^:]*:\s+|.*?\b(?:are|comprised?|includ(?:e[ds]?|ing)|namely|such as|were)\s+(?:the\s+)?")
# The beginning of a clause that is no item.
_CLAUSE = lazy_pattern(
    r"(?:although|because|but|he|I|if|it|she|since|so|that|then|there|they|this|we|when|where|which|while|who|you)\b"
)
_FEWEST_ITEMS = 3
# In words.
_LONGEST_ITEM = 15
# The role of somebody in a list: "Hanna Brandt (chair)".
_ROLE = lazy_pattern(r"\(([^()\n]*)\)")


def asks_for_several(question: str) -> bool:
    """Whether a question asks for several things: "which boats are out?"."""
    return _ASKS_FOR_SEVERAL.match(question) is not None


def names_several(question: str) -> bool:
    """Whether a question is no sentence, but names several things: "members of the board"."""
    return _NAMES_SEVERAL.match(question) is not None


def extend_to_field_value(question: str, text: str, words: Span, sentence: Span) -> Span:
    """In a field, extend the words to whole names or codes between commas, or to a whole list of names.

    A number in the field's name is replaced by the value if that begins with a number, too; words that begin within the
    name and end in the value are cut to the latter.
    """
    field = _FIELD.fullmatch(text, *sentence)
    if field is None:
        return words
    value = field.span("value")
    # "28" in "Price per 28 (EUR): 38.27" belongs to the name.
    if words[1] <= value[0] and NUMBERED.fullmatch(text, *words) and NUMBERED.match(text, *value):
        return value
    if field.start() < words[0] < value[0] < words[1]:
        words = value[0], words[1]
    return words if words[0] < value[0] else extend_to_list_items(question, text, words, value)


def extend_to_list_items(question: str, text: str, words: Span, value: Span) -> Span:
    """Extend words within a value to whole names or codes between commas, or to a whole list of names.

    If the question asks for several things and the words begin with the first one, return the whole list; if it asks
    for a role that is in brackets after a name, that name. Other values with lower-case words are prose, of which a few
    words are the answer.
    """
    parts = [_stripped(text, *part.span()) for part in _PART.finditer(text, *value)]
    if len(parts) > 2 and words[0] == value[0] and asks_for_several(question):
        return value
    are_names = not any(_is_prose(text, part) or _DIGIT.search(text, *part) for part in parts)
    roles = set(_WORD.findall(question.lower()))
    of_role = [part for part in parts if (role := _ROLE.search(text, *part)) and role[1].lower() in roles]
    are_asked = are_names and _ASKS_FOR_ALL.search(question) and not of_role
    chosen = of_role or (parts if are_asked else [part for part in parts if spans_overlap(part, words)])
    if not chosen or any(_is_prose(text, part) for part in chosen):
        return words
    return chosen[0][0], chosen[-1][1] if of_role else max(words[1], chosen[-1][1])


def extend_to_enumeration(question: str, text: str, words: Span, sentence: Span) -> Span:
    """If a question asks for several things, extend an item of an enumeration to all: "tea (2), milk (1) and rye (5)".

    The words have to be a whole item, or several. The first item begins after a colon or a verb like "are", the last
    one has "and" or "or" before it.
    """
    chunks = _chunks(text, sentence)
    first = next((at for at, chunk in enumerate(chunks) if chunk[0] <= words[0] < chunk[1]), 0)
    last = next((at for at, chunk in enumerate(chunks) if words[1] <= chunk[1]), 0)
    is_whole = _ENDS.match(text, words[1], chunks[last][1]) and asks_for_several(question)
    begins_item = first == 0 or words[0] == chunks[first][0] or _IS_AFTER_AND.search(text[chunks[first][0] : words[0]])
    if not is_whole or len(chunks) < _FEWEST_ITEMS or not begins_item:
        return words
    joined = [at for at in range(last, len(chunks)) if at and _AND.search(text, *chunks[at])]
    ends = next((at for at in joined if _AND.match(text, *chunks[at])), joined[0] if joined else -1)
    begins = _INTRODUCES.match(text, *chunks[0])
    start = begins.end() if first and begins else words[0]
    inside = chunks[1 if first and begins else first + 1 : ends + 1]
    if ends < last or (first and not begins) or not inside:
        return words
    are_items = all(_CLAUSE.match(text, _after_and(text, it), it[1]) is None for it in inside)
    are_short = all(len(_WORD.findall(text, *it)) <= _LONGEST_ITEM for it in inside)
    return (start, max(words[1], chunks[ends][1])) if are_items and are_short else words


def _chunks(text: str, sentence: Span) -> list[Span]:
    """Return the parts of a sentence between commas or semicolons, except those in brackets; without its full stop."""
    end = sentence[1] - (text[sentence[1] - 1] in ".!?")
    cuts = [match.span() for match in _COMMA.finditer(text, sentence[0], end) if match["comma"]]
    bounds = [sentence[0], *(at for cut in cuts for at in cut), end]
    return list(zip(bounds[::2], bounds[1::2], strict=True))


def _after_and(text: str, chunk: Span) -> int:
    joined = _AND.match(text, *chunk)
    return joined.end() if joined else chunk[0]


def _is_prose(text: str, part: Span) -> bool:
    names = _ROLE.sub("", text[slice(*part)])
    return any(word[0][0].islower() and word[0] not in _JOINING for word in _OF_LETTERS.finditer(names))


def _stripped(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
