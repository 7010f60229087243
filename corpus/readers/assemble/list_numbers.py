"""The markers of numbered list items."""

from __future__ import annotations

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MAX_ROMAN = 3999


def list_marker(number: int, numerals: str) -> str:
    """Return the marker of a list item, such as "3." and "c)"; letters have a bracket, as "a." may end a sentence.

    Args:
        number: The number of the item.
        numerals: "1", or "a", "A", "i" or "I" for letters and Roman numerals, which only numbers from 1 have.
    """
    if numerals in ("i", "I") and 0 < number <= _MAX_ROMAN:
        text = _roman(number)
    elif numerals in ("a", "A") and number > 0:
        text = _letters(number)
    else:
        return f"{number}."
    return f"{text.upper() if numerals.isupper() else text})"


def _roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        text += number // value * letters
        number %= value
    return text


def _letters(number: int) -> str:
    text = ""
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("a") + letter) + text
    return text
