"""What holds for the passages of any text, large ones too."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.chunking.units import CountTokens
from tests.documents import check_passages, count_characters, count_real_tokens, count_words, document

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


@pytest.mark.parametrize("count_tokens", [count_real_tokens, count_words, count_characters])
@settings(max_examples=200, deadline=None)
@given(text=TEXTS, path=PATHS, max_tokens=LIMITS)
def test_nothing_is_lost_doubled_or_too_long(count_tokens: CountTokens, text: str, path: str, max_tokens: int) -> None:
    """Passages are exact slices that cover every visible character once, fit the encoder, and know their lines."""
    check_passages(document(text, path=path), count_tokens=count_tokens, max_tokens=max_tokens)


@given(st.lists(st.one_of(st.just("***"), st.integers(1, 70).map(lambda words: "word " * words)), max_size=12))
def test_punctuation_alone_has_no_room_beside_it(blocks: list[str]) -> None:
    """Where a passage holds nothing but punctuation, it would be too long together with its neighbour."""
    one = document("# T\n\n" + "\n\n".join(blocks), path="a.md")
    found = check_passages(one, count_tokens=count_words, max_tokens=30)
    for before, after in pairwise(found):
        if not any(map(str.isalnum, before.text[before.body :])) or not any(map(str.isalnum, after.text)):
            # The context and the newline behind it take a token each.
            assert count_words([one.text[before.start + before.body : after.end]])[0] > 28


MARKDOWN, PLAIN = "a.md", "a.txt"
LARGE = {
    "2 MB of words in a line": (MARKDOWN, "word " * 400_000),
    "2 MB of sentences in a line": (PLAIN, "A sentence of some words here. " * 65_000),
    "2 MB without a blank": (PLAIN, "x" * 2_000_000),
    "500,000 ideographs": (MARKDOWN, "漢" * 500_000),
    "200,000 short lines": (PLAIN, "line of text\n" * 200_000),
    "60,000 short lines in Markdown": (MARKDOWN, "# T\n" + "line of text\n" * 60_000),
    "50,000 nested items": (PLAIN, "".join("  " * (n % 5) + f"- item {n} text\n" for n in range(50_000))),
    "50,000 nested items in Markdown": (MARKDOWN, "- a\n  - b\n    - c\n" * 17_000),
    "50,000 items under one": (PLAIN, "- all\n" + "".join(f"  - item {n} text\n" for n in range(50_000))),
    "20,000 headings": (MARKDOWN, "".join(f"# Heading {n}\n" for n in range(20_000)) + "body"),
    "20,000 short lines between blank ones": (PLAIN, "".join(f"Heading {n}\n\n" for n in range(20_000)) + "body"),
    "10,000 sections": (MARKDOWN, "".join(f"# H{n}\n\nbody {n}\n\n" for n in range(10_000))),
    "a heading of 1 MB": (MARKDOWN, "word " * 200_000 + "\n===\n\nbody"),
    "20,000 rows": (MARKDOWN, "# T\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20_000),
    "200,000 dots": (PLAIN, "." * 200_000 + "x"),
    "a heading with blanks": (PLAIN, "# a" + " " * 200_000 + "b"),
    "blank code": (MARKDOWN, "```\nx" + (" " * 200_000 + "\n") * 3 + "y\n" * 300 + "```\n"),
    "brackets": (MARKDOWN, "[" * 100_000 + "![" * 50_000 + "*a " * 50_000),
    "quotes in quotes": (MARKDOWN, "> " * 50_000 + "x"),
    "zero-width characters": (PLAIN, "\u200b" * 300_000),
    "carriage returns": (MARKDOWN, "a\r" * 300_000),
    "front matter": (MARKDOWN, "---\n" + "a: b\n" * 100_000 + "---\n"),
}


@pytest.mark.parametrize(("path", "text"), LARGE.values(), ids=LARGE.keys())
def test_large_texts_take_linear_time(path: str, text: str) -> None:
    """Quadratic time would be hours here, and the test would hang; each passage stays short enough to be shown."""
    found = check_passages(document(text, path=path), count_tokens=count_words, max_tokens=254)
    assert max(len("".join(passage.text.split())) for passage in found) <= 16 * 254 + 2000


@pytest.mark.parametrize("name", ["2 MB of words in a line", "2 MB without a blank"])
def test_large_texts_with_the_real_tokenizer(name: str) -> None:
    path, text = LARGE[name]
    check_passages(document(text, path=path), count_tokens=count_real_tokens, max_tokens=254)
