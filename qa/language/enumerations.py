"""Enumerations: all the items of which an answer has one.

For "which funds are there?", the answer "Shares (2%)" is extended to "Shares (2%), Bonds and Cash".
"""

from __future__ import annotations

import re

from corpus import lazy_pattern
from qa.language.question_kinds import asks_for_several
from qa.language.spans import Span, spans_overlap, trimmed
from qa.language.values import NUMBERED

_WORD = lazy_pattern(r"\w+")
_DIGIT = lazy_pattern(r"\d")
# A line that is a name with its value, perhaps after a box or with marks of emphasis.
_FIELD = lazy_pattern(r"(?:\[[ xX]\] )?[*_]*[^\W\d_][^\n:]{0,40}:[*_]*[ \t]+(?P<value>\S[^\n]{0,199}?)[*_.]*")
_PART = lazy_pattern(r"[^,;]+")
# Questions for all the names in a list.
_ASKS_FOR_ALL = lazy_pattern(r"\b(?:who|whom|whose|which|names?|list)\b", re.IGNORECASE)
_OF_LETTERS = lazy_pattern(r"(?<![^\W_])[^\W\d_]\w*")
# Lower-case words inside names and between them.
_JOINING = frozenset({"and", "de", "der", "di", "du", "la", "le", "of", "und", "van", "von"})
# Items between commas, brackets and all, the last after "and": "tea (2, loose), milk and rye (5)". No item is a clause.
_ITEM = (
    r"(?!(?:although|because|but|he|I|if|it|she|since|so|that|then|there|they|this|we|when|where|which|while|who|you)\b)"
    r"(?:\([^()]*\)|[^,;:.!?()]|[.:](?=\w)){1,90}"
)
_AND = r"(?:\b(?:and|or)|&)\s+"
_LAST_AND = lazy_pattern(r"\s+(?:and|or|&)\Z")
_ENUMERATION = lazy_pattern(
    rf"{_ITEM}(?:(?:[,;]\s+(?!{_AND}){_ITEM})+[,;]\s+{_AND}{_ITEM}|(?:[,;]\s+{_ITEM})*?[,;]\s+{_ITEM}{_AND}{_ITEM})"
    r"(?=\s*(?:[,;:.!?]|\Z))"
)
# What is before the first item, before any item, and after one, as in "Shares (2%), ".
_INTRODUCES = lazy_pattern(r"[^:]*:\s+|.*?\b(?:are|comprised?|includ(?:e[ds]?|ing)|namely|such as|were)\s+(?:the\s+)?")
_BEFORE_ITEM = lazy_pattern(rf"(?:\A|[,;]\s+(?:{_AND})?|{_AND})\Z")
_AFTER_ITEM = lazy_pattern(rf"[\s*_\"”’]*(?:\([^()]*\))?[\s*_\"”’]*(?:[,;]|\Z|{_AND})")
# The role of somebody in a list: "Hanna Brandt (chair)".
_ROLE = lazy_pattern(r"\(([^()\n]*)\)")


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

    The first item begins after a colon or a verb like "are", or with the words.
    """
    # Notes of a line each are no sentence.
    if not asks_for_several(question) or ("\n" in text[slice(*sentence)] and text[sentence[1] - 1] not in ".!?"):
        return words
    introduction = _INTRODUCES.match(text, *sentence)
    starts = [introduction.end()] if introduction and introduction.end() < words[0] else []
    is_first = not {",", ";"} & set(text[sentence[0] : words[0]])
    for start in [*starts, words[0]] if is_first else starts:
        found = _ENUMERATION.match(text, start, sentence[1])
        is_item = found and words[1] <= found.end() and _BEFORE_ITEM.search(text[start : words[0]])
        if found and is_item and _AFTER_ITEM.match(text, words[1], found.end()):
            return found.span()
    return words


def _is_prose(text: str, part: Span) -> bool:
    names = _ROLE.sub("", text[slice(*part)])
    return any(word[0][0].islower() and word[0] not in _JOINING for word in _OF_LETTERS.finditer(names))


def _stripped(text: str, start: int, end: int) -> Span:
    """Return part of a text without blanks around it and "and" at its end: "Ann and, on Mondays, Bob"."""
    part = _LAST_AND.sub("", text[start:end].rstrip())
    return trimmed(text, (start, start + len(part)))
