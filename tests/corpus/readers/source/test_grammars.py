"""Functions and classes of each language are found with its grammar."""

from __future__ import annotations

import sys

import pytest

from corpus.chunking import splitter
from corpus.readers.source import grammars
from corpus.readers.source.code import read
from corpus.readers.source.grammars import VERSION, definitions, edition
from tests.documents import check_passages, count_words, document

pytestmark = pytest.mark.usefixtures("one_reader")

# A file in each language, and the names and line ranges of its definitions.
SOURCES = {
    "a.c": (
        "#include <x.h>\n\n// Rows.\n// Fast.\nstatic int *row(int n)\n{\n  return 0;\n}\n\n"
        "typedef struct {\n  int oars;\n} Boat;\n\nint later(void);\nstruct Boat *lent(struct Boat *b);\n"
        "struct Dog {\n  int legs;\n};\n",
        {"row": (3, 8), "Boat": (10, 12), "Dog": (16, 18)},
    ),
    "a.h": (
        "namespace river {\nclass Boat {\n public:\n  int oars() const;\n\n  /** Sinks. */\n  ~Boat() {\n  }\n};\n}\n",
        {"river": (1, 10), "river/Boat": (2, 9), "river/Boat/~Boat": (6, 8)},
    ),
    "a.cpp": (
        "template <class T>\nT Boat<T>::row(int n) {\n  return n;\n}\n\n"
        "bool operator==(Boat a, Boat b) {\n  return true;\n}\n",
        {"Boat<T>::row": (1, 4), "operator==": (6, 8)},
    ),
    "a.cs": (
        "namespace River {\n  /// <summary>A boat.</summary>\n  [Wet]\n  class Boat : Thing {\n"
        "    Boat() {\n      row();\n"
        "    }\n    int Oars { get; set; }\n    int Row() {\n      return 1;\n    }\n  }\n}\n",
        {"River": (1, 13), "River/Boat": (2, 12), "River/Boat/Boat": (5, 7), "River/Boat/Row": (9, 11)},
    ),
    "a.go": (
        "package river\n\n// Boat floats.\ntype Boat struct {\n\toars int\n}\n\n"
        "func (b *Boat) Row(n int) {\n\tb.oars++\n}\n",
        {"Boat": (3, 6), "Boat.Row": (8, 10)},
    ),
    "A.java": (
        "/** A boat. */\n@Wet\npublic class Boat<T> {\n  int oars; // two\n\n  /** Rows. */\n  @Override\n"
        "  public int row(int n) {\n    return n;\n  }\n}\n",
        {"Boat": (1, 11), "Boat/row": (6, 10)},
    ),
    "a.js": (
        "// Rows.\nexport const row = async (n) => {\n  await n;\n};\n\nexports.sink = function () {\n"
        "  return 1;\n};\n\n"
        "class Boat {\n  #leak() {\n    return 2;\n  }\n}\n",
        {"row": (1, 4), "exports.sink": (6, 8), "Boat": (10, 14), "Boat/#leak": (11, 13)},
    ),
    "a.kt": (
        "// Floats.\nclass Boat(val oars: Int) {\n  val wet = true\n  fun row(): Int {\n    return oars\n  }\n}\n",
        {"Boat": (1, 7), "Boat/row": (4, 6)},
    ),
    "a.php": (
        "<?php\n/** A boat. */\nclass Boat {\n  public $oars;\n  public function row() {\n    return 1;\n  }\n}\n",
        {"Boat": (2, 8), "Boat/row": (5, 7)},
    ),
    "a.rs": (
        "/// Floats.\n#[derive(Wet)]\npub struct Boat<T> {\n    oars: T,\n}\n\n"
        "impl<T> Thing for Boat<T> {\n    // Rows.\n"
        "    fn row(&self) {\n    }\n    fn sink(&self);\n}\n",
        {"Boat": (1, 5), "Thing for Boat<T>": (7, 12), "Thing for Boat<T>/row": (8, 10)},
    ),
    "a.scala": (
        "// Floats.\nclass Boat {\n  def row(n: Int) = {\n    n\n  }\n}\n",
        {"Boat": (1, 6), "Boat/row": (3, 5)},
    ),
    "a.swift": (
        "/// Floats.\nstruct Boat {\n  let oars = 2\n  init() {\n    row()\n  }\n}\n",
        {"Boat": (1, 7), "Boat/init": (4, 6)},
    ),
    "a.ts": (
        "// Floats.\nexport interface Boat {\n  row(): void;\n}\n\n"
        "export function sink<T>(b: T): b is Boat {\n  return true;\n}\n",
        {"Boat": (1, 4), "sink": (6, 8)},
    ),
    "a.tsx": ("export const Boat = (props: Oars) => {\n  return <div>{props.n}</div>;\n};\n", {"Boat": (1, 3)}),
}


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_of_each_language_are_found(path: str) -> None:
    """They include the comments and attributes above them; those of fewer than three lines are not separate."""
    text, expected = SOURCES[path]
    found: dict[str, list[int]] = {}
    for block in read(path, text.encode()).blocks:
        for depth in range(1, len(block.heading) + 1):
            lines = text.count("\n", 0, block.start) + 1, text.count("\n", 0, block.end) + 1
            found.setdefault("/".join(block.heading[:depth]), []).extend(lines)
    assert {name: (min(lines), max(lines)) for name, lines in found.items()} == expected
    check_passages(document(text, path=path), count_tokens=count_words, max_tokens=20)


def test_offsets_count_characters_not_bytes() -> None:
    """The text before them has umlauts, an emoji and a byte order mark."""
    text = "\ufeff// Über 🦦\n\nfunction gehen() {\n  return 'ä';\n}\n"
    (start, end, name), *rest = definitions(text, "text/javascript")
    assert (text[start:end], name, rest) == (text[text.index("function") : -1], ("gehen",), [])


def test_definitions_after_a_syntax_error_are_found() -> None:
    text = "int a(int n) {\n  return ((;\n}\n\n@@@ what\n\nint b(int n) {\n  return 1;\n}\n"
    assert [name for _, _, name in definitions(text, "text/x-c")][-1] == ("b",)


def test_without_a_grammar_there_are_no_definitions() -> None:
    """A file that is too large has none either."""
    text = "int row(int n)\n{\n  return 0;\n}\n"
    assert len(definitions(text, "text/x-c")) == 1
    assert definitions(text + "int x;\n" * 200_000, "text/x-c") == []
    assert definitions(text, "text/x-python") == []


def test_the_splitter_version_depends_on_the_installed_grammars() -> None:
    """An index is then rebuilt when they change."""
    assert edition() % 100 == VERSION
    assert splitter.splitter_version() // 1_000_000 == edition()


def test_without_the_extra_code_is_cut_at_blank_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The splitter then has another version."""
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    monkeypatch.setattr(grammars, "_language", grammars._language.__wrapped__)
    found = read("a.js", b"function row(n) {\n  return n;\n}\n\nrow(1);\n")
    assert [(block.start, block.end, block.heading) for block in found.blocks] == [(0, 31, ()), (33, 40, ())]
    assert edition() == 0
    assert splitter.splitter_version() < 1_000_000
