"""Entries of BibTeX keep all words of their values."""

from __future__ import annotations

import pytest

from corpus.readers.tex.bibtex import read


@pytest.mark.parametrize("value", [r"A 100\% solution", "A 100% solution"])
def test_a_percent_sign_does_not_begin_a_comment(value: str) -> None:
    """BibTeX has no comments in values."""
    document = read("refs.bib", f"@book{{a,\n  title = {{{value}}},\n  year = 2001\n}}\n".encode())
    assert "title: A 100% solution" in document.text
    assert [record.title for record in document.records] == ["A 100% solution"]


@pytest.mark.parametrize("title", ["The {Kiln}, a Study", "{BERT}: Its Depth", "Attention, please"])
def test_a_title_in_quotation_marks_may_have_braces_and_commas(title: str) -> None:
    document = read("refs.bib", f'@book{{a,\n  title = "{title}",\n  year = 2001\n}}\n'.encode())
    assert [record.title for record in document.records] == [title.replace("{", "").replace("}", "")]
