"""LaTeX as plain text: layout commands are dropped, accents become letters, signs become characters, formulas stay."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from corpus.text.superscripts import to_superscript

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
        *("S=§", "copyright=©", "pounds=£", "euro=€", "item=• ", "quad= ", "qquad= ", "textregistered=®"),
        *("texttrademark=™", "textless=<", "textgreater=>", "textbar=|", "slash=/", "dag=†"),
    )
)
_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi "
    "varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_MATHS_SYMBOLS = (
    "times=× pm=± mp=∓ cdot=· div=÷ leq=≤ le=≤ geq=≥ ge=≥ neq=≠ ne=≠ approx=≈ sim=∼ equiv=≡ ll=≪ gg=≫ to=→ "
    "rightarrow=→ leftarrow=← infty=∞ partial=∂ sum=∑ prod=∏ int=∫ in=∈ circ=∘ degree=° textdegree=° celsius=°C "
    "textmu=μ micro=μ texttimes=× textpm=± permil=‰ ell=ℓ cup=∪ cap=∩ subset=⊂ forall=∀ exists=∃"
)
_SYMBOLS = {
    **dict(zip(_GREEK.split(), "αβγδϵεζηθικλμνξπρστυϕφχψωΓΔΘΛΞΠΣΦΨΩ", strict=True)),
    **dict(pair.split("=") for pair in _MATHS_SYMBOLS.split()),
}
_SYMBOL = re.compile(rf"\\({'|'.join(_SYMBOLS)})(?![A-Za-z])")
_DEGREE = re.compile(r"\^(?:\{\\circ\}|\\circ(?![A-Za-z]))")
_POWER = re.compile(r"\^(?:\{([-+]?[0-9]{1,4})\}|([0-9]))")
_ACCENT = re.compile(
    r"\\([`'^~=.\"]|[uvHcdkr](?![A-Za-z]))[ \t]*(?:\{\\?([A-Za-z])\}|\\([A-Za-z])(?![A-Za-z])|([A-Za-z]))"
)
# A percent sign in an address or in verbatim text does not begin a comment.
_COMMENT = re.compile(r"(\\(?:url|href)\{[^{}\n]*\}|\\verb\*?([^\w\s*]).{0,500}?\2)|(?<!\\)((?:\\\\)*)%.*")
_LAYOUT = re.compile(
    r"\\(?:label|vspace|hspace|includegraphics|bibliographystyle|bibliography|usepackage|input|include|pagestyle|"
    r"thispagestyle|setlength|setcounter|addtocounter|newcommand|renewcommand|documentclass|hypersetup|newtheorem|"
    r"definecolor|fontsize)"
    r"\*?(?:\[[^\]\n]{0,500}\])*(?:\{[^{}\n]*\})*"
)
_REFERENCE = re.compile(
    r"\\(?:[cC]ite\w*|ref|eqref|autoref|[cC]ref|pageref|bibitem)\*?(?:\[[^\]\n]{0,500}\])*\{([^{}\n]*)\}"
)
_LINK = re.compile(r"\\href\{([^{}\n]*)\}\{([^{}\n]*)\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[^{}\n]*\}(?:\[[^\]\n]{0,500}\])?")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?[ \t]?")
_ESCAPED = re.compile(r"\\([#$%&_{}])")
# Narrow spaces, and commands that show nothing.
_SPACE, _NOTHING = re.compile(r"\\[ ,;:>]"), re.compile(r"\\[!/@\-\[\]()]")
_BREAK = re.compile(r"\\\\\*?(?:\[[^\]\n]{0,20}\])?")
_SIGNS = {"---": "—", "--": "–", "``": "“", "''": "”", "~": " "}
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))
_BRACE = re.compile(r"(?<!\\)[{}]")
_MARKUP = re.compile(r"[\\{}~]|--|``|''")
_OPENING = re.compile(r"\\[\\$(\[]|\$")
_DOLLARS = re.compile(r"\$\$?(?:\\.|[^\\$\n])*\$\$?")
_CLOSING = {"\\(": "\\)", "\\[": "\\]"}


def plain_tex(line: str) -> str:
    """Return a line of LaTeX without comments as plain text, with formulas as by `plain_formula`, undelimited."""
    if "$" not in line and "\\" not in line:
        return _strip_markup(line)
    parts = []
    at = 0
    for start, end in _formulas(line):
        parts += [_strip_markup(line[at:start]), plain_formula(line[start:end].strip("$"))]
        at = end
    return "".join([*parts, _strip_markup(line[at:])])


def plain_formula(formula: str) -> str:
    """Return a formula as written, except that Greek letters, symbols, spaces and superscripts become characters."""
    if "^" in formula:
        formula = _POWER.sub(lambda match: to_superscript(match[1] or match[2]), formula)
    if "\\" not in formula:
        return formula
    formula = _SYMBOL.sub(lambda match: _SYMBOLS[match[1]], _DEGREE.sub("°", formula))
    return _NOTHING.sub("", _SPACE.sub(" ", formula)).replace(r"\%", "%")


def strip_comment(line: str) -> str:
    """Return a line without its comment."""
    return _COMMENT.sub(r"\1\3", line) if "%" in line else line


def _formulas(line: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of formulas; search for a missing closing delimiter only once, as there may be a million."""
    at = 0
    # A line break and a dollar sign open no formula.
    unclosed = {r"\\", r"\$"}
    for mark in _OPENING.finditer(line):
        if mark.start() < at or mark[0] in unclosed:
            continue
        if mark[0] == "$":
            match = _DOLLARS.match(line, mark.start())
            end = match.end() if match else -1
        else:
            end = line.find(_CLOSING[mark[0]], mark.end())
            end = end + 2 if end >= 0 else -1
        if end < 0:
            unclosed.add(mark[0])
        else:
            yield mark.start(), end
            at = end


def _strip_markup(text: str) -> str:
    if not _MARKUP.search(text):
        return text
    if "\\" in text:
        text = _ACCENT.sub(
            lambda match: unicodedata.normalize("NFC", (match[2] or match[3] or match[4]) + _ACCENTS[match[1]]), text
        )
        text = _ENVIRONMENT.sub("", _REFERENCE.sub(r"[\1]", _LINK.sub(r"\2 (\1)", _LAYOUT.sub("", text))))
        text = _NOTHING.sub("", _SPACE.sub(" ", _BREAK.sub(" ", text)))
        text = _COMMAND.sub(lambda match: _LETTERS.get(match[1]) or _SYMBOLS.get(match[1], ""), text)
    text = _SIGN.sub(lambda match: _SIGNS[match[0]], text)
    return _ESCAPED.sub(r"\1", _BRACE.sub("", text))
