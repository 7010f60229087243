"""Values that a later text replaces: “£48,000” is replaced by “£51,500”; 45 days instead of 30 days."""

from __future__ import annotations

import re

from corpus import sentence_spans
from qa.answer.values import MONTH, years

_SMALL = r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety)\b"
# What may differ between a value and the one that replaces it.
_FORMS = {"number": r"\d+(?:[.,:]\d+)*", "small": _SMALL, "month": rf"\b{MONTH}", "blank": r"\s+"}
_PART = re.compile("|".join(f"(?P<{name}>{form})" for name, form in _FORMS.items()), re.IGNORECASE)
_BARE = re.compile(rf"\d{{1,2}}|{_SMALL}", re.IGNORECASE)
# A number with what is right before it, and the word after it.
_CORE = re.compile(rf"[^\w\s(“‘\"']?(?:{_FORMS['number']}|{_SMALL})%?(?: \w+)?", re.IGNORECASE)
_MARKS = r"[\"'“”‘’„«»*_`]*"
# Words between the old value and the new one, and between the new one and the old one.
_BECOMES = (
    r"\b(?:(?:replaced|substituted|superseded) (?:by|with)|(?:amended|changed|corrected|increased|lowered|raised"
    r"|reduced) to|now reads?|(?:is|are) now|becomes?)\b"
)
_INSTEAD = r"\b(?:instead of|in place of|replac(?:es|ing)|supersed(?:es|ing))\b"
_GAP = r"[^;\n]{0,60}?"


def replacement(value: str, text: str, question_years: set[str]) -> str:
    """Return the value of the same form that a text puts in place of a value, or "".

    A bare small number is no value, and a sentence about another year than the question's replaces nothing.
    """
    cores = [one[0] for one in _CORE.finditer(value)]
    # The core of "not less than six months’ notice".
    pattern = _pattern(cores[0] if len(cores) == 1 else value)
    if pattern is None:
        return ""
    for start, end in sentence_spans(text):
        found = pattern.search(text, start, end)
        own_years = years(text[start:end])
        if found and not (question_years and own_years and question_years.isdisjoint(own_years)):
            new: str = next(filter(None, found.groups()))
            return new
    return ""


def _pattern(value: str) -> re.Pattern[str] | None:
    """Return the pattern of a sentence that replaces a value, with the new one as its only group that is not empty."""
    parts = list(_PART.finditer(value))
    if _BARE.fullmatch(value) or not any(part["number"] or part["small"] for part in parts):
        return None
    edges = [0, *(at for part in parts for at in part.span()), len(value)]
    between = [re.escape(value[edges[i] : edges[i + 1]]) for i in range(0, len(edges), 2)]
    old = [_FORMS["blank"] if part["blank"] else re.escape(part[0]) for part in parts]
    new = [_FORMS[part.lastgroup or "blank"] for part in parts]
    before, after = rf"(?<![\w.,]){_MARKS}", rf"{_MARKS}(?!\w|[.,]\d)"
    was, by = (between[0] + "".join(map("".join, zip(one, between[1:], strict=True))) for one in (old, new))
    was, by = f"{before}{was}{after}", f"{before}({by}){after}"
    number = next(part[0] for part in parts if part["number"] or part["small"])
    return re.compile(
        rf"{was}{_GAP}{_BECOMES}{_GAP}{by}|\bno longer\b{_GAP}{was}{_GAP}\bbut\b{_GAP}{by}"
        rf"|\bfrom (?:{was}|{re.escape(number)}) to {_GAP}{by}|{by}{_GAP}{_INSTEAD}{_GAP}{was}",
        re.IGNORECASE,
    )
