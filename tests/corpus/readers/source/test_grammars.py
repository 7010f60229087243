"""Functions and classes of each language are found by its grammar."""

from __future__ import annotations

import sys

import pytest

from corpus.chunking import splitter
from corpus.readers.source import grammars
from corpus.readers.source.code import read
from corpus.readers.source.grammars import VERSION, find_definitions, grammar_version
from tests.corpus.readers.samples.texts import PROGRAMS
from tests.documents import check_passages, count_words, document

pytestmark = pytest.mark.usefixtures("shared_reader_process")


@pytest.mark.parametrize("path", PROGRAMS)
def test_definitions_of_each_language_are_found(path: str) -> None:
    """They include the comments and attributes above them; those of fewer than three lines are not separate."""
    text, expected = PROGRAMS[path]
    block_lines: dict[str, list[int]] = {}
    program = document(text, path=path)
    for block in program.blocks:
        for depth in range(1, len(block.heading) + 1):
            lines = text.count("\n", 0, block.start) + 1, text.count("\n", 0, block.end) + 1
            block_lines.setdefault("/".join(block.heading[:depth]), []).extend(lines)
    assert {name: (min(lines), max(lines)) for name, lines in block_lines.items()} == expected
    check_passages(program, count_tokens=count_words, max_tokens=20)


def test_offsets_count_characters_not_bytes() -> None:
    """There are umlauts, an emoji and a byte order mark before the function."""
    text = "\ufeff// Über 🦦\n\nfunction gehen() {\n  return 'ä';\n}\n"
    (start, end, name), *others = find_definitions(text, "text/javascript")
    assert (text[start:end], name, others) == (text[text.index("function") : -1], ("gehen",), [])


def test_definitions_after_a_syntax_error_are_found() -> None:
    text = "int a(int n) {\n  return ((;\n}\n\n@@@ what\n\nint b(int n) {\n  return 1;\n}\n"
    assert [name for _, _, name in find_definitions(text, "text/x-c")][-1] == ("b",)


def test_without_a_grammar_there_are_no_definitions() -> None:
    """Nor are there any in a file that is too large."""
    text = "int row(int n)\n{\n  return 0;\n}\n"
    assert len(find_definitions(text, "text/x-c")) == 1
    assert find_definitions(text + "int x;\n" * 200_000, "text/x-c") == []
    assert find_definitions(text, "text/x-python") == []


def test_the_splitter_version_depends_on_the_installed_grammars() -> None:
    """An index is then rebuilt when they change."""
    assert grammar_version() % 100 == VERSION
    assert splitter.splitter_version() // 1_000_000 == grammar_version()


def test_without_the_extra_code_is_cut_at_blank_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The splitter then has another version."""
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    monkeypatch.setattr(grammars, "_language", grammars._language.__wrapped__)
    extracted = read("a.js", b"function row(n) {\n  return n;\n}\n\nrow(1);\n")
    assert [(block.start, block.end, block.heading) for block in extracted.blocks] == [(0, 31, ()), (33, 40, ())]
    assert grammar_version() == 0
    assert splitter.splitter_version() < 1_000_000
