"""The words in a path, which are often the best title a file has."""

from __future__ import annotations

import re

# "CopAcc_NDA-and-ToP" -> Cop Acc NDA and To P; digits stand by themselves.
_WORD = re.compile(r"[^\W\d_A-Z][^\W\d_A-Z]*|[A-Z]+(?![^\W\d_A-Z])|[A-Z][^\W\d_A-Z]*|\d+")
_SUFFIX = re.compile(r"\.\w{1,8}$")


def path_words(path: str) -> str:
    """The words of a path in order, its suffix left out: `travel/getting-around.txt` -> "travel getting around"."""
    return " ".join(_WORD.findall(_SUFFIX.sub("", path)))
