"""Prepare the text of a question for search. Imports nothing heavy, as the command line checks its input with it."""

from __future__ import annotations

from corpus.errors import UsageError

LONGEST_QUESTION = 10_000


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


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which come from command lines and JSON with invalid Unicode, by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
