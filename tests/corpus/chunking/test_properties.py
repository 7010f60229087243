"""Properties of the passages of any text, including large ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.chunking.units import CountTokens
from tests.documents import check_passages, count_characters, count_real_tokens, count_words, document
from tests.growth import check_growth

LINES = st.sampled_from(
    """\
# Title
## Sub ##
###
Heading Here
CAPS HEADING
Which one?
Context
= Wiki =
- item one. And more
  - nested: deep
\t- tab
1. first
   2) second
(a) lettered
• star: label
---
===
~~~
***
```
```py
| a | b |
|---|---|
| 1 | 2 |
a\tb\tc
> quote
    code = 1
<div>
</div>
[a]: https://b.c
title: y
&amp;
...
x
word word word word word word word word word word, word
A sentence here. Another one! And e.g. Dr. Smith? “Yes.” he said.
a line in lower case that goes on
""".splitlines()
)
LETTERS = st.text(
    alphabet=st.one_of(
        st.sampled_from(" .,;!?\t\r\x0b\x0c\x1c\x85\xa0\u2028\u200b\u3000\ufeff#-*|`=。、」👍🏽\u200d漢שلé"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    ),
    max_size=60,
)
LONG = st.builds(
    lambda word, times: word * times,
    st.sampled_from(["a", "word ", "漢", "Go on. ", "👍", "\u200b", "-", "a, "]),
    st.integers(1, 400),
)
NEWLINES = st.sampled_from(["\n", "\n\n", "\r\n", "\r\n\r\n", "\r", " ", ""])
BODIES = st.lists(st.tuples(st.one_of(LINES, LINES, LETTERS, LONG), NEWLINES), max_size=25).map(
    lambda lines: "".join(line + newline for line, newline in lines)
)
FRONTS = st.sampled_from(
    ["", "", "\ufeff", "---\ntitle: T\nkey: v\n---\n", "\ufeff---\r\ntitle: T\r\n---\r\n", "---\n\nno key\n---\n"]
)
TEXTS = st.builds(lambda front, body: front + body, FRONTS, BODIES)
PATHS = st.sampled_from(["a.md", "a.txt", "a.rst"])
LIMITS = st.sampled_from([16, 30, 120, 254])
COUNTERS = st.sampled_from([count_real_tokens, count_words, count_characters])


@settings(max_examples=200, deadline=None)
@given(text=TEXTS, path=PATHS, max_tokens=LIMITS, count_tokens=COUNTERS)
def test_nothing_is_lost_repeated_or_too_long(text: str, path: str, max_tokens: int, count_tokens: CountTokens) -> None:
    """Passages are exact slices that cover every visible character once, fit the encoder and have the right lines."""
    check_passages(document(text, path=path), count_tokens=count_tokens, max_tokens=max_tokens)


MARKDOWN, PLAIN = "a.md", "a.txt"
# About a thousand bytes for each `n`; for more, see `tests.robustness.hostile_files`.
LARGE: dict[str, tuple[str, Callable[[int], str]]] = {
    "words in a line": (MARKDOWN, lambda n: "word " * 200 * n),
    "sentences in a line": (PLAIN, lambda n: "A sentence of some words here. " * 32 * n),
    "ideographs": (MARKDOWN, lambda n: "漢" * 250 * n),
    "short lines": (PLAIN, lambda n: "line of text\n" * 100 * n),
    "nested items": (PLAIN, lambda n: "".join("  " * (at % 5) + f"- item {at} text\n" for at in range(25 * n))),
    "items under one": (PLAIN, lambda n: "- all\n" + "".join(f"  - item {at} text\n" for at in range(25 * n))),
    "short lines between blank ones": (PLAIN, lambda n: "".join(f"Heading {at}\n\n" for at in range(10 * n)) + "body"),
    "blank code": (MARKDOWN, lambda n: "```\nx" + (" " * 100 * n + "\n") * 3 + "y\n" * 300 + "```\n"),
    "front matter": (MARKDOWN, lambda n: "---\n" + "a: b\n" * 50 * n + "---\n"),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_texts_take_linear_time(name: str) -> None:
    """Each passage stays short enough to be shown."""
    path, text = LARGE[name]

    def check(text: str) -> None:
        passages = check_passages(document(text, path=path), count_tokens=count_words, max_tokens=254)
        assert max(len("".join(passage.text.split())) for passage in passages) <= 16 * 254 + 2000

    check_growth(check, text(125), text(500))
