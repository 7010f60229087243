"""What LaTeX source says: commands that only set type are stripped, accents become letters, formulas stay readable."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
}
_LETTERS = {
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "o": "ø",
    "O": "Ø",
    "aa": "å",
    "AA": "Å",
    "l": "ł",
    "L": "Ł",
    "i": "ı",
    "j": "ȷ",
    "textbackslash": "\\",
    "ldots": "…",
    "dots": "…",
    "textendash": "–",
    "textemdash": "—",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "S": "§",
    "copyright": "©",
    "pounds": "£",
    "euro": "€",
    "item": "•",
    "quad": " ",
    "qquad": " ",
}
_ACCENT = re.compile(r"\\([`'^~=.\"]|[uvHcdkr](?![A-Za-z]))[ \t]*(?:\{\\?([A-Za-z])\}|\\?([A-Za-z])(?![A-Za-z]*\\))")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_SKIPPED = re.compile(
    r"\\(?:label|vspace|hspace|includegraphics|bibliographystyle|bibliography|usepackage|input|include|pagestyle|"
    r"thispagestyle|setlength|setcounter|addtocounter|newcommand|renewcommand|documentclass|hypersetup|newtheorem)"
    r"\*?(?:\[[^\]\n]{0,500}\])*(?:\{[^{}\n]*\})*"
)
_CITED = re.compile(r"\\(?:[cC]ite\w*|ref|eqref|autoref|[cC]ref|pageref)\*?(?:\[[^\]\n]{0,500}\])*\{([^{}\n]*)\}")
_LINK = re.compile(r"\\href\{([^{}\n]*)\}\{([^{}\n]*)\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[^{}\n]*\}(?:\[[^\]\n]{0,500}\])?")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?[ \t]?")
_ESCAPED = re.compile(r"\\([#$%&_{} ,;!:])")
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " "}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
# What any of the rules could change.
_MARKUP = re.compile(r"[\\{}~\x01\x02]|--|``|''")
_OPENING = re.compile(r"\$|\\[(\[]")
_DOLLARS = re.compile(r"\$\$?[^$\n]*\$\$?")
_CLOSING = {"\\(": "\\)", "\\[": "\\]"}


def plain_tex(line: str) -> str:
    """One line of LaTeX in plain words; formulas in it stay as they are written, without their fences."""
    line = without_comment(line)
    if "$" not in line and "\\" not in line:
        return _words(line)
    parts = []
    at = 0
    for start, end in _formulas(line):
        formula = line[start:end].strip("$").removeprefix("\\(").removesuffix("\\)")
        parts += [_words(line[at:start]), formula]
        at = end
    return "".join([*parts, _words(line[at:])])


def _formulas(line: str) -> Iterator[tuple[int, int]]:
    """Where formulas stand; what closes none is looked for once, as it may be opened a million times."""
    at = 0
    lost: set[str] = set()
    for mark in _OPENING.finditer(line):
        if mark.start() < at or mark[0] in lost:
            continue
        if mark[0] == "$":
            found = _DOLLARS.match(line, mark.start())
            end = found.end() if found else -1
        else:
            end = line.find(_CLOSING[mark[0]], mark.end())
            end = end + 2 if end >= 0 else -1
        if end < 0:
            lost.add(mark[0])
        else:
            yield mark.start(), end
            at = end


def without_comment(line: str) -> str:
    """A line up to the sign that begins a comment."""
    return _COMMENT.sub(r"\1", line) if "%" in line else line


def _words(text: str) -> str:
    if not _MARKUP.search(text):
        return text
    if "\\" in text:
        text = _without_commands(text)
    text = _SIGN.sub(lambda found: _SIGNS[found[0]], text)
    text = _ESCAPED.sub(r"\1", text.replace("\\{", "\x01").replace("\\}", "\x02"))
    return text.replace("{", "").replace("}", "").replace("\x01", "{").replace("\x02", "}")


def _without_commands(text: str) -> str:
    text = _ACCENT.sub(lambda found: unicodedata.normalize("NFC", (found[2] or found[3]) + _ACCENTS[found[1]]), text)
    text = _SKIPPED.sub("", text)
    text = _LINK.sub(r"\2 (\1)", text)
    text = _CITED.sub(r"[\1]", text)
    text = _ENVIRONMENT.sub("", text)
    text = text.replace("\\\\", " ")
    return _COMMAND.sub(_letter, text)


def _letter(found: re.Match[str]) -> str:
    letter = _LETTERS.get(found[1])
    if letter is None:
        return ""
    return letter + (" " if letter == "•" else "")
