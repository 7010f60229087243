"""Tokenise statements for comparison: words, numbers and names, each with its position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Literal

from index import STOP_WORDS, word_terms
from qa.language.values import MONTH_NAMES, NUMBER_WORDS

Kind = Literal["number", "name", "word", "stop"]

_TOKEN = re.compile(
    r"""(?:(?P<minus>\b[Mm]inus\s|(?<=[^\s\d][ ])−[ ]|(?<![^\s(|=$€£])(?<!\d\s)[-−])(?=\d[\d.,]*(?![\w:-])))?
      (?P<number>\d+(?:[.,:]\d+)*)(?:(?:st|nd|rd|th)\b)?
    | (?P<currency>[$€£])
    | (?P<code>(?<![\w%°])(?:--?|/)\w[\w./-]*\w)
    | (?P<word>[^\W\d_]\w*(?:['’]\w+)?)
    | (?P<mark>[,;:.!?()–—])""",
    re.VERBOSE,
)
_HALF_DAY = re.compile(r"(?<=\d)(\s?)([ap])(?:m\b|\.\s?m\b(?:\.(?!\s+(?-i:[A-Z])))?)", re.IGNORECASE)
_A_POWER = re.compile(r"\b(half )?a (?=(?:hundred|thousand|million|billion)\b)", re.IGNORECASE)
_CURRENCIES = {"$": "dollar", "usd": "dollar", "€": "euro", "eur": "euro", "£": "pound", "gbp": "pound"}
_POSSESSIVE = re.compile("['’]s?$")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)\b")
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_SPELLED = NUMBER_WORDS | {word: value for value, word in enumerate(_ORDINALS.split())} | {"twice": 2, "quarter": 4}
_POWERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
# The distance that a mark or conjunction puts between words.
_GAPS = dict.fromkeys(("and", "or"), 1.0) | dict.fromkeys((",", "which", "who"), 1.5)
_GAPS |= dict.fromkeys((*";:.!?()–—", "but", "while", "whereas", "although", "though", "because"), 3.0)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or name.

    Attributes:
        text: As written.
        value: The form to compare: a number in digits, or a word's stem.
        kind: "stop" for stop words, which carry no meaning alone.
        at: Its distance from the start, in content words and gaps between clauses.
    """

    text: str
    value: str
    kind: Kind
    at: float


def is_ordinal(token: Token) -> bool:
    """Return whether a number is an ordinal in words: "first", "second"."""
    return token.text.lower() in _ORDINALS.split()


def is_vague(token: Token) -> bool:
    """Return whether a number occurs in too many phrases to be required in a passage: "one", "first"."""
    return token.text.lower() in ("one", "first")


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, in order."""
    tokens: list[Token] = []
    at, is_first = 0.0, True
    text = _HALF_DAY.sub(r"\1\2m", _ISO_DATE.sub(_spell_out_date, text))
    for match in _TOKEN.finditer(_A_POWER.sub(lambda match: "0.5 " if match[1] else "1 ", text)):
        written = _POSSESSIVE.sub("", match[0])
        folded = written.lower()
        if folded in _GAPS:
            at += _GAPS[folded]
            is_first = folded in ".!?:"
            continue
        kind, value = _classify(match, written, folded, is_first=is_first)
        if folded in ("am", "pm") and tokens and tokens[-1].kind == "number":
            kind, value = "word", folded
        at += kind != "stop"
        tokens.append(Token(written, value, kind, at))
        is_first = False
    return list(_join_numbers(tokens))


def _classify(match: re.Match[str], written: str, folded: str, *, is_first: bool) -> tuple[Kind, str]:
    if match["number"]:
        return "number", ("-" if match["minus"] else "") + _normalise_number(match["number"])
    if match["code"]:
        return "name", folded
    if (number := _SPELLED.get(folded)) is not None:
        return "number", f"{number}"
    if folded in STOP_WORDS:
        return "stop", folded
    value = _CURRENCIES.get(folded) or "".join(word_terms(folded))
    has_case = written != folded
    is_marked = any(c.isdigit() or c.isupper() for c in written[1:])
    return ("name" if is_marked or (has_case and not is_first) else "word"), value


def _join_numbers(tokens: list[Token]) -> Iterator[Token]:
    """Yield the tokens, joining numbers of several words: 1.2 million, twenty five."""
    last: Token | None = None
    for token in tokens:
        power = _POWERS.get(token.text.lower())
        if last is not None and last.kind == "number" and power:
            last = replace(last, text=f"{last.text} {token.text}", value=_multiply(last.value, power), at=token.at)
        elif (
            last is not None
            and NUMBER_WORDS.get(last.text.lower(), 0) >= 20
            and _SPELLED.get(token.text.lower(), 10) in range(1, 10)
        ):
            last = replace(last, value=_format(Decimal(last.value) + Decimal(token.value)), at=token.at)
        else:
            if last is not None:
                yield last
            last = token
    if last is not None:
        yield last


def _normalise_number(written: str) -> str:
    """Normalise a number: without thousands separators, outer zeros, and the minutes of a full hour."""
    if _GROUPED.fullmatch(written):
        written = written.replace(",", "")
    written = written.removesuffix(":00").replace(",", ".")
    return _format(Decimal(written)) if written.count(".") < 2 and ":" not in written else written.lstrip("0")


def _multiply(value: str, power: int) -> str:
    try:
        return _format(Decimal(value) * power)
    except InvalidOperation:  # a time, or a version
        return value


def _format(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _spell_out_date(match: re.Match[str]) -> str:
    return f"{int(match[3])} {MONTH_NAMES[int(match[2]) - 1].capitalize()} {match[1]}"
