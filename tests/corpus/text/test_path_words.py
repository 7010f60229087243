"""Words of a path."""

from __future__ import annotations

import pytest

from corpus.text.path_words import path_words


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("travel/getting-around.txt", "travel getting around"),
        ("CopAcc_NDA-and-ToP.txt", "Cop Acc NDA and To P"),
        ("notes/2023-review.md", "notes 2023 review"),
        ("daily/2024-06-11.md", "daily 2024-06-11"),
        ("logs/2024-06-11-standup_v2.txt", "logs 2024-06-11 standup v 2"),
        ("ids/12024-06-11.txt", "ids 12024 06 11"),
        ("v1.2/readme", "v 1 2 readme"),
        ("papers/Schrödinger_überblick.md", "papers Schrödinger überblick"),
        ("論文/要約.txt", "論文 要約"),
        ("Ku\u0308ndigung Mu\u0308ller.md", "Kündigung Müller"),
        ("हिन्दी-कहानी.md", "हिन्दी कहानी"),
        ("---.md", ""),
    ],
)
def test_words_are_in_order_and_exclude_the_suffix(path: str, words: str) -> None:
    """Words are split at punctuation, digits and changes of case."""
    assert path_words(path) == words
