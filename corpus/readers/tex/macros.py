"""Replace commands with arguments by the text that they show: the document's own, notes, quantities, table cells."""

from __future__ import annotations

import re
from typing import NamedTuple

# Limits on replacement: nested levels, and characters of an argument, of one result and of all.
_MAX_DEPTH, _MAX_ARGUMENT, _MAX_RESULT, _MAX_WORK = 8, 5000, 10_000, 2_000_000
_MAX_MACROS = 1000
_TOKEN = re.compile(r"\\(?:begin\{[A-Za-z]+\*?\}|[A-Za-z]+\*?|.)|\$\$?[^$\n]*\$\$?", re.DOTALL)
_DEFINITION = re.compile(r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand|[gex]?def)\b\*?")
_DEFINED = re.compile(r"\s*\{?\s*\\([A-Za-z]+)\s*\}?\s*(?:\[([0-9])\]|((?:#[0-9])+))?\s*(?=\{)")
_OPTIONS = re.compile(r"(?:\[[^\]\n]{0,500}\]|\([a-z]{0,9}\))*")
_ARGUMENT = re.compile(r"[ \t]*\n?[ \t]*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")
_UNIT = re.compile(r"\\([A-Za-z]+)|[.~]")
_PREFIX = re.compile("atto|femto|pico|nano|micro|milli|centi|deci|deca|hecto|kilo|mega|giga|tera|peta|exa")
_UNITS = {"percent": r"\%", "celsius": "°C", "degreeCelsius": "°C", "degree": "°", "squared": "²", "cubed": "³"}


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
    r"""Return the words for a unit: `\kilo\gram\per\metre\squared` is "kilogram per metre²"."""

    def name(found: re.Match[str]) -> str:
        word = found[1] or ""
        return f" {word}" if _PREFIX.fullmatch(word) else f"{_UNITS.get(word, word)} "

    words = " ".join(_UNIT.sub(name, text).split())
    return re.sub(r" ([²³°])", r"\1", words)
