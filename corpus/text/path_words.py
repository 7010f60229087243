"""The words of a path, often the best title for its file."""

from __future__ import annotations

import re
import unicodedata

# "CopAcc_NDA-and-ToP" -> Cop Acc NDA and To P; a number or a date is a word.
_WORD = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)|[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|[A-Z][^\W\d_A-Z]*|\d+")
_SUFFIX = re.compile(r"\.\w{1,8}$")


def path_words(path: str) -> str:
    """Return the words of a path without its suffix: `travel/getting-around.txt` -> "travel getting around"."""
    name = unicodedata.normalize("NFC", _SUFFIX.sub("", path))
    # Marks are part of words in many scripts.
    letters = "".join("a" if unicodedata.category(character)[0] == "M" else character for character in name)
    return " ".join(name[slice(*word.span())] for word in _WORD.finditer(letters))
