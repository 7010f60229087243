"""Sentences of a text, by punctuation and its context."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A full stop after one of these does not end a sentence.
_SHORTENED = """
    a.k.a al alg approx apr art aug avg bzw ca cf ch chap co col corp cp dec dept dipl dr ed eds e.g eg eq eqs esp est
    etc ex feb fig figs ft gen gov hon i.e ie inc incl jan jr jul jun lt ltd max min mr mrs ms mt mar messrs no
    nos nov nr oct op p.a ph.d phd pp prof pt ref refs rep rev sec sect sen sep sept sgt sr st str tab
    thm u.a u.k u.s u.s.a usw v viz vol vols vs z.b
"""
_ABBREVIATIONS = frozenset(_SHORTENED.split())
# These end a sentence as often as not: what follows decides.
_EITHER = frozenset({"etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "u.s", "u.k", "u.s.a", "usw", "ph.d", "phd"})
# Abbreviations only before a number: "no. 5", "He said no. They left."
_BEFORE_NUMBERS = frozenset({"no", "art", "tab", "alg", "chap", "thm"})

_BOUNDARY = re.compile(
    r"""
    # A run of marks is matched once, from its first: a line of dots would take quadratic time.
    (?P<mark> (?<![.!?…])[.!?…]++ | [。！？｡]+ | (?<![؟۔])[؟۔]++ | (?<![।॥])[।॥]++ )
    # Quotes, brackets and the raised number of a note.
    (?P<close> ["'”’»)\]」』]* (?:[⁰¹²³⁴-⁹]+(?:,[⁰¹²³⁴-⁹]+)*)? )
    (?P<gap> \s+ | $ | (?<=[。！？｡」』]) | (?<=[。！？｡][”’»)\]]) )
    """,
    re.VERBOSE,
)
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*•◦▪‣–]|\d{1,3}[.)])\s)")
_LAST_WORD = re.compile(r"(\S+)$")
_OPENERS = "\"'“‘«([{「『*_"


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Find the sentences in `text[start:end]`; a blank line or a new list item ends one too.

    Returns:
        Spans in characters of `text`, in order and stripped of white space; every non-blank character of the
        range is in exactly one.
    """
    return list(iter_sentences(text, start, end))


def iter_sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text that may have millions; see `sentence_spans`."""
    stop = len(text) if end is None else end
    left = start
    for blank in _BLANK_LINE.finditer(text, start, stop):
        yield from _within_block(text, left, blank.start())
        left = blank.start()
    yield from _within_block(text, left, stop)


def _within_block(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    left = start
    for match in _BOUNDARY.finditer(text, start, end):
        if match.end() < end and _ends_sentence(text, left, match):
            yield from _stripped(text, left, match.end("close"))
            left = match.end("close")
    yield from _stripped(text, left, end)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    body = piece.strip()
    if body:
        begin = start + len(piece) - len(piece.lstrip())
        yield begin, begin + len(body)


def _ends_sentence(text: str, left: int, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 2].lstrip(_OPENERS)[:1]
    # "Is it?" she asked.
    if following.islower() and (match["close"] or match["mark"][-1] in ".…"):
        return False
    if match["mark"] != "." or match["close"]:
        return True
    found = _LAST_WORD.search(text, max(left, match.start() - 40), match.start())
    word = found[1].lstrip(_OPENERS).lower() if found else ""
    if word in _BEFORE_NUMBERS:
        return not following.isdigit()
    if word in _ABBREVIATIONS:
        return word in _EITHER and following.isupper()
    if len(word) == 1 and word.isalpha():
        # An initial: "Diederik P. Kingma"; "plan B. Then" is the rarer reading.
        return False
    # "3. Third item" at the start of a line is a number, not a sentence.
    return not (word.isdigit() and found is not None and not text[left : found.start()].strip())
