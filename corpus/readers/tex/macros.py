"""Replace commands with arguments by the text they show: those defined in the document, notes, quantities, cells."""

from __future__ import annotations

import re
from typing import NamedTuple

from corpus.text.superscripts import to_superscript

# Limits on replacement: nested levels, and characters of an argument, of a result and of all results.
_MAX_DEPTH, _MAX_ARGUMENT, _MAX_RESULT, _MAX_WORK = 8, 5000, 10_000, 2_000_000
_MAX_MACROS = 1000
# Most columns that a cell may span.
_MAX_COLUMNS = 50
_TOKEN = re.compile(r"\\(?:begin\{[A-Za-z]+\*?\}|[A-Za-z]+\*?|.)|\$\$?[^$\n]*\$\$?", re.DOTALL)
_DEFINITION = re.compile(r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|[gex]?def)\b\*?")
_DEFINITION_HEAD = re.compile(r"\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*(?:\[([0-9])\]|((?:#[0-9])+))?\s*(?=\{)")
_OPTIONS = re.compile(r"(?:\[[^\]\n]{0,500}\]|\([a-z]{0,9}\))*")
_ARGUMENT = re.compile(r"[ \t]*\n?[ \t]*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")
# A command or a symbol, each with an optional power.
_UNIT = re.compile(
    r"\\(?P<word>[A-Za-z]+)(?:\{(?P<to>[-+]?\d{1,3})\})?"
    r"|(?P<symbol>(?:\\[^A-Za-z]|[^\\.~\s{}^])+)(?:\^\{?(?P<power>[-+]?\d{1,3})\}?)?"
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
    """A command: its number of arguments, the text it shows (#1 is the first argument), and whether it has options."""

    arguments: int
    shows: str
    has_options: bool = True


_NOTE = _Macro(1, " (#1)")
_BUILT_IN = {
    **dict.fromkeys(("footnote", "footnotetext", "thanks", "marginpar", "todo"), _NOTE),
    **dict.fromkeys(("multicolumn", "multirow"), _Macro(3, "#3")),
    **dict.fromkeys(("textcolor", "colorbox", "parbox", "raisebox"), _Macro(2, "#2")),
    **dict.fromkeys(("cline", "cmidrule", "color"), _Macro(1, "")),
    **dict.fromkeys(("SI", "qty"), _Macro(2, r"#1 \unit{#2}")),
    **dict.fromkeys(("SIrange", "qtyrange"), _Macro(3, r"#1 to #2 \unit{#3}")),
    **dict.fromkeys(("num", "caption"), _Macro(1, "#1")),
    "numrange": _Macro(2, "#1 to #2"),
    "ang": _Macro(1, "#1°"),
    "si": _Macro(1, r"\unit{#1}"),
    **{f"begin{{{name}}}": _Macro(1, "") for name in ("thebibliography", "minipage", "multicols")},
    **{f"begin{{{name}}}": _Macro(1, rf"\begin{{{name}}}") for name in ("tabular", "longtable", "alignat", "alignat*")},
    **{f"begin{{{name}}}": _Macro(2, rf"\begin{{{name}}}") for name in ("tabularx", "tabular*", "wrapfigure")},
}  # fmt: skip


class Macros:
    """Replaces commands, including those defined in the text; the number of lines stays the same."""

    def __init__(self) -> None:
        self._macros = _BUILT_IN.copy()
        self._work = 0

    def expand(self, text: str, depth: int = 0) -> str:
        """Return a text without definitions and with commands replaced; commands that exceed a limit stay unchanged."""
        parts = []
        at = 0
        for command in _TOKEN.finditer(text):
            if command.start() < at or self._work > _MAX_WORK:
                continue
            end, shown = self._replace(text, command, depth)
            if end > command.end() or shown != command[0]:
                lines = text.count("\n", command.start(), end)
                if shown.count("\n") != lines:
                    shown = shown.replace("\n", " ") + "\n" * lines
                parts += [text[at : command.start()], shown]
                at = end
        return "".join([*parts, text[at:]])

    def expand_without_notes(self, text: str) -> str:
        """Return a text, such as a title, without its notes."""
        self._macros |= dict.fromkeys(("footnote", "thanks"), _NOTE._replace(shows=""))
        return self.expand(text)

    def _replace(self, text: str, command: re.Match[str], depth: int) -> tuple[int, str]:
        """Return the end of a command and the text it shows; an unknown command shows itself."""
        if _DEFINITION.fullmatch(command[0]):
            return self._define(text, command)
        name = command[0][1:]
        macro = self._macros.get(name) or self._macros.get(name.rstrip("*"))
        is_unit = name == "unit" and not macro
        if depth > _MAX_DEPTH or not (macro or is_unit):
            return command.end(), command[0]
        count, shows, has_options = macro or _Macro(1, "#1")
        options = _OPTIONS.match(text, command.end()) if has_options else None
        end, arguments = self._arguments(text, options.end() if options else command.end(), count)
        if len(arguments) < count:
            return command.end(), command[0]
        if name == "multicolumn":
            shows += " &" * (min(int(arguments[0]), _MAX_COLUMNS) - 1 if arguments[0].isdecimal() else 0)
        shown = _PARAMETER.sub(lambda match: arguments[int(match[1]) - 1] if int(match[1]) <= count else "", shows)
        self._work += len(shown)
        if len(shown) <= _MAX_RESULT:
            shown = _unit(shown) if is_unit else self.expand(shown, depth + 1)
        return (end, shown) if len(shown) <= _MAX_RESULT else (command.end(), command[0])

    def _define(self, text: str, command: re.Match[str]) -> tuple[int, str]:
        head = _DEFINITION_HEAD.match(text, command.end())
        end, arguments = self._arguments(text, head.end(), 1) if head else (0, [])
        if head is None or not arguments:
            return command.end(), command[0]
        # A redefined command of LaTeX still shows its usual text.
        if len(self._macros) < _MAX_MACROS and (head[1] in self._macros or "renew" not in command[0]):
            count = int(head[2] or 0) or len(head[3] or "") // 2
            body = arguments[0].replace("\n", " ").replace(r"\xspace", "")
            self._macros[head[1]] = _Macro(count, body, has_options=False)
        return end, ""

    def _arguments(self, text: str, at: int, count: int) -> tuple[int, list[str]]:
        """Return the end of the last argument in braces, and the arguments, fewer than `count` if any are missing."""
        arguments: list[str] = []
        while len(arguments) < count and (opening := _ARGUMENT.match(text, at)):
            end = closing_brace(text, opening.end(), _MAX_ARGUMENT)
            self._work += _MAX_ARGUMENT if end < 0 else end - at
            if end < 0:
                break
            arguments.append(text[opening.end() : end])
            at = end + 1
        return at, arguments


def closing_brace(text: str, start: int, limit: int) -> int:
    """Return the position of the brace that closes the one before `start`, within `limit` characters, or -1."""
    depth = 1
    for match in _BRACE.finditer(text, start, start + limit):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return match.start()
    return -1


def _unit(text: str) -> str:
    r"""Return a unit as printed: `\kilo\gram\per\metre\squared` is "kg m⁻²"."""
    units: list[tuple[str, int]] = []
    prefix, sign, power = "", 1, 1
    for match in _UNIT.finditer(text):
        word = match["word"]
        to = int(match["to"] or match["power"] or 0) or _POWERS.get(word, 0)
        if word == "per":
            sign = -1
        elif word in _PREFIXES:
            prefix = word
        elif word in ("square", "cubic", "raiseto"):
            power = to or 1
        elif word in ("squared", "cubed", "tothe") and units:
            units[-1] = units[-1][0], units[-1][1] * (to or 1)
        else:
            shown = _PREFIXES.get(prefix, "") + _UNITS[word] if word in _UNITS else prefix + (word or match["symbol"])
            units.append((shown, sign * power * (to or 1)))
            prefix, sign, power = "", 1, 1
    return " ".join(name + (to_superscript(str(power)) if power != 1 else "") for name, power in units)
