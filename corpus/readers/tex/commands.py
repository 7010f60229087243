"""LaTeX in plain words: commands of layout go, accents become letters, formulas stay as written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Combining marks by the command that sets them.
_ACCENTS = dict(
    zip(
        "`'^~=u.\"rHvdck",
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328",
        strict=True,
    )
)
_LETTERS = dict(
    pair.split("=")
    for pair in (
        *("ss=ß", "ae=æ", "AE=Æ", "oe=œ", "OE=Œ", "o=ø", "O=Ø", "aa=å", "AA=Å", "l=ł", "L=Ł", "i=ı", "j=ȷ"),
        *("textbackslash=\\", "ldots=…", "dots=…", "textendash=–", "textemdash=—", "LaTeX=LaTeX", "TeX=TeX"),
        *("S=§", "copyright=©", "pounds=£", "euro=€", "item=• ", "quad= ", "qquad= "),
    )
)
_ACCENT = re.compile(r"\\([`'^~=.\"]|[uvHcdkr](?![A-Za-z]))[ \t]*(?:\{\\?([A-Za-z])\}|\\?([A-Za-z])(?![A-Za-z]*\\))")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_LAYOUT = re.compile(
    r"\\(?:label|vspace|hspace|includegraphics|bibliographystyle|bibliography|usepackage|input|include|pagestyle|"
    r"thispagestyle|setlength|setcounter|addtocounter|newcommand|renewcommand|documentclass|hypersetup|newtheorem)"
    r"\*?(?:\[[^\]\n]{0,500}\])*(?:\{[^{}\n]*\})*"
)
_REFERENCE = re.compile(r"\\(?:[cC]ite\w*|ref|eqref|autoref|[cC]ref|pageref)\*?(?:\[[^\]\n]{0,500}\])*\{([^{}\n]*)\}")
_LINK = re.compile(r"\\href\{([^{}\n]*)\}\{([^{}\n]*)\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[^{}\n]*\}(?:\[[^\]\n]{0,500}\])?")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?[ \t]?")
_ESCAPED = re.compile(r"\\([#$%&_{} ,;!:])")
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " "}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_BRACE = re.compile(r"(?<!\\)[{}]")
_MARKUP = re.compile(r"[\\{}~]|--|``|''")
_OPENING = re.compile(r"\$|\\[(\[]")
_DOLLARS = re.compile(r"\$\$?[^$\n]*\$\$?")
_CLOSING = {"\\(": "\\)", "\\[": "\\]"}


def plain_tex(line: str) -> str:
    """Return one line of LaTeX in plain words, formulas in it as written without their delimiters."""
    line = without_comment(line)
    if "$" not in line and "\\" not in line:
        return _plain(line)
    parts = []
    at = 0
    for start, end in _formulas(line):
        formula = line[start:end].strip("$").removeprefix("\\(").removesuffix("\\)")
        parts += [_plain(line[at:start]), formula]
        at = end
    return "".join([*parts, _plain(line[at:])])


def without_comment(line: str) -> str:
    """Return a line up to its comment."""
    return _COMMENT.sub(r"\1", line) if "%" in line else line


def _formulas(line: str) -> Iterator[tuple[int, int]]:
    """The spans of formulas; a delimiter that is not closed is searched for once, as there may be a million."""
    at = 0
    unclosed: set[str] = set()
    for mark in _OPENING.finditer(line):
        if mark.start() < at or mark[0] in unclosed:
            continue
        if mark[0] == "$":
            found = _DOLLARS.match(line, mark.start())
            end = found.end() if found else -1
        else:
            end = line.find(_CLOSING[mark[0]], mark.end())
            end = end + 2 if end >= 0 else -1
        if end < 0:
            unclosed.add(mark[0])
        else:
            yield mark.start(), end
            at = end


def _plain(text: str) -> str:
    if not _MARKUP.search(text):
        return text
    if "\\" in text:
        text = _ACCENT.sub(
            lambda found: unicodedata.normalize("NFC", (found[2] or found[3]) + _ACCENTS[found[1]]), text
        )
        text = _ENVIRONMENT.sub("", _REFERENCE.sub(r"[\1]", _LINK.sub(r"\2 (\1)", _LAYOUT.sub("", text))))
        text = _COMMAND.sub(lambda found: _LETTERS.get(found[1], ""), text.replace("\\\\", " "))
    text = _SIGN.sub(lambda found: _SIGNS[found[0]], text)
    return _ESCAPED.sub(r"\1", _BRACE.sub("", text))
