"""Raised digits and signs as superscript characters, so that 10⁶ does not become 106."""

from __future__ import annotations

SUPERSCRIPTS = str.maketrans("0123456789-−–+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻⁺")
# What may stand between the numbers of notes.
_BETWEEN = ", \t\n\xa0"


def raised(text: str) -> str:
    """Return raised text with superscript digits and signs; if it has other characters, as in "2nd", unchanged."""
    is_number = all(ord(character) in SUPERSCRIPTS or character in _BETWEEN for character in text)
    return text.translate(SUPERSCRIPTS) if is_number else text
