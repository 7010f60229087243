"""The end of the text before a passage, which the reader gets as context: what "it" or a list item is about."""

from __future__ import annotations

from corpus import sentence_spans

# Maximum characters of it. The last sentence says what a passage continues; more would distract from the passage.
_LONGEST = 200
# Maximum characters between a passage and the one before it: headings, not left-out text.
LARGEST_GAP = 100


def with_preceding(context: str, text: str) -> str:
    """Append the end of the text before a passage to its context (title › headings)."""
    return " › ".join(filter(None, (context, end_of(text))))


def end_of(text: str) -> str:
    r"""Return the last sentence of a text in one line, or the end of that if it is long; "" if there is none.

    >>> end_of("The pump was replaced in May. It is a Wilo\nStratos.")
    'It is a Wilo Stratos.'
    """
    spans = sentence_spans(text)
    if not spans:
        return ""
    sentence = " ".join(text[slice(*spans[-1])].split())
    if len(sentence) <= _LONGEST:
        return sentence
    return sentence[-_LONGEST:].partition(" ")[2] or sentence[-_LONGEST:]
