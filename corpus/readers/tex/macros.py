"""Replace commands with arguments by the text that they show: the document's own, notes, quantities, table cells."""

from __future__ import annotations

import re
from typing import NamedTuple

from corpus.text.superscripts import raised

# Limits on replacement: nested levels, and characters of an argument, of one result and of all.
_MAX_DEPTH, _MAX_ARGUMENT, _MAX_RESULT, _MAX_WORK = 8, 5000, 10_000, 2_000_000
_MAX_MACROS = 1000
# Most columns that a cell may span.
_MAX_COLUMNS = 50
_TOKEN = re.compile(r"\\(?:begin\{[A-Za-z]+\*?\}|[A-Za-z]+\*?|.)|\$\$?[^$\n]*\$\$?", re.DOTALL)
_DEFINITION = re.compile(r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|[gex]?def)\b\*?")
_DEFINED = re.compile(r"\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*(?:\[([0-9])\]|((?:#[0-9])+))?\s*(?=\{)")
_OPTIONS = re.compile(r"(?:\[[^\]\n]{0,500}\]|\([a-z]{0,9}\))*")
_ARGUMENT = re.compile(r"[ \t]*\n?[ \t]*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")
# A command, perhaps with a power, or a symbol, perhaps with one.
_UNIT = re.compile(
    r"\\(?P<word>[A-Za-z]+)(?:\{(?P<to>[-+]?\d{1,3})\})?"
    r"|(?P<symbol>(?:\\.|[^\\.~\s{}^])+)(?:\^\{?(?P<power>[-+]?\d{1,3})\}?)?"
)
_PREFIX_SYMBOLS = (
    "atto=a femto=f pico=p nano=n micro=μ milli=m centi=c deci=d deca=da deka=da hecto=h kilo=k mega=M giga=G tera=T "
    "peta=P exa=E"
)
_UNIT_SYMBOLS = (
    "metre=m meter=m gram=g kilogram=kg second=s ampere=A kelvin=K mole=mol candela=cd hertz=Hz newton=N pascal=Pa "
    "joule=J watt=W coulomb=C volt=V farad=F ohm=Ω siemens=S weber=Wb tesla=T henry=H lumen=lm lux=lx becquerel=Bq "
    "gray=Gy sievert=Sv katal=kat minute=min hour=h day=d hectare=ha litre=L liter=L tonne=t electronvolt=eV dalton=Da "
    "decibel=dB bel=B arcminute=′ arcsecond=″ degree=° celsius=°C degreeCelsius=°C percent=\\%"
)
_PREFIXES, _UNITS = (dict(pair.split("=") for pair in symbols.split()) for symbols in (_PREFIX_SYMBOLS, _UNIT_SYMBOLS))
_POWERS = {"square": 2, "cubic": 3, "squared": 2, "cubed": 3}


class _Macro(NamedTuple):
    """How many arguments a command has, what it shows (#1 is the first), and whether options come before them."""

    arguments: int
    shows: str
    has_options: bool = True


_NOTE = _Macro(1, " (#1)")
_SHOWN = {
    **dict.fromkeys(("footnote", "footnotetext", "thanks", "marginpar"), _NOTE),
    **dict.fromkeys(("multicolumn", "multirow"), _Macro(3, "#3")),
    **dict.fromkeys(("textcolor", "colorbox", "parbox", "raisebox"), _Macro(2, "#2")),
    **dict.fromkeys(("cline", "cmidrule", "color"), _Macro(1, "")),
    **dict.fromkeys(("SI", "qty"), _Macro(2, r"#1 \unit{#2}")),
    **dict.fromkeys(("SIrange", "qtyrange"), _Macro(3, r"#1 to #2 \unit{#3}")),
    "num": _Macro(1, "#1"),
    "numrange": _Macro(2, "#1 to #2"),
    "ang": _Macro(1, "#1°"),
    "si": _Macro(1, r"\unit{#1}"),
    **{f"begin{{{name}}}": _Macro(1, "") for name in ("thebibliography", "minipage", "multicols")},
    **{f"begin{{{name}}}": _Macro(1, rf"\begin{{{name}}}") for name in ("tabular", "longtable", "alignat", "alignat*")},
    **{f"begin{{{name}}}": _Macro(2, rf"\begin{{{name}}}") for name in ("tabularx", "tabular*", "wrapfigure")},
}  # fmt: skip


