"""Extract the words from a line of a manual page, without the escapes of roff and the macros of mdoc."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s\\])+)')
# Names of characters and strings; fonts and motions, which are dropped; single signs.
_ESCAPE = re.compile(
    r"""\\(?: \*?\((?P<two>..) | \*?\[(?P<long>[^\]]{0,99})\] | \*(?P<one>.)
        | [fgkFnYm](?:\(..|\[[^\]]{0,99}\]|[+-]?.) | s[+-]?(?:\(\d\d|\[[^\]]{0,99}\]|'[^']{0,99}'|\d)
        | [bhvwlLNoSxXDHZRBA]'[^']{0,99}'
        | ["\#].* | (?P<sign>.?) )""",
    re.VERBOSE,
)
_NAMED = {
    "aq": "'", "Aq": "'", "cq": "’", "oq": "‘", "lq": "“", "rq": "”", "dq": '"', "ga": "`", "L\"": '"', "R\"": '"',
    "bu": "•", "em": "—", "en": "–", "hy": "-", "mi": "-", "--": "—", "co": "©", "rg": "®", "R": "®", "Tm": "™",
    "tm": "™", "ha": "^", "ti": "~", "rs": "\\", "at": "@", "sh": "#", "Do": "$", "or": "|", "ba": "|", "lB": "[",
    "rB": "]", "lC": "{", "rC": "}", "la": "<", "ra": ">", "->": "→", "<-": "←", "<=": "≤", ">=": "≥", "!=": "≠",
    "+-": "±", "mu": "×", "de": "°", "12": "½", "sc": "§", "dg": "†", "Fo": "«", "Fc": "»", "pl": "+", "eq": "=",
    "sl": "/", "ss": "ß", "C+": "C++", "Gt": ">", "Lt": "<", "Ba": "|", "Am": "&",
}  # fmt: skip
_ACCENTS = {":": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", ",": "\u0327", "o": "\u030a"}
_SIGNS = {sign: sign for sign in "-.'`\\ "} | {"e": "\\", "E": "\\", "~": " ", "0": " ", "t": " "}
_OPENING, _CLOSING = frozenset("([<{“‘"), frozenset(".,:;)]>}?!”’")
_GLUE = ""
_PAIRS = {"Op": "[]", "Bq": "[]", "Aq": "<>", "Pq": "()", "Brq": "{}", "Dq": "“”", "Qq": "“”", "Sq": "‘’", "Ql": "‘’"}
_MARKS = {
    "Oo": "[", "Oc": "]", "Bo": "[", "Bc": "]", "Ao": "<", "Ac": ">", "Po": "(", "Pc": ")", "Do": "“", "Dc": "”",
    "So": "‘", "Sc": "’", "Bro": "{", "Brc": "}", "Qo": "“", "Qc": "”", "Ns": _GLUE, "Ux": "UNIX",
}  # fmt: skip
_FONTS = """
    Ad An Ap Ar At Bt Bx Cd Cm Dv Em Er Ev Fa Fd Fl Fn Fo Ft Fx Ic In Lb Li Lk Ms Mt Nd Nm No Nx Ox Pa Pf Rv St Sx Sy
    Tn Va Vt Xr
"""
# Macros of mdoc that may be among the words of a line.
MACROS = frozenset(_FONTS.split()) | _PAIRS.keys() | _MARKS.keys()


def strip_escapes(text: str) -> str:
    """Return a text without escapes."""
    return _ESCAPE.sub(_replace_escape, text) if "\\" in text else text


def _replace_escape(match: re.Match[str]) -> str:
    name = match["two"] or match["long"] or match["one"]
    if name is None:
        return _SIGNS.get(match["sign"] or "", "")
    if name in _NAMED:
        return _NAMED[name]
    if re.fullmatch(r"u[0-9A-F]{4,5}", name):
        return chr(int(name[1:], 16))
    return name[1] + _ACCENTS[name[0]] if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha() else ""


def arguments(text: str) -> list[str]:
    """Return the arguments of a request, without quotes and escapes."""
    values = (match[1].replace('""', '"') if match[1] is not None else match[2] for match in _ARGUMENT.finditer(text))
    return [strip_escapes(argument) for argument in values]


def join_words(words: Sequence[str], name: str) -> str:
    """Return a line of mdoc as it is displayed; `name` is the subject of the page, which `Nm` shows."""
    line = ""
    is_glued = True
    for word in _expand_macros(words, name):
        line += word if is_glued or word == _GLUE or word in _CLOSING else f" {word}"
        is_glued = word == _GLUE or word in _OPENING
    return line


def _expand_macros(words: Sequence[str], name: str) -> Iterator[str]:
    """Yield the words of a line, with its macros replaced by their signs."""
    end = len(words)
    while end and words[end - 1] in _CLOSING:
        end -= 1
    closing: list[str] = []
    macro = ""
    for position, word in enumerate(words[:end]):
        is_alone = position + 1 == end or words[position + 1] in MACROS | _CLOSING
        if word in _PAIRS:
            closing.insert(0, _PAIRS[word][1])
            yield _PAIRS[word][0]
        elif word in _MARKS:
            yield _MARKS[word]
        elif word in MACROS:
            macro = word
            if is_alone and word in ("Nm", "Fl"):
                yield name if word == "Nm" else "-"
        elif macro == "Xr" and position and words[position - 1] != "Xr":
            yield from (_GLUE, f"({word})")
        else:
            yield f"-{word}" if macro == "Fl" and word not in "|:," else word
    yield from (*closing, *words[end:])
