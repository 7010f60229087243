"""Amounts of a question that are within a band of a passage: "75 kg" in "70–89 kg", a CrCl of 40 in "CrCl 30-50"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import inf, nextafter
from typing import NamedTuple

from index import STOP_WORDS, StoredPassage, word_terms
from qa.questions.numbered import UNIT_BEHIND, row_at
from qa.questions.values import MONTH, Span

_NUMBER = r"\d+(?:,\d{3}(?!\d))*(?:\.\d+)?"
_UNIT = rf"(?:[ -]?(?!(?:{'|'.join(sorted(STOP_WORDS))}|younger|less)\b)(?:%|°?[^\W\d_]+(?:/[^\W\d_]+)?))"
_AMOUNT = re.compile(
    r"(?<![\w.,:/–-])(?:(?P<between>between )|(?P<sign>(?:below|under|less than|up to|at most|above|over|more than"
    rf"|at least|from) |[<≤>≥] ?))?(?P<money>[€$£])?(?P<first>{_NUMBER})"
    rf"(?:{_UNIT}? ?(?(between)and|(?:[-–—]|to)) ?[€$£]?(?P<last>{_NUMBER}))?(?P<unit>(?(money)(?!)|{_UNIT}))?"
    r"(?P<behind> ?\+| (?:and|or) (?:above|over|more|older|longer|higher|below|under|less|younger|lower)\b)?"
    r"(?!\w|[-–/:.,]?\d)",
    re.IGNORECASE,
)
# What makes a bound the upper one, and what before it includes the number itself.
_UPPER = re.compile(r"below|under|less|up|at most|younger|lower|[<≤]", re.IGNORECASE)
_INCLUSIVE = re.compile(r"up|at|from|[≤≥]", re.IGNORECASE)
# A year, perhaps before a word, or the day of a month; and a flat or class such as 2C.
_DATE = re.compile(rf"(?:19|20)\d\d\b|\S+ {MONTH}")
_CODE = re.compile(r"\d+[A-Z]")
_END = re.compile(r"[\n|]|[.;]\s")
_WORD = re.compile(r"[^\W\d_]+")
# A question is compared with the same few passages several times.
_CACHED = 64


class _Band(NamedTuple):
    """An amount, or a band of amounts, in a text, with the stem of its unit or of another word, "" if it has none."""

    found: re.Match[str]
    least: float
    most: float
    unit: str

    @property
    def is_measured(self) -> bool:
        """Whether it has a unit of measurement or money, rather than any word."""
        is_word = self.unit.isalpha() and UNIT_BEHIND.fullmatch(self.found["unit"].lstrip("-")) is None
        return bool(self.unit) and not is_word

    @property
    def is_date(self) -> bool:
        """Whether it is a year or the day of a month."""
        return not self.is_measured and _DATE.match(self.found[0]) is not None


def with_bands_as_in(passage: StoredPassage, question: str) -> str:
    """Write each amount of a question as the one band of a passage that includes it, if that lacks the amount itself.

    Amount and band have the same unit, or the column or else the sentence of the band names the unit, or the word
    before the amount: "a CrCl of 40".
    """
    for one, band in _asked_bands(passage, question):
        # The word behind a band need not be a unit: "6–17 pay".
        is_whole = bool(band.unit == one.unit or band.found["behind"])
        number_end = max(band.found.end("first"), band.found.end("last")) - band.found.start()
        text = band.found[0] if is_whole else band.found[0][:number_end]
        question = f"{question[: one.found.start()]}{text}{question[one.found.end(0 if is_whole else 'first') :]}"
    return question


def row_of_band(passage: StoredPassage, question: str, spans: Sequence[Span], lead: Span) -> Span:
    """Return the row with the band that includes an amount of the question, instead of another row of that table."""
    own = row_at(passage, lead[0])
    for _, band in _asked_bands(passage, question) if own else ():
        at = band.found.start() - len(passage.context) - 1
        row = row_at(passage, at)
        if row and row != own and [name for name, _ in row] == [name for name, _ in own]:
            return next((span for span in spans if span[0] <= at < span[1]), lead)
    return lead


def _asked_bands(passage: StoredPassage, question: str) -> list[tuple[_Band, _Band]]:
    """Return the amounts of a question, the last one first, each with the one band that includes it."""
    asked = [one for one in _amounts(question) if one.least == one.most and not one.is_date]
    asked = [one for one in asked if not _CODE.fullmatch(one.found[0])]
    known = _amounts(f"{passage.context}\n{passage.text}") if asked else ()
    found = []
    for one in reversed(asked):
        before = [word for word in _WORD.findall(question[: one.found.start()].lower()) if word not in STOP_WORDS]
        names = {"ag" if one.unit == "year" else one.unit, *word_terms(before[-1] if before else "")} - {""}
        bands = {band.found[0]: band for band in _including(one, known, names, passage)}
        found += [(one, band) for band in bands.values() if len(bands) == 1]
    return found


def _including(one: _Band, known: Sequence[_Band], names: set[str], passage: StoredPassage) -> list[_Band]:
    """Return the bands that include an amount: those in its unit, or else those of what it is an amount of."""
    found = [band for band in known if band.least <= one.least <= band.most]
    if any(band.least == band.most and band.unit == one.unit for band in found):
        return []
    named = (band for band in found if not (one.is_measured and band.is_measured) and _is_named(band, names, passage))
    # "Aged 6 to 90" says who may come, if there are bands within that.
    bands = (band for band in known if band.least < band.most and not band.is_measured)
    edges = {edge for band in bands for edge in (band.least, band.most)}
    finest = (band for band in named if not any(band.least < edge < band.most for edge in edges if band.most < inf))
    return [band for band in found if band.unit == one.unit != ""] or list(finest)


@lru_cache(maxsize=_CACHED)
def _amounts(text: str) -> tuple[_Band, ...]:
    return tuple(map(_band_of, _AMOUNT.finditer(text)))


def _band_of(found: re.Match[str]) -> _Band:
    first, last = (float((found[name] or found["first"]).replace(",", "")) for name in ("first", "last"))
    bound = found["sign"] or found["behind"]
    if bound and not found["last"]:
        is_upper = _UPPER.search(bound)
        is_inside = found["behind"] or _INCLUSIVE.match(bound)
        edge = first if is_inside else nextafter(first, -inf if is_upper else inf)
        first, last = (-inf, edge) if is_upper else (edge, inf)
    unit = (found["unit"] or "").lower().strip(" -")
    return _Band(found, first, last, found["money"] or "".join(word_terms(unit)) or unit)


def _is_named(band: _Band, names: set[str], passage: StoredPassage) -> bool:
    """Whether the column or else the sentence or field of a band has one of the names."""
    text, start = band.found.string, band.found.start()
    at = start - len(passage.context) - 1
    column = next((name for name, cell in row_at(passage, at) if cell[0] <= at < cell[1]), "")
    sentence = _END.split(text[:start])[-1] + _END.split(text[start:])[0]
    around = f"{column} {sentence}".lower()
    return any(name in (_stems(around) if name.isalpha() else around) for name in names)


def _stems(text: str) -> set[str]:
    return {term for word in _WORD.findall(text) for term in word_terms(word)}
