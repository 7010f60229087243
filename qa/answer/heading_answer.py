"""Answers that a heading gives: "when was 1.4.2 released?" below `## 1.4.2 (17 June 2023)`."""

from __future__ import annotations

import re

from index import StoredPassage
from qa.answer.exact_answer import asks_for_words, is_same, tells
from qa.answer.extract import Extract
from qa.answer.results import Highlight
from qa.reader.reading import Reading

# A line without the marks of a heading on both sides, as `## Fees ##` in Markdown, `* Fees` in Org, `== Fees ==`.
_BARE = re.compile(r"^[\s#*=_]*(?=\w|[^\s#*=_])(?P<name>.*?)[\s#*=_]*$", re.MULTILINE)
# The reader finds the answer there rather than in the text: a probability.
_LEAST_SHARE = 0.5
# It is sure that there is one: a logit.
_LEAST_ANSWERED = 0.0


def heading_answer(question: str, passage: StoredPassage, reading: Reading) -> Extract | None:
    """The heading right above a passage's text that answers; None where the text or nothing does.

    Where both say the same, a sentence of the text is the better evidence.
    """
    if not passage.body or reading.answered < _LEAST_ANSWERED or not asks_for_words(question):
        return None
    text = passage.text
    below = reading.best(passage.body, len(text)) or (0, 0)
    for line in _BARE.finditer(text, 0, passage.body):
        heading = line.span("name")
        found = reading.best(*heading)
        words, share = text[slice(*(found or (0, 0)))], reading.share(*heading)
        if share >= _LEAST_SHARE and tells(question, words) and not is_same(words, text[slice(*below)]):
            first, last = (passage.start + at for at in heading)
            return Extract((Highlight((first, last), line["name"]),), share, heading, line["name"])
    return None
