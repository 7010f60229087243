"""Answer from a heading: `## 1.4.2 (17 June 2023)` answers "when was 1.4.2 released?"."""

from __future__ import annotations

import re

from index import StoredPassage
from qa.answer.exact_answer import adds_information, asks_for_words, is_same
from qa.answer.extract import Extract
from qa.answer.results import Highlight
from qa.reader.reading import Reading

# A heading without the marks around it, as in `## Fees ##` in Markdown, `* Fees` in Org, or `== Fees ==`.
_BARE = re.compile(r"^[\s#*=_]*(?=\w|[^\s#*=_])(?P<name>.*?)[\s#*=_]*$", re.MULTILINE)
# Least probability that the answer is in the heading rather than in the text.
_LEAST_SHARE = 0.5
# Least logit that there is an answer.
_LEAST_ANSWERED = 0.0


def heading_answer(question: str, passage: StoredPassage, reading: Reading) -> Extract | None:
    """Return the heading right above a passage's text if it answers; None if the text does, or nothing.

    If both say the same, a sentence of the text is the better evidence.
    """
    if not passage.body or reading.answered < _LEAST_ANSWERED or not asks_for_words(question):
        return None
    text = passage.text
    below = reading.best(passage.body, len(text)) or (0, 0)
    for line in _BARE.finditer(text, 0, passage.body):
        heading = line.span("name")
        found = reading.best(*heading)
        words, share = text[slice(*(found or (0, 0)))], reading.share(*heading)
        if share >= _LEAST_SHARE and adds_information(question, words) and not is_same(words, text[slice(*below)]):
            first, last = (passage.start + at for at in heading)
            return Extract((Highlight((first, last), text[slice(*heading)]),), share, heading, text[slice(*heading)])
    return None
