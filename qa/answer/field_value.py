"""What a field says: of `Plate: HB-KT 482` all of it, of `Present: Ann Lee, Tom Ash` both names."""

from __future__ import annotations

import re

# A line that is a name with its value, perhaps behind a box or with marks of emphasis.
_FIELD = re.compile(r"(?:\[[ xX]\] )?[*_]*[^\W\d_][^\n:]{0,40}:[*_]*[ \t]+(?P<value>\S[^\n]{0,199}?)[*_.]*")
_PART = re.compile(r"[^,;]+")
# Questions for all that are named.
_ASKS_FOR_ALL = re.compile(r"\b(?:who|whom|whose|which|names?|list)\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![^\W_])[^\W\d_]\w*")
# Small words inside names and between them.
_JOINING = frozenset({"and", "de", "der", "di", "du", "la", "le", "of", "und", "van", "von"})
_DIGIT = re.compile(r"\d")

Span = tuple[int, int]


def whole_value(question: str, text: str, words: Span, sentence: Span) -> Span:
    """The words, or if their sentence is a field, the whole names or codes between its commas; all of a list of names.

    What has words in small letters is prose, of which a few words answer.
    """
    field = _FIELD.fullmatch(text, *sentence)
    if field is None or words[0] < field.start("value"):
        return words
    parts = [_stripped(text, *part.span()) for part in _PART.finditer(text, *field.span("value"))]
    are_names = not any(_is_prose(text, part) or _DIGIT.search(text, *part) for part in parts)
    touched = parts if are_names and _ASKS_FOR_ALL.search(question) else [one for one in parts if _meet(one, words)]
    if not touched or any(_is_prose(text, part) for part in touched):
        return words
    return touched[0][0], max(words[1], touched[-1][1])


def _is_prose(text: str, part: Span) -> bool:
    return any(word[0][0].islower() and word[0] not in _JOINING for word in _WORD.finditer(text, *part))


def _stripped(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