class Macros:
    """Replaces commands, and collects the definitions that it meets; a text keeps its number of lines."""

    def __init__(self) -> None:
        self._macros = _SHOWN.copy()
        self._work = 0

    def expand(self, text: str, depth: int = 0) -> str:
        """Return a text without definitions and with its commands replaced; what exceeds a limit stays unchanged."""
        parts = []
        at = 0
        for found in _TOKEN.finditer(text):
            if found.start() < at or self._work > _MAX_WORK:
                continue
            end, shown = self._replace(text, found, depth)
            if end > found.end() or shown != found[0]:
                lines = text.count("\n", found.start(), end)
                if shown.count("\n") != lines:
                    shown = shown.replace("\n", " ") + "\n" * lines
                parts += [text[at : found.start()], shown]
                at = end
        return "".join([*parts, text[at:]])

    def without_notes(self, text: str) -> str:
        """Return a text, such as a title, without the notes in it."""
        self._macros |= dict.fromkeys(("footnote", "thanks"), _NOTE._replace(shows=""))
        return self.expand(text)

    def _replace(self, text: str, found: re.Match[str], depth: int) -> tuple[int, str]:
        """Return where a command ends and what it shows; an unknown command shows itself."""
        if _DEFINITION.fullmatch(found[0]):
            return self._define(text, found)
        name = found[0][1:]
        macro = self._macros.get(name) or self._macros.get(name.rstrip("*"))
        is_unit = name == "unit" and not macro
        if depth > _MAX_DEPTH or not (macro or is_unit):
            return found.end(), found[0]
        count, shows, has_options = macro or _Macro(1, "#1")
        options = _OPTIONS.match(text, found.end()) if has_options else None
        end, given = self._arguments(text, options.end() if options else found.end(), count)
        if len(given) < count:
            return found.end(), found[0]
        if name == "multicolumn":
            shows += " &" * (min(int(given[0]), _MAX_COLUMNS) - 1 if given[0].isdecimal() else 0)
        shown = _PARAMETER.sub(lambda match: given[int(match[1]) - 1] if int(match[1]) <= count else "", shows)
        self._work += len(shown)
        if len(shown) <= _MAX_RESULT:
            shown = _unit(shown) if is_unit else self.expand(shown, depth + 1)
        return (end, shown) if len(shown) <= _MAX_RESULT else (found.end(), found[0])

    def _define(self, text: str, found: re.Match[str]) -> tuple[int, str]:
        head = _DEFINED.match(text, found.end())
        end, given = self._arguments(text, head.end(), 1) if head else (0, [])
        if head is None or not given:
            return found.end(), found[0]
        # A redefined command of LaTeX still shows what it did before.
        if len(self._macros) < _MAX_MACROS and (head[1] in self._macros or "renew" not in found[0]):
            count = int(head[2] or 0) or len(head[3] or "") // 2
            body = given[0].replace("\n", " ").replace(r"\xspace", "")
            self._macros[head[1]] = _Macro(count, body, has_options=False)
        return end, ""

    def _arguments(self, text: str, at: int, count: int) -> tuple[int, list[str]]:
        """Return where the last argument in braces ends, and the arguments; fewer than `count` if one is missing."""
        given: list[str] = []
        while len(given) < count and (opening := _ARGUMENT.match(text, at)):
            end = closing_brace(text, opening.end(), _MAX_ARGUMENT)
            self._work += _MAX_ARGUMENT if end < 0 else end - at
            if end < 0:
                break
            given.append(text[opening.end() : end])
            at = end + 1
        return at, given


def closing_brace(text: str, start: int, limit: int) -> int:
    """Return the position of the brace that closes the one before `start`, within `limit` characters, or -1."""
    depth = 1
    for found in _BRACE.finditer(text, start, start + limit):
        depth += (found[0] == "{") - (found[0] == "}")
        if not depth:
            return found.start()
    return -1


def _unit(text: str) -> str:
    r"""Return a unit as it is printed: `\kilo\gram\per\metre\squared` is "kg m⁻²"."""
    units: list[tuple[str, int]] = []
    prefix, sign, power = "", 1, 1
    for found in _UNIT.finditer(text):
        word = found["word"]
        to = int(found["to"] or found["power"] or 0) or _POWERS.get(word, 0)
        if word == "per":
            sign = -1
        elif word in _PREFIXES:
            prefix = word
        elif word in ("square", "cubic", "raiseto"):
            power = to or 1
        elif word in ("squared", "cubed", "tothe") and units:
            units[-1] = units[-1][0], units[-1][1] * (to or 1)
        else:
            shown = _PREFIXES.get(prefix, "") + _UNITS[word] if word in _UNITS else prefix + (word or found["symbol"])
            units.append((shown, sign * power * (to or 1)))
            prefix, sign, power = "", 1, 1
    return " ".join(name + (raised(str(power)) if power != 1 else "") for name, power in units)
