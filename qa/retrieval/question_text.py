"""Prepare the text of a question for search. Imports nothing heavy, as the command line checks its input with it."""

from __future__ import annotations

import re

from corpus.errors import UsageError

LONGEST_QUESTION = 10_000
# "What does XYZ mean?" is not about means, as in "mean age".
_MEANS = re.compile(r"\b([Ww]hat do(?:es)?(?: the \w+)? \W?(?=\w*[A-Z]\w*[A-Z])\w{2,7}\W?) mean\b")


def ask_text(text: str) -> tuple[str, int]:
    """Make a question searchable: stripped, without lone surrogates, at most 10,000 characters.

    Returns:
        The question, and how many characters were cut off.

    Raises:
        UsageError: It is empty.
    """
    stripped = without_surrogates(text).strip()
    if not stripped:
        raise UsageError('the question is empty. Ask something, such as: qa "who won?"')
    return stripped[:LONGEST_QUESTION], max(0, len(stripped) - LONGEST_QUESTION)


def without_mean(text: str) -> str:
    """Rephrase a question that asks what an abbreviation means, as one that asks what it stands for."""
    return _MEANS.sub(r"\1 stand for", text)


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which come from command lines and JSON with invalid Unicode, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
