"""The text of a question, made fit to search for. Imports nothing heavy: the command line checks its input with it."""

from __future__ import annotations

import re

from corpus.errors import UsageError

LONGEST_QUESTION = 10_000
# Asked of a short form in capitals, "mean" is no word to look for, as in a mean age.
_MEANS = re.compile(r"\b([Ww]hat do(?:es)?(?: the \w+)? \W?(?=\w*[A-Z]\w*[A-Z])\w{2,7}\W?) mean\b")


def ask_text(text: str) -> tuple[str, int]:
    """Make a question searchable: stripped, whole code points, at most 10,000 characters.

    Returns:
        The question, and how many characters were cut off.

    Raises:
        UsageError: It is empty.
    """
    found = whole(text).strip()
    if not found:
        raise UsageError('the question is empty. Ask something, such as: qa "who won?"')
    return found[:LONGEST_QUESTION], max(0, len(found) - LONGEST_QUESTION)


def without_mean(text: str) -> str:
    """A question for what a short form means, as one for what it stands for."""
    return _MEANS.sub(r"\1 stand for", text)


def whole(text: str) -> str:
    """Replace lone surrogates, which come from command lines and JSON that are not Unicode, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
