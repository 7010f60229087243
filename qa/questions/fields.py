"""Fields of a record and cells of a row that a question names instead of one that looks much like them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from qa.questions.steps import terms
from qa.questions.values import meet

# A line that is a name with its value.
_FIELD = re.compile(r"^(?P<name>[^\W\d_][^:\n|]{0,39}):[ \t]+(?P<value>\S.*)$", re.MULTILINE)
_HAS_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")

Span = tuple[int, int]


def asked_field(question: str, text: str, lead: Span) -> Span:
    """Return the field that a question names instead of the one that is the best sentence; that one if there is none.

    Of fields such as "CrCl 30-50: 1 g", named by numbers, it is the one whose whole name the question has; else see
    `asked_instead`.
    """
    block = text.rfind("\n\n", 0, lead[0]) + 1, len(text) if (end := text.find("\n\n", lead[1])) < 0 else end
    fields = list(_FIELD.finditer(text, *block))
    numbered = [(one.span(), _words(one["name"])) for one in fields if _HAS_DIGIT.search(one["name"])]
    if any(meet(span, lead) for span, _ in numbered):
        named = [(span, name) for span, name in numbered if name <= _words(question)]
        longest = [span for span, name in named if not any(name < other for _, other in named)]
        return longest[0] if len(longest) == 1 else lead
    own = [at for at, one in enumerate(fields) if one.span() == lead]
    return (
        fields[asked_instead(question, [(one["name"], one["value"]) for one in fields], own[0])].span() if own else lead
    )


def asked_instead(question: str, fields: Sequence[tuple[str, str]], own: int) -> int:
    """Return which field, of names and values, a question names instead of one whose name ends with the same word.

    Of a "day doctor" and a "night doctor" it is the one of whose other words the question has all, if it has none of
    the own one's, and not the value; the own one if there is none.
    """
    asked, names = terms(question), [_IN_BRACKETS.sub("", name).lower().split() for name, _ in fields]
    mine, found = terms(" ".join(names[own])), []
    for at, (name, (_, value)) in enumerate(zip(names, fields, strict=True)):
        theirs = terms(" ".join(name))
        is_alike = name[-1:] == names[own][-1:] and bool(mine - theirs and theirs - mine)
        if is_alike and theirs - mine <= asked and not (mine - theirs) & asked and not terms(value) <= asked:
            found.append(at)
    return found[0] if len(found) == 1 else own


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
