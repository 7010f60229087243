"""reStructuredText is read as blocks with exact spans."""

from __future__ import annotations

import pytest

from corpus.readers.plaintext.rst import read_rst
from corpus.types import BlockKind
from tests.documents import check_passages, count_words, document
from tests.growth import check_growth


def blocks(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the kind, text and headings of each block after the title "T"."""
    source = f"T\n=\n\n{text}"
    title, rst_blocks = read_rst(source)
    assert title == "T"
    return [(block.kind.value, source[block.start : block.end], block.heading[1:]) for block in rst_blocks[1:]]


def headings(text: str) -> list[tuple[str, ...]]:
    return [block.heading for block in read_rst(text)[1] if block.kind is BlockKind.HEADING]


def test_titles_nest_by_the_order_of_their_adornment() -> None:
    """A row above makes another style; a row that is too short marks nothing; a row between blank lines is a rule."""
    text = "==\nT \n==\n\nA\n=\n\nB\n-\n\nC\n=\n\nLong title\n==\n\nwords\n"
    assert headings(text) == [("T",), ("T", "A"), ("T", "A", "B"), ("T", "C")]
    assert headings("T\n=\nA\n-\nwords\n\n----\n\nmore\n") == [("T",), ("T", "A")]


def test_a_title_loses_its_markup() -> None:
    text = ":mod:`email` and ``x`` by `Ida <https://example.org>`_, *old* **new** |sub| a\\_b `c`_\n" + "=" * 80 + "\n"
    assert headings(text) == [("email and x by Ida, old new sub a_b c",)]


def test_labels_belong_to_their_title() -> None:
    """A target of links is above its title and not a separate passage."""
    text = ".. _one:\n.. _two:\n\nT\n=\n\nwords\n"
    assert [text[block.start : block.end] for block in read_rst(text)[1]] == [text[:-8].rstrip(), "words"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run::\n\n  a\n\n  b\n\nc\n", [("paragraph", "Run::"), ("code", "a\n\n  b"), ("paragraph", "c")]),
        ("- run::\n\n    a\n- b\n", [("item", "- run::"), ("code", "a"), ("item", "- b")]),
        (
            ".. code:: sh\n   :x: y\n\n   a\n\nb\n",
            [("meta", ".. code:: sh\n   :x: y"), ("code", "a"), ("paragraph", "b")],
        ),
        (".. a comment\n\n   goes on\n\nb\n", [("meta", ".. a comment\n\n   goes on"), ("paragraph", "b")]),
        ("..\n\n   a quote\n", [("meta", ".."), ("paragraph", "a quote")]),
        (".. note:: a\n   b\n\n   c\n", [("paragraph", ".. note:: a\n   b"), ("paragraph", "c")]),
        (
            ".. figure:: a.png\n   :alt: b\n\n   c\n",
            [("paragraph", ".. figure:: a.png"), ("meta", ":alt: b"), ("paragraph", "c")],
        ),
        (
            ".. toctree::\n   :x:\n\n   a\n   b\n\nc\n",
            [("meta", ".. toctree::\n   :x:\n\n   a\n   b"), ("paragraph", "c")],
        ),
        ("+--+\n|a |\n+--+\n\nb\n", [("table", "+--+\n|a |\n+--+"), ("paragraph", "b")]),
        (
            "== ==\na  b\n== ==\nc\n\nd\n== ==\n\ne\n",
            [("table", "== ==\na  b\n== ==\nc\n\nd\n== =="), ("paragraph", "e")],
        ),
        (">>> 1\n1\n\nb\n", [("code", ">>> 1\n1"), ("paragraph", "b")]),
        (":a: b\n   c\n:d: e\n\nf\n", [("meta", ":a: b\n   c"), ("meta", ":d: e"), ("paragraph", "f")]),
        ("f\n\n:a: b\n", [("paragraph", "f"), ("item", ":a: b")]),
        (":ref:`a` is text\n", [("paragraph", ":ref:`a` is text")]),
        ("term\n  words\n  more\n\nb\n", [("item", "term\n  words\n  more"), ("paragraph", "b")]),
        (
            "(1) a\n(2) b\n\nA. Wolf was\nhere.\n",
            [("item", "(1) a"), ("item", "(2) b"), ("paragraph", "A. Wolf was\nhere.")],
        ),
        ("-a, --all  words\n--b=<c>   d\n", [("item", "-a, --all  words"), ("item", "--b=<c>   d")]),
        (".. [1] a\n   b\n", [("item", ".. [1] a\n   b")]),
        ("| a\n| b\n", [("paragraph", "| a\n| b")]),
        ("a\r\nb\r\n\r\n- c\r\n", [("paragraph", "a\r\nb"), ("item", "- c")]),
    ],
)
def test_each_construct_has_its_kind(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(kind, words) for kind, words, _ in blocks(text)] == expected


def test_described_functions_and_classes_are_headings() -> None:
    """They may be of any domain, and nest; after them the section continues."""
    text = ".. class:: A(b)\n   :x:\n\n   One.\n\n   .. py:method:: c()\n\n      Two.\n\nThree.\n"
    assert [(words, path) for kind, words, path in blocks(text) if kind == "paragraph"] == [
        ("One.", ("A(b)",)),
        ("Two.", ("A(b)", "c()")),
        ("Three.", ()),
    ]


def test_without_a_title_it_is_plain_text() -> None:
    """Headings are then inferred."""
    text = "Opening Hours\n\n" + "The lock opens at nine and closes at five on every day but Sunday. " * 4 + "\n"
    title, plain_blocks = read_rst(text)
    assert (title, plain_blocks[0].kind) == ("Opening Hours", BlockKind.HEADING)


@pytest.mark.parametrize(
    "piece",
    [
        *(".. a::\n", ".. class:: x\n", "== ==\n", "+-+\n", "`" * 50, ":" * 50, "- ", ".. ", "::\n", "a\n b\n", "=\n"),
        ".. _a:\n",
    ],
)
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    """Each construct is repeated many times, also with a growing indent."""
    nested = [" " * min(i, 500) + piece.strip() + "\n\n" for i in range(2000)]
    for pieces in ([piece] * (100_000 // len(piece)), nested):
        quarter, full = (f"T\n=\n\n{''.join(pieces[:count])}\n" for count in (len(pieces) // 4, len(pieces)))
        check_growth(read_rst, quarter, full)
    check_passages(document(f"T\n=\n\n{piece * 50}", path="a.rst"), count_tokens=count_words, max_tokens=60)
