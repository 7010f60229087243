"""Text as the keyword index knows it: folded words, their stems, and words joined by hyphens as a whole too."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence

import Stemmer

# Inside a word: full stop, hyphen, apostrophe, in the one form that all their variants are folded to.
JOINERS = ".-'"
_VARIANTS = {ord(char): "'" for char in "’‘ʼ＇"} | {ord(char): "-" for char in "‐‑−"}
# "EFCA's", "they'll": the word is what stands before.
_SUFFIX = re.compile("'(?:s|d|m|ll|re|ve)$")
_PART = re.compile(f"[^{re.escape(JOINERS)}]+")
# Scripts that put no spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]+"
)
# Languages that have a script of their own here; whatever else is written is stemmed as English.
_SCRIPTS = (
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
)
# Words whose stems are kept in memory.
_MOST_STEMS = 200_000
_VOICING = "\u3099\u309a"  # tell one kana from another, unlike accents


class _Stems(dict[str, str]):
    """What words are cut down to, filled as words are met."""

    def __init__(self) -> None:
        super().__init__()
        self._stemmers = {name: Stemmer.Stemmer(name, 0) for name in ("porter", *(name for _, name in _SCRIPTS))}

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_STEMS:
            self.clear()
        stem: str = self._stemmers[_language_of(word)].stemWord(word)
        self[word] = stem
        return stem


def _language_of(word: str) -> str:
    if not word.isascii():
        for script, name in _SCRIPTS:
            if script.search(word):
                return name
    return "porter"


class _Local(threading.local):
    """One for each thread, since a stemmer serves one at a time."""

    def __init__(self) -> None:
        self.stems = _Stems()


_LOCAL = _Local()


class _Folding(dict[int, str]):
    """What each character becomes, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if unicodedata.combining(char) and char not in _VOICING:
            folded = ""
        else:
            # Marks stand in the middle of words in many scripts.
            folded = char if unicodedata.category(char)[0] in "LNM" else " "
        self[code] = folded
        return folded


_FOLDING = _Folding(_VARIANTS | {ord(char): char for char in JOINERS})


def cut(text: str) -> list[str]:
    """The words of a text, in order: case and accents folded, possessive endings dropped, joiners inside kept."""
    folded = text.lower().translate(_FOLDING) if text.isascii() else _folded(text)
    stripped = (_SUFFIX.sub("", word.strip(JOINERS)) if "'" in word else word.strip(JOINERS) for word in folded.split())
    return [word for word in stripped if word]


def parts(word: str) -> list[str]:
    """What hyphens, full stops and apostrophes inside a word keep apart."""
    return _PART.findall(word)


def terms(text: str) -> tuple[list[str], list[str]]:
    """The terms a text is found by: its words' stems, in order, and its joined words whole.

    Writing without spaces is cut into pairs of characters.
    """
    simple: list[str] = []
    joined: list[str] = []
    for word in cut(text):
        if word.isascii() and word.isalnum():
            simple.append(word)
            continue
        pieces = parts(word)
        if len(pieces) > 1:
            joined.append(word)
        for piece in pieces:
            simple += _spaced(piece)
    return _stems(simple), joined


def term_of(word: str) -> list[str]:
    """The terms that one word of `cut`, or one of its parts, is looked up by."""
    if len(parts(word)) > 1:
        return [word]
    return _stems(_spaced(word))


def _stems(words: Sequence[str]) -> list[str]:
    known = _LOCAL.stems
    return [known[word] for word in words]


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", apart.translate(_FOLDING))


def _spaced(word: str) -> list[str]:
    if word.isascii():
        return [word]
    found: list[str] = []
    at = 0
    for match in _UNSPACED.finditer(word):
        found += [word[at : match.start()]]
        run = match[0]
        found += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
        at = match.end()
    found.append(word[at:])
    return [piece for piece in found if piece]
