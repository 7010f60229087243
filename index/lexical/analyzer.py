"""From text to terms: fold case and accents, find words with one regular expression, stem them.

A word keeps the full stops, hyphens and apostrophes inside it (`state-of-the-art`, `3.5`, `o'brien`). Both the whole
of such a joined word and the stems of its parts are terms.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import Stemmer

_APOSTROPHES, _HYPHENS = "'’‘ʼ＇", "-‐‑−"
_JOINERS = {"."} | {*_APOSTROPHES} | {*_HYPHENS}
_MARKS = ".'-"  # the joiners, folded
_PART = rf"[^\s{_MARKS}]+"
_PARTS = re.compile(_PART)
_WORD = re.compile(rf"{_PART}(?:[{_MARKS}]+{_PART})*")
# Turns "EFCA's" and "they'll" into "EFCA" and "they".
_SUFFIX = re.compile("'(?:s|d|m|ll|re|ve)$")
# Scripts without spaces between words are indexed as pairs of characters.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+)"
)
# Languages recognised by their script; everything else is stemmed as English.
_SCRIPTS = (
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
)
_VOICING = "\u3099\u309a"  # distinguishes kana, unlike accents


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        text: Folded, without a possessive ending.
        start: Its first character in the original text.
        end: One past its last.
        parts: The parts of a joined word, between full stops, hyphens and apostrophes; () for any other word.
        ending: The possessive or contracted ending that was removed (the s of `it's`), or ().
    """

    text: str
    start: int
    end: int
    parts: tuple[Word, ...] = ()
    ending: tuple[Word, ...] = ()


class _Folding(dict[int, str]):
    """The folded form of each character, computed on first use: any number of characters, or a space as a separator."""

    def __missing__(self, code: int) -> str:
        folded = "".join(map(_fold, unicodedata.normalize("NFKD", chr(code).casefold())))
        self[code] = folded
        return folded


def _fold(char: str) -> str:
    if char in _JOINERS:
        return "'" if char in _APOSTROPHES else "-" if char in _HYPHENS else char
    if unicodedata.combining(char) and char not in _VOICING:
        return ""
    # Marks occur in the middle of words in many scripts.
    return char if unicodedata.category(char)[0] in "LNM" else " "


# A soft hyphen is inside a word, and the letters of a trademark sign are not.
_FOLDING = _Folding({ord("\N{SOFT HYPHEN}"): "", ord("™"): " ", ord("℠"): " "})


class _Stemmers(threading.local):
    """This thread's stemmers, by language: one can only be used by one thread at a time."""

    def __init__(self) -> None:
        self.by_language = {name: Stemmer.Stemmer(name, 0) for name in ("porter", *(name for _, name in _SCRIPTS))}


_STEMMERS = _Stemmers()


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    language = "porter"
    if not word.isascii():
        language = next((name for script, name in _SCRIPTS if script.search(word)), language)
    stem: str = _STEMMERS.by_language[language].stemWord(word)
    return stem


def terms(text: str) -> tuple[list[str], list[str]]:
    """Return the terms of a text: stems of its words or their parts, in order, and its joined words."""
    simple: list[str] = []
    joined: list[str] = []
    for word in split_words(text):
        if word.isascii() and word.isalnum():
            simple.append(_stem(word))
            continue
        stems, joined_word = terms_of(word)
        simple += stems
        joined += joined_word
    return simple, joined


def split_words(text: str) -> list[str]:
    """Return the folded words of a text, in order, with the full stops, hyphens and apostrophes around them."""
    folded = text.translate(_FOLDING)
    return (folded if folded.isascii() else unicodedata.normalize("NFC", folded)).split()


def terms_of(raw: str) -> tuple[list[str], list[str]]:
    """Return the terms of a word from `split_words`: stems of it or its parts, and the word itself if joined."""
    word = _strip_suffix(raw.strip(_MARKS))
    parts = _PARTS.findall(word)
    return _stems(parts), [word] if len(parts) > 1 else []


def words(text: str) -> Iterator[Word]:
    """Yield the words of a text with their spans, in order: the words that `terms` finds."""
    pieces = [_FOLDING[ord(char)] for char in text]
    origins = [position for position, piece in enumerate(pieces) for _ in piece]

    def word_at(folded: str, start: int) -> Word:
        word = unicodedata.normalize("NFC", folded)
        return Word(word, origins[start], origins[start + len(folded) - 1] + 1)

    for match in _WORD.finditer("".join(pieces)):
        # The suffix can be dropped first, as no normalisation joins its characters.
        folded, start = _strip_suffix(match[0]), match.start()
        parts = tuple(word_at(part[0], start + part.start()) for part in _PARTS.finditer(folded))
        ending = (word_at(match[0][len(folded) + 1 :], start + len(folded) + 1),) if folded != match[0] else ()
        yield word_at(folded, start)._replace(parts=parts if len(parts) > 1 else (), ending=ending)


def word_terms(word: str) -> list[str]:
    """Return the terms to search a folded word by: itself if joined, else its stem or its pairs of characters."""
    parts = _PARTS.findall(word)
    return [word] if len(parts) > 1 else _stems(parts)


def _stems(parts: Iterable[str]) -> list[str]:
    return [_stem(piece) for part in parts for piece in _split_unspaced(part)]


def _strip_suffix(word: str) -> str:
    return _SUFFIX.sub("", word) if "'" in word else word


def _split_unspaced(word: str) -> list[str]:
    """Split runs of unspaced scripts in a word without joiners into overlapping pairs of characters."""
    if word.isascii():
        return [word]
    pieces: list[str] = []
    for index, run in enumerate(_UNSPACED.split(word)):
        # Every second run is a match of the expression.
        pieces += [run[i : i + 2] for i in range(len(run) - 1)] if index % 2 and len(run) > 1 else [run]
    return [piece for piece in pieces if piece]
