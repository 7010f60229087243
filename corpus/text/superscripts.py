"""Write raised digits and signs as superscript characters, so that 10⁶ does not become 106."""

from __future__ import annotations

SUPERSCRIPTS = str.maketrans("0123456789-−–+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁻⁺")
# Characters between the numbers of several notes.
_BETWEEN = ", \t\n\xa0"


def to_superscript(text: str) -> str:
    """Return raised text with superscript digits and signs, or unchanged if it has other characters, as in "2nd"."""
    is_number = all(ord(character) in SUPERSCRIPTS or character in _BETWEEN for character in text)
    return text.translate(SUPERSCRIPTS) if is_number else text
