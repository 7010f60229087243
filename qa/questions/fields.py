"""Fields of a record, cells of a row and settings that a question names instead of one that looks much like them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from index import StoredPassage
from qa.questions.steps import terms
from qa.questions.values import Span, meet

# A line that is a name with its value.
_FIELD = re.compile(r"^(?P<name>[^\W\d_][^:\n|]{0,39}):[ \t]+(?P<value>\S.*)$", re.MULTILINE)
_HAS_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# Stems of times that set apart fields with the same last word.
_TIMES = frozenset(
    {"afternoon", "dai", "earli", "even", "late", "morn", "night", "summer", "weekdai", "weekend", "winter"}
)
# The files of settings, a line with a key and a value, and one that names a section.
_SETTINGS_FILES = frozenset({".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties"})
_SETTING = re.compile(r"(?P<indent>[ \t]*)(?:- )?[\"']?(?P<key>[A-Za-z_][\w.-]*)[\"']?[ \t]*[:=][ \t]*(?P<value>.*)")
_SECTION = re.compile(r"[ \t]*\[+(?P<key>[^\[\]]+)\]+[ \t]*$")
_SEPARATORS = re.compile(r"[._-]+|(?<=[a-z])(?=[A-Z])")


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
        is_inside = len(longest) == 1 and longest[0][0] <= lead[0] and lead[1] <= longest[0][1]
        return longest[0] if len(longest) == 1 and not is_inside else lead
    own = [at for at, one in enumerate(fields) if one.span() == lead]
    return (
        fields[asked_instead(question, [(one["name"], one["value"]) for one in fields], own[0])].span() if own else lead
    )


def asked_instead(question: str, fields: Sequence[tuple[str, str]], own: int) -> int:
    """Return which field, of names and values, a question names instead of one that differs by the time of day or year.

    Of a "day doctor" and a "night doctor" it is the one of whose other words the question has all, if it has none of
    the own one's, and not the value; the own one if there is none. Any other word may say what the record is: "pay the
    invoice" does not ask for the "invoice date" rather than the "due date".
    """
    asked, names = terms(question), [_IN_BRACKETS.sub("", name).lower().split() for name, _ in fields]
    mine, found = terms(" ".join(names[own])), []
    for at, (name, (_, value)) in enumerate(zip(names, fields, strict=True)):
        theirs = terms(" ".join(name))
        is_alike = name[-1:] == names[own][-1:] and bool(mine - theirs) and bool(_TIMES & theirs - mine)
        if is_alike and theirs - mine <= asked and not (mine - theirs) & asked and not terms(value) <= asked:
            found.append(at)
    return found[0] if len(found) == 1 else own


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


class _Setting(NamedTuple):
    """A line with a key and a value, the stems of the key, of the keys above it, and of the value."""

    span: Span
    own: set[str]
    above: set[str]
    value: set[str]


def asked_setting(question: str, passage: StoredPassage, spans: Sequence[Span], lead: Span) -> Span:
    """Return the setting whose keys a question names best, instead of one whose own key it does not name.

    It stays with the line found if that is no setting, or if several are named equally well.
    """
    if PurePosixPath(passage.document.path).suffix.lower() not in _SETTINGS_FILES:
        return lead
    asked, settings = _stems(question), _settings(passage.text, spans)
    mine = next((one for one in settings if one.span == lead), None)
    if mine is None:
        return lead
    said = asked & (mine.own | mine.above | mine.value)
    named = [(len(asked & (one.own | one.above)), one.span) for one in settings if asked & one.own - mine.own]
    most = max((count for count, _ in named), default=0)
    best = [span for count, span in named if count == most]
    return best[0] if len(best) == 1 and most > len(said) else lead


def _settings(text: str, spans: Sequence[Span]) -> list[_Setting]:
    """Return the lines that set something; those of YAML are below others by their indentation."""
    found: list[_Setting] = []
    section: set[str] = set()
    above: list[tuple[int, set[str]]] = []
    for start, end in spans:
        line = text[text.rfind("\n", 0, start) + 1 : end]
        if head := _SECTION.match(line):
            section, above = _stems(head["key"]), []
        elif one := _SETTING.match(line):
            indent = len(one["indent"])
            above = [(depth, stems) for depth, stems in above if depth < indent]
            if one["value"].strip():
                names = section.union(*(stems for _, stems in above))
                found.append(_Setting((start, end), _stems(one["key"]), names, _stems(one["value"])))
            else:
                above.append((indent, _stems(one["key"])))
    return found


def _stems(text: str) -> set[str]:
    return terms(_SEPARATORS.sub(" ", text))
